package queueing

import "math"

// geometric describes the geometric distribution cut off after n terms: weights
// ρ^j for j = 0 … n-1 with ρ ≤ 1.
type geometric struct {
	// sum is the sum of the weights; mean and variance are those of j.
	sum, mean, variance float64
	// decay is ρ^n.
	decay float64
}

// newGeometric takes a = -log ρ ≥ 0, growth = e^a - 1 ≥ 0, and n ≥ 0, which may be
// +Inf if a > 0. It is accurate for every a·n, also where the closed forms are 0/0.
func newGeometric(a, growth, n float64) geometric {
	switch {
	case n <= 1:
		return geometric{sum: n, decay: 1 / (1 + n*growth)}
	case a == 0:
		return geometric{sum: n, mean: (n - 1) / 2, variance: (n*n - 1) / 12, decay: 1}
	}
	mean := 1 / growth
	g := geometric{sum: 1 + mean, mean: mean, variance: mean + mean*mean}
	whole := math.Expm1(a * n)
	if math.IsInf(whole, 1) {
		return g
	}
	g.decay = 1 / (1 + whole)
	g.sum *= whole * g.decay
	if a*n < 0.5 {
		g.mean = poleFreeMean(a) - n*poleFreeMean(a*n)
		g.variance = poleFreeVariance(a) - n*n*poleFreeVariance(a*n)
		return g
	}
	cut := n / whole
	g.mean -= cut
	g.variance -= cut * (n + cut)
	return g
}

// poleFreeMean returns 1/(e^y-1) - 1/y for small y ≥ 0, by its series with
// Bernoulli numbers.
func poleFreeMean(y float64) float64 {
	z := y * y
	return -0.5 + y*(1./12-z*(1./720-z*(1./30240-z*(1./1209600-z*(1./47900160-z*691./1307674368000)))))
}

// poleFreeVariance returns e^y/(e^y-1)² - 1/y² for small y ≥ 0: minus the
// derivative of poleFreeMean.
func poleFreeVariance(y float64) float64 {
	z := y * y
	return -(1./12 - z*(3./720-z*(5./30240-z*(7./1209600-z*(9./47900160-z*11*691./1307674368000)))))
}
