package metrics

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"

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
	got := until(t, p.config(Series{Engine: VLLM}), fleet, func(o *planner.Observation) bool {
		return about(o.CompletionRate, 12) && len(o.Variants) == 1 && len(o.Variants[0].Metrics) == 3 && len(o.Variants[0].Metrics[1].Values) == 2
	})
	for i, want := range []planner.MetricValues{
		{Name: "queue_depth", Values: []float64{3, 4}, Missing: 1},
		{Name: "tokens_total", Values: []float64{100, 100}, Missing: 1},
		{Name: "ttft_seconds", Values: []float64{1.9, 1.9}, Missing: 1},
	} {
		m := got[0].Variants[0].Metrics[i]
		assert.Equal(t, want.Name, m.Name)
		assert.Equal(t, want.Missing, m.Missing, fmt.Sprint(m))
		assert.InEpsilonSlice(t, want.Values, m.Values, 0.1, m.Name)
	}
}
