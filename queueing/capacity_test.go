package queueing_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/poolwright/poolwright/queueing"
)

// attained tells how far a limit is met at a rate: at most 1 if it holds.
func attained(p queueing.Performance, l queueing.Limit) float64 {
	latency := map[queueing.Metric]queueing.Latency{
		queueing.TTFT: p.TTFT, queueing.ITL: p.ITL, queueing.E2E: p.E2E, queueing.TokensPerSecond: p.ITL,
	}[l.Metric]
	value := l.Value
	if l.Metric == queueing.TokensPerSecond {
		value = 1 / value
	}
	if l.Quantile == 0 {
		return float64(latency.Mean()) / value
	}
	kept := (1 - p.BlockedShare) * latency.CDF(queueing.Seconds(value))
	return (1 - kept) / (1 - l.Quantile)
}

func randomLimits(r *rand.Rand) []queueing.Limit {
	all := []queueing.Limit{
		{Metric: queueing.TTFT, Value: 0.5},
		{Metric: queueing.ITL, Value: 0.03},
		{Metric: queueing.E2E, Value: 10},
		{Metric: queueing.TokensPerSecond, Value: 40},
	}
	var limits []queueing.Limit
	for _, l := range all {
		if r.IntN(2) == 0 {
			continue
		}
		l.Quantile = []float64{0, 0.5, 0.95, 0.99}[r.IntN(4)]
		l.Value *= math.Exp(r.NormFloat64())
		limits = append(limits, l)
	}
	return limits
}

// TestCapacityIsTight: at the rate every limit holds, and just above it the one
// that binds fails.
func TestCapacityIsTight(t *testing.T) {
	r := rand.New(rand.NewPCG(13, 14))
	var bound, free, infeasible int
	for range 3000 {
		replica, shape := randomReplica(r)
		replica.Model = queueing.ContinuousBatching
		s := station(t, replica, shape)
		limits := randomLimits(r)
		c := capacity(t, s, limits...)
		require.Equal(t, s.SaturationRate(), c.SaturationRate)
		switch {
		case !c.Feasible && c.Unservable == "":
			infeasible++
			require.True(t, c.Bound)
			require.Zero(t, c.Rate)
			require.Greater(t, attained(s.Evaluate(0), c.Binding), 1.0)
			best := c.Binding.Value / c.Best
			if c.Binding.Metric == queueing.TokensPerSecond {
				best = 1 / best
			}
			require.Less(t, best, 1.0)
		case c.Bound:
			bound++
			for _, l := range limits {
				require.LessOrEqual(t, attained(s.Evaluate(c.Rate), l), 1+1e-9, "%v", l)
			}
			require.Contains(t, limits, c.Binding)
			require.Greater(t, attained(s.Evaluate(c.Rate*(1+1e-6)), c.Binding), 1.0)
			require.Equal(t, s.Evaluate(c.Rate).Throughput, c.Served)
		case c.Feasible:
			free++
			require.InEpsilon(t, 0.999*float64(c.SaturationRate), float64(c.Rate), 1e-12)
			require.Equal(t, queueing.Steady, s.Evaluate(c.Rate).Outcome)
		}
	}
	require.Greater(t, bound, 300)
	require.Greater(t, free, 100)
	require.Greater(t, infeasible, 300)
}

// TestCapacityOfLimitsTogether: together limits hold up to where the first of them fails alone.
func TestCapacityOfLimitsTogether(t *testing.T) {
	r := rand.New(rand.NewPCG(15, 16))
	binding := map[int]int{}
	for range 3000 {
		replica, shape := randomReplica(r)
		s := station(t, replica, shape)
		limits := append(randomLimits(r), randomLimits(r)...)
		for i := range limits {
			limits[i].Quantile = 0 // which may dip
		}
		together := capacity(t, s, limits...)
		if together.Unservable != "" || len(limits) == 0 {
			continue
		}
		alone := queueing.Capacity{Rate: queueing.Rate(math.Inf(1))}
		for _, l := range limits {
			if c := capacity(t, s, l); c.Rate < alone.Rate {
				alone = c
			}
		}
		require.Equal(t, alone.Feasible, together.Feasible)
		require.Equal(t, alone.Bound, together.Bound)
		require.InDelta(t, 1, float64(together.Rate+1e-300)/float64(alone.Rate+1e-300), 1e-9, "%v: %v, %v", limits, together, alone)
		if together.Feasible && together.Bound {
			require.Equal(t, alone.Binding, together.Binding)
			binding[slices.Index(limits, together.Binding)]++
		}
	}
	require.Greater(t, len(binding), 4, "binding: %v", binding)
}

// TestCapacityBlocked: a blocked request misses a percentile. With no waiting
// place nobody is slow, so that the blocked share alone decides.
func TestCapacityBlocked(t *testing.T) {
	s := station(t, queueing.Replica{
		Profile: queueing.Profile{Alpha: 0.01}, MaxBatch: 16, MaxQueue: limited(0),
	}, poisson(0, 100))
	c := capacity(t, s, queueing.Limit{Metric: queueing.TTFT, Quantile: 0.95, Value: 10})
	require.True(t, c.Bound)
	p := s.Evaluate(c.Rate)
	require.InEpsilon(t, 0.05, p.BlockedShare, 1e-9)
	require.InEpsilon(t, 0.95*float64(c.Rate), float64(c.Served), 1e-9)
	require.Equal(t, queueing.Seconds(0), p.Wait.Quantile(0.999))

	mean := capacity(t, s, queueing.Limit{Metric: queueing.TTFT, Value: 10})
	require.False(t, mean.Bound, "a mean is over accepted requests")
}

