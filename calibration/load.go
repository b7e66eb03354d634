package calibration

import (
	"math"

	"github.com/poolwright/poolwright/queueing"
)

// coefficients are those of a profile, in the order of the terms.
type coefficients [terms]float64

func coefficientsOf(p queueing.Profile) coefficients {
	return coefficients{
		Alpha: p.Alpha, Beta: p.Beta, Kappa: p.Kappa, Sigma: p.Sigma,
		Gamma: p.Gamma, Delta: p.Delta, Epsilon: p.Epsilon, TTFTOffset: p.TTFTOffset,
	}
}

func (c coefficients) profile() queueing.Profile {
	return queueing.Profile{
		Alpha: c[Alpha], Beta: c[Beta], Kappa: c[Kappa], Sigma: c[Sigma],
		Gamma: c[Gamma], Delta: c[Delta], Epsilon: c[Epsilon], TTFTOffset: c[TTFTOffset],
	}
}

// Distance returns the largest relative change of a coefficient from one profile to
// another, of those that are not 0 in the first.
func Distance(from, to queueing.Profile) float64 {
	a, b := coefficientsOf(from), coefficientsOf(to)
	most := 0.0
	for t := range a {
		if a[t] > 0 {
			most = max(most, math.Abs(b[t]/a[t]-1))
		}
	}
	return most
}

// iteration returns T(n) = α + β·n + σ·√n + κ·n·context: an iteration without prefill.
func (c *coefficients) iteration(n, context float64) float64 {
	return c[Alpha] + n*(c[Beta]+c[Kappa]*context) + c[Sigma]*math.Sqrt(n)
}

// varyingPrefill returns x·dP/dx, by which P follows the length x of a prompt.
func (c *coefficients) varyingPrefill(prompt float64) float64 {
	return prompt * (c[Delta] + 2*c[Epsilon]*prompt)
}

// prefillVariation returns the squared coefficient of variation of P, of given mean, for
// prompts of a mean length with the variation scv.
func (c *coefficients) prefillVariation(mean, prompt, scv float64) float64 {
	if mean <= 0 {
		return 0
	}
	varying := c.varyingPrefill(prompt) / mean
	return scv * varying * varying
}

// lengthMet returns E[T²]/E[T] of iterations of a mean length: the mean of those that a
// random moment meets, which are more often long ones. Each lasts longer by the P of
// what arrived at a rate during the one before; square is E[P²], with the variation of
// arrivals in it, and share is ρ = λ·P:
//
//	Var T = λ·T̄·square + ρ²·Var T
func lengthMet(mean, rate, square, share float64) float64 {
	return mean + rate*square/(1-share*share)
}

// load is what a sample says, digested.
type load struct {
	kind Kind
	// batch is the number of requests inside: of a decode point, of clients, or the
	// mean number running in an open loop, where 0 means unknown.
	batch float64
	// limit is how many of them run together at most.
	limit float64
	// context is the mean context of a running request.
	context float64
	// prompt is x, the mean number of computed tokens of a prompt, inputSCV their
	// squared coefficient of variation.
	prompt, inputSCV float64
	// intervals is the mean number of times between tokens, steps that of iterations
	// for them.
	intervals, steps float64
	outputSCV        float64
	rate             float64
	// observedITL and observedTTFT are those of a closed loop in which both are known,
	// otherwise 0.
	observedITL, observedTTFT float64
	// budget is the token budget of an iteration, +Inf if unlimited.
	budget   float64
	blocking bool
}

// newLoad digests a valid sample.
func newLoad(s Sample, o Options) load {
	accepted := max(o.AcceptedTokens, 1)
	l := load{
		kind:     s.Kind(),
		limit:    queueing.MaxBatchLimit,
		budget:   math.Inf(1),
		prompt:   s.InputTokens.Or(0) * (1 - s.PrefixHitRatio.Or(0)),
		inputSCV: s.InputSCV.Or(0),
		rate:     s.ArrivalRate.Or(0),
		blocking: o.PrefillMode == queueing.Blocking,
	}
	if o.MaxBatch > 0 {
		l.limit = float64(o.MaxBatch)
	}
	if o.MaxBatchedTokens > 0 {
		l.budget = float64(o.MaxBatchedTokens)
	}
	switch l.kind {
	case DecodePoint:
		l.batch, l.context = s.Batch.Value, s.ContextTokens.Value
		l.intervals, l.steps = 1, 1/accepted
	case ClosedLoop, OpenLoop:
		out := s.OutputTokens.Value
		l.batch = s.Concurrency.Or(s.Running.Or(0))
		l.intervals = max(out-1, 0)
		l.steps = l.intervals / accepted
		l.outputSCV = s.OutputSCV.Or(0)
		if l.kind == ClosedLoop && s.ITL.Known && s.TTFT.Known {
			l.observedITL, l.observedTTFT = s.ITL.Value, s.TTFT.Value
		}
		// A decoding step that is seen at random belongs more often to a long output.
		l.context = s.InputTokens.Value + out*(1+l.outputSCV)/2
		if o.KVCacheTokens > 0 {
			l.limit = max(1, min(l.limit, float64(o.KVCacheTokens)/max(l.context, 1)))
		}
		if !l.blocking && l.steps > 0 {
			// Every decoding request brings x/steps prompt tokens per iteration with it.
			l.limit = max(1, min(l.limit, l.budget/(1+l.prompt/l.steps)))
		}
	}
	return l
}

// iterationTime returns the mean length of an iteration at a time between tokens of t.
func (l *load) iterationTime(t float64) float64 {
	if l.steps == 0 {
		return 0
	}
	return t * l.intervals / l.steps
}

// prefill returns the mean of P = γ + δ·x + ε·x², what a prompt adds.
func (l *load) prefill(c *coefficients) float64 {
	if l.prompt == 0 {
		return 0
	}
	return c[Gamma] + l.prompt*(c[Delta]+c[Epsilon]*l.prompt*(1+l.inputSCV))
}

// size returns the order of magnitude of what a term is multiplied by, > 0.
func (l *load) size(t Term) float64 {
	n := max(1, min(max(l.batch, l.rate), l.limit))
	prompt := max(l.prompt, 1)
	switch t {
	case Beta:
		return n
	case Kappa:
		return n * max(l.context, 1)
	case Sigma:
		return math.Sqrt(n)
	case Delta:
		return prompt
	case Epsilon:
		return prompt * prompt
	}
	return 1
}

// mostWaiting is the mean number of waiting requests from which on TTFT is mostly a
// wait, which no profile explains.
const mostWaiting = 0.5

// overfull tells whether some clients of a closed loop always wait for a place.
func (l *load) overfull() bool { return l.kind == ClosedLoop && l.batch > l.limit }
