package queueing_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/poolwright/poolwright/queueing"
)

// dense is a model of 8 billion parameters on one accelerator, without context term.
var dense = queueing.Profile{Alpha: 6.83e-3, Beta: 57e-6, Delta: 2.4e-6}

func seconds(s queueing.Seconds) float64 { return float64(s) }

// TestSaturationRate: 1/μ(B) = α·out/B + β·out + P.
func TestSaturationRate(t *testing.T) {
	s := station(t, queueing.Replica{Profile: dense, MaxBatch: 256}, poisson(512, 256))
	perRequest := 6.83e-3*256/256 + 57e-6*256 + 2.4e-6*512
	require.InEpsilon(t, 1/perRequest, float64(s.SaturationRate()), 1e-12)
	require.InEpsilon(t, 44.14, float64(s.SaturationRate()), 1e-3)
}

// TestPrefillStealsDecodeTime: ITL is an iteration stretched by the prefills of the
// others, T(n)/(1 - λ·P), up to the own prefill.
func TestPrefillStealsDecodeTime(t *testing.T) {
	s := station(t, queueing.Replica{Profile: dense, MaxBatch: 256}, poisson(512, 256))
	for _, load := range []float64{0.5, 0.8, 0.95} {
		p := s.Evaluate(s.SaturationRate() * queueing.Rate(load))
		iteration := 6.83e-3 + 57e-6*p.Running
		want := iteration / (1 - float64(p.Throughput)*2.4e-6*512)
		require.InEpsilon(t, want, seconds(p.ITL.Mean()), 0.01)
	}
	full := s.Evaluate(s.SaturationRate())
	require.InEpsilon(t, 256/float64(s.SaturationRate()), seconds(full.Service), 1e-12)
	require.InEpsilon(t, seconds(full.Service), 2.4e-6*512+256*seconds(full.ITL.Mean()), 1e-12)
}

// TestIterationTerms: context, experts and speculative decoding.
func TestIterationTerms(t *testing.T) {
	const in, out, batch = 1000, 200, 9
	r := queueing.Replica{
		Profile:  queueing.Profile{Alpha: 0.01, Beta: 1e-4, Kappa: 1e-7, Sigma: 1e-3},
		MaxBatch: batch, AcceptedTokens: 2.5,
	}
	s := station(t, r, poisson(in, out))
	iteration := 0.01 + 1e-4*batch + 1e-7*batch*(in+out/2) + 1e-3*3
	require.InEpsilon(t, batch/(out/2.5*iteration), float64(s.SaturationRate()), 1e-12)
	require.InEpsilon(t, iteration/2.5, seconds(s.Evaluate(s.SaturationRate()).ITL.Mean()), 1e-12)
}

// TestPrefixCache: cached tokens are not computed but are read.
func TestPrefixCache(t *testing.T) {
	r := queueing.Replica{
		Profile:  queueing.Profile{Alpha: 0.01, Gamma: 0.002, Delta: 1e-5, Epsilon: 1e-9, Kappa: 1e-7},
		MaxBatch: 4,
	}
	cost := func(hit float64) float64 {
		shape := poisson(1000, 100)
		shape.PrefixHitRatio = hit
		return 1 / float64(station(t, r, shape).SaturationRate())
	}
	for _, hit := range []float64{0, 0.25, 1} {
		computed := 1000 * (1 - hit)
		want := 100*(0.01/4+1e-7*1050) + 0.002 + 1e-5*computed + 1e-9*computed*computed
		require.InEpsilon(t, want, cost(hit), 1e-12)
	}
}

// TestKVCacheLimitsBatch: room for so many contexts of mean length.
func TestKVCacheLimitsBatch(t *testing.T) {
	r := queueing.Replica{Profile: dense, MaxBatch: 256, KVCacheTokens: 64_000}
	s := station(t, r, poisson(512, 256))
	require.Equal(t, 100, s.BatchLimit())
	r.MaxBatch, r.KVCacheTokens = 100, 0
	require.Equal(t, station(t, r, poisson(512, 256)).SaturationRate(), s.SaturationRate())
}

