package trace_test

import (
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/stat"

	"github.com/poolwright/poolwright/simulation/trace"
)

func place(t *testing.T, s trace.Source, p trace.Placement) trace.Source {
	t.Helper()
	placed, err := trace.Place(s, p)
	require.NoError(t, err)
	return placed
}

func times(requests []trace.Request) (at []float64) {
	for _, r := range requests {
		at = append(at, r.At)
	}
	return at
}

func TestPlace(t *testing.T) {
	list := trace.List{{At: 0}, {At: 10}, {At: 15}, {At: 20}, {At: 30}}
	for _, test := range []struct {
		placement trace.Placement
		want      []float64
		end       float64
	}{
		{trace.Placement{}, []float64{0, 10, 15, 20, 30}, 30},
		{trace.Placement{From: 10, To: 20}, []float64{0, 5}, 10},
		{trace.Placement{From: 10, To: 20, Stretch: 3, At: 100}, []float64{100, 115}, 130},
		{trace.Placement{From: 12, Stretch: 0.5}, []float64{1.5, 4, 9}, 9},
		{trace.Placement{From: 40, At: 7}, nil, 7},
	} {
		s := place(t, list, test.placement)
		assert.Equal(t, test.want, times(all(t, s, 1)))
		assert.InDelta(t, test.end, trace.End([]trace.Workload{{Source: s}}), 0)
		rates, err := trace.Rates(trace.Workload{Source: s}, 1, 50, 4)
		require.NoError(t, err)
		want := countWindows(all(t, s, 1), 50, 4)
		for i, rate := range rates {
			assert.InDelta(t, want[i], rate*50, 1e-9)
		}
	}
	_, err := trace.Place(list, trace.Placement{From: 5, To: 5, Stretch: -1, At: math.Inf(1)})
	assert.EqualError(t, err, "trace: cut from 5 s to 5 s: nothing remains\ntrace: stretch -1 is not positive\ntrace: start +Inf s is not finite and ≥ 0")
}

// A source that is cut into pieces and put together again is as it was, also where chance
// is in it.
func TestPiecesMakeTheWhole(t *testing.T) {
	whole := trace.List(until(t, generate(t, poisson(trace.Constant(5))), 1, 100))
	var pieces []trace.Source
	for _, cut := range [][2]float64{{60, 100}, {0, 7}, {7, 60}} {
		pieces = append(pieces, place(t, whole, trace.Placement{From: cut[0], To: cut[1], At: cut[0]}))
	}
	sum := trace.Sum(pieces...)
	got := all(t, sum, 1)
	require.Len(t, got, len(whole))
	for i := range got {
		require.InDelta(t, whole[i].At, got[i].At, 1e-9)
		require.Equal(t, whole[i].Input, got[i].Input)
	}
	want, err := trace.Rates(trace.Workload{Source: whole}, 1, 9, 12)
	require.NoError(t, err)
	rates, err := trace.Rates(trace.Workload{Source: sum}, 1, 9, 12)
	require.NoError(t, err)
	assert.InDeltaSlice(t, want, rates, 1e-9)
}

// Parts of a sum draw from streams of their own, and their requests come in order.
func TestSum(t *testing.T) {
	g := generate(t, poisson(trace.Constant(5).Until(100)))
	one, two := all(t, trace.Sum(g), 1), all(t, trace.Sum(g, g), 1)
	assert.Equal(t, all(t, g, 1), one)
	assert.InDelta(t, 1000, len(two), 4*math.Sqrt(1000))
	seen := map[float64]bool{}
	for _, at := range times(two) {
		require.False(t, seen[at], "both parts are the same")
		seen[at] = true
	}
	assert.Empty(t, all(t, trace.Sum(), 1))
}

// scene is a trace whose rate and lengths change from window to window.
func scene(t *testing.T) trace.List {
	t.Helper()
	g := poisson(curve(t, trace.Steps, trace.Point{At: 0, Rate: 40}, trace.Point{At: 60, Rate: 0}, trace.Point{At: 120, Rate: 160}))
	requests := until(t, generate(t, g), 7, 175)
	for i := range requests {
		requests[i].Input = 1 + int(requests[i].At/60)
	}
	return requests
}

