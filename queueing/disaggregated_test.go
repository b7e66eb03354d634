package queueing_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/poolwright/poolwright/queueing"
)

// exampleDisaggregated is the example replica with prefill taken out of it.
var exampleDisaggregated = queueing.Disaggregated{
	Prefill:         queueing.Replica{Profile: exampleReplica.Profile, MaxBatch: 64, MaxBatchedTokens: 4096},
	Decode:          exampleReplica,
	PrefillReplicas: 1,
	DecodeReplicas:  2,
	Transfer:        queueing.Transfer{Base: 0.005, PerToken: 10e-6},
}

func tandem(t testing.TB, d queueing.Disaggregated, s queueing.Shape) *queueing.Tandem {
	t.Helper()
	pair, err := queueing.NewTandem(d, s)
	require.NoError(t, err)
	return pair
}

// TestTandemParts: TTFT is that of the prefill station and the transfer; one token more
// than the first comes per iteration of the decode station.
func TestTandemParts(t *testing.T) {
	pair := tandem(t, exampleDisaggregated, exampleShape)
	idle := pair.Evaluate(0)
	require.Equal(t, queueing.Steady, idle.Outcome)
	prompt := 6.83e-3 + 512*2.4e-6
	require.InEpsilon(t, prompt+0.005+512*10e-6, float64(idle.TTFT.Mean()), 1e-6)
	require.InEpsilon(t, 6.83e-3+57e-6, float64(idle.ITL.Mean()), 0.03)

	p := pair.Evaluate(40)
	require.InEpsilon(t, 40, float64(p.Throughput), 1e-9)
	require.InEpsilon(t, 40, float64(p.Prefill.Throughput), 1e-9)
	require.InEpsilon(t, 20, float64(p.Decode.Throughput), 1e-9)
	require.Greater(t, p.ITL.Mean(), p.Decode.ITL.Mean())
	require.InEpsilon(t, float64(p.TTFT.Mean()+p.Decode.E2E.Mean()), float64(p.E2E.Mean()), 1e-9)
	for _, l := range []queueing.Latency{p.TTFT, p.ITL, p.E2E} {
		requireDistribution(t, l)
	}
}

// TestTandemWithoutDecoding: requests of one token end with their prefill.
func TestTandemWithoutDecoding(t *testing.T) {
	s := exampleShape
	s.OutputTokens, s.OutputSCV = 1, 0
	pair := tandem(t, exampleDisaggregated, s)
	p := pair.Evaluate(100)
	require.Equal(t, p.TTFT, p.E2E)
	require.Zero(t, p.Decode.Throughput)
	require.Equal(t, p.Prefill.SaturationRate, pair.SaturationRate())
	c, err := pair.Capacity(queueing.SLO{})
	require.NoError(t, err)
	require.Zero(t, c.Ratio)
	require.True(t, math.IsInf(float64(c.DecodeRate), 1))
}

// TestTandemSaturates where the slower of the two stations does.
func TestTandemSaturates(t *testing.T) {
	for _, replicas := range []int{1, 50} {
		d := exampleDisaggregated
		d.DecodeReplicas = replicas
		pair := tandem(t, d, exampleShape)
		below, above := pair.Evaluate(0.99*pair.SaturationRate()), pair.Evaluate(1.5*pair.SaturationRate())
		require.Equal(t, queueing.Steady, below.Outcome)
		require.Equal(t, queueing.Saturated, above.Outcome)
		require.InEpsilon(t, float64(pair.SaturationRate()), float64(above.Throughput), 1e-9)
		require.True(t, math.IsInf(float64(above.E2E.Mean()), 1))
	}
}

// TestTandemBlocks: what no place is left for is not served.
func TestTandemBlocks(t *testing.T) {
	d := exampleDisaggregated
	d.Decode.MaxQueue = queueing.Waiting{Limited: true}
	pair := tandem(t, d, exampleShape)
	p := pair.Evaluate(200)
	require.Equal(t, queueing.Steady, p.Outcome)
	require.InEpsilon(t, 200*(1-p.BlockedShare), float64(p.Throughput), 1e-9)
	require.InEpsilon(t, 2*float64(p.Decode.Throughput), float64(p.Throughput), 1e-9)
	require.Greater(t, p.BlockedShare, 0.3)
}

