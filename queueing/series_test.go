package queueing_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/poolwright/poolwright/queueing"
)

// seriesReplicas are replicas that differ in what limits them.
func seriesReplicas() map[string]queueing.Replica {
	limited, budget, named := exampleReplica, exampleReplica, exampleReplica
	limited.MaxQueue = queueing.Waiting{Limited: true, Places: 100}
	budget.MaxBatchedTokens = 512
	named.Model = queueing.LLMDV1
	named.Profile.Gamma, named.Profile.Delta = 0.004, 1e-8
	return map[string]queueing.Replica{
		"unlimited": exampleReplica, "limited": limited, "budget": budget, "named": named,
	}
}

func inside(b queueing.Backlog) float64 { return b.Running + b.Queued }

// TestWindowBecomesSteady: a long window is the steady state, wherever it starts.
func TestWindowBecomesSteady(t *testing.T) {
	for name, r := range seriesReplicas() {
		s := station(t, r, exampleShape)
		for _, load := range []float64{1e-3, 0.1, 0.5, 0.8, 0.95} {
			for _, start := range []float64{0, 50, 2000} {
				rate := queueing.Rate(load) * s.SaturationRate()
				want := s.Evaluate(rate)
				got, left := s.EvaluateWindow(rate, 1e8, s.Backlog(0, start))
				require.Equal(t, queueing.Steady, got.Outcome, name)
				msg := []any{"%s at %v from %v", name, load, start}
				require.InEpsilon(t, float64(want.TTFT.Mean()), float64(got.TTFT), 0.01, msg...)
				require.InEpsilon(t, float64(want.ITL.Mean()), float64(got.ITL), 0.01, msg...)
				require.InEpsilon(t, float64(want.E2E.Mean()), float64(got.E2E), 0.01, msg...)
				require.InEpsilon(t, float64(want.Throughput), float64(got.Throughput), 0.01, msg...)
				require.InEpsilon(t, float64(want.Throughput)*float64(want.E2E.Mean()), inside(left), 1e-3, msg...)
				require.InEpsilon(t, float64(want.TTFT.Quantile(0.99)), float64(got.Quantile(queueing.TTFT, 0.99)), 0.02, msg...)
			}
		}
	}
}

// TestWindowConserves: what arrives is completed, blocked or left over.
func TestWindowConserves(t *testing.T) {
	for name, r := range seriesReplicas() {
		s := station(t, r, exampleShape)
		var b queueing.Backlog
		for i, load := range []float64{0.5, 1.5, 0, 2, 0.2, 0.9, 0, 1} {
			rate := queueing.Rate(load) * s.SaturationRate()
			w, next := s.EvaluateWindow(rate, 20, b)
			accepted := float64(rate) * 20 * (1 - w.BlockedShare)
			require.InDelta(t, accepted, 20*float64(w.Throughput)+inside(next)-inside(b), 1e-6*(1+accepted), "%s %d", name, i)
			require.GreaterOrEqual(t, float64(w.Throughput), 0.0)
			require.LessOrEqual(t, float64(w.Throughput), float64(s.SaturationRate())*1.0001)
			b = next
		}
	}
}

// TestWindowOverload: in overload the queue grows by what exceeds saturation, an
// arrival waits for those before it, and later the queue drains at the saturation rate.
func TestWindowOverload(t *testing.T) {
	s := station(t, exampleReplica, exampleShape)
	saturation := float64(s.SaturationRate())
	_, full := s.EvaluateWindow(s.SaturationRate()*2, 60, queueing.Backlog{})
	w, more := s.EvaluateWindow(s.SaturationRate()*2, 60, full)
	require.Equal(t, queueing.Saturated, w.Outcome)
	require.InEpsilon(t, 60*saturation, inside(more)-inside(full), 0.01)
	require.InEpsilon(t, (full.Queued+more.Queued)/2/saturation, float64(w.Wait), 0.01)
	require.InEpsilon(t, more.Queued/saturation, float64(more.Work), 1e-9)

	w, less := s.EvaluateWindow(0, 30, more)
	require.Equal(t, queueing.Steady, w.Outcome)
	require.InEpsilon(t, 30*saturation, inside(more)-inside(less), 0.02)
	_, none := s.EvaluateWindow(0, 3600, more)
	require.InDelta(t, 0, inside(none), 1e-3)
	require.InDelta(t, 0, none.Variance, 1)
}

