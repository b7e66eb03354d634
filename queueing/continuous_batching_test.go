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

// TestSaturationRate: 1/μ(B) = α·out/B + β·(out-1) + P: the first token comes with
// prefill.
func TestSaturationRate(t *testing.T) {
	s := station(t, queueing.Replica{Profile: dense, MaxBatch: 256}, poisson(512, 256))
	perRequest := 6.83e-3*256/256 + 57e-6*255 + 2.4e-6*512
	require.InEpsilon(t, 1/perRequest, float64(s.SaturationRate()), 1e-12)
	require.InEpsilon(t, 44.26, float64(s.SaturationRate()), 1e-3)
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
	require.InEpsilon(t, seconds(full.Service), 2.4e-6*512+256*seconds(full.ITL.Mean()), 1e-4)
}

// TestIterationTerms: context, experts and speculative decoding.
func TestIterationTerms(t *testing.T) {
	const in, out, batch = 1000, 201, 9
	r := queueing.Replica{
		Profile:  queueing.Profile{Alpha: 0.01, Beta: 1e-4, Kappa: 1e-7, Sigma: 1e-3},
		MaxBatch: batch, AcceptedTokens: 2.5,
	}
	s := station(t, r, poisson(in, out))
	// Exponential outputs: the context at a random moment is in + out. The last
	// iteration has 0.3 tokens to spare on average.
	const steps, context = 200/2.5 + 0.3, in + out
	decoding := batch * steps / (steps + 1)
	iteration := 0.01 + 1e-4*decoding + 1e-7*decoding*context + 1e-3*math.Sqrt(decoding)
	require.InEpsilon(t, batch/((steps+1)*iteration), float64(s.SaturationRate()), 1e-12)
	itl := seconds(s.Evaluate(s.SaturationRate()).ITL.Mean())
	require.InEpsilon(t, iteration*steps/200, itl, 2e-3)
}

// TestLengthCorrelation: a decoding request met at random is one of long output, and so
// of a longer prompt where lengths go together: E[in·out]/E[out] tokens.
func TestLengthCorrelation(t *testing.T) {
	const in, out, batch = 1000, 201, 10
	r := queueing.Replica{Profile: queueing.Profile{Alpha: 0.01, Kappa: 1e-6}, MaxBatch: batch}
	for correlation, prompt := range map[float64]float64{-1: 0, -0.5: 0, -0.25: 500, 0: in, 0.5: 2 * in, 1: 3 * in} {
		shape := poisson(in, out)
		shape.InputSCV, shape.OutputSCV, shape.LengthCorrelation = 4, 1, correlation
		s := station(t, r, shape)
		decoding := batch * 200. / 201
		iteration := 0.01 + 1e-6*decoding*(prompt+out)
		require.InEpsilon(t, batch/(out*iteration), float64(s.SaturationRate()), 1e-12, correlation)

		shape.InputSCV = 0
		constant := station(t, r, shape)
		shape.LengthCorrelation = 0
		require.Equal(t, station(t, r, shape).SaturationRate(), constant.SaturationRate())
	}
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
		want := 100*(0.01/4+1e-7*0.99*1100) + 0.002 + 1e-5*computed + 2e-9*computed*computed
		require.InEpsilon(t, want, cost(hit), 1e-12)
	}
}

// TestAlmostEverythingIsCached: what is left to compute is less than a token.
func TestAlmostEverythingIsCached(t *testing.T) {
	shape := poisson(1000, 1)
	shape.InputSCV, shape.PrefixHitRatio = 0, 0.999999999
	s := station(t, queueing.Replica{Profile: dense, MaxBatch: 64, MaxBatchedTokens: 8192, MaxQueue: limited(100)}, shape)
	p := s.Evaluate(0.5 * s.SaturationRate())
	require.Equal(t, 64, s.BatchLimit())
	require.Positive(t, float64(p.TTFT.Mean()))
	require.Zero(t, p.ITL.Mean(), "one token has no interval")
}

// TestKVCacheLimitsBatch: room for so many contexts of mean length.
func TestKVCacheLimitsBatch(t *testing.T) {
	r := queueing.Replica{Profile: dense, MaxBatch: 256, KVCacheTokens: 64_000}
	s := station(t, r, poisson(512, 256))
	// Exponential lengths: whoever runs has 256 tokens on average, and the next in line
	// twice the mean prompt, of which half fits.
	require.Equal(t, 83, s.BatchLimit())
	r.MaxBatch, r.KVCacheTokens = 81, 0
	fewer := station(t, r, poisson(512, 256)).SaturationRate()
	r.MaxBatch = 83
	more := station(t, r, poisson(512, 256)).SaturationRate()
	require.Less(t, s.SaturationRate(), more)
	// A full cache preempts requests, whose prompts cost time again.
	require.InEpsilon(t, float64(fewer), float64(s.SaturationRate()), 0.01)
}

