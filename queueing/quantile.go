package queueing

import "math"

// tail is the share of requests above a latency, their density there and the derivative of
// that. The last two only steer the search for a quantile.
type tail struct{ above, density, slope float64 }

// plus adds a share of what another part of the requests has.
func (t tail) plus(share float64, u tail) tail {
	return tail{t.above + share*u.above, t.density + share*u.density, t.slope + share*u.slope}
}

const (
	// quantileSteps are the most after which a quantile is sought without derivatives.
	quantileSteps = 8
	// lastStep is one that no other has to follow, relative to the distance from the least
	// latency: what is left after a step is about its cube, its square where the slope is rough.
	lastStep = 1e-6
	// nearMissing is how far the logarithm of the share above may be off before it, and
	// nearLine what its slope may change by within it, relative to the slope: steps are short
	// where the slope is steep as well, on flanks that end before the root.
	nearMissing, nearLine = 1e-2, 0.1
	// leastAbove is the least share above a latency that is told from none.
	leastAbove = 1e-300
	// shortest is the shortest latency beyond the least one, in seconds.
	shortest = 1e-300
	// closer is the share of a bracket that is tried where its lower end is the least latency.
	closer = 1e-6
)

// quantile returns where a distribution reaches the share q, which is more than it has at
// its lower end; at a jump it may be off to either side by lastStep. It begins at start, any
// finite number.
//
// Tails are about exponential, so that the logarithm of the share above is about a line.
// Its root is found by Halley's method (E. Halley, Methodus nova accurata et facilis inveniendi
// radices aequationum, 1694), and, where that does not converge, by bracketing.
func quantile(of func(t float64) tail, q, least, start float64) float64 {
	missing := func(above float64) float64 {
		if above > 1-q {
			return max(math.SmallestNonzeroFloat64, math.Log(above/(1-q)))
		}
		return min(0, math.Log(max(above, leastAbove)/(1-q)))
	}
	lower, upper, t := least, math.Inf(1), start
	for range quantileSteps {
		if !(t > lower && t < upper) {
			break
		}
		at := of(t)
		f := missing(at.above)
		if f > 0 {
			lower = t
		} else {
			upper = t
		}
		// hazard and bend are the first and the second derivative of −f.
		hazard := at.density / at.above
		bend := -at.slope/at.above - hazard*hazard
		step := 2 * f * hazard / (2*hazard*hazard - f*bend)
		if math.Abs(f) <= nearMissing && math.Abs(step) <= lastStep*(t-least) && math.Abs(step*bend) <= nearLine*hazard {
			return max(t+step, least+shortest)
		}
		if t += step; t <= lower {
			t = lower + (upper-lower)/8
		}
	}
	if math.IsInf(upper, 1) {
		upper = reached(of, q, lower, max(lower, start)-least)
	}
	if math.IsInf(upper, 1) {
		return upper
	}
	f := func(t float64) float64 { return missing(of(t).above) }
	// Of great variance the root may be any power of ten above the least latency.
	for lower == least {
		t := least + max(closer*(upper-least), shortest)
		switch {
		case t <= least || t >= upper:
			return max(upper, least+shortest)
		case f(t) > 0:
			lower = t
		default:
			upper = t
		}
	}
	return findRoot(f, upper, lower, f(upper), f(lower))
}

// reached returns a latency from t on that at least the share q keeps.
func reached(of func(t float64) tail, q, t, span float64) float64 {
	if !(span > 0) {
		span = math.SmallestNonzeroFloat64
	}
	for !math.IsInf(t, 1) && of(t).above > 1-q {
		t += span
		span *= 2
	}
	return t
}