// TestTandemCapacity: the rate holds the limits, no higher one does, and replicas in the
// ratio of the pair have nothing to spare.
func TestTandemCapacity(t *testing.T) {
	pair := tandem(t, exampleDisaggregated, exampleShape)
	for _, limits := range [][]queueing.Limit{
		nil,
		{{Metric: queueing.TTFT, Value: 0.04}},
		{{Metric: queueing.TTFT, Quantile: 0.99, Value: 0.06}, {Metric: queueing.ITL, Value: 0.012}},
		{{Metric: queueing.TokensPerSecond, Value: 100}},
		{{Metric: queueing.E2E, Quantile: 0.9, Value: 6}},
	} {
		slo := queueing.SLO{Limits: limits}
		c, err := pair.Capacity(slo)
		require.NoError(t, err)
		require.True(t, c.Feasible, "%v", limits)
		if limits == nil {
			require.False(t, c.Bound)
		} else if c.Bound {
			require.Contains(t, limits, c.Binding)
		}
		require.InEpsilon(t, float64(c.PrefillRate/c.DecodeRate), c.Ratio, 1e-12)
		holds := func(rate queueing.Rate) bool {
			p := pair.Evaluate(rate)
			for _, l := range limits {
				of := map[queueing.Metric]queueing.Latency{queueing.TTFT: p.TTFT, queueing.ITL: p.ITL, queueing.E2E: p.E2E, queueing.TokensPerSecond: p.ITL}[l.Metric]
				value := l.Value
				if l.Metric == queueing.TokensPerSecond {
					value = 1 / value
				}
				if l.Quantile == 0 && float64(of.Mean()) > value || l.Quantile > 0 && of.CDF(queueing.Seconds(value)) < l.Quantile {
					return false
				}
			}
			return p.Outcome == queueing.Steady && rate < pair.SaturationRate()*0.9991
		}
		require.True(t, holds(c.Rate*(1-1e-9)), "%v", limits)
		require.False(t, holds(c.Rate*1.001), "%v", limits)

		// A large deployment in the best ratio serves what its prefill replicas do.
		d := exampleDisaggregated
		d.PrefillReplicas, d.DecodeReplicas = 1000, int(math.Ceil(1000*c.Ratio))
		large, err := tandem(t, d, exampleShape).Capacity(slo)
		require.NoError(t, err)
		require.InEpsilon(t, 1000*float64(c.PrefillRate), float64(large.Rate), 0.03, "%v", limits)
	}
}

// TestPairHoldsLimitsWithOtherNumbersOfReplicas: neither more prefill nor more decode replicas break what a pair holds, although fewer requests
// are blocked then.
func TestPairHoldsLimitsWithOtherNumbersOfReplicas(t *testing.T) {
	d := exampleDisaggregated
	d.PrefillReplicas, d.DecodeReplicas = 1, 1
	d.Prefill.MaxQueue = queueing.Waiting{Limited: true, Places: 2}
	d.Decode.MaxQueue = queueing.Waiting{Limited: true, Places: 2}
	pair := tandem(t, d, exampleShape)
	for _, limit := range []queueing.Limit{
		{Metric: queueing.TTFT, Quantile: 0.99, Value: 1e9},
		{Metric: queueing.TTFT, Quantile: 0.95, Value: 0.06},
		{Metric: queueing.ITL, Quantile: 0.95, Value: 0.02},
		{Metric: queueing.E2E, Quantile: 0.9, Value: 8},
		{Metric: queueing.E2E, Value: 3.6},
	} {
		c, err := pair.Capacity(queueing.SLO{Limits: []queueing.Limit{limit}})
		require.NoError(t, err)
		require.True(t, c.Feasible, "%s", limit)
		for _, fewer := range [][2]queueing.Rate{{1, 1}, {0.01, 1}, {1, 0.01}, {0.5, 1}, {1, 0.5}} {
			p := pair.EvaluatePair(c.PrefillRate*fewer[0], c.DecodeRate*fewer[1])
			latency := map[queueing.Metric]queueing.Latency{queueing.TTFT: p.TTFT, queueing.ITL: p.ITL, queueing.E2E: p.E2E}[limit.Metric]
			if limit.Quantile == 0 {
				require.LessOrEqual(t, float64(latency.Mean()), limit.Value*(1+1e-9), "%s: %v", limit, fewer)
				continue
			}
			kept := (1 - p.BlockedShare) * latency.CDF(queueing.Seconds(limit.Value))
			require.GreaterOrEqual(t, kept, limit.Quantile-1e-9, "%s: %v", limit, fewer)
		}
	}
}

