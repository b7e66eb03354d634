package simulation_test

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/poolwright/poolwright/calibration"
	"github.com/poolwright/poolwright/planner"
	"github.com/poolwright/poolwright/policy/hpa"
	"github.com/poolwright/poolwright/simulation"
	"github.com/poolwright/poolwright/simulation/trace"
)

// What is observed of a steady load is what became of its requests.
func TestObservationsTellWhatHappened(t *testing.T) {
	var records []simulation.Record
	c := newCluster(t, simulation.Config{
		Fleet: chat(3, 3), Gateway: simulation.DefaultGateway(),
		Requests: func(yield func(trace.Request) bool) {
			random := rand.New(rand.NewPCG(1, 0))
			for r := range poisson(11, 60, 1300) {
				r.Input, r.Output = 1+random.IntN(1023), 1+int(255*random.ExpFloat64())
				if !yield(r) {
					return
				}
			}
		},
		OnRequest: func(r simulation.Record) { records = append(records, r) },
	})
	var last planner.Observation
	var work []calibration.Observation
	completions := 0.0
	var minute []simulation.Record
	run(t, c, scaler{15 * time.Second, func(time.Time) {
		all, err := c.Observe(t.Context(), planner.Fleet{})
		require.NoError(t, err)
		require.Len(t, all, 1)
		last = all[0]
		completions += 15 * last.CompletionRate.Value
		if len(last.Variants) > 0 {
			work = append(work, last.Variants[0].Replica)
			minute, records = records, nil
			require.InDelta(t, float64(len(minute)), completions, 1e-6)
			completions = 0
		}
	}}, 1215)
	require.Len(t, work, 20, "once a minute")
	assert.Equal(t, "chat", last.Workload)
	assert.Equal(t, planner.Fresh, last.ArrivalRate.State)
	assert.InDelta(t, 60, last.ArrivalRate.Value, 8)
	assert.InDelta(t, 512, last.InputTokens.Value, 20)
	assert.InDelta(t, 255, last.OutputTokens.Value, 20)
	assert.InDelta(t, 1.0/3, last.InputSCV.Value, 0.02)
	assert.InDelta(t, 1, last.OutputSCV.Value, 0.1)

	o := work[len(work)-1]
	var ttft, gaps, gapTime, input float64
	for _, r := range minute {
		ttft += r.TTFT
		input += float64(r.Input)
		gaps += float64(r.Output - 1)
		gapTime += r.ITL * float64(r.Output-1)
	}
	n := float64(len(minute))
	assert.InDelta(t, 60, float64(o.Window), 1e-9)
	assert.InEpsilon(t, n/60/3, o.Rate.Value, 0.05)
	assert.InEpsilon(t, ttft/n, o.TTFT.Value, 1e-9)
	assert.InEpsilon(t, gapTime/gaps, o.ITL.Value, 1e-9)
	assert.InEpsilon(t, input/n, o.InputTokens.Value, 1e-9)
	assert.InDelta(t, 0, o.PrefixHitRatio.Value, 0)
	assert.InEpsilon(t, o.Rate.Value*o.OutputTokens.Value*o.ITL.Value, o.Running.Value, 0.1, "Little's law")
}

