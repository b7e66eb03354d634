package queueing_test

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/poolwright/poolwright/queueing"
)

// TestBestBatchLimit compares with trying all limits.
func TestBestBatchLimit(t *testing.T) {
	for name, limits := range map[string][]queueing.Limit{
		"none":     nil,
		"ttft":     {{Metric: queueing.TTFT, Value: 0.1}},
		"itl":      {{Metric: queueing.ITL, Value: 0.012}},
		"itl tail": {{Metric: queueing.ITL, Quantile: 0.99, Value: 0.012}},
		"both":     {{Metric: queueing.TTFT, Quantile: 0.95, Value: 2}, {Metric: queueing.ITL, Quantile: 0.95, Value: 0.009}},
		"tokens":   {{Metric: queueing.TokensPerSecond, Value: 110}},
	} {
		slo := queueing.SLO{Limits: limits}
		r := exampleReplica
		r.MaxBatch = 200
		n, best, err := queueing.BestBatchLimit(r, exampleShape, slo)
		require.NoError(t, err, name)
		require.True(t, best.Feasible, name)
		r.MaxBatch = n
		c, err := station(t, r, exampleShape).Capacity(slo)
		require.NoError(t, err)
		require.Equal(t, c, best, name)
		for all := 1; all <= 200; all++ {
			r.MaxBatch = all
			c, err := station(t, r, exampleShape).Capacity(slo)
			require.NoError(t, err)
			require.LessOrEqual(t, float64(c.Rate), float64(best.Rate)*(1+1e-6), "%s: %d beats %d", name, all, n)
		}
	}
}

// TestBestBatchLimitPeaks compares with trying all limits where capacity may rise and
// fall more than once.
func TestBestBatchLimitPeaks(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 64))
	dips := 0
	for range 400 {
		r, shape := randomLoad(random)
		slo := randomSLO(random, station(t, r, shape))
		var best, last, fallen queueing.Rate
		most := r.MaxBatch
		for all := 1; all <= most; all++ {
			r.MaxBatch = all
			c, err := station(t, r, shape).Capacity(slo)
			require.NoError(t, err)
			if fallen > 0 && c.Rate > fallen*(1+1e-4) {
				dips++
				fallen = 0
			}
			if c.Rate < last*(1-1e-4) {
				fallen = c.Rate
			}
			best, last = max(best, c.Rate), c.Rate
		}
		r.MaxBatch = most
		n, got, err := queueing.BestBatchLimit(r, shape, slo)
		require.NoError(t, err)
		require.GreaterOrEqual(t, float64(got.Rate), float64(best)*(1-1e-6), "%d: %+v %+v %v", n, r, shape, slo)
	}
	require.Positive(t, dips)
}

// randomSLO returns limits somewhat above what an idle replica reaches.
func randomSLO(random *rand.Rand, s *queueing.Station) queueing.SLO {
	idle := s.Evaluate(0)
	var slo queueing.SLO
	add := func(m queueing.Metric, of queueing.Latency, quantile, most float64) {
		if random.IntN(3) == 0 || of.Mean() == 0 {
			return
		}
		value := float64(of.Mean()) * (1 + most*random.Float64()*random.Float64())
		slo.Limits = append(slo.Limits, queueing.Limit{Metric: m, Quantile: quantile * float64(random.IntN(2)), Value: value})
	}
	add(queueing.TTFT, idle.TTFT, 0.95, 100)
	add(queueing.ITL, idle.ITL, 0.95, 3)
	add(queueing.E2E, idle.E2E, 0.9, 10)
	return slo
}

// TestBestBatchLimitHelps: where the tail of ITL binds, a smaller batch serves more.
func TestBestBatchLimitHelps(t *testing.T) {
	slo := queueing.SLO{Limits: []queueing.Limit{{Metric: queueing.ITL, Quantile: 0.99, Value: 0.012}}}
	whole, err := station(t, exampleReplica, exampleShape).Capacity(slo)
	require.NoError(t, err)
	n, best, err := queueing.BestBatchLimit(exampleReplica, exampleShape, slo)
	require.NoError(t, err)
	require.Less(t, n, exampleReplica.MaxBatch)
	require.GreaterOrEqual(t, best.Rate, whole.Rate)
}

func TestBestBatchLimitEdges(t *testing.T) {
	impossible := queueing.SLO{Limits: []queueing.Limit{{Metric: queueing.ITL, Value: 1e-6}}}
	n, c, err := queueing.BestBatchLimit(exampleReplica, exampleShape, impossible)
	require.NoError(t, err)
	require.False(t, c.Feasible)
	require.Equal(t, exampleReplica.MaxBatch, n)
	require.Equal(t, impossible.Limits[0], c.Binding)

	one := exampleReplica
	one.MaxBatch = 1
	n, c, err = queueing.BestBatchLimit(one, exampleShape, queueing.SLO{})
	require.NoError(t, err)
	require.Equal(t, 1, n)
	require.True(t, c.Feasible)

	one.MaxBatch = 0
	_, _, err = queueing.BestBatchLimit(one, exampleShape, queueing.SLO{})
	require.ErrorContains(t, err, "maxBatch")
	_, _, err = queueing.BestBatchLimit(exampleReplica, exampleShape, queueing.SLO{Limits: []queueing.Limit{{}}})
	require.ErrorContains(t, err, "limits[0]")
}