// TestTokenBudget: at saturation the prompts that arrive in an iteration fill what
// decoding leaves of the budget, λ·T̄·in = budget - n.
func TestTokenBudget(t *testing.T) {
	for _, shape := range []queueing.Shape{poisson(2000, 100), poisson(30_000, 10)} {
		const budget = 1024
		r := queueing.Replica{Profile: dense, MaxBatch: 256, MaxBatchedTokens: budget}
		s := station(t, r, shape)
		in, out := float64(shape.InputTokens), float64(shape.OutputTokens)
		decoding := budget / (1 + in/out)
		require.Equal(t, int(math.Ceil(decoding)), s.BatchLimit())
		rate := float64(s.SaturationRate())
		iteration := (6.83e-3 + 57e-6*decoding) / (1 - rate*2.4e-6*in)
		require.InEpsilon(t, budget-decoding, rate*iteration*in, 1e-9)

		r.MaxBatchedTokens = 0
		require.Greater(t, station(t, r, shape).SaturationRate(), s.SaturationRate())
	}
}

// TestTokenBudgetHoldsBackPrompts: beyond the budget, requests wait for their prefill
// while ITL stays: TTFT grows with concurrency.
func TestTokenBudgetHoldsBackPrompts(t *testing.T) {
	at := func(batch int) queueing.Performance {
		r := queueing.Replica{Profile: dense, MaxBatch: batch, MaxBatchedTokens: 2048, MaxQueue: limited(0)}
		s := station(t, r, poisson(8192, 64))
		return s.Evaluate(100 * s.SaturationRate())
	}
	few, many := at(32), at(64)
	require.InEpsilon(t, seconds(few.ITL.Mean()), seconds(many.ITL.Mean()), 1e-3)
	require.InEpsilon(t, float64(few.Throughput), float64(many.Throughput), 1e-9)
	// 32 more requests wait for as many departures.
	require.InEpsilon(t, 32/float64(few.Throughput), seconds(many.TTFT.Mean()-few.TTFT.Mean()), 1e-2)
}

// TestFirstToken in an idle replica: one iteration with the prompt in it, in as
// many chunks as the budget asks for.
func TestFirstToken(t *testing.T) {
	p := queueing.Profile{Alpha: 0.007, Beta: 1e-4, Delta: 1e-5, TTFTOffset: 0.02}
	ttft := func(r queueing.Replica, in queueing.Tokens) float64 {
		r.Profile, r.MaxBatch = p, 64
		return seconds(station(t, r, poisson(in, 100)).Evaluate(0).TTFT.Mean())
	}
	const iteration = 0.0071
	require.InEpsilon(t, 0.02+iteration, ttft(queueing.Replica{}, 0), 1e-12)
	require.InEpsilon(t, 0.02+iteration+0.01, ttft(queueing.Replica{}, 1000), 1e-12)
	require.InEpsilon(t, 0.02+4*iteration+0.01, ttft(queueing.Replica{MaxBatchedTokens: 257}, 1000), 1e-12)
	require.InEpsilon(t, 0.02+0.007+0.01, ttft(queueing.Replica{PrefillMode: queueing.Blocking}, 1000), 1e-12)

	// The base of a prefill that was measured alone includes that of the iteration.
	p.Gamma = 0.03
	require.InEpsilon(t, 0.02+0.03+0.0001+0.01, ttft(queueing.Replica{}, 1000), 1e-12)
}

