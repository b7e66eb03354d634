package metrics

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/poolwright/poolwright/calibration"
	"github.com/poolwright/poolwright/optimizer"
	"github.com/poolwright/poolwright/planner"
	"github.com/poolwright/poolwright/queueing"
)

// line is one that a target reports.
func line(name, labels string, value float64) string {
	return fmt.Sprintf("%s{%s} %g\n", name, labels, value)
}

const ofModel = `model_name="m",engine="0"`

// vllmAt is a replica of vLLM that completes requests at a rate.
func vllmAt(rate, running, waiting float64) func(float64) string {
	return func(seconds float64) string {
		return line("vllm:num_requests_running", ofModel, running) + line("vllm:num_requests_waiting", ofModel, waiting) +
			line("vllm:request_success_total", ofModel+`,finished_reason="stop"`, 0.75*rate*seconds) +
			line("vllm:request_success_total", ofModel+`,finished_reason="length"`, 0.25*rate*seconds)
	}
}

func fresh(m planner.Measurement) bool { return m.State == planner.Fresh }

// about tells whether a fresh rate is as expected; Prometheus extrapolates to the
// window's ends.
func about(m planner.Measurement, want float64) bool {
	return fresh(m) && m.Value > 0.9*want && m.Value < 1.1*want
}

func TestObserverMeasuresDemand(t *testing.T) {
	t.Parallel()
	p := prometheus(t)
	for pod := range 3 {
		p.start("arrivals", pod, vllmAt(4, 5, 1))
	}
	fleet := fleetOf("arrivals", 3)
	got := until(t, p.config(Series{Engine: VLLM}), fleet, func(o *planner.Observation) bool { return about(o.CompletionRate, 12) })
	assert.Equal(t, "arrivals/w", got[0].Workload)
	assert.Equal(t, planner.Measurement{State: planner.Fresh, Value: 15}, got[0].Running)
	assert.Equal(t, planner.Measurement{State: planner.Fresh, Value: 3}, got[0].Waiting)
	assert.Equal(t, planner.Missing, got[0].ArrivalRate.State, "vLLM counts what it has completed; the planner reconstructs arrivals")
}

func TestObserverFollowsGrowth(t *testing.T) {
	t.Parallel()
	p := prometheus(t)
	p.start("growth", 0, func(seconds float64) string { return vllmAt(2, 8, 3*seconds)(seconds) })
	c := p.config(Series{Engine: VLLM})
	got := until(t, c, fleetOf("growth", 1), func(o *planner.Observation) bool { return about(o.CompletionRate, 2) && o.Waiting.Value > 3 })
	before := got[0].Waiting.Value
	until(t, c, fleetOf("growth", 1), func(o *planner.Observation) bool { return fresh(o.Waiting) && o.Waiting.Value > before+5 })
	p.start("growth", 0, vllmAt(20, 8, 0))
	until(t, c, fleetOf("growth", 1), func(o *planner.Observation) bool { return about(o.CompletionRate, 20) && o.Waiting.Value == 0 })
}

// Replicas complete 40 requests/s more with every second: the mean over the window is that of
// half a window ago, that since the last cycle later. No query asks for the latter where cycles are
// as long as the window.
func TestCompletionsSinceTheLastCycle(t *testing.T) {
	t.Parallel()
	p := prometheus(t)
	p.start("faster", 0, func(seconds float64) string { return vllmAt(20*seconds, 8, 3)(seconds) })
	fleet := fleetOf("faster", 1)
	fleet.Control.Cycle = time.Second
	behind := 40 * (window - time.Second - scrapeInterval).Seconds() / 2
	until(t, p.config(Series{Engine: VLLM}), fleet, func(o *planner.Observation) bool {
		return fresh(o.CompletionRate) && fresh(o.RecentCompletionRate) && o.CompletionRate.Value > 100 &&
			about(planner.Measurement{State: planner.Fresh, Value: o.RecentCompletionRate.Value - o.CompletionRate.Value}, behind)
	})
	fleet.Control.Cycle = window
	until(t, p.config(Series{Engine: VLLM}), fleet, func(o *planner.Observation) bool {
		return fresh(o.CompletionRate) && o.RecentCompletionRate == o.CompletionRate
	})
}