func TestTandemEdges(t *testing.T) {
	d := exampleDisaggregated
	d.Prefill.Model = queueing.LLMDV1
	d.DecodeReplicas = 0
	d.Transfer.Base = -1
	_, err := queueing.NewTandem(d, queueing.Shape{})
	for _, field := range []string{"outputTokens", "prefill.serviceModel", "decodeReplicas", "transfer.base"} {
		require.ErrorContains(t, err, field)
	}
	d = exampleDisaggregated
	d.Decode.MaxBatch = -1
	_, err = queueing.NewTandem(d, exampleShape)
	require.ErrorContains(t, err, "decode: queueing: maxBatch")

	d = exampleDisaggregated
	d.Decode.KVCacheTokens = 100
	pair := tandem(t, d, exampleShape)
	require.Equal(t, queueing.Unservable, pair.Evaluate(1).Outcome)
	c, err := pair.Capacity(queueing.SLO{})
	require.NoError(t, err)
	require.False(t, c.Feasible)
	require.NotEmpty(t, c.Unservable)

	pair = tandem(t, exampleDisaggregated, exampleShape)
	require.Equal(t, pair.Evaluate(0), pair.Evaluate(queueing.Rate(math.NaN())))
	never := queueing.Limit{Metric: queueing.TTFT, Value: 1e-3}
	c, err = pair.Capacity(queueing.SLO{Limits: []queueing.Limit{never}})
	require.NoError(t, err)
	require.Equal(t, queueing.TandemCapacity{Bound: true, Binding: never, Best: float64(pair.Evaluate(0).TTFT.Mean())}, c)
	_, err = pair.Capacity(queueing.SLO{Limits: []queueing.Limit{{}}})
	require.ErrorContains(t, err, "limits[0]")
}

// TestTandemUnservable: where a request fits only one of the stations, nothing is
// served and every latency is endless, at any rate.
func TestTandemUnservable(t *testing.T) {
	s := queueing.Shape{InputTokens: 4000, OutputTokens: 2000}
	decode, prefill := exampleDisaggregated, exampleDisaggregated
	decode.Decode.KVCacheTokens = 5000
	prefill.Prefill.KVCacheTokens = 3000
	for name, d := range map[string]queueing.Disaggregated{"decode": decode, "prefill": prefill} {
		pair := tandem(t, d, s)
		for _, rate := range []queueing.Rate{0, 1, 1e3} {
			p := pair.Evaluate(rate)
			require.Equal(t, queueing.Unservable, p.Outcome, name)
			require.Zero(t, p.Throughput, name)
			require.True(t, math.IsInf(float64(p.ITL.Mean()), 1), "%s at %v: ITL %v", name, rate, p.ITL.Mean())
			require.True(t, math.IsInf(float64(p.E2E.Mean()), 1), name)
		}
	}
}

// TestTandemDecodesBehindSaturatedPrefill: a saturated prefill station feeds the decode
// station at its own pace, so tokens keep coming; a saturated decode station has an
// endless wait between the first token and the second.
func TestTandemDecodesBehindSaturatedPrefill(t *testing.T) {
	for _, replicas := range []int{1, 50} {
		d := exampleDisaggregated
		d.DecodeReplicas = replicas
		pair := tandem(t, d, exampleShape)
		p := pair.Evaluate(1.5 * pair.SaturationRate())
		require.Equal(t, queueing.Saturated, p.Outcome)
		require.Equal(t, p.Decode.Outcome == queueing.Saturated, math.IsInf(float64(p.ITL.Mean()), 1))
	}
}

