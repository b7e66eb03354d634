package queueing_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/poolwright/poolwright/queueing"
)

// FuzzStation: whatever is valid input has an answer, without panic or NaN.
func FuzzStation(f *testing.F) {
	f.Add(uint8(0), 0.007, 5e-5, 0.004, 2e-6, 0.0, 0.0, 0.0, uint16(256), int32(-1), 512.0, 256.0, 1.0, 1.0, 1.0, 0.0, 0.0, 0.5, 0.95, 0.2)
	f.Add(uint8(1), 0.02, 4e-4, 0.0, 0.0, 0.0, 0.0, 0.0, uint16(4), int32(0), 0.0, 178.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.5, 0.0, 0.5)
	f.Add(uint8(4), 0.008, 3.3e-5, 3.3e-7, 0.0, 0.0, 0.0, 0.0, uint16(1), int32(128), 256.0, 1024.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.99, 0.5, 1.0)
	f.Add(uint8(8), 0.01, 0.0, 0.0, 1e-4, 1e-8, 1e-3, 1e-9, uint16(64), int32(7), 4096.0, 1.0, 9.0, 0.1, 40.0, 2048.0, 1e5, 0.9, 0.999, 3.0)
	f.Fuzz(func(t *testing.T, kind uint8, alpha, beta, gamma, delta, kappa, sigma, epsilon float64, batch uint16, places int32,
		in, out, inSCV, outSCV, arrivalSCV, budget, kvCache, load, quantile, limit float64,
	) {
		r := queueing.Replica{
			Model:            queueing.ServiceModel(kind % 5),
			PrefillMode:      queueing.PrefillMode(kind / 5 % 2),
			Profile:          queueing.Profile{Alpha: alpha, Beta: beta, Gamma: gamma, Delta: delta, Kappa: kappa, Sigma: sigma, Epsilon: epsilon},
			MaxBatch:         int(batch % 2048),
			MaxQueue:         queueing.Waiting{Limited: places >= 0, Places: int(places)},
			KVCacheTokens:    queueing.Tokens(kvCache),
			MaxBatchedTokens: queueing.Tokens(budget),
		}
		shape := queueing.Shape{
			InputTokens: queueing.Tokens(in), OutputTokens: queueing.Tokens(out),
			InputSCV: inSCV, OutputSCV: outSCV, ArrivalSCV: arrivalSCV,
		}
		s, err := queueing.NewStation(r, shape)
		if err != nil {
			return
		}
		p := s.Evaluate(queueing.Rate(load) * s.SaturationRate())
		requireSane(t, p)
		for _, l := range []queueing.Latency{p.Wait, p.TTFT, p.ITL, p.E2E} {
			requireDistribution(t, l)
		}
		// Beside a replica with less load, as another variant may have.
		less := s.Evaluate(queueing.Rate(load*load/4) * s.SaturationRate())
		for _, pair := range [][2]queueing.Latency{{p.TTFT, less.TTFT}, {p.ITL, less.ITL}, {p.E2E, less.E2E}} {
			var m queueing.Mixture
			m.Add(pair[0], 0.3)
			m.Add(pair[1], 0.7)
			requireMixture(t, &m)
		}
		for m := queueing.TTFT; m <= queueing.TokensPerSecond; m++ {
			c, err := s.Capacity(queueing.SLO{Limits: []queueing.Limit{{Metric: m, Quantile: quantile, Value: limit}}})
			if err != nil {
				return
			}
			requireNumbers(t, float64(c.Rate), float64(c.Served), c.Best)
			require.Equal(t, c.Feasible, c.Rate > 0)
			require.LessOrEqual(t, c.Rate, s.SaturationRate())
		}
	})
}

// requireNumbers wants numbers that are neither negative nor NaN.
func requireNumbers(t *testing.T, values ...float64) {
	t.Helper()
	for _, v := range values {
		require.False(t, math.IsNaN(v) || v < 0, "%v", values)
	}
}

func requireSane(t *testing.T, p queueing.Performance) {
	t.Helper()
	requireNumbers(t, float64(p.Throughput), float64(p.SaturationRate), p.BlockedShare, p.Utilization, p.Running,
		p.Queued, p.EmptyProbability, float64(p.Service), float64(p.Prefill))
	for _, share := range []float64{p.BlockedShare, p.Utilization, p.EmptyProbability} {
		require.LessOrEqual(t, share, 1+1e-9)
	}
}

// noTime is no time at all: its powers are below all numbers.
const noTime queueing.Seconds = 1e-100

// requireDistribution wants rising quantiles that the distribution function agrees
// with.
func requireDistribution(t *testing.T, l queueing.Latency) {
	t.Helper()
	requireNumbers(t, float64(l.Mean()))
	if l.Mean() < noTime {
		return
	}
	last := queueing.Seconds(0)
	for _, q := range []float64{0, 0.01, 0.5, 0.9, 0.999} {
		quantile := l.Quantile(q)
		requireNumbers(t, float64(quantile))
		require.GreaterOrEqual(t, float64(quantile), float64(last)*(1-1e-9))
		above := queueing.Seconds(math.Nextafter(float64(quantile), math.Inf(1))) // as it is rounded
		require.GreaterOrEqual(t, l.CDF(above), q-1e-6)
		if quantile > l.Quantile(0) && !math.IsInf(float64(quantile), 1) {
			beneath := quantile*(1-1e-6) - 1e-9*l.Mean()
			require.LessOrEqual(t, l.CDF(beneath), q+1e-6)
		}
		last = quantile
	}
}

// requireMixture wants rising quantiles that keep what they should, but for what [queueing.Latency] is off at jumps.
func requireMixture(t *testing.T, m *queueing.Mixture) {
	t.Helper()
	requireNumbers(t, float64(m.Mean()))
	last := queueing.Seconds(0)
	for _, q := range []float64{0, 0.01, 0.5, 0.9, 0.999} {
		quantile := m.Quantile(q)
		requireNumbers(t, float64(quantile))
		require.GreaterOrEqual(t, float64(quantile*(1+1e-5)+noTime), float64(last))
		last = quantile
		if !math.IsInf(float64(quantile), 1) {
			require.GreaterOrEqual(t, m.CDF(quantile*(1+1e-5)+noTime), q-1e-5, "%g", q)
		}
	}
}