func TestObserverNeverTakesMissingForZero(t *testing.T) {
	t.Parallel()
	p := prometheus(t)
	o, err := New(p.config(Series{}).Config, everywhere(Series{Engine: VLLM}), nil, nil)
	require.NoError(t, err)
	got, err := o.Observe(t.Context(), planner.Fleet{Workloads: []planner.Workload{workload("nowhere", "w", 2), workload("nowhere", "asleep", 0)}})
	require.NoError(t, err)
	assert.Equal(t, []planner.Observation{{Workload: "nowhere/w"}, {Workload: "nowhere/asleep"}}, got, "the zero observation is all missing")
}

func TestIncident04NoRecordOfRequestsIsMissing(t *testing.T) {
	t.Parallel()
	p := prometheus(t)
	p.start("silenttypo", 0, func(seconds float64) string {
		return strings.ReplaceAll(vllmAt(5, 3, 1)(seconds), "num_requests_running", "num_request_running")
	})
	// The rate is there; without the gauge nothing says whether it is of all replicas.
	c := p.config(Series{Engine: VLLM})
	o, err := New(c.Config, c.series, nil, nil)
	require.NoError(t, err)
	require.Eventually(t, func() bool {
		return p.ask(`count(rate(vllm:request_success_total{namespace="silenttypo"}[3s]))`) == 2
	}, patience, tick)
	got, err := o.Observe(t.Context(), fleetOf("silenttypo", 1))
	require.NoError(t, err)
	assert.Equal(t, []planner.Observation{{Workload: "silenttypo/w"}}, got)
}

func TestIncident26TypoInTheNameOfAMetric(t *testing.T) {
	t.Parallel()
	p := prometheus(t)
	p.start("typo", 0, func(seconds float64) string {
		return strings.ReplaceAll(vllmAt(5, 3, 1)(seconds), "request_success", "request_succes")
	})
	got := until(t, p.config(Series{Engine: VLLM}), fleetOf("typo", 1), func(o *planner.Observation) bool { return fresh(o.Running) })
	assert.Equal(t, planner.Missing, got[0].CompletionRate.State)
	assert.Equal(t, planner.Missing, got[0].ArrivalRate.State)
}

func TestTargetDownIsStale(t *testing.T) {
	t.Parallel()
	p := prometheus(t)
	p.start("down", 0, vllmAt(5, 3, 1))
	c := p.config(Series{Engine: VLLM})
	until(t, c, fleetOf("down", 1), func(o *planner.Observation) bool { return fresh(o.CompletionRate) })
	p.stop("down", 0)
	got := until(t, c, fleetOf("down", 1), func(o *planner.Observation) bool { return o.CompletionRate.State == planner.Stale })
	assert.Equal(t, planner.Stale, got[0].Running.State)
	assert.Equal(t, planner.Stale, got[0].Waiting.State)
	p.start("down", 0, vllmAt(5, 3, 1))
	until(t, c, fleetOf("down", 1), func(o *planner.Observation) bool { return about(o.CompletionRate, 5) })
}

func TestIncident31PartialReporting(t *testing.T) {
	t.Parallel()
	p := prometheus(t)
	for pod := range 3 {
		p.start("partial", pod, vllmAt(4, 5, 1))
	}
	c := p.config(Series{Engine: VLLM})
	until(t, c, fleetOf("partial", 3), func(o *planner.Observation) bool { return about(o.CompletionRate, 12) })
	p.stop("partial", 2)
	got := until(t, c, fleetOf("partial", 3), func(o *planner.Observation) bool {
		return o.Running.State == planner.Incomplete && o.CompletionRate.State == planner.Incomplete && o.CompletionRate.Value < 9
	})
	assert.Equal(t, 10.0, got[0].Running.Value)
	assert.Greater(t, got[0].CompletionRate.Value, 7.0)

	// The third was removed on purpose.
	until(t, c, fleetOf("partial", 2), func(o *planner.Observation) bool { return about(o.CompletionRate, 8) && o.Running.Value == 10 })

	// One is starting and does not report yet: the silent one may be one that serves.
	starting := fleetOf("partial", 3)
	starting.Workloads[0].Variants[0].StartingReplicas = 1
	until(t, c, starting, func(o *planner.Observation) bool { return o.Running.State == planner.Incomplete })
}

