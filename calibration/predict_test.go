package calibration

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/poolwright/poolwright/queueing"
)

func loadOf(s Sample, o Options) load { return newLoad(s, o) }

func TestPredictionsAtTheEdges(t *testing.T) {
	c := coefficientsOf(dense)
	prefill := dense.Gamma + 1000*dense.Delta + 1e6*dense.Epsilon

	l := loadOf(Sample{Batch: Of(10), ContextTokens: Of(700)}, Options{})
	assert.InEpsilon(t, dense.Alpha+10*dense.Beta+7000*dense.Kappa, l.itl(&c), 1e-12)

	l = loadOf(Sample{InputTokens: Of(1000)}, Options{})
	assert.InEpsilon(t, dense.TTFTOffset+dense.Alpha+prefill, l.ttft(&c, 0), 1e-12)

	// A chunk of 400 tokens takes an iteration.
	l = loadOf(Sample{InputTokens: Of(1000)}, Options{MaxBatchedTokens: 400})
	assert.InEpsilon(t, dense.TTFTOffset+3*dense.Alpha+prefill, l.ttft(&c, 0), 1e-12)

	// Half of the prompt is in the prefix cache.
	l = loadOf(Sample{InputTokens: Of(2000), PrefixHitRatio: Of(0.5)}, Options{})
	assert.InEpsilon(t, dense.TTFTOffset+dense.Alpha+prefill, l.ttft(&c, 0), 1e-12)

	// All of it is: nothing to compute but the first token.
	l = loadOf(Sample{InputTokens: Of(2000), PrefixHitRatio: Of(1)}, Options{})
	assert.InEpsilon(t, dense.TTFTOffset+dense.Alpha, l.ttft(&c, 0), 1e-12)

	// One client meets nobody.
	alone := c.iteration(1, 1000+50)
	l = loadOf(Sample{Concurrency: Of(1), InputTokens: Of(1000), OutputTokens: Of(100)}, Options{})
	assert.InEpsilon(t, alone, l.itl(&c), 1e-12)
	assert.InEpsilon(t, dense.TTFTOffset+dense.Alpha+prefill, l.ttft(&c, alone), 1e-12)

	// And so does a rare request. Its context is that of a step seen at random.
	l = loadOf(Sample{ArrivalRate: Of(1e-9), InputTokens: Of(1000), OutputTokens: Of(100), OutputSCV: Of(1)}, Options{})
	assert.InEpsilon(t, c.iteration(1, 1000+100), l.itl(&c), 1e-6)
	assert.InEpsilon(t, dense.TTFTOffset+dense.Alpha+prefill, l.ttft(&c, alone), 1e-6)

	// Two tokens a step.
	l = loadOf(Sample{Concurrency: Of(1), InputTokens: Of(1000), OutputTokens: Of(100)}, Options{AcceptedTokens: 2})
	assert.InEpsilon(t, alone/2, l.itl(&c), 1e-12)
}

func TestLimitsOfTheBatch(t *testing.T) {
	c := coefficientsOf(dense)
	s := Sample{Concurrency: Of(500), InputTokens: Of(1000), OutputTokens: Of(1001)}
	itl := func(o Options) float64 {
		l := loadOf(s, o)
		return l.itl(&c)
	}
	free := itl(Options{})
	limited := itl(Options{MaxBatch: 50})
	assert.Less(t, limited, free/4)
	assert.InEpsilon(t, limited, itl(Options{KVCacheTokens: 50 * 1500.5}), 1e-9)
	// Each of n decoding requests brings a prompt token with it.
	assert.InEpsilon(t, limited, itl(Options{MaxBatchedTokens: 100}), 0.05)
}