// What gates hold and replicas have waiting is seen, and a replica more once it serves.
func TestQueuesAreObserved(t *testing.T) {
	fleet := chat(2, 0)
	fleet.Workloads[0].Policy.HPA = &hpa.Config{Metrics: []hpa.Metric{
		{Source: hpa.PodsMetric, Name: "vllm:num_requests_running"},
		{Source: hpa.PodsMetric, Name: "vllm:num_requests_waiting"},
		{Source: hpa.PodsMetric, Name: "vllm:kv_cache_usage_perc"},
		{Source: hpa.PodsMetric, Name: "unknown"},
	}}
	fleet.Workloads[0].Variants[0].Replica.MaxBatch = 4
	c := newCluster(t, simulation.Config{
		Fleet: fleet, Gateway: simulation.DefaultGateway(),
		Requests: func(yield func(trace.Request) bool) {
			for i := range 10 {
				yield(trace.Request{At: 0.5 + 0.01*float64(i), Input: 420, Output: 20000})
			}
		},
	})
	observe := func() planner.Observation {
		all, err := c.Observe(t.Context(), planner.Fleet{})
		require.NoError(t, err)
		return all[0]
	}
	at(t, c, 100, map[int]func(){
		1: func() {
			o := observe()
			assert.InDelta(t, 10, o.ArrivalRate.Value, 0)
			assert.InDelta(t, 10, o.Waiting.Value, 0)
			assert.InDelta(t, 0, o.Running.Value, 0)
			assert.Empty(t, o.Variants)
			assert.Equal(t, planner.Missing, o.InputTokens.State)
			c.SetReplicas(0, 0, 1)
		},
		40: func() {
			o := observe()
			assert.InDelta(t, 0, o.ArrivalRate.Value, 0)
			assert.InDelta(t, 6, o.Waiting.Value, 0)
			assert.InDelta(t, 4, o.Running.Value, 0)
			require.Len(t, o.Variants, 1)
			metrics := o.Variants[0].Metrics
			require.Len(t, metrics, 3)
			assert.Equal(t, []float64{6}, metrics[2].Values)
			assert.Equal(t, "vllm:num_requests_running", metrics[1].Name)
			assert.Equal(t, []float64{4}, metrics[1].Values)
			assert.Equal(t, "vllm:kv_cache_usage_perc", metrics[0].Name)
			assert.Greater(t, metrics[0].Values[0], 4*420.0/420_000)
			assert.Less(t, metrics[0].Values[0], 4*20420.0/420_000)
		},
	})
}

func TestChangesFromElsewhereAreRefused(t *testing.T) {
	c := newCluster(t, simulation.Config{Fleet: chat(2, 1)})
	errs := c.Apply(t.Context(), []planner.Change{
		{Workload: "chat", Variant: "chat-h100", From: 7, To: 2},
		{Workload: "chat", Variant: "none"},
		{Workload: "none"},
		{Workload: "chat", Variant: "chat-h100", From: 1, To: 2},
	})
	require.Len(t, errs, 4)
	require.ErrorContains(t, errs[0], `variant "chat-h100" of workload "chat" has 1 replicas, not 7`)
	require.ErrorContains(t, errs[1], `no variant "none" of workload "chat"`)
	require.ErrorContains(t, errs[2], `no variant "" of workload "none"`)
	require.NoError(t, errs[3])
	assert.Equal(t, 2, c.Desired(0, 0))
}

// Rates are over the window that the configuration says, as far as it has been observed.
func TestRatesAreOverAWindow(t *testing.T) {
	c := newCluster(t, simulation.Config{
		Fleet: chat(1, 1), RateWindow: 40 * time.Second,
		Requests: func(yield func(trace.Request) bool) {
			for i := range 80 {
				yield(trace.Request{At: 30 + 0.5*float64(i), Input: 10, Output: 2})
			}
		},
	})
	var rates, recent []float64
	var windows []time.Duration
	run(t, c, scaler{10 * time.Second, func(time.Time) {
		all, err := c.Observe(t.Context(), planner.Fleet{})
		require.NoError(t, err)
		rates, windows = append(rates, all[0].ArrivalRate.Value), append(windows, all[0].Window)
		recent = append(recent, all[0].RecentCompletionRate.Value)
	}}, 100)
	assert.InDeltaSlice(t, []float64{0, 0, 0, 0.5, 1, 1.5, 2, 1.5, 1}, rates[:9], 1e-9)
	assert.Equal(t, []time.Duration{10e9, 20e9, 30e9, 40e9, 40e9}, windows[:5])
	assert.InDeltaSlice(t, []float64{0, 0, 0, 2, 2, 2, 2, 0, 0}, recent[:9], 0.11)
}
