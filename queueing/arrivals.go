package queueing

import "math"

// excessArrivals returns how many more arrivals than u, the mean number, follow an
// arrival within an exponentially distributed time, for a renewal process with gamma
// distributed times between arrivals of the given SCV. It is 0 for Poisson
// arrivals, negative for more regular ones, and tends to (SCV-1)/2 for long times.
//
// With a*(s) the Laplace transform of the time between arrivals and s the rate of the
// exponential time, the number is a*(s)/(1-a*(s)): each further arrival comes in time
// with probability a*(s). The same transform solves the queue GI/M/1.
func excessArrivals(u, scv float64) float64 {
	if scv == 1 || !(u > 0) {
		return 0
	}
	// minusLog is -log a*(s) with s = rate/u.
	minusLog := 1 / u
	if scv > 1/pointShape {
		minusLog = math.Log1p(scv/u) / scv
	}
	return 1/math.Expm1(minusLog) - u
}