// An overloaded open loop has no steady state. Predictions stay finite and grow.
func TestOverloadStaysFinite(t *testing.T) {
	c := coefficientsOf(dense)
	last := 0.0
	for rate := 1.0; rate < 1e9; rate *= 10 {
		l := loadOf(Sample{ArrivalRate: Of(rate), InputTokens: Of(5000), OutputTokens: Of(500)}, Options{})
		x := l.itl(&c)
		require.False(t, math.IsInf(x, 0) || math.IsNaN(x))
		require.GreaterOrEqual(t, x, last)
		last = x
		require.False(t, math.IsInf(l.ttft(&c, x), 0))
	}
}

// client is one of a closed loop: it waits until a time, or has so many tokens of its
// answer; 0 = its prompt is computed in the next iteration.
type client struct {
	until         float64
	tokens, total int
	inside        bool
}

// simulate runs a closed loop iteration by iteration and returns the mean ITL and TTFT.
func simulate(p queueing.Profile, clients, in, out int) (itl, ttft float64) {
	c := coefficientsOf(p)
	random := seeded(50)
	all := make([]client, clients)
	draw := func() int { return out - out/5 + random.IntN(2*(out/5)+1) }
	for i := range all {
		// Started one after the other, so that they do not move in step.
		all[i] = client{until: float64(i) * 0.3, total: draw()}
	}
	now, started, firsts := 0.0, make([]float64, clients), make([]float64, clients)
	var decodeTime, waitTime float64
	var intervals, answers int
	for answers < 60*clients+200 {
		running, context, work := 0, 0, 0.0
		for i := range all {
			a := &all[i]
			if !a.inside && a.until <= now {
				a.inside, a.tokens, started[i] = true, 0, a.until
			}
			switch {
			case a.inside && a.tokens == 0:
				work += (c[Gamma] + c[Delta]*float64(in) + c[Epsilon]*float64(in*in))
			case a.inside:
				running++
				context += in + a.tokens
			}
		}
		if running == 0 && work == 0 {
			now = math.Inf(1)
			for _, a := range all {
				now = min(now, a.until)
			}
			continue
		}
		now += c[Alpha] + c[Beta]*float64(running) + c[Sigma]*math.Sqrt(float64(running)) + c[Kappa]*float64(context) + work
		for i := range all {
			a := &all[i]
			if !a.inside {
				continue
			}
			a.tokens++
			if a.tokens == 1 {
				firsts[i] = now
			}
			if a.tokens == a.total {
				answers++
				if answers > 5*clients {
					decodeTime += now - firsts[i]
					intervals += a.total - 1
					waitTime += firsts[i] - started[i]
				}
				// The overhead outside the engine comes before the next prompt.
				*a = client{until: now + c[TTFTOffset], total: draw()}
			}
		}
	}
	counted := float64(answers - 5*clients)
	return decodeTime / float64(intervals), waitTime/counted + c[TTFTOffset]
}

// The closed form against a deliberately plain simulation of the same iterations.
func TestClosedLoopMatchesSimulation(t *testing.T) {
	for _, p := range []queueing.Profile{dense, mixture} {
		c := coefficientsOf(p)
		for _, in := range []int{100, 1000, 4000} {
			for _, out := range []int{30, 200} {
				for _, clients := range []int{1, 2, 8, 32} {
					itl, ttft := simulate(p, clients, in, out)
					s := Sample{
						Concurrency: Of(float64(clients)), InputTokens: Of(float64(in)), OutputTokens: Of(float64(out)),
						OutputSCV: Of(0.2 * 0.2 / 3),
					}
					l := loadOf(s, Options{})
					predicted := l.itl(&c)
					assert.InEpsilon(t, itl, predicted, 0.06, "ITL of %d clients, %d/%d", clients, in, out)
					if clients <= 2 {
						assert.InEpsilon(t, ttft, l.ttft(&c, predicted), 0.1, "TTFT of %d clients, %d/%d", clients, in, out)
					}

					// With TTFT known, Little's law says how many decode together.
					s.ITL, s.TTFT = Of(itl), Of(ttft)
					l = loadOf(s, Options{})
					assert.InEpsilon(t, itl, l.itl(&c), 0.03, "ITL of %d clients, %d/%d, TTFT known", clients, in, out)
				}
			}
		}
	}
}
