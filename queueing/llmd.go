package queueing

import "math"

// llmd is a model of the llm-d/inferno family: requests of one length, mean latencies
// from the mean time in service and the mean batch. Quantiles, which the family does
// not have, are ours: the wait is exact, output lengths vary by their SCV, and ITL by
// the batch that requests meet.
type llmd struct {
	generation
	outputSCV float64
	batch     float64
}

// generation is what one model of the family says.
type generation interface {
	serviceTime(n int) float64
	// times returns what follows from the mean batch and the mean time in service.
	times(running, service float64) times
	// itlAt returns the ITL while n run together, a mean and so fractional.
	itlAt(n float64) float64
}

// times are means over requests, first is from the start of service to the first token.
type times struct{ prefill, first, itl float64 }

// llmdParameters are what the family knows of a replica and a load.
type llmdParameters struct {
	profile        Profile
	in, out, batch float64
}

func newLLMDParameters(r Replica, s Shape) llmdParameters {
	return llmdParameters{r.Profile, float64(s.InputTokens), float64(s.OutputTokens), float64(r.MaxBatch)}
}

func newLLMD(g generation, r Replica, s Shape) *llmd {
	return &llmd{generation: g, outputSCV: s.OutputSCV, batch: float64(r.MaxBatch)}
}

// sizing returns how the family sizes a replica: rates from 0.001·μ(1) to
// 0.999·μ(B), and any limit on tokens per second means 0.9 times the highest rate.
func (m *llmd) sizing() sizing { return sizing{leastLoad: 0.001, tokenRateLoad: 0.9} }

func (m *llmd) means(o occupancy) means {
	t, wait := m.times(o.running, o.service), o.wait.overall()
	return means{ttft: wait + t.first, itl: t.itl, e2e: wait + o.service}
}

func (m *llmd) sojourn(o occupancy) sojourn {
	t := m.times(o.running, o.service)
	decode := max(o.service-t.prefill, 0)
	rest := duration{constant: o.service - decode}
	return sojourn{
		wait:    o.wait,
		prefill: t.prefill,
		first:   duration{constant: t.first},
		service: rest.plus(proportional(decode, m.outputSCV)),
		itl:     m.itl(&o, t.itl),
	}
}

// itlVariation is the ratio of the variance of one request's mean batch to the
// variance of the batch at one moment. The number of requests inside a system
// with independent exponential stays correlates as e^{-t/S}; its mean over a
// stay of length S varies 2/e times as much as its value.
const itlVariation = 2 / math.E

// itl spreads a mean ITL over requests: by how the ITL at a batch differs one standard
// deviation of the batch to both sides.
func (m *llmd) itl(o *occupancy, mean float64) duration {
	if o.running == 0 {
		return duration{constant: mean}
	}
	least := min(m.itlAt(min(1, m.batch)), mean)
	// Weighted by the requests inside, the mean batch is E[n²]/E[n].
	typical := o.running + o.runningVariance/o.running
	deviation := math.Sqrt(o.runningVariance)
	lower := min(max(typical-deviation, 1), m.batch)
	upper := min(max(typical+deviation, 1), m.batch)
	half := (m.itlAt(upper) - m.itlAt(lower)) / 2
	return duration{least, mean - least, itlVariation * half * half}
}