// Each window of a resampled trace has the rate of the source's times the factor, as Poisson
// arrivals do, and the lengths of its own.
func TestResample(t *testing.T) {
	source := scene(t)
	s, err := trace.Resample(source, 25, 60)
	require.NoError(t, err)
	requests := all(t, s, 1)
	counts, before := countWindows(requests, 60, 3), countWindows(source, 60, 3)
	for i := range counts {
		near(t, 25*before[i], counts[i], math.Sqrt(25*before[i]), "requests of a window")
	}
	for _, r := range requests {
		require.Equal(t, 1+int(r.At/60), r.Input)
	}
	// The last window is as long as the trace: rates stay up to its end.
	assert.Greater(t, requests[len(requests)-1].At, 174.0)
	rates, err := trace.Rates(trace.Workload{Source: s}, 1, 30, 6)
	require.NoError(t, err)
	assert.InDelta(t, 25*before[0]/60, rates[0], 1e-9)
	assert.InDelta(t, rates[0], rates[1], 1e-9)
	assert.Zero(t, rates[2])
	assert.InDelta(t, 25*before[2], (rates[4]+rates[5])*30, 1e-6)
	// Within a window arrivals are Poisson: the index of dispersion of n counts deviates by √(2/n).
	within := countWindows(requests, 0.05, 1200)
	mean, variance := stat.MeanVariance(within, nil)
	near(t, 1, variance/mean, math.Sqrt(2.0/1200), "index of dispersion")
	assert.NotEqual(t, requests, all(t, s, 2))
}

func TestResampleOfOneRequest(t *testing.T) {
	s, err := trace.Resample(trace.List{{At: 120, Input: 3}}, 1000, 60)
	require.NoError(t, err)
	requests := all(t, s, 1)
	assert.InDelta(t, 1000, len(requests), 4*math.Sqrt(1000))
	assert.GreaterOrEqual(t, requests[0].At, 120.0)
	assert.Less(t, requests[len(requests)-1].At, 180.0)
}

// A replicated trace has every request of the source, and others like it soon after.
func TestReplicate(t *testing.T) {
	source := scene(t)
	for _, jitter := range []float64{0, 0.5, 30} {
		s, err := trace.Replicate(source, 3.5, jitter)
		require.NoError(t, err)
		requests := all(t, s, 1)
		n := float64(len(source))
		near(t, 3.5*n, float64(len(requests)), math.Sqrt(n)/2, "requests")
		left := slices.Clone(source)
		for _, r := range requests {
			if i := slices.Index(times(left[:min(1, len(left))]), r.At); i == 0 {
				left = left[1:]
			}
			require.LessOrEqual(t, math.Abs(float64(r.Input)-(1+r.At/60)), 1+jitter/60)
		}
		assert.Empty(t, left, "every request of the source is there, in order")
		rates, err := trace.Rates(trace.Workload{Source: s}, 1, 30, 8)
		require.NoError(t, err)
		counts := countWindows(requests, 30, 8)
		for i := range rates {
			near(t, rates[i]*30, counts[i], math.Sqrt(rates[i]*30)+1e-9, "rate")
		}
	}
	same, err := trace.Replicate(source, 1, 9)
	require.NoError(t, err)
	assert.Equal(t, []trace.Request(source), all(t, same, 1))
}

func TestScaleMistakes(t *testing.T) {
	_, err := trace.Resample(trace.List{}, 0, math.Inf(1))
	require.EqualError(t, err, "trace: resample: factor 0 is not positive\ntrace: resample: window +Inf s is not positive")
	_, err = trace.Replicate(trace.List{}, 0.5, -1)
	assert.EqualError(t, err, "trace: replicate: factor 0.5 is not in [1, 1000000]\ntrace: replicate: jitter -1 s is not finite and ≥ 0")
}