func TestCapacityTokensPerSecond(t *testing.T) {
	s := station(t, queueing.Replica{
		Profile: queueing.Profile{Alpha: 0.01, Beta: 0.001}, MaxBatch: 64,
	}, poisson(0, 100))
	c := capacity(t, s, queueing.Limit{Metric: queueing.TokensPerSecond, Value: 40})
	require.InEpsilon(t, 0.025, float64(s.Evaluate(c.Rate).ITL.Mean()), 1e-9)
	tight := capacity(t, s, queueing.Limit{Metric: queueing.TokensPerSecond, Value: 100})
	require.False(t, tight.Feasible)
	require.InEpsilon(t, 1/0.011, tight.Best, 1e-12)

	family := station(t, queueing.Replica{
		Model: queueing.LLMDV1, Profile: queueing.Profile{Alpha: 0.01, Beta: 0.001}, MaxBatch: 64,
	}, poisson(0, 100))
	for _, value := range []float64{1, 40, 1e6} {
		c := capacity(t, family, queueing.Limit{Metric: queueing.TokensPerSecond, Value: value})
		require.InEpsilon(t, 0.9*0.999*float64(c.SaturationRate), float64(c.Rate), 1e-12)
	}
}

// TestCapacityFlat: a latency that does not depend on load and equals its limit
// holds it at every load.
func TestCapacityFlat(t *testing.T) {
	for model := queueing.ContinuousBatching; model <= queueing.LLMDV3; model++ {
		s := station(t, queueing.Replica{
			Model: model, Profile: queueing.Profile{Alpha: 0.007}, MaxBatch: 16, MaxQueue: limited(160),
		}, queueing.Shape{OutputTokens: 128})
		c := capacity(t, s, queueing.Limit{Metric: queueing.ITL, Value: 0.007})
		require.True(t, c.Feasible, "model %d", model)
		require.False(t, c.Bound)
	}
}

func TestCapacityNamesEveryMistake(t *testing.T) {
	s := station(t, queueing.Replica{Profile: queueing.Profile{Alpha: 0.01}, MaxBatch: 1}, poisson(0, 100))
	_, err := s.Capacity(queueing.SLO{Limits: []queueing.Limit{
		{Metric: 7, Value: 1},
		{Metric: queueing.TTFT, Quantile: 1, Value: 1},
		{Metric: queueing.ITL, Quantile: math.NaN(), Value: -3},
		{Metric: queueing.E2E, Value: math.Inf(1)},
	}})
	require.EqualError(t, err, `queueing: slo.limits[0]: metric 7 is none
queueing: slo.limits[1]: quantile 1 is not in [0, 1)
queueing: slo.limits[2]: quantile NaN is not in [0, 1)
queueing: slo.limits[2]: limit -3 is not positive and finite
queueing: slo.limits[3]: limit +Inf is not positive and finite`)
}

// TestCapacityOfManyLimits: the last one counts as the first, and there is an end.
func TestCapacityOfManyLimits(t *testing.T) {
	s := station(t, queueing.Replica{
		Profile: queueing.Profile{Alpha: 0.01, Beta: 0.001}, MaxBatch: 64,
	}, poisson(0, 100))
	loose := queueing.Limit{Metric: queueing.ITL, Value: 0.03}
	limits := slices.Repeat([]queueing.Limit{loose}, 64)
	limits[63].Value = 0.02
	c := capacity(t, s, limits...)
	require.Equal(t, limits[63], c.Binding)
	require.Equal(t, capacity(t, s, limits[63]).Rate, c.Rate)

	_, err := s.Capacity(queueing.SLO{Limits: slices.Repeat([]queueing.Limit{loose}, 65)})
	require.EqualError(t, err, "queueing: slo.limits: 65 of them, want at most 64")
}

func TestLimitString(t *testing.T) {
	for want, l := range map[string]queueing.Limit{
		"ttft.mean":           {Metric: queueing.TTFT},
		"ttft.p95":            {Metric: queueing.TTFT, Quantile: 0.95},
		"ttft.p99.9":          {Metric: queueing.TTFT, Quantile: 0.999},
		"itl.p50":             {Metric: queueing.ITL, Quantile: 0.5},
		"e2e.p29":             {Metric: queueing.E2E, Quantile: 0.29},
		"tokensPerSecond":     {Metric: queueing.TokensPerSecond},
		"tokensPerSecond.p95": {Metric: queueing.TokensPerSecond, Quantile: 0.95},
		"Metric(9).mean":      {Metric: 9},
	} {
		require.Equal(t, want, l.String())
	}
}

func TestOutcomeString(t *testing.T) {
	for o, want := range []string{"steady", "saturated", "unservable", "Outcome(3)"} {
		require.Equal(t, want, queueing.Outcome(o).String())
	}
}

func TestDuration(t *testing.T) {
	require.Equal(t, 1500*time.Microsecond, queueing.Seconds(0.0015).Duration())
}