func TestCounterResetAtRestart(t *testing.T) {
	t.Parallel()
	p := prometheus(t)
	p.start("reset", 0, vllmAt(50, 3, 1))
	c := p.config(Series{Engine: VLLM})
	until(t, c, fleetOf("reset", 1), func(o *planner.Observation) bool { return about(o.CompletionRate, 50) })
	p.start("reset", 0, vllmAt(50, 3, 1))
	restarted := time.Now()
	until(t, c, fleetOf("reset", 1), func(o *planner.Observation) bool {
		if o.CompletionRate.State == planner.Fresh {
			// What was counted between the last scrape and the restart is lost, which may be all
			// where the machine is busy.
			assert.GreaterOrEqual(t, o.CompletionRate.Value, 0.0)
			assert.Less(t, o.CompletionRate.Value, 75.0)
		}
		return time.Since(restarted) > window+staleAfter && about(o.CompletionRate, 50)
	})
}

func TestImpossibleValuesAreInvalid(t *testing.T) {
	t.Parallel()
	p := prometheus(t)
	replace := func(old, value string) func(float64) string {
		return func(seconds float64) string {
			text := vllmAt(5, 3, 1)(seconds)
			return strings.Replace(text, old, strings.Fields(old)[0]+" "+value, 1)
		}
	}
	waitingLine := "vllm:num_requests_waiting{" + ofModel + "} 1"
	for _, value := range []string{"NaN", "+Inf", "-3"} {
		p.start("invalid", 0, replace(waitingLine, value))
		got := until(t, p.config(Series{Engine: VLLM}), fleetOf("invalid", 1), func(o *planner.Observation) bool {
			return o.Waiting.State == planner.Invalid && fresh(o.CompletionRate)
		})
		assert.Equal(t, planner.Fresh, got[0].Running.State)
		p.start("invalid", 0, vllmAt(5, 3, 1))
		until(t, p.config(Series{Engine: VLLM}), fleetOf("invalid", 1), func(o *planner.Observation) bool { return fresh(o.Waiting) })
	}
}

// vllmWork is what a replica reports of 2 requests/s of 100 + 50 tokens, ITL 20 ms,
// TTFT 300 ms, a quarter of the prompt cached; under the given names of latency and
// cache.
func vllmWork(itl, prefix string) func(float64) string {
	return func(seconds float64) string {
		n := 2 * seconds
		return line("vllm:request_prompt_tokens_sum", ofModel, 100*n) + line("vllm:request_prompt_tokens_count", ofModel, n) +
			line("vllm:request_generation_tokens_sum", ofModel, 50*n) +
			line("vllm:"+itl+"_sum", ofModel, 0.02*49*n) + line("vllm:"+itl+"_count", ofModel, 49*n) +
			line("vllm:time_to_first_token_seconds_sum", ofModel, 0.3*n) + line("vllm:time_to_first_token_seconds_count", ofModel, n) +
			line("vllm:"+prefix+"_hits_total", ofModel, 25*n) + line("vllm:"+prefix+"_queries_total", ofModel, 100*n)
	}
}

