package calibration

import (
	"math"
	"math/rand/v2"
	"slices"

	"github.com/poolwright/poolwright/queueing"
)

// dense is a profile like that of an 8-billion-parameter model on one accelerator.
var dense = queueing.Profile{
	Alpha: 6.8e-3, Beta: 3e-5, Kappa: 8e-8, Gamma: 3e-3, Delta: 4e-5, Epsilon: 1.5e-9, TTFTOffset: 12e-3,
}

// mixture is a profile like that of a mixture of experts.
var mixture = queueing.Profile{
	Alpha: 5e-3, Beta: 2e-5, Kappa: 2e-8, Sigma: 1.4e-3, Gamma: 3e-3, Delta: 4e-5, Epsilon: 1.5e-9, TTFTOffset: 12e-3,
}

// grid returns samples of every kind, without latencies: all terms can be told apart.
func grid() []Sample {
	var samples []Sample
	for _, batch := range []float64{1, 4, 16, 64, 200} {
		for _, context := range []float64{200, 2000, 8000} {
			samples = append(samples, Sample{Group: "decode", Batch: Of(batch), ContextTokens: Of(context)})
		}
	}
	for _, prompt := range []float64{64, 256, 1000, 2000, 4000, 8000} {
		samples = append(samples, Sample{Group: "prefill", InputTokens: Of(prompt)})
	}
	for _, lengths := range [][2]float64{{100, 20}, {100, 200}, {1000, 100}, {4000, 400}} {
		for _, clients := range []float64{2, 8, 32, 100} {
			samples = append(samples, Sample{
				Group: "closed", Concurrency: Of(clients), InputTokens: Of(lengths[0]), OutputTokens: Of(lengths[1]),
			})
		}
		for _, rate := range []float64{0.2, 1, 2} {
			samples = append(samples, Sample{
				Group: "open", ArrivalRate: Of(rate), InputTokens: Of(lengths[0]), OutputTokens: Of(lengths[1]), OutputSCV: Of(1),
			})
		}
	}
	return samples
}

// measure gives samples the latencies of a profile, with log-normal noise.
func measure(samples []Sample, profile queueing.Profile, o Options, noise float64, random *rand.Rand) []Sample {
	c := coefficientsOf(profile)
	samples = slices.Clone(samples)
	for i := range samples {
		s := &samples[i]
		l := newLoad(*s, o)
		t := 0.0
		if l.kind == DecodePoint || l.intervals > 0 {
			t = l.itl(&c)
			s.ITL = Of(t * math.Exp(noise*random.NormFloat64()))
		}
		if l.kind == ClosedLoop {
			// Without noise in what says how many decode together. It counts the wait of
			// clients for which there is no place.
			s.TTFT = Of(closedTTFT(&l, &c, t))
		} else if l.kind != DecodePoint {
			s.TTFT = Of(l.ttft(&c, t) * math.Exp(noise*random.NormFloat64()))
		}
	}
	return samples
}

// closedTTFT returns the TTFT of a closed loop from which Little's law gives the batch
// that l, which does not know TTFT, predicts.
func closedTTFT(l *load, c *coefficients, t float64) float64 {
	others := min(l.batch, l.limit) - 1
	share := l.decodeShare(c, t)
	if l.batch > 1 {
		share *= others / (l.batch - 1)
	}
	iterations := l.steps/share - l.steps - l.chunks(others)
	return l.ownPrefill(c, others) + iterations*t*l.intervals/l.steps
}

func seeded(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 1)) }

// loadOnly ignores what the synthetic closed loop measures without noise.
var loadOnly = []Use{{ClosedLoop, queueing.TTFT}}
