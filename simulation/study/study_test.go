package study_test

import (
	"context"
	"errors"
	"math"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/poolwright/poolwright/optimizer"
	"github.com/poolwright/poolwright/planner"
	"github.com/poolwright/poolwright/queueing"
	"github.com/poolwright/poolwright/simulation"
	"github.com/poolwright/poolwright/simulation/study"
	"github.com/poolwright/poolwright/simulation/trace"
)

var start = time.Date(2026, 1, 5, 0, 0, 0, 0, time.UTC)

// constant never scales.
type constant struct{}

func (constant) Interval() time.Duration                { return time.Minute }
func (constant) Scale(context.Context, time.Time) error { return nil }

func unscaled(*simulation.Cluster, uint64) (simulation.Autoscaler, error) { return constant{}, nil }

// swinging changes between one replica and three every minute.
type swinging struct {
	cluster *simulation.Cluster
	high    bool
}

func (s *swinging) Interval() time.Duration { return time.Minute }

func (s *swinging) Scale(context.Context, time.Time) error {
	s.high = !s.high
	s.cluster.SetReplicas(0, 0, 1)
	if s.high {
		s.cluster.SetReplicas(0, 0, 3)
	}
	return nil
}

func newSwinging(c *simulation.Cluster, _ uint64) (simulation.Autoscaler, error) {
	return &swinging{cluster: c}, nil
}

// fleet has one workload whose replicas take a second for each token of one request at a
// time, and nothing for its prompt.
func fleet() planner.Fleet {
	return planner.Fleet{
		Pools: []planner.Pool{{Name: "H100", Accelerator: "H100", PricePerHour: 3, Capacity: optimizer.Bound{Limited: true, Value: 8}}},
		Workloads: []planner.Workload{{
			Name: "chat", ServiceClass: "interactive", Priority: 1, ArrivalRate: 0.1,
			Shape: queueing.Shape{InputTokens: 10, OutputTokens: 2, ArrivalSCV: 1},
			SLO:   queueing.SLO{Limits: []queueing.Limit{{Metric: queueing.TTFT, Quantile: 0.95, Value: 1.5}}},
			Variants: []planner.Variant{{
				Name: "h100", Pools: []int{0}, DevicesPerReplica: 2, CurrentReplicas: 1, Startup: 10 * time.Second,
				Replica: &queueing.Replica{Profile: queueing.Profile{Alpha: 1}, MaxBatch: 1},
			}},
		}},
	}
}

func traffic(s trace.Source) []trace.Workload { return []trace.Workload{{Name: "chat", Source: s}} }

func fixed(at ...float64) []trace.Workload {
	var requests trace.List
	for _, t := range at {
		requests = append(requests, trace.Request{At: t, Input: 10, Output: 2})
	}
	return traffic(requests)
}

// poisson never ends.
func poisson(rate float64) []trace.Workload {
	s, err := trace.Generate(trace.Generator{
		Arrivals: trace.Arrivals{Rate: trace.Constant(rate), SCV: 1},
		Input:    trace.Lengths{Mean: 10}, Output: trace.Lengths{Mean: 2},
	})
	if err != nil {
		panic(err)
	}
	return traffic(s)
}

func config() study.Config {
	return study.Config{
		Name:        "small",
		Cluster:     simulation.Config{Fleet: fleet(), Start: start, Gateway: simulation.DefaultGateway()},
		Traffic:     poisson(0.2),
		Autoscalers: []study.Autoscaler{{Name: "none", New: unscaled}, {Name: "swinging", New: newSwinging}},
		Seeds:       []uint64{3, 1, 2},
		Duration:    10 * time.Minute,
	}
}