func TestVariantsOfAllVersions(t *testing.T) {
	t.Parallel()
	p := prometheus(t)
	old, current := vllmWork("time_per_output_token_seconds", "gpu_prefix_cache"), vllmWork("inter_token_latency_seconds", "prefix_cache")
	load := vllmAt(2, 6, 1)
	p.start("versions", 0, func(s float64) string { return load(s) + old(s) })
	p.start("versions", 1, func(s float64) string { return load(s) + current(s) })
	// Between versions both names are reported, and mean the same requests.
	both := func(s float64) string {
		return current(s) + line("vllm:time_per_output_token_seconds_sum", ofModel, 0.02*49*2*s) + line("vllm:time_per_output_token_seconds_count", ofModel, 49*2*s)
	}
	p.start("versions", 2, func(s float64) string { return load(s) + both(s) })
	c := p.config(Series{Engine: VLLM})
	fleet := fleetOf("versions", 3)
	fleet.Workloads[0].Variants[0].Replica = &queueing.Replica{}
	c.Window = window
	got := until(t, c, fleet, func(o *planner.Observation) bool { return about(o.CompletionRate, 6) && len(o.Variants) == 1 })
	v := got[0].Variants[0]
	assert.Equal(t, "only", v.Variant)
	assert.Equal(t, queueing.Seconds(3), v.Replica.Window)
	near := func(want float64, q calibration.Quantity, tolerance float64) {
		t.Helper()
		assert.True(t, q.Known)
		assert.InDelta(t, want, q.Value, tolerance*want)
	}
	near(2, v.Replica.Rate, 0.2)
	near(6, v.Replica.Running, 1e-9)
	near(1, v.Replica.Waiting, 1e-9)
	near(100, v.Replica.InputTokens, 1e-6)
	near(50, v.Replica.OutputTokens, 1e-6)
	near(0.25, v.Replica.PrefixHitRatio, 1e-6)
	near(0.02, v.Replica.ITL, 1e-6)
	near(0.3, v.Replica.TTFT, 1e-6)
}

func TestVariantsAreMeasuredOncePerWindow(t *testing.T) {
	t.Parallel()
	p := prometheus(t)
	var reports []Report
	c := p.config(Series{Engine: VLLM})
	c.Window = time.Hour
	o, err := New(c.Config, c.series, nil, func(r Report) { reports = append(reports, r) })
	require.NoError(t, err)
	for range 3 {
		_, err = o.Observe(t.Context(), fleetOf("nowhere", 1))
		require.NoError(t, err)
	}
	require.Len(t, reports, 3)
	assert.Equal(t, []int{2, 1, 1}, []int{reports[0].Queries, reports[1].Queries, reports[2].Queries})
}

func TestIncident18TrafficIsCreditedOnce(t *testing.T) {
	t.Parallel()
	p := prometheus(t)
	for pod := range 3 {
		p.start("ambiguous", pod, vllmAt(4, 5, 1))
	}
	fleet := planner.Fleet{Workloads: []planner.Workload{workload("ambiguous", "w", 2), workload("ambiguous", "x", 1)}}
	c := p.config(Series{Engine: VLLM})
	got := until(t, c, fleet, func(o *planner.Observation) bool { return o.CompletionRate.State == planner.Invalid })
	assert.Equal(t, planner.Invalid, got[1].CompletionRate.State, "nothing tells them apart, so neither is credited")

	var report Report
	o, err := New(c.Config, c.series, nil, func(r Report) { report = r })
	require.NoError(t, err)
	_, err = o.Observe(t.Context(), fleet)
	require.NoError(t, err)
	assert.Equal(t, []string{"vllm reports series that are of any of ambiguous/w, ambiguous/x: give them selectors that differ"}, report.Warnings)

	// A selector does, and so do the names of the scale targets.
	bySelector := c
	bySelector.series = func(w *planner.Workload) Series {
		if w.Name == "x" {
			return Series{Engine: VLLM, Selector: Labels{"tier": "silver"}}
		}
		return Series{Engine: VLLM}
	}
	got = until(t, bySelector, fleet,
		func(o *planner.Observation) bool { return about(o.CompletionRate, 8) },
		func(o *planner.Observation) bool { return about(o.CompletionRate, 4) })
	assert.Equal(t, 10.0, got[0].Running.Value)
	assert.Equal(t, 5.0, got[1].Running.Value)
	fleet.Workloads[0].Variants[0].ScaleTarget.Name = "big"
	fleet.Workloads[1].Variants[0].ScaleTarget.Name = "big-small"
	// A variant that may have no replicas needs none, and is not what the others' are.
	for i := range fleet.Workloads {
		elsewhere := planner.Variant{Name: "elsewhere", MaxReplicas: optimizer.Bound{Limited: true}}
		fleet.Workloads[i].Variants = append([]planner.Variant{elsewhere}, fleet.Workloads[i].Variants...)
	}
	until(t, c, fleet,
		func(o *planner.Observation) bool { return about(o.CompletionRate, 8) },
		func(o *planner.Observation) bool { return about(o.CompletionRate, 4) })
}