// TestBlockingPrefill queues for the prefill of others.
func TestBlockingPrefill(t *testing.T) {
	r := queueing.Replica{Profile: queueing.Profile{Alpha: 0.01, Gamma: 0.01, Delta: 1e-4}, MaxBatch: 256}
	shape := poisson(1000, 10)
	chunked := station(t, r, shape)
	r.PrefillMode = queueing.Blocking
	blocking := station(t, r, shape)
	require.Equal(t, chunked.SaturationRate(), blocking.SaturationRate())

	rate := 0.8 * blocking.SaturationRate()
	p := blocking.Evaluate(rate)
	prefill := 0.01 + 1e-4*1000
	load := float64(rate) * prefill
	scv := math.Pow(0.1/prefill, 2)
	queue := load / (1 - load) * prefill * (1 + scv) / 2
	residual := seconds(p.TTFT.Mean()) - prefill - queue - seconds(p.Wait.Mean())
	require.Greater(t, residual, 0.0)
	require.LessOrEqual(t, residual, 0.01/2*1.001)
}

// TestBurstiness: the wait scales with half the sum of the variations, as does the
// number waiting.
func TestBurstiness(t *testing.T) {
	evaluate := func(arrivals, outputs float64) queueing.Performance {
		shape := poisson(0, 100)
		shape.ArrivalSCV, shape.OutputSCV = arrivals, outputs
		s := station(t, queueing.Replica{Profile: dense, MaxBatch: 4}, shape)
		return s.Evaluate(0.9 * s.SaturationRate())
	}
	reference := evaluate(1, 1)
	for _, v := range [][2]float64{{4, 1}, {1, 0}, {0, 0.5}} {
		p := evaluate(v[0], v[1])
		factor := (v[0] + v[1]) / 2
		require.InEpsilon(t, factor*seconds(reference.Wait.Mean()), seconds(p.Wait.Mean()), 1e-12)
		require.InEpsilon(t, factor*seconds(reference.Wait.Quantile(0.99)), seconds(p.Wait.Quantile(0.99)), 1e-9)
		require.InEpsilon(t, factor*reference.Queued, p.Queued, 1e-12)
	}
	require.Zero(t, evaluate(0, 0).Wait.Mean())
	require.Zero(t, evaluate(0, 0).Wait.Quantile(0.999))
}

// TestBurstinessOfLimitedQueue: no more wait than there are places.
func TestBurstinessOfLimitedQueue(t *testing.T) {
	const places = 20
	for _, scv := range []float64{0.01, 0.5, 1, 30, 1e4} {
		shape := poisson(0, 100)
		shape.ArrivalSCV = scv
		s := station(t, queueing.Replica{Profile: dense, MaxBatch: 4, MaxQueue: limited(places)}, shape)
		for _, load := range []float64{0.5, 0.9, 1, 1.5} {
			p := s.Evaluate(s.SaturationRate() * queueing.Rate(load))
			require.LessOrEqual(t, p.Queued, places*1.0)
		}
		full := s.Evaluate(1e9 * s.SaturationRate())
		require.InEpsilon(t, places, full.Queued, 1e-3)
	}
}

// TestVariationSpreadsLatency without moving the mean that prompts contribute.
func TestVariationSpreadsLatency(t *testing.T) {
	evaluate := func(inputs, outputs float64) queueing.Performance {
		shape := queueing.Shape{InputTokens: 4000, OutputTokens: 100, InputSCV: inputs, OutputSCV: outputs, ArrivalSCV: 1}
		return station(t, queueing.Replica{Profile: dense, MaxBatch: 64}, shape).Evaluate(0)
	}
	fixed, varied := evaluate(0, 0), evaluate(1, 1)
	require.InEpsilon(t, seconds(fixed.TTFT.Mean()), seconds(varied.TTFT.Mean()), 1e-12)
	require.InEpsilon(t, seconds(fixed.E2E.Mean()), seconds(varied.E2E.Mean()), 1e-12)
	require.Equal(t, fixed.TTFT.Quantile(0.01), fixed.TTFT.Quantile(0.99))
	// Prompts of exponential length.
	prefill := 2.4e-6 * 4000
	require.InEpsilon(t, 6.83e-3+57e-6+prefill*math.Log(100), seconds(varied.TTFT.Quantile(0.99)), 1e-9)
	require.Greater(t, varied.E2E.Quantile(0.95), 2*varied.E2E.Mean())
}
