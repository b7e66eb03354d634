package queueing_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/poolwright/poolwright/queueing"
)

// TestQuantileInvertsCDF for the latencies of all models.
func TestQuantileInvertsCDF(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 10))
	for range 400 {
		replica, shape := randomReplica(r)
		s := station(t, replica, shape)
		p := s.Evaluate(s.SaturationRate() * queueing.Rate(r.Float64()))
		for _, l := range []queueing.Latency{p.Wait, p.TTFT, p.ITL, p.E2E} {
			requireDistribution(t, l)
		}
	}
}

// TestLatencyMean integrates the distribution functions.
func TestLatencyMean(t *testing.T) {
	r := rand.New(rand.NewPCG(11, 12))
	for range 30 {
		replica, shape := randomReplica(r)
		s := station(t, replica, shape)
		p := s.Evaluate(s.SaturationRate() * queueing.Rate(0.3+0.69*r.Float64()))
		for _, l := range []queueing.Latency{p.Wait, p.TTFT, p.E2E} {
			end := l.Quantile(1 - 1e-9)
			if l.CDF(0) > 1-1e-4 {
				// The cut at end would be a good part of the mean.
				continue
			}
			// Steps grow with the latency, for what happens at its lower end.
			const steps = 20_000
			at := func(i float64) queueing.Seconds { return end * queueing.Seconds(math.Pow(i/steps, 3)) }
			mean := queueing.Seconds(0)
			for i := range steps {
				i := float64(i)
				mean += (at(i+1) - at(i)) * queueing.Seconds(1-l.CDF(at(i+0.5)))
			}
			require.InEpsilon(t, float64(l.Mean()), float64(mean), 1e-3, "%+v", l)
		}
	}
}

func TestLatencyEnds(t *testing.T) {
	var zero queueing.Latency
	require.Zero(t, zero.Mean())
	require.Zero(t, zero.Quantile(0.99))
	require.Zero(t, zero.Quantile(1))
	require.Equal(t, 1.0, zero.CDF(0))
	require.Zero(t, zero.CDF(-1))

	s := station(t, queueing.Replica{Profile: queueing.Profile{Alpha: 0.01}, MaxBatch: 2}, poisson(0, 100))
	ttft := s.Evaluate(1.9).TTFT
	require.InDelta(t, 0.01, float64(ttft.Quantile(0)), 1e-12)
	require.True(t, math.IsInf(float64(ttft.Quantile(1)), 1))
	require.True(t, math.IsInf(float64(ttft.Quantile(math.NaN())), 1))
	require.Equal(t, 1.0, ttft.CDF(queueing.Seconds(math.Inf(1))))
}

func TestMixture(t *testing.T) {
	s := station(t, queueing.Replica{Profile: queueing.Profile{Alpha: 0.01}, MaxBatch: 4}, poisson(0, 100))
	light, heavy := s.Evaluate(1).TTFT, s.Evaluate(3.8).TTFT
	saturated := s.Evaluate(4).TTFT

	var m queueing.Mixture
	require.Zero(t, m.Mean())
	require.Zero(t, m.Quantile(0.5))
	m.Add(heavy, 2)
	require.Equal(t, heavy.Quantile(0.9), m.Quantile(0.9))

	m.Add(light, 6)
	for _, ignored := range []float64{0, -1, math.NaN(), math.Inf(1)} {
		m.Add(saturated, ignored)
	}
	require.InEpsilon(t, 0.25*float64(heavy.Mean())+0.75*float64(light.Mean()), float64(m.Mean()), 1e-12)
	for _, q := range []float64{0.01, 0.5, 0.9, 0.999} {
		at := m.Quantile(q)
		require.InDelta(t, q, 0.25*heavy.CDF(at)+0.75*light.CDF(at), 1e-9)
		require.LessOrEqual(t, at, heavy.Quantile(q))
		require.GreaterOrEqual(t, at, light.Quantile(q))
	}
	require.True(t, math.IsInf(float64(m.Quantile(1)), 1))

	// A fifth of the requests is never served.
	m.Add(saturated, 2)
	require.InDelta(t, 0.5, m.CDF(m.Quantile(0.5)), 1e-9)
	require.True(t, math.IsInf(float64(m.Quantile(0.81)), 1))
	require.True(t, math.IsInf(float64(m.Mean()), 1))
}

// TestMixtureOfConstants has jumps instead of a density.
func TestMixtureOfConstants(t *testing.T) {
	constant := func(alpha float64) queueing.Latency {
		s := station(t, queueing.Replica{
			Model: queueing.LLMDV1, Profile: queueing.Profile{Alpha: alpha}, MaxBatch: 1,
		}, queueing.Shape{OutputTokens: 10})
		return s.Evaluate(0).ITL
	}
	var m queueing.Mixture
	m.Add(constant(1), 3)
	m.Add(constant(4), 1)
	for q, want := range map[float64]float64{0: 1, 0.5: 1, 0.74: 1, 0.76: 4, 0.99: 4, 1: 4} {
		require.InEpsilon(t, want, float64(m.Quantile(q)), 1e-12, "q=%v", q)
	}
}