func TestReplicaScrapedByTwoJobsCountsOnce(t *testing.T) {
	t.Parallel()
	p := prometheus(t)
	p.start("twice", 0, vllmAt(4, 5, 1))
	require.Eventually(t, func() bool {
		return p.ask(`count(rate(vllm:request_success_total{namespace="twice",finished_reason="stop"}[3s]))`) == 2
	}, patience, tick, "both jobs scrape")
	until(t, p.config(Series{Engine: VLLM}), fleetOf("twice", 1), func(o *planner.Observation) bool {
		return about(o.CompletionRate, 4) && o.Running.Value == 5
	})
	// Of two replicas one is missing, however often the other is scraped.
	until(t, p.config(Series{Engine: VLLM}), fleetOf("twice", 2), func(o *planner.Observation) bool {
		return o.CompletionRate.State == planner.Incomplete && o.Running == planner.Measurement{State: planner.Incomplete, Value: 5}
	})
}

func TestIncident32EveryWorkloadSeesOnlyItsOwn(t *testing.T) {
	t.Parallel()
	p := prometheus(t)
	p.start("other", 0, vllmAt(4, 5, 1))
	p.start("other", 1, func(seconds float64) string { return strings.ReplaceAll(vllmAt(40, 50, 10)(seconds), `"m"`, `"n"`) })
	fleet := planner.Fleet{Workloads: []planner.Workload{workload("other", "w", 1), workload("", "w", 1)}}
	fleet.Workloads[1].Model = "nobody"
	c := p.config(Series{Engine: VLLM})
	got := until(t, c, fleet, func(o *planner.Observation) bool { return about(o.CompletionRate, 4) })
	assert.Equal(t, 5.0, got[0].Running.Value)
	assert.Equal(t, planner.Observation{Workload: "w"}, got[1])

	c.Selector = Labels{"cluster": "elsewhere"}
	o, err := New(c.Config, c.series, nil, nil)
	require.NoError(t, err)
	got, err = o.Observe(t.Context(), fleet)
	require.NoError(t, err)
	assert.Equal(t, planner.Observation{Workload: "other/w"}, got[0], "series of another cluster are not looked at")
}

func TestVariantsOfAWorkloadAreToldApart(t *testing.T) {
	t.Parallel()
	p := prometheus(t)
	slow, fast := vllmAt(2, 6, 1), vllmAt(8, 12, 0)
	p.start("variants", 0, slow)
	p.start("variants", 1, fast)
	p.start("variants", 2, slow)
	fleet := fleetOf("variants", 3)
	target := func(name string) planner.ScaleTarget { return planner.ScaleTarget{Name: name} }
	fleet.Workloads[0].Variants = []planner.Variant{
		{Name: "a", CurrentReplicas: 2, ScaleTarget: target("big"), Replica: &queueing.Replica{}},
		{Name: "b", CurrentReplicas: 1, ScaleTarget: target("big-small"), Replica: &queueing.Replica{}},
		{Name: "elsewhere", MaxReplicas: optimizer.Bound{Limited: true}},
	}
	check := func(c setup) {
		t.Helper()
		got := until(t, c, fleet, func(o *planner.Observation) bool { return about(o.CompletionRate, 12) && len(o.Variants) == 2 })
		assert.Equal(t, 6.0, got[0].Variants[0].Replica.Running.Value, "the mean of two")
		assert.Equal(t, 12.0, got[0].Variants[1].Replica.Running.Value)
	}
	check(p.config(Series{Engine: VLLM}))
	// Labels say the same without names.
	fleet.Workloads[0].Variants[0].ScaleTarget, fleet.Workloads[0].Variants[1].ScaleTarget = target("x"), target("y")
	check(p.config(Series{Engine: VLLM, Variants: map[string]Labels{"a": {"tier": "gold"}, "b": {"tier": "silver"}}}))
}

