package queueing_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/poolwright/poolwright/queueing"
)

// extremes are numbers next to none, or to the most that is valid.
var extremes = []float64{0, math.SmallestNonzeroFloat64, 1e-300, 1e-200, 1e-100, 1e-30, 1e-12, 1e3, 1e6, 1e9}

// Whatever is valid has numbers for answers, soon.
func TestExtremeNumbers(t *testing.T) {
	stations, tandems, seed := 0, 0, uint64(0)
	t.Cleanup(func() { t.Log("last seed", seed) })
	for ; seed < 40_000; seed++ {
		r := rand.New(rand.NewPCG(seed, 14))
		number := func(typical float64) float64 {
			if r.IntN(5) < 2 {
				return extremes[r.IntN(len(extremes))]
			}
			return typical * math.Exp(r.NormFloat64())
		}
		replica := queueing.Replica{
			Model: queueing.ServiceModel(r.IntN(5)), PrefillMode: queueing.PrefillMode(r.IntN(2)),
			Profile: queueing.Profile{
				Alpha: number(0.01), Beta: number(5e-5), Gamma: number(0.004), Delta: number(2e-6),
				Kappa: number(1e-8), Sigma: number(1e-4), Epsilon: number(1e-9), TTFTOffset: number(0.01),
			},
			MaxBatch: 1 + r.IntN(300), MaxQueue: queueing.Waiting{Limited: r.IntN(2) == 0, Places: r.IntN(200)},
			KVCacheTokens: queueing.Tokens(number(1e5)), MaxBatchedTokens: queueing.Tokens(number(2048)),
		}
		shape := queueing.Shape{
			InputTokens: queueing.Tokens(number(500)), OutputTokens: 1 + queueing.Tokens(number(200)),
			InputSCV: number(1), OutputSCV: number(1), ArrivalSCV: number(1),
		}
		slo := queueing.SLO{}
		for m := queueing.TTFT; m <= queueing.TokensPerSecond; m++ {
			slo.Limits = append(slo.Limits, queueing.Limit{Metric: m, Quantile: []float64{0, 0.5, 0.99}[r.IntN(3)], Value: number(0.3)})
		}
		slo.Limits = slo.Limits[:r.IntN(len(slo.Limits)+1)]
		load := queueing.Rate(1.2 * r.Float64())
		if s, err := queueing.NewStation(replica, shape); err == nil {
			stations++
			p := s.Evaluate(load * s.SaturationRate())
			requireSane(t, p)
			requireLatencies(t, p.Wait, p.TTFT, p.ITL, p.E2E)
			if c, err := s.Capacity(slo); err == nil {
				requireNumbers(t, float64(c.Rate), float64(c.Served), float64(c.SaturationRate), c.Best)
				require.LessOrEqual(t, float64(c.Served), float64(c.Rate)*(1+1e-9))
			}
		}
		replica.Model = queueing.ContinuousBatching
		deployment := queueing.Disaggregated{
			Prefill: replica, Decode: replica, PrefillReplicas: 1 + r.IntN(4), DecodeReplicas: 1 + r.IntN(4),
			Transfer: queueing.Transfer{Base: queueing.Seconds(number(0.01)), PerToken: queueing.Seconds(number(1e-6))},
		}
		if s, err := queueing.NewTandem(deployment, shape); err == nil {
			tandems++
			p := s.Evaluate(load * s.SaturationRate())
			requireSane(t, p.Prefill)
			requireSane(t, p.Decode)
			requireLatencies(t, p.TTFT, p.ITL, p.E2E)
			if c, err := s.Capacity(slo); err == nil {
				requireNumbers(t, float64(c.Rate), float64(c.PrefillRate), float64(c.DecodeRate), c.Best, c.Ratio)
			}
		}
	}
	require.Greater(t, stations, 10_000)
	require.Greater(t, tandems, 5000)
}

// Where neither prompts nor an iteration take any time, long prompts do not wait for the token budget.
func TestPromptsThatTakeNoTime(t *testing.T) {
	r := queueing.Replica{Profile: queueing.Profile{Beta: 5e-5, TTFTOffset: 0.02}, MaxBatch: 64, MaxBatchedTokens: 900}
	p := station(t, r, poisson(1000, 200)).Evaluate(0)
	require.InDelta(t, 0.02, float64(p.TTFT.Mean()), 1e-3)
	requireLatencies(t, p.ITL, p.E2E)
}

func requireLatencies(t *testing.T, latencies ...queueing.Latency) {
	t.Helper()
	for _, l := range latencies {
		requireNumbers(t, float64(l.Mean()), float64(l.Quantile(0.5)), float64(l.Quantile(0.99)))
	}
}
