package queueing_test

import (
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