func TestRequestsOfAPairCountOnce(t *testing.T) {
	t.Parallel()
	p := prometheus(t)
	p.start("pd", 0, vllmAt(4, 5, 1))
	p.start("pd", 1, vllmAt(4, 20, 0))
	fleet := fleetOf("pd", 2)
	fleet.Workloads[0].Variants = []planner.Variant{
		{Name: "p", CurrentReplicas: 1, Role: optimizer.Prefill, ScaleTarget: planner.ScaleTarget{Name: "big"}},
		{Name: "d", CurrentReplicas: 1, Role: optimizer.Decode, ScaleTarget: planner.ScaleTarget{Name: "big-small"}},
	}
	got := until(t, p.config(Series{Engine: VLLM}), fleet, func(o *planner.Observation) bool {
		return about(o.CompletionRate, 4) && fresh(o.Running)
	})
	assert.Equal(t, 25.0, got[0].Running.Value, "a request is in one place at a time")
}

func TestGatewayCountsArrivals(t *testing.T) {
	t.Parallel()
	p := prometheus(t)
	p.start("gateway", 0, vllmAt(4, 5, 1))
	p.start("gateway", 1, func(seconds float64) string {
		return line("inference_objective_request_total", `model_name="m",target_model_name="m",priority="0"`, 6*seconds) +
			line("inference_objective_request_error_total", `model_name="m",error_code="ResourceExhausted"`, seconds) +
			line("inference_extension_flow_control_queue_size", `model_name="m",fairness_id="f"`, 2)
	})
	got := until(t, p.config(Series{Engine: VLLM, Gateway: &Gateway{}}), fleetOf("gateway", 1), func(o *planner.Observation) bool {
		return about(o.ArrivalRate, 7) && about(o.CompletionRate, 4)
	})
	assert.Equal(t, planner.Measurement{State: planner.Fresh, Value: 3}, got[0].Waiting, "one in the engine, two at the gateway")
	assert.Equal(t, planner.Measurement{State: planner.Fresh, Value: 5}, got[0].Running)

	// What waits at a gateway that has fallen silent is not known, and not 0.
	p.stop("gateway", 1)
	until(t, p.config(Series{Engine: VLLM, Gateway: &Gateway{}}), fleetOf("gateway", 1), func(o *planner.Observation) bool {
		return o.ArrivalRate.State == planner.Stale && o.Waiting == planner.Measurement{State: planner.Incomplete, Value: 1}
	})
}

func TestIncident27ArrivalsAreSeenWithoutReplicas(t *testing.T) {
	t.Parallel()
	p := prometheus(t)
	p.start("sleeping", 0, func(seconds float64) string {
		return line("inference_objective_request_error_total", `model_name="m",error_code="ServiceUnavailable"`, 3*seconds) +
			line("inference_objective_request_error_total", `model_name="m",error_code="BadRequest"`, 30*seconds)
	})
	got := until(t, p.config(Series{Gateway: &Gateway{}}), fleetOf("sleeping", 0), func(o *planner.Observation) bool { return about(o.ArrivalRate, 3) })
	assert.Equal(t, planner.Missing, got[0].Running.State)
}

// The router of Kthena names models by another label.
func TestIncident27ArrivalsAreSeenByKthenasRouter(t *testing.T) {
	t.Parallel()
	p := prometheus(t)
	p.start("routed", 0, func(seconds float64) string {
		return line("kthena_router_requests_total", `model="m",path="/v1/chat/completions",status_code="404",error_type="proxy"`, 2*seconds) +
			line("kthena_router_requests_total", `model="m",path="/v1/completions",status_code="200",error_type=""`, seconds) +
			line("kthena_router_requests_total", `model="m",path="/v1/completions",status_code="429",error_type="rate_limit"`, 30*seconds) +
			line("kthena_router_fairness_queue_size", `model="m",user_id="u"`, 4)
	})
	series := Series{Gateway: &Gateway{ModelLabel: "model"}}
	got := until(t, p.config(series), fleetOf("routed", 0), func(o *planner.Observation) bool { return about(o.ArrivalRate, 3) })
	assert.Equal(t, planner.Measurement{State: planner.Fresh, Value: 4}, got[0].Waiting)
}