// The second of three requests waits for the first: its first token comes 2.5 s after it,
// later than the 1.5 s of the SLO. The others get theirs after 1 s.
func TestHandMadeCase(t *testing.T) {
	c := config()
	c.Traffic, c.Seeds, c.Autoscalers, c.Duration = fixed(0, 0.5, 100), []uint64{7}, c.Autoscalers[:1], 3*time.Minute
	c.Bound = func(uint64) (float64, bool, error) { return 0.2, true, nil }
	r, err := study.Run(t.Context(), c, nil)
	require.NoError(t, err)

	a := r.Autoscalers[0]
	run := a.Runs[0]
	assert.Equal(t, uint64(7), run.Seed)
	assert.InDelta(t, 0.3, run.Cost, 1e-12, "two devices of 3 an hour for three minutes")
	assert.InDelta(t, 0.1, run.DeviceHours, 1e-12)
	assert.InDelta(t, 2.0/3, run.Attainment, 1e-12)
	assert.Equal(t, []int64{3, 0, 0}, []int64{run.Requests, run.UnmetRequests, run.ScaleEvents})
	assert.InDelta(t, 0.5, a.Regret.Mean, 1e-12)
	assert.Equal(t, []float64{0.2}, r.HindsightCost)

	w := a.Workloads[0]
	assert.Equal(t, "chat", w.Workload)
	assert.InDelta(t, 0.95, w.Objective, 0)
	assert.InDelta(t, 1.5, w.TTFT.Limit, 0)
	assert.Zero(t, w.ITL.Limit)
	assert.InDelta(t, 1.5, w.TTFT.Mean.Mean, 1e-9)
	assert.InEpsilon(t, 1, w.TTFT.P50.Mean, 0.011)
	assert.InEpsilon(t, 2.5, w.TTFT.P99.Mean, 0.011)
	assert.InEpsilon(t, 1, w.ITL.P99.Mean, 0.011)
	assert.True(t, math.IsInf(w.Attainment.Upper, 1), "one seed has no interval")
	assert.Equal(t, []study.ClassResult{{
		ServiceClass: "interactive", Requests: 3, Attainment: w.Attainment, UnmetRequests: w.UnmetRequests, Objective: 0.95,
	}}, a.Classes)

	assert.Equal(t, time.Minute, r.Window)
	assert.InDeltaSlice(t, []float64{2.0 / 60, 1.0 / 60, 0}, r.Demand[0].ArrivalRate, 1e-12)
	assert.InDeltaSlice(t, []float64{6, 6, 6}, a.CostPerHour, 1e-9)
	assert.Equal(t, []float64{1, 1, 1}, a.Replicas[0].Serving)
	assert.Equal(t, []float64{1, 1, 1}, a.Replicas[0].Paid)
	assert.Equal(t, 2, a.Replicas[0].DevicesPerReplica)
	assert.Equal(t, "H100", a.Replicas[0].Accelerator)
	assert.Positive(t, a.Replicas[0].Capacity)
	latency := a.Latencies[0]
	assert.Equal(t, []float64{0.5, 1}, latency.Attainment[:2])
	assert.True(t, math.IsNaN(latency.Attainment[2]), "nothing arrived in the last window")
	assert.InDelta(t, 1.75, latency.TTFTMean[0], 1e-9)
}

func TestStatisticsAreOverSeeds(t *testing.T) {
	c := config()
	bound := map[uint64]float64{1: 0.5, 2: 0.8, 3: 1}
	c.Bound = func(seed uint64) (float64, bool, error) { return bound[seed], true, nil }
	r, err := study.Run(t.Context(), c, nil)
	require.NoError(t, err)
	assert.Equal(t, []uint64{3, 1, 2}, r.Seeds)
	for _, a := range r.Autoscalers {
		require.Len(t, a.Runs, 3)
		attainment, regret := 0.0, 0.0
		for i, run := range a.Runs {
			assert.Equal(t, r.Seeds[i], run.Seed)
			attainment += run.Attainment / 3
			regret += (run.Cost/bound[run.Seed] - 1) / 3
		}
		assert.InDelta(t, attainment, a.Attainment.Mean, 1e-12)
		assert.InDelta(t, regret, a.Regret.Mean, 1e-12, "the cost of a seed is compared with the bound of that seed")
		assert.Less(t, a.Attainment.Lower, attainment)
		assert.Greater(t, a.Attainment.Upper, attainment)
	}
	none, swings := r.Autoscalers[0], r.Autoscalers[1]
	for i := range none.Runs {
		assert.Equal(t, none.Runs[i].Requests, swings.Runs[i].Requests, "all meet the same arrivals")
	}
	assert.NotEqual(t, none.Runs[0].Requests, none.Runs[1].Requests, "seeds differ")
	assert.Equal(t, []int64{0, 0, 0}, []int64{none.Runs[0].ScaleEvents, none.Runs[1].ScaleEvents, none.Runs[2].ScaleEvents})
	assert.Positive(t, swings.Runs[0].ScaleEvents)
	assert.Greater(t, swings.Cost.Mean, none.Cost.Mean)
	assert.Greater(t, swings.Attainment.Mean, none.Attainment.Mean)
}

func withoutProcessor(r study.Result) study.Result {
	for i := range r.Autoscalers {
		for j := range r.Autoscalers[i].Runs {
			r.Autoscalers[i].Runs[j].Processor = 0
		}
	}
	return r
}

func TestResultsAreEqualOnAnyNumberOfProcessors(t *testing.T) {
	c := config()
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	one, err := study.Run(t.Context(), c, nil)
	require.NoError(t, err)
	runtime.GOMAXPROCS(4)
	four, err := study.Run(t.Context(), c, nil)
	require.NoError(t, err)
	assert.Equal(t, withoutProcessor(one), withoutProcessor(four))
}