// TestWindowSpread: a queue that has just built up is about as long for everybody.
func TestWindowSpread(t *testing.T) {
	s := station(t, exampleReplica, exampleShape)
	b := s.Backlog(256, 1000)
	w, _ := s.EvaluateWindow(s.SaturationRate(), 1, b)
	require.InEpsilon(t, float64(w.TTFT), float64(w.Quantile(queueing.TTFT, 0.99)), 0.1)
	b.Variance = 1e12
	w, _ = s.EvaluateWindow(s.SaturationRate(), 1, b)
	require.Greater(t, w.Quantile(queueing.TTFT, 0.99), 3*w.TTFT)
	for _, q := range []float64{0.01, 0.5, 0.99} {
		require.InDelta(t, q, w.CDF(queueing.TTFT, w.Quantile(queueing.TTFT, q)), 1e-6)
	}
}

// TestWindowRises: more arrivals, more of everything.
func TestWindowRises(t *testing.T) {
	for name, r := range seriesReplicas() {
		s := station(t, r, exampleShape)
		var last queueing.WindowPerformance
		lastInside := 0.0
		for load := 0.0; load < 3; load += 0.05 {
			w, b := s.EvaluateWindow(queueing.Rate(load)*s.SaturationRate(), 15, queueing.Backlog{})
			require.GreaterOrEqual(t, float64(w.TTFT), float64(last.TTFT)*(1-1e-3), "%s %v", name, load)
			require.GreaterOrEqual(t, float64(w.ITL), float64(last.ITL)*(1-1e-3), "%s %v", name, load)
			require.GreaterOrEqual(t, inside(b), lastInside*(1-1e-3), "%s %v", name, load)
			last, lastInside = w, inside(b)
		}
	}
}

// TestWindowParts: two windows are one window of their length.
func TestWindowParts(t *testing.T) {
	s := station(t, exampleReplica, exampleShape)
	for _, load := range []float64{0.3, 0.9, 1.3} {
		rate := queueing.Rate(load) * s.SaturationRate()
		_, whole := s.EvaluateWindow(rate, 20, s.Backlog(30, 0))
		_, half := s.EvaluateWindow(rate, 10, s.Backlog(30, 0))
		_, parts := s.EvaluateWindow(rate, 10, half)
		require.InEpsilon(t, inside(whole), inside(parts), 0.01, load)
	}
}

// TestWindowKeepsWork: requests that wait keep their work when the shape changes.
func TestWindowKeepsWork(t *testing.T) {
	long := exampleShape
	long.OutputTokens *= 2
	before, after := station(t, exampleReplica, exampleShape), station(t, exampleReplica, long)
	_, b := after.EvaluateWindow(0, 0, before.Backlog(256, 5000))
	require.InEpsilon(t, 5000, b.Queued, 0.01)
	require.InEpsilon(t, 5000/float64(before.SaturationRate()), float64(b.Work), 0.01)
	_, b = after.EvaluateWindow(0, 20, before.Backlog(256, 5000))
	require.InEpsilon(t, 5000-20*float64(before.SaturationRate()), b.Queued, 0.02)
}

// TestWindowRunning: no more requests run than the batch holds, wherever a window
// starts; the others wait, though not longer than for their first token, and nobody
// is lost.
func TestWindowRunning(t *testing.T) {
	random := rand.New(rand.NewPCG(8, 64))
	for range 500 {
		r, shape := randomLoad(random)
		s := station(t, r, shape)
		limit := float64(s.BatchLimit())
		rate := s.SaturationRate() * queueing.Rate(2*random.Float64())
		length := queueing.Seconds(math.Pow(10, 4*random.Float64()-2))
		start := s.Backlog(limit*random.Float64()*1.5, 4*limit*random.Float64())
		for range 3 {
			w, b := s.EvaluateWindow(rate, length, start)
			msg := []any{"%+v %+v at %v for %v from %+v", r, shape, rate, length, start}
			require.LessOrEqual(t, w.Running, limit*(1+1e-12), msg...)
			require.LessOrEqual(t, b.Running, limit, msg...)
			require.GreaterOrEqual(t, w.Queued, 0.0, msg...)
			require.LessOrEqual(t, float64(w.Wait), float64(w.TTFT)*(1+1e-9), msg...)
			require.InDelta(t, b.Queued, float64(b.Work)*float64(s.SaturationRate()), 1e-9*(1+b.Queued), msg...)
			arrived := float64(rate) * (1 - w.BlockedShare) * float64(length)
			left := arrived - float64(w.Throughput)*float64(length)
			require.InDelta(t, inside(start)+left, inside(b), 1e-6*(1+arrived+inside(start)), msg...)
			start = b
		}
		_, b := s.EvaluateWindow(0, 0, queueing.Backlog{Running: limit + 100})
		require.InEpsilon(t, limit+100, inside(b), 1e-9)
		require.GreaterOrEqual(t, b.Queued, 100*(1-1e-9))
	}
}

