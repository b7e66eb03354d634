package replica_test

import (
	"iter"
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/poolwright/poolwright/queueing"
	"github.com/poolwright/poolwright/simulation/replica"
)

func generate(t *testing.T, l replica.Load) []replica.Request {
	t.Helper()
	arrivals, err := l.Arrivals()
	require.NoError(t, err)
	return slices.Collect(arrivals)
}

// moments returns mean and squared coefficient of variation.
func moments(values []float64) (mean, scv float64) {
	for _, v := range values {
		mean += v / float64(len(values))
	}
	for _, v := range values {
		scv += (v - mean) * (v - mean) / float64(len(values))
	}
	return mean, scv / (mean * mean)
}

func gaps(requests []replica.Request) []float64 {
	all := make([]float64, len(requests))
	last := 0.0
	for i, r := range requests {
		all[i], last = r.Arrival-last, r.Arrival
	}
	return all
}

func TestArrivalsHaveRateAndVariation(t *testing.T) {
	for _, scv := range []float64{0, 0.25, 1, 4, 16} {
		requests := generate(t, replica.Load{
			Shape:  queueing.Shape{OutputTokens: 1, ArrivalSCV: scv},
			Phases: replica.Constant(20), Requests: 100_000,
		})
		require.Len(t, requests, 100_000)
		mean, got := moments(gaps(requests))
		// Four standard errors of the mean; that of the variation depends on the tail.
		require.InEpsilon(t, 0.05, mean, 4*math.Sqrt(scv/100_000)+1e-9)
		require.InDelta(t, scv, got, 0.15*scv+1e-12)
	}
}

func TestLengthsHaveMeanAndVariation(t *testing.T) {
	for _, d := range []replica.Distribution{replica.Gamma, replica.LogNormal} {
		for _, mean := range []queueing.Tokens{0, 0.4, 1, 1.5, 7, 512.25, 3000} {
			for _, scv := range []float64{0, 0.2, 1, 2} {
				requests := generate(t, replica.Load{
					Shape:   queueing.Shape{InputTokens: mean, InputSCV: scv, OutputTokens: 5, OutputSCV: 1},
					Phases:  replica.Constant(1),
					Lengths: d, Requests: 30_000,
				})
				inputs := make([]float64, len(requests))
				least, shortest := math.Inf(1), math.MaxInt
				for i, r := range requests {
					inputs[i] = float64(r.Input)
					least = min(least, inputs[i])
					shortest = min(shortest, r.Output)
				}
				require.Equal(t, 1, shortest)
				got, variation := moments(inputs)
				require.InDelta(t, float64(mean), got, 0.03*float64(mean), "mean %v, SCV %v", mean, scv)
				if mean >= 1 {
					require.GreaterOrEqual(t, least, 1.0)
				}
				if mean >= 7 {
					require.InDelta(t, scv, variation, 0.1*scv+0.005, "mean %v, SCV %v", mean, scv)
				}
				if mean == 3000 && scv == 0 {
					require.InDelta(t, 0, variation, 1e-12)
				}
			}
		}
	}
}

func TestPrefixHits(t *testing.T) {
	for _, ratio := range []float64{0, 0.3, 1} {
		var cached, input int
		for _, r := range generate(t, replica.Load{
			Shape:  queueing.Shape{InputTokens: 5, InputSCV: 1, OutputTokens: 1, PrefixHitRatio: ratio},
			Phases: replica.Constant(1), Requests: 50_000,
		}) {
			require.LessOrEqual(t, r.Cached, r.Input)
			cached += r.Cached
			input += r.Input
		}
		require.InDelta(t, ratio, float64(cached)/float64(input), 0.01)
	}
}

// TestPhases: constant gaps make the times exact. An arrival due at a rate of 0 waits
// for the next phase with what is left of its gap.
func TestPhases(t *testing.T) {
	requests := generate(t, replica.Load{
		Shape: queueing.Shape{OutputTokens: 1},
		Phases: []replica.Phase{
			{Duration: 1.25, Rate: 2}, {Duration: 10, Rate: 0}, {Duration: 1, Rate: 4}, {Duration: 2, Rate: 0.1},
		},
	})
	var got []float64
	for i, r := range requests {
		require.Equal(t, i, r.ID)
		got = append(got, r.Arrival)
	}
	require.InDeltaSlice(t, []float64{0.5, 1, 11.375, 11.625, 11.875, 12.125}, got, 1e-12)
}

func TestPhasesFollowRates(t *testing.T) {
	counts := map[bool]int{}
	for _, r := range generate(t, replica.Load{
		Shape:  queueing.Shape{OutputTokens: 1, ArrivalSCV: 2},
		Phases: []replica.Phase{{Duration: 1000, Rate: 10}, {Duration: 500, Rate: 100}},
	}) {
		require.Less(t, r.Arrival, 1500.0)
		counts[r.Arrival > 1000]++
	}
	require.InEpsilon(t, 10_000, counts[false], 0.05)
	require.InEpsilon(t, 50_000, counts[true], 0.03)
}

func TestArrivalsEnd(t *testing.T) {
	shape := queueing.Shape{OutputTokens: 1}
	require.Empty(t, generate(t, replica.Load{Shape: shape}))
	require.Empty(t, generate(t, replica.Load{Shape: shape, Phases: replica.Constant(0)}))

	endless, err := replica.Load{Shape: shape, Phases: replica.Constant(1)}.Arrivals()
	require.NoError(t, err)
	next, stop := iter.Pull(endless)
	defer stop()
	for want := range 1000 {
		r, more := next()
		require.True(t, more)
		require.Equal(t, want, r.ID)
	}
}

func TestArrivalsFollowSeed(t *testing.T) {
	l := replica.Load{
		Shape: queueing.Shape{
			InputTokens: 100, OutputTokens: 50, InputSCV: 1, OutputSCV: 1, ArrivalSCV: 1, PrefixHitRatio: 0.5,
		},
		Phases: replica.Constant(3), Requests: 100, Seed: 7,
	}
	first := generate(t, l)
	require.Equal(t, first, generate(t, l))

	other := l
	other.Seed = 8
	require.NotEqual(t, first, generate(t, other))

	// Outputs of another length leave arrivals and prompts as they are.
	longer := l
	longer.Shape.OutputTokens = 500
	for i, r := range generate(t, longer) {
		require.InDelta(t, first[i].Arrival, r.Arrival, 0)
		require.Equal(t, first[i].Input, r.Input)
		require.Equal(t, first[i].Cached, r.Cached)
	}
}

func TestLoadRefuses(t *testing.T) {
	_, err := replica.Load{
		Shape:    queueing.Shape{ArrivalSCV: -1},
		Phases:   []replica.Phase{{Duration: 0, Rate: 1}, {Duration: 1, Rate: queueing.Rate(math.NaN())}},
		Lengths:  7,
		Requests: -1,
	}.Arrivals()
	for _, want := range []string{
		"outputTokens", "arrivalScv", "phases[0].duration", "phases[1].rate", "lengths: 7", "requests: -1",
	} {
		require.ErrorContains(t, err, want)
	}
}
