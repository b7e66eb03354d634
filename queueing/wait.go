package queueing

import (
	"math"

	"gonum.org/v1/gonum/mathext"
)

// queueWait is the time that an accepted request waits for a place in the batch.
//
// An arrival that finds k requests waiting and the batch full waits for k+1
// departures at rate μ = μ(B): an Erlang distribution. k is geometric with ratio
// r = λ/μ, cut off at the number of places Q. So, given that it waits at all,
//
//	P(W > t) = Σ_{k<Q} r^k·Γ(k+1, μt) / Σ_{k<Q} r^k
//
// with Γ the upper regularised incomplete gamma function.
type queueWait struct {
	// probability is the share of accepted requests that wait.
	probability float64
	// mean and variance are those of the requests that wait.
	mean, variance float64
	// rate is μ(B), logRatio is log r.
	rate, logRatio float64
	// places is Q, +Inf if unlimited.
	places float64
}

// set makes w the wait for k+1 departures at a rate, with k as seen on arrival; all
// but its probability.
func (w *queueWait) set(t *tailSum, rate float64) {
	w.mean = (t.seen.mean + 1) / rate
	w.variance = (t.seen.mean + 1 + t.seen.variance) / (rate * rate)
	w.rate, w.logRatio, w.places = rate, t.logRatio, t.places
}

// overall returns the mean over all accepted requests, those that don't wait included.
func (w *queueWait) overall() float64 { return w.probability * w.mean }

// stretched returns the wait with times multiplied by a factor ≥ 0, less so as the
// places fill up: those that wait find the share f = μ·mean/Q of the places taken,
// its own included, and it is f/(1-f) that grows by the factor. So a full queue
// takes as long as its places, however variable the load. Factor 0 means that
// nobody waits.
func (w queueWait) stretched(factor float64) queueWait {
	switch {
	case factor == 0 || w.probability == 0:
		return queueWait{}
	case factor == 1: // which the division below need not give back
		return w
	}
	if !math.IsInf(w.places, 1) {
		taken := min(w.rate*w.mean/w.places, 1)
		factor /= 1 - taken + factor*taken
	}
	w.mean *= factor
	w.variance *= factor * factor
	w.rate /= factor
	return w
}

// survival returns P(W > t) of those that wait, for t ≥ 0.
func (w queueWait) survival(t float64) float64 { return w.tail(t).above }

// tail returns what is above t ≥ 0 of those that wait.
//
// Without limit that is an exponential. With Q places, exchanging the sums over k
// and over the terms of Γ(k+1, x) = e^{-x}·Σ_{i≤k} x^i/i! with x = μt gives
//
//	Σ_{k<Q} r^k·Γ(k+1, x) = (e^{-x(1-r)}·Γ(Q, rx) - r^Q·Γ(Q, x)) / (1-r)
//
// whose derivative by t is -μ·Σ_{k<Q} r^k·e^{-x}·x^k/k! = -μ·e^{-x(1-r)}·Γ(Q, rx). The slope
// of that density is given as it is where Γ is level.
func (w queueWait) tail(t float64) tail {
	if math.IsInf(t, 1) {
		return tail{}
	}
	x := w.rate * t
	// excess is r - 1.
	excess := math.Expm1(w.logRatio)
	var above, density float64
	switch spread := w.logRatio * w.places; {
	case math.IsInf(w.places, 1):
		above = math.Exp(excess * x)
		density = -excess * above
	case math.Abs(spread) < 1e-3:
		weight := erlangWeightNearOne(excess, w.places)
		above = erlangSumNearOne(excess, w.places, x) / weight
		density = math.Exp(excess*x) * upperGamma(w.places, (1+excess)*x) / weight
	case spread < 0:
		weight, unlimited := -math.Expm1(spread), math.Exp(excess*x)*upperGamma(w.places, (1+excess)*x)
		above = (unlimited - math.Exp(spread)*upperGamma(w.places, x)) / weight
		density = -excess * unlimited / weight
	default:
		weight, unlimited := -math.Expm1(-spread), math.Exp(excess*x-spread+logUpperGamma(w.places, (1+excess)*x))
		above = (upperGamma(w.places, x) - unlimited) / weight
		density = excess * unlimited / weight
	}
	density *= w.rate
	return tail{min(max(above, 0), 1), density, w.rate * excess * density}
}

// erlangSumNearOne returns Σ_{k<Q} r^k·Γ(k+1, x) for r = 1+excess by Taylor's
// series about r = 1, where the closed form is 0/0. The m-th derivative at 1 is
// (Q^(m+1)·Γ(Q, x) - x^{m+1}·Γ(Q-m-1, x)) / (m+1) with falling powers Q^(m+1).
func erlangSumNearOne(excess, places, x float64) float64 {
	sum, coefficient := 0.0, 1.0
	falling, power := places, x
	whole := upperGamma(places, x)
	for m := 1.0; m <= 4; m++ {
		sum += coefficient * (falling*whole - power*upperGamma(places-m, x)) / m
		coefficient *= excess / m
		falling *= places - m
		power *= x
	}
	return sum
}

// erlangWeightNearOne returns Σ_{k<Q} r^k by the same series.
func erlangWeightNearOne(excess, places float64) float64 {
	sum, coefficient, falling := 0.0, 1.0, places
	for m := 1.0; m <= 4; m++ {
		sum += coefficient * falling / m
		coefficient *= excess / m
		falling *= places - m
	}
	return sum
}

// upperGamma returns the upper regularised incomplete gamma function Γ(a, x), which
// for whole a is e^{-x}·Σ_{i<a} x^i/i!, the empty sum for a ≤ 0.
func upperGamma(a, x float64) float64 {
	if a <= 0 {
		return 0
	}
	return mathext.GammaIncRegComp(a, x)
}

// logUpperGamma returns log Γ(a, x) for whole a ≥ 1, also where Γ underflows.
func logUpperGamma(a, x float64) float64 {
	if value := upperGamma(a, x); value > 1e-280 {
		return math.Log(value)
	}
	// Far above a the terms x^i/i! fall from i = a-1 down faster than a
	// geometric series.
	sum, term := 1.0, 1.0
	for i := a - 1; i > 0 && term > 1e-17*sum; i-- {
		term *= i / x
		sum += term
	}
	factorial, _ := math.Lgamma(a)
	return (a-1)*math.Log(x) - x - factorial + math.Log(sum)
}