// What comes before does not count, but it has happened.
func TestWarmUpDoesNotCount(t *testing.T) {
	c := config()
	c.Traffic, c.Seeds, c.Autoscalers, c.Duration = fixed(0, 119.5, 120, 200), []uint64{1}, c.Autoscalers[:1], 5*time.Minute
	c.Warmup = 90 * time.Second
	r, err := study.Run(t.Context(), c, nil)
	require.NoError(t, err)
	assert.Equal(t, 2*time.Minute, r.Warmup, "whole windows")
	assert.Equal(t, 3*time.Minute, r.Duration)
	run := r.Autoscalers[0].Runs[0]
	assert.Equal(t, int64(2), run.Requests)
	assert.InDelta(t, 0.5, run.Attainment, 1e-12, "the first of them waits for one that does not count")
	assert.InDelta(t, 0.3, run.Cost, 1e-12)
	assert.Len(t, r.Demand[0].ArrivalRate, 3)
}

func TestProgress(t *testing.T) {
	c := config()
	var all []study.Progress
	r, err := study.Run(t.Context(), c, func(p study.Progress) { all = append(all, p) })
	require.NoError(t, err)
	assert.True(t, slices.IsSortedFunc(all, func(a, b study.Progress) int { return int(a.Requests - b.Requests) }))
	last := all[len(all)-1]
	requests := int64(0)
	for _, a := range r.Autoscalers {
		for _, run := range a.Runs {
			requests += run.Requests
		}
	}
	assert.Equal(t, study.Progress{Done: 1, Runs: 6, RunsDone: 6, Requests: requests}, last)
	assert.Positive(t, all[0].Remaining)
}

func TestCancel(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	c := config()
	c.Duration = 1000 * time.Hour
	windows := 0
	_, err := study.Run(ctx, c, func(study.Progress) {
		if windows++; windows == 10 {
			cancel()
		}
	})
	require.ErrorIs(t, err, context.Canceled)
	assert.Less(t, windows, 100, "it runs on")

	_, err = study.Run(ctx, c, func(study.Progress) { assert.Fail(t, "it has run") })
	assert.ErrorIs(t, err, context.Canceled)
}

func TestFailureNamesTheRun(t *testing.T) {
	broken := errors.New("no metrics")
	c := config()
	c.Autoscalers[1].New = func(_ *simulation.Cluster, seed uint64) (simulation.Autoscaler, error) {
		if seed == 1 {
			return nil, broken
		}
		return constant{}, nil
	}
	_, err := study.Run(t.Context(), c, nil)
	require.ErrorIs(t, err, broken)
	require.EqualError(t, err, "study: swinging, seed 1: no metrics")

	c = config()
	c.Bound = func(uint64) (float64, bool, error) { return 0, false, broken }
	_, err = study.Run(t.Context(), c, nil)
	assert.EqualError(t, err, "study: bound of seed 3: no metrics")
}

func TestMistakesAreNamed(t *testing.T) {
	c := config()
	c.Seeds = []uint64{1, 2, 1}
	c.Autoscalers[1].Name = "none"
	c.Traffic = nil
	c.Window, c.Warmup = -time.Second, time.Hour
	_, err := study.Run(t.Context(), c, nil)
	require.Error(t, err)
	for _, want := range []string{
		"study: seeds[2]: 1 is not unique", `study: autoscalers[1].name: "none" is not unique`,
		"study: traffic of 0 workloads for 1", "study: window: -1s is below 0", "study: warmup: 1h0m0s, in windows of 1m0s, leaves nothing of 10m0s",
	} {
		assert.Contains(t, err.Error(), want)
	}
	_, err = study.Run(t.Context(), study.Config{}, nil)
	require.Error(t, err)
	for _, want := range []string{"study: no seed", "study: no autoscaler", "study: duration: 0s is not above 0"} {
		assert.Contains(t, err.Error(), want)
	}
}

func TestDefaultWindow(t *testing.T) {
	for duration, want := range map[time.Duration]time.Duration{
		time.Second: time.Minute, 24 * time.Hour: time.Minute, 48 * time.Hour: 2 * time.Minute,
		24*time.Hour + time.Second: 61 * time.Second, 31 * 24 * time.Hour: 31 * time.Minute,
	} {
		assert.Equal(t, want, study.DefaultWindow(duration), duration)
	}
}

// Where nobody can serve anything, there is nothing to compare with.
func TestNoBoundWhereNobodyServes(t *testing.T) {
	c := config()
	c.Bound = func(seed uint64) (float64, bool, error) { return 0, seed == c.Seeds[0], nil }
	r, err := study.Run(t.Context(), c, nil)
	require.NoError(t, err)
	assert.Empty(t, r.HindsightCost)
	assert.Nil(t, r.Autoscalers[0].Regret)
}