// randomLoad returns a replica and a shape that one request at least fits.
func randomLoad(random *rand.Rand) (queueing.Replica, queueing.Shape) {
	upTo := func(most float64) float64 { return most * random.Float64() }
	shape := queueing.Shape{
		InputTokens:  queueing.Tokens(1 + math.Floor(upTo(2000))),
		OutputTokens: queueing.Tokens(1 + math.Floor(upTo(300))),
		InputSCV:     upTo(2), OutputSCV: upTo(2), ArrivalSCV: upTo(3),
	}
	r := queueing.Replica{
		Profile: queueing.Profile{
			Alpha: 0.005 + upTo(0.02), Beta: upTo(2e-4), Kappa: upTo(1e-7),
			Gamma: upTo(0.005), Delta: upTo(5e-5), TTFTOffset: upTo(0.02),
		},
		MaxBatch:    1 + random.IntN(64),
		PrefillMode: queueing.PrefillMode(random.IntN(2)),
	}
	if random.IntN(2) == 0 {
		r.MaxBatchedTokens = queueing.Tokens(64 + math.Floor(upTo(4000)))
	}
	if random.IntN(2) == 0 {
		r.MaxQueue = queueing.Waiting{Limited: true, Places: random.IntN(200)}
	}
	if random.IntN(3) == 0 {
		r.KVCacheTokens = 2 * (shape.InputTokens + shape.OutputTokens) * queueing.Tokens(1+upTo(20))
	}
	return r, shape
}

func TestWindowEdges(t *testing.T) {
	s := station(t, exampleReplica, exampleShape)
	idle := s.Evaluate(0)
	for _, rate := range []float64{0, -1, math.NaN()} {
		for _, length := range []float64{0, -1, math.NaN(), 15} {
			w, b := s.EvaluateWindow(queueing.Rate(rate), queueing.Seconds(length), queueing.Backlog{Running: math.NaN(), Queued: -3})
			require.Zero(t, inside(b))
			require.Zero(t, w.Throughput)
			require.InEpsilon(t, float64(idle.TTFT.Mean()), float64(w.TTFT), 1e-12)
			require.InEpsilon(t, float64(idle.ITL.Mean()), float64(w.ITL), 1e-12)
		}
	}
	w, b := s.EvaluateWindow(queueing.Rate(math.Inf(1)), queueing.Seconds(math.Inf(1)), queueing.Backlog{Variance: math.Inf(1)})
	requireNumbers(t, float64(w.TTFT), float64(w.ITL), inside(b), float64(b.Work), b.Variance)

	tight := exampleReplica
	tight.KVCacheTokens = 10
	w, b = station(t, tight, exampleShape).EvaluateWindow(1, 15, queueing.Backlog{Queued: 3})
	require.Equal(t, queueing.Unservable, w.Outcome)
	require.Equal(t, queueing.Backlog{Queued: 3}, b)
	require.True(t, math.IsInf(float64(w.TTFT), 1))
	require.True(t, math.IsInf(float64(w.Quantile(queueing.TTFT, 0.5)), 1))
	require.Zero(t, w.CDF(queueing.TTFT, 1))
}

