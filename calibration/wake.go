package calibration

import "math"

// wake is what a request meets of the requests that come with it or after it because
// prefill lengthens iterations: while an iteration computes prompts more requests
// arrive, whose prompts are computed in the next one.
//
// The number N of prompts per iteration is Poisson distributed given the length of
// the iteration before, of which each prompt takes P. So it is autoregressive with the
// coefficient ρ = λ·P: R. Ferland, A. Latour, D. Oraichi, "Integer-valued GARCH
// process" (2006). If the time for a prompt has the squared coefficient of variation
// c², the autocovariance at lag k, relative to the mean of N, is
//
//	v·ρ^k,  v = (1 + ρ²c²)/(1 − ρ²)
//
// Those k iterations before or after a request decode with it in all but k of its
// iterations, and those after it interrupt it. Over many iterations that makes
// (1 + ρ²c²)/(1 − ρ)² requests that decode together, itself included. Arrivals that
// vary more or less than those of a Poisson process have ca² in place of 1.
type wake struct {
	// together is how many requests decode together, on average over the iterations
	// of one of them, beyond what a random moment has; itself included.
	together float64
	// prefills is how many prompts interrupt it beyond what a random moment has.
	prefills float64
}

// newWake returns the wake in which prefill takes a share load < 1 of the time, requests
// decode for so many iterations, and arrivals and the time for a prompt have squared
// coefficients of variation.
func newWake(load, steps, arrivals, prefill float64) wake {
	steps = max(steps, 1)
	variance := (arrivals + load*load*prefill) / (1 - load*load)
	// sum is that of ρ^k for k from 0 on, once for each iteration.
	sum := (1 - math.Pow(load, steps)) / (1 - load)
	overlap := load / (1 - load) * (1 - sum/steps)
	return wake{together: variance * (1 + 2*overlap), prefills: variance * load * sum}
}

// varied allows for outputs that vary: those that decode together don't end together.
// The overlap of two is exact for constant and for exponential lengths.
func (w wake) varied(outputSCV float64) wake {
	w.together = 1 + (w.together-1)/(1+outputSCV)
	return w
}
