package metrics

import (
	"slices"
	"testing"

	"github.com/poolwright/poolwright/planner"
	"github.com/poolwright/poolwright/policy/kthena"
)

// What a policy follows comes with the demand, without another query.
func TestMetricsThatPoliciesFollowFromPrometheus(t *testing.T) {
	t.Parallel()
	p := prometheus(t)
	for pod := range 2 {
		p.start("policy", pod, func(s float64) string {
			return vllmAt(4, 5, 1)(s) + line("queue_depth", ofModel, float64(3+pod)) + line("tokens_total", ofModel, 100*s) +
				line("ttft_seconds_bucket", ofModel+`,le="1"`, s) + line("ttft_seconds_bucket", ofModel+`,le="2"`, 2*s) +
				line("ttft_seconds_bucket", ofModel+`,le="+Inf"`, 2*s)
		})
	}
	p.start("policy", 2, vllmAt(4, 5, 1))
	fleet := fleetOf("policy", 3)
	follows := kthena.Config{}
	for _, name := range []string{"queue_depth", "tokens_total", "ttft_seconds", "absent", `no"name`} {
		follows.Metrics = append(follows.Metrics, kthena.Metric{Name: name})
	}
	fleet.Workloads[0].Policy.Kthena = &follows
	want := []planner.MetricValues{
		{Name: "queue_depth", Values: []float64{3, 4}, Missing: 1},
		{Name: "tokens_total", Values: []float64{100, 100}, Missing: 1},
		{Name: "ttft_seconds", Values: []float64{1.9, 1.9}, Missing: 1},
	}
	until(t, p.config(Series{Engine: VLLM}), fleet, func(o *planner.Observation) bool {
		return len(o.Variants) == 1 && slices.EqualFunc(o.Variants[0].Metrics, want, func(got, want planner.MetricValues) bool {
			near := func(a, b float64) bool { return about(of(a), b) }
			return got.Name == want.Name && got.Missing == want.Missing && slices.EqualFunc(got.Values, want.Values, near)
		})
	})
}