func TestEvaluateSeries(t *testing.T) {
	s := station(t, exampleReplica, exampleShape)
	windows := make([]queueing.Window, 40)
	for i := range windows {
		windows[i] = queueing.Window{Station: s, Rate: s.SaturationRate() * queueing.Rate(0.5+0.1*float64(i%10)), Length: 15}
	}
	results, end := queueing.EvaluateSeries(nil, windows, queueing.Backlog{})
	var b queueing.Backlog
	for i, w := range windows {
		var p queueing.WindowPerformance
		p, b = w.Station.EvaluateWindow(w.Rate, w.Length, b)
		require.Equal(t, p, results[i])
	}
	require.Equal(t, b, end)

	slo := queueing.SLO{Limits: []queueing.Limit{{Metric: queueing.TTFT, Quantile: 0.95, Value: 1}, {Metric: queueing.ITL, Value: 0.02}}}
	allocs := testing.AllocsPerRun(2, func() {
		results, _ = queueing.EvaluateSeries(results[:0], windows, queueing.Backlog{})
		_, _ = queueing.CapacityOfSeries(windows[:3], queueing.Backlog{}, slo)
	})
	require.Zero(t, allocs)
}

func TestCapacityOfSeries(t *testing.T) {
	s := station(t, exampleReplica, exampleShape)
	series := func(loads ...float64) []queueing.Window {
		var windows []queueing.Window
		for _, l := range loads {
			windows = append(windows, queueing.Window{Station: s, Rate: queueing.Rate(l), Length: 15})
		}
		return windows
	}
	ttft := queueing.Limit{Metric: queueing.TTFT, Value: 1}
	itl := queueing.Limit{Metric: queueing.ITL, Value: 0.014}
	for _, slo := range [][]queueing.Limit{{ttft}, {ttft, itl}, {{Metric: queueing.TTFT, Quantile: 0.95, Value: 2}}, {{Metric: queueing.TokensPerSecond, Value: 60}}} {
		windows := series(10, 20, 40, 35, 5)
		c, err := queueing.CapacityOfSeries(windows, queueing.Backlog{}, queueing.SLO{Limits: slo})
		require.NoError(t, err)
		require.True(t, c.Feasible && c.Bound)
		require.InEpsilon(t, 40*c.Factor, float64(c.PeakRate), 1e-12)
		// It holds there and fails just beyond, in the window and by the limit named.
		at := func(factor float64) float64 {
			scaled := series(10*factor, 20*factor, 40*factor, 35*factor, 5*factor)
			results, _ := queueing.EvaluateSeries(nil, scaled, queueing.Backlog{})
			w := results[c.Window]
			switch {
			case c.Binding.Quantile > 0:
				return float64(w.Quantile(c.Binding.Metric, c.Binding.Quantile)) / c.Binding.Value
			case c.Binding.Metric == queueing.ITL:
				return float64(w.ITL) / c.Binding.Value
			case c.Binding.Metric == queueing.TokensPerSecond:
				return float64(w.ITL) * c.Binding.Value
			}
			return float64(w.TTFT) / c.Binding.Value
		}
		require.InDelta(t, 1, at(c.Factor), 1e-4)
		require.Greater(t, at(c.Factor*1.01), 1.0)
		require.Contains(t, []int{2, 3}, c.Window)
	}

	// A long constant series has the capacity of the steady state.
	want, err := s.Capacity(queueing.SLO{Limits: []queueing.Limit{itl}})
	require.NoError(t, err)
	constant := []queueing.Window{{Station: s, Rate: 1, Length: 1e7}}
	got, err := queueing.CapacityOfSeries(constant, queueing.Backlog{}, queueing.SLO{Limits: []queueing.Limit{itl}})
	require.NoError(t, err)
	require.InEpsilon(t, float64(want.Rate), got.Factor, 1e-3)
}