func TestCounterThatAppearsWithItsFirstEvent(t *testing.T) {
	t.Parallel()
	p := prometheus(t)
	idle := func(float64) string {
		return line("sglang:num_running_reqs", ofModel, 0) + line("sglang:num_queue_reqs", ofModel, 0)
	}
	p.start("late", 0, idle)
	p.start("late", 1, idle)
	c := p.config(Series{Engine: SGLang})
	got := until(t, c, fleetOf("late", 2), func(o *planner.Observation) bool { return fresh(o.Running) })
	assert.Equal(t, planner.Missing, got[0].CompletionRate.State, "none counts, which may be a typo")
	p.start("late", 0, func(s float64) string { return idle(s) + line("sglang:num_requests_total", ofModel, 6*s) })
	until(t, c, fleetOf("late", 2), func(o *planner.Observation) bool { return about(o.CompletionRate, 6) })
}

func TestEveryEngine(t *testing.T) {
	t.Parallel()
	p := prometheus(t)
	triton := `model="m",version="1"`
	for _, test := range []struct {
		engine Engine
		text   func(n float64) string
		want   planner.Observation
	}{
		{SGLang, func(n float64) string {
			return line("sglang:num_running_reqs", ofModel, 5) + line("sglang:num_queue_reqs", ofModel, 2) + line("sglang:num_requests_total", ofModel, n)
		}, planner.Observation{CompletionRate: of(10), Running: of(5), Waiting: of(2)}},
		{TGI, func(n float64) string {
			return line("tgi_batch_current_size", "", 5) + line("tgi_queue_size", "", 2) + line("tgi_batch_max_total_tokens", "", 4096) +
				line("tgi_request_count", "", n) + line("tgi_request_success", "", n)
		}, planner.Observation{ArrivalRate: of(10), CompletionRate: of(10), Running: of(5), Waiting: of(2)}},
		{LlamaCPP, func(n float64) string {
			return line("llamacpp:requests_processing", "", 5) + line("llamacpp:requests_deferred", "", 2) + line("llamacpp:tokens_predicted_total", "", 50*n)
		}, planner.Observation{CompletionRate: of(10), Running: of(5), Waiting: of(2)}},
		{TensorRTLLM, func(n float64) string {
			return line("nv_trt_llm_request_metrics", triton+`,request_type="active"`, 7) + line("nv_trt_llm_request_metrics", triton+`,request_type="scheduled"`, 5) +
				line("nv_trt_llm_request_metrics", triton+`,request_type="waiting"`, 2) + line("nv_inference_request_success", triton, n)
		}, planner.Observation{CompletionRate: of(10), Running: of(5), Waiting: of(2)}},
		{TRTLLMServe, func(n float64) string {
			return line("trtllm_num_requests_running", ofModel, 5) + line("trtllm_num_requests_waiting", ofModel, 2) +
				line("trtllm_request_success_total", ofModel+`,finished_reason="stop"`, n)
		}, planner.Observation{CompletionRate: of(10), Running: of(5), Waiting: of(2)}},
		{VLLM, func(n float64) string { return vllmAt(10, 5, 2)(n / 10) }, planner.Observation{CompletionRate: of(10), Running: of(5), Waiting: of(2)}},
	} {
		t.Run(string(test.engine), func(t *testing.T) {
			t.Parallel()
			namespace := "engine-" + string(test.engine)
			p.start(namespace, 0, func(seconds float64) string { return test.text(10 * seconds) })
			fleet := fleetOf(namespace, 1)
			fleet.Workloads[0].Shape.OutputTokens, fleet.Control.Cycle = 50, time.Second
			got := until(t, p.config(Series{Engine: test.engine}), fleet, func(o *planner.Observation) bool {
				return about(o.CompletionRate, 10) && about(o.RecentCompletionRate, 10)
			})
			for _, m := range []struct{ want, got planner.Measurement }{
				{test.want.ArrivalRate, got[0].ArrivalRate},
				{test.want.CompletionRate, got[0].CompletionRate},
				{test.want.Running, got[0].Running},
				{test.want.Waiting, got[0].Waiting},
			} {
				assert.Equal(t, m.want.State, m.got.State)
				assert.InDelta(t, m.want.Value, m.got.Value, 0.1*m.want.Value)
			}
		})
	}
}

func of(value float64) planner.Measurement {
	return planner.Measurement{State: planner.Fresh, Value: value}
}