// TestTokenBudget: at saturation the prompts that arrive in an iteration fill what
// decoding leaves of the budget, λ·T̄·in = budget - n.
func TestTokenBudget(t *testing.T) {
	for _, shape := range []queueing.Shape{poisson(2000, 100), poisson(30_000, 10)} {
		const budget = 1024
		r := queueing.Replica{Profile: dense, MaxBatch: 256, MaxBatchedTokens: budget}
		s := station(t, r, shape)
		in, out := float64(shape.InputTokens), float64(shape.OutputTokens)
		// Exponential prompts ask for 1/(1-e^{-budget/in}) chunks.
		iterations := out - 1 + 1/-math.Expm1(-budget/in)
		running := budget / (1 + in/iterations)
		require.Equal(t, int(math.Ceil(running)), s.BatchLimit())
		rate := float64(s.SaturationRate())
		iteration := (6.83e-3 + 57e-6*running*(out-1)/iterations) / (1 - rate*2.4e-6*in)
		require.InEpsilon(t, budget-running, rate*iteration*in, 1e-9)

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
// many chunks as the budget asks for. Nobody decodes.
func TestFirstToken(t *testing.T) {
	p := queueing.Profile{Alpha: 0.007, Beta: 1e-4, Gamma: 0.003, Delta: 1e-5, TTFTOffset: 0.02}
	ttft := func(r queueing.Replica, in queueing.Tokens) float64 {
		r.Profile, r.MaxBatch = p, 64
		shape := poisson(in, 100)
		shape.InputSCV = 0
		return seconds(station(t, r, shape).Evaluate(0).TTFT.Mean())
	}
	const iteration = 0.007
	require.InEpsilon(t, 0.02+iteration, ttft(queueing.Replica{}, 0), 1e-12)
	require.InEpsilon(t, 0.02+iteration+0.013, ttft(queueing.Replica{}, 1000), 1e-12)
	require.InEpsilon(t, 0.02+4*iteration+0.013, ttft(queueing.Replica{MaxBatchedTokens: 257}, 1000), 1e-12)
	require.InEpsilon(t, 0.02+iteration+0.013, ttft(queueing.Replica{PrefillMode: queueing.Blocking}, 1000), 1e-12)
}

// TestPrefillIsAQueue: prompts much longer than the budget are served like M/G/1 with
// iterations of the idle replica as vacations (Y. Levy and U. Yechiali,
// "Utilization of idle time in an M/G/1 queueing system", 1975).
func TestPrefillIsAQueue(t *testing.T) {
	const in, budget = 1 << 20, 1 << 12
	p := queueing.Profile{Alpha: 0.01, Delta: 1e-6}
	shape := poisson(in, 2)
	shape.InputSCV, shape.OutputSCV = 0, 0
	s := station(t, queueing.Replica{Profile: p, MaxBatch: 64, MaxBatchedTokens: budget}, shape)
	service := in * (1e-6 + 0.01/budget)
	for _, load := range []float64{0.1, 0.5, 0.9} {
		wait := load / (1 - load) * service / 2
		ttft := seconds(s.Evaluate(queueing.Rate(load / service)).TTFT.Mean())
		require.InEpsilon(t, wait+service, ttft, 0.01)
	}
}

// TestBlockingPrefill takes iterations of its own, in which nobody decodes.
func TestBlockingPrefill(t *testing.T) {
	r := queueing.Replica{Profile: queueing.Profile{Alpha: 0.01, Beta: 1e-3, Delta: 1e-4}, MaxBatch: 256}
	shape := poisson(1000, 100)
	chunked := station(t, r, shape)
	r.PrefillMode = queueing.Blocking
	blocking := station(t, r, shape)
	rate := 0.6 * blocking.SaturationRate()
	require.Greater(t, blocking.Evaluate(rate).ITL.Mean(), chunked.Evaluate(rate).ITL.Mean())
}

// TestVaryingOutputs: the wait scales with half the sum of the variations, as does the
// number waiting.
func TestVaryingOutputs(t *testing.T) {
	evaluate := func(outputs float64) queueing.Performance {
		shape := poisson(0, 100)
		shape.OutputSCV = outputs
		s := station(t, queueing.Replica{Profile: dense, MaxBatch: 4}, shape)
		return s.Evaluate(0.9 * s.SaturationRate())
	}
	reference := evaluate(1)
	for _, scv := range []float64{0, 0.5, 3} {
		p := evaluate(scv)
		factor := (1 + scv) / 2
		require.InEpsilon(t, factor*seconds(reference.Wait.Mean()), seconds(p.Wait.Mean()), 1e-12)
		require.InEpsilon(t, factor*seconds(reference.Wait.Quantile(0.99)), seconds(p.Wait.Quantile(0.99)), 1e-9)
		require.InEpsilon(t, factor*reference.Queued, p.Queued, 1e-12)
	}
}

// TestBurstiness: bursts make everything slower, regular arrivals shorten the wait.
func TestBurstiness(t *testing.T) {
	evaluate := func(arrivals float64) queueing.Performance {
		shape := poisson(500, 100)
		shape.ArrivalSCV = arrivals
		s := station(t, queueing.Replica{Profile: dense, MaxBatch: 64, MaxBatchedTokens: 1024}, shape)
		return s.Evaluate(0.8 * s.SaturationRate())
	}
	last := evaluate(0)
	for _, scv := range []float64{0.5, 1, 2, 4, 16} {
		p := evaluate(scv)
		require.Greater(t, p.TTFT.Mean(), last.TTFT.Mean())
		require.Greater(t, p.TTFT.Quantile(0.95), last.TTFT.Quantile(0.95))
		require.Greater(t, p.Wait.Mean(), last.Wait.Mean())
		require.GreaterOrEqual(t, p.ITL.Mean(), last.ITL.Mean())
		last = p
	}
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
	require.InEpsilon(t, 6.83e-3+prefill*math.Log(100), seconds(varied.TTFT.Quantile(0.99)), 1e-9)
	require.Greater(t, varied.E2E.Quantile(0.95), 2*varied.E2E.Mean())
}