func TestCapacityOfSeriesEdges(t *testing.T) {
	s := station(t, exampleReplica, exampleShape)
	window := queueing.Window{Station: s, Rate: 2, Length: 15}
	slo := queueing.SLO{Limits: []queueing.Limit{{Metric: queueing.ITL, Value: 0.005}}}

	c, err := queueing.CapacityOfSeries([]queueing.Window{window}, queueing.Backlog{}, queueing.SLO{})
	require.NoError(t, err)
	require.True(t, c.Feasible)
	require.False(t, c.Bound)
	require.InEpsilon(t, 0.999*float64(s.SaturationRate()), float64(c.PeakRate), 1e-9)

	c, err = queueing.CapacityOfSeries([]queueing.Window{{Station: s}, window}, queueing.Backlog{}, slo)
	require.NoError(t, err)
	require.Equal(t, queueing.SeriesCapacity{Bound: true, Binding: slo.Limits[0], Window: 1, Best: c.Best}, c)
	require.InEpsilon(t, float64(s.Evaluate(0).ITL.Mean()), c.Best, 1e-6)

	// What waits at the start may be too much already.
	late := queueing.SLO{Limits: []queueing.Limit{{Metric: queueing.TTFT, Value: 1}}}
	c, err = queueing.CapacityOfSeries([]queueing.Window{window}, s.Backlog(256, 1e5), late)
	require.NoError(t, err)
	require.False(t, c.Feasible)
	require.Greater(t, c.Best, 1000.0)

	c, err = queueing.CapacityOfSeries(nil, queueing.Backlog{}, slo)
	require.NoError(t, err)
	require.True(t, c.Feasible && math.IsInf(c.Factor, 1))

	tight := exampleReplica
	tight.KVCacheTokens = 10
	c, err = queueing.CapacityOfSeries([]queueing.Window{window, {Station: station(t, tight, exampleShape), Rate: 1, Length: 1}}, queueing.Backlog{}, slo)
	require.NoError(t, err)
	require.False(t, c.Feasible)
	require.Equal(t, 1, c.Window)
	require.NotEmpty(t, c.Unservable)

	_, err = queueing.CapacityOfSeries(nil, queueing.Backlog{}, queueing.SLO{Limits: []queueing.Limit{{}}})
	require.ErrorContains(t, err, "slo.limits[0]")
}

// FuzzWindow: whatever is valid input has an answer that conserves requests.
func FuzzWindow(f *testing.F) {
	f.Add(uint8(0), 0.007, 5e-5, 2e-6, uint16(256), int32(-1), 512.0, 256.0, 1.0, 2048.0, 0.9, 15.0, 10.0, 100.0, 3.0, 0.0)
	f.Add(uint8(1), 0.02, 4e-4, 0.0, uint16(4), int32(0), 0.0, 1.0, 0.0, 0.0, 5.0, 1e-3, 0.0, 0.0, 0.0, 1e9)
	f.Add(uint8(8), 0.01, 0.0, 1e-4, uint16(1), int32(7), 4096.0, 1.0, 9.0, 64.0, 1.0, 1e6, 1e9, 1e12, 1e9, 1.0)
	f.Fuzz(func(t *testing.T, kind uint8, alpha, beta, delta float64, batch uint16, places int32,
		in, out, scv, budget, load, length, running, queued, work, variance float64,
	) {
		s, err := queueing.NewStation(queueing.Replica{
			Model:            queueing.ServiceModel(kind % 5),
			PrefillMode:      queueing.PrefillMode(kind / 5 % 2),
			Profile:          queueing.Profile{Alpha: alpha, Beta: beta, Delta: delta},
			MaxBatch:         int(batch % 512),
			MaxQueue:         queueing.Waiting{Limited: places >= 0, Places: int(places)},
			MaxBatchedTokens: queueing.Tokens(budget),
		}, queueing.Shape{
			InputTokens: queueing.Tokens(in), OutputTokens: queueing.Tokens(out),
			InputSCV: scv, OutputSCV: scv, ArrivalSCV: scv,
		})
		if err != nil {
			return
		}
		start := queueing.Backlog{Running: running, Queued: queued, Work: queueing.Seconds(work), Variance: variance}
		w, b := s.EvaluateWindow(queueing.Rate(load)*s.SaturationRate(), queueing.Seconds(length), start)
		requireNumbers(t, b.Running, b.Queued, float64(b.Work), b.Variance, float64(w.Throughput), w.Running, w.Queued,
			float64(w.Wait), float64(w.TTFT), float64(w.ITL), float64(w.E2E))
		for m := queueing.TTFT; m <= queueing.E2E; m++ {
			requireNumbers(t, float64(w.Quantile(m, 0.5)), w.CDF(m, w.TTFT))
			require.LessOrEqual(t, float64(w.Quantile(m, 0.5)), float64(w.Quantile(m, 0.99))*(1+1e-9)+1e-9)
		}
	})
}

func BenchmarkEvaluateWindow(b *testing.B) {
	s := station(b, exampleReplica, exampleShape)
	for _, load := range []float64{0.5, 0.95, 1.3} {
		b.Run(fmt.Sprint(load), func(b *testing.B) {
			b.ReportAllocs()
			start := s.Backlog(100, 0)
			for b.Loop() {
				s.EvaluateWindow(queueing.Rate(load)*s.SaturationRate(), 15, start)
			}
		})
	}
}