func TestTandemAllocates(t *testing.T) {
	pair := tandem(t, exampleDisaggregated, exampleShape)
	slo := queueing.SLO{Limits: []queueing.Limit{{Metric: queueing.TTFT, Quantile: 0.9, Value: 0.1}, {Metric: queueing.E2E, Value: 5}}}
	require.Zero(t, testing.AllocsPerRun(3, func() {
		pair.Evaluate(40)
		_, _ = pair.Capacity(slo)
	}))
}

// FuzzTandem: whatever is valid input has an answer.
func FuzzTandem(f *testing.F) {
	f.Add(0.007, 5e-5, 2e-6, uint16(256), 512.0, 256.0, 1.0, 2048.0, 10.0, 0.1, uint8(1), uint8(2), 0.95)
	f.Add(0.02, 0.0, 0.0, uint16(1), 0.0, 1.0, 9.0, 0.0, 1e9, 1.0, uint8(3), uint8(1), 0.0)
	f.Fuzz(func(t *testing.T, alpha, beta, delta float64, batch uint16, in, out, scv, budget, rate, limit float64, prefills, decodes uint8, quantile float64) {
		r := queueing.Replica{
			Profile:  queueing.Profile{Alpha: alpha, Beta: beta, Delta: delta},
			MaxBatch: int(batch % 512), MaxBatchedTokens: queueing.Tokens(budget),
		}
		pair, err := queueing.NewTandem(queueing.Disaggregated{
			Prefill: r, Decode: r, PrefillReplicas: int(prefills), DecodeReplicas: int(decodes),
			Transfer: queueing.Transfer{Base: queueing.Seconds(alpha)},
		}, queueing.Shape{
			InputTokens: queueing.Tokens(in), OutputTokens: queueing.Tokens(out), InputSCV: scv, OutputSCV: scv, ArrivalSCV: scv,
		})
		if err != nil {
			return
		}
		p := pair.Evaluate(queueing.Rate(rate))
		requireNumbers(t, float64(p.Throughput), p.BlockedShare, float64(p.TTFT.Mean()), float64(p.ITL.Mean()), float64(p.E2E.Mean()))
		for m := queueing.TTFT; m <= queueing.TokensPerSecond; m++ {
			c, err := pair.Capacity(queueing.SLO{Limits: []queueing.Limit{{Metric: m, Quantile: quantile, Value: limit}}})
			if err != nil {
				return
			}
			requireNumbers(t, float64(c.Rate), float64(c.PrefillRate), float64(c.DecodeRate), c.Ratio, c.Best)
			require.Equal(t, c.Feasible, c.Rate > 0)
		}
	})
}

// A limit at the best value that there is holds at rates that rounding hardly tells from
// none.
func TestTandemAtTheEdge(t *testing.T) {
	for _, shape := range []queueing.Shape{exampleShape, {InputTokens: 300, OutputTokens: 7, InputSCV: 2, OutputSCV: 0.5, ArrivalSCV: 3}} {
		pair := tandem(t, exampleDisaggregated, shape)
		for m := queueing.TTFT; m <= queueing.E2E; m++ {
			for _, quantile := range []float64{0, 0.5, 0.95} {
				limit := queueing.Limit{Metric: m, Quantile: quantile, Value: 1e-9}
				c, err := pair.Capacity(queueing.SLO{Limits: []queueing.Limit{limit}})
				require.NoError(t, err)
				require.False(t, c.Feasible)
				for exponent := -52; exponent < -20; exponent++ {
					for _, step := range []float64{-1.9, -1.4, -1, 0, 1, 1.3, 1.6} {
						limit.Value = c.Best * (1 + math.Ldexp(step, exponent))
						c, err := pair.Capacity(queueing.SLO{Limits: []queueing.Limit{limit}})
						require.NoError(t, err)
						requireNumbers(t, float64(c.Rate), float64(c.PrefillRate), float64(c.DecodeRate), c.Ratio, c.Best)
						require.Equal(t, c.Feasible, c.Rate > 0)
						require.Equal(t, c.Feasible, c.Ratio > 0)
					}
				}
			}
		}
	}
}
