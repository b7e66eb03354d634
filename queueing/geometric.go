package queueing

import "math"

// The functions below describe the geometric distribution cut off after n terms:
// weights e^{-a·j} for j = 0 … n-1, with a ≥ 0. n = +Inf needs a > 0. They are
// accurate for every a·n, also where the closed forms are 0/0.

// geometricSum returns Σ e^{-a·j}.
func geometricSum(a, n float64) float64 {
	if a == 0 {
		return n
	}
	return math.Expm1(-a*n) / math.Expm1(-a)
}

// geometricMean returns the mean of j.
func geometricMean(a, n float64) float64 {
	switch {
	case n <= 1:
		return 0
	case math.IsInf(n, 1):
		return 1 / math.Expm1(a)
	case a*n < 0.5:
		return poleFreeMean(a) - n*poleFreeMean(a*n)
	}
	return 1/math.Expm1(a) - n/math.Expm1(a*n)
}

// geometricVariance returns the variance of j.
func geometricVariance(a, n float64) float64 {
	switch {
	case n <= 1:
		return 0
	case math.IsInf(n, 1):
		return inverseSinhSquare(a)
	case a*n < 0.5:
		return poleFreeVariance(a) - n*n*poleFreeVariance(a*n)
	}
	return inverseSinhSquare(a) - n*n*inverseSinhSquare(a*n)
}

// poleFreeMean returns 1/(e^y-1) - 1/y for small y ≥ 0, by its series with
// Bernoulli numbers.
func poleFreeMean(y float64) float64 {
	z := y * y
	return -0.5 + y*(1./12-z*(1./720-z*(1./30240-z*(1./1209600-z*(1./47900160-z*691./1307674368000)))))
}

// poleFreeVariance returns 1/(4·sinh²(y/2)) - 1/y² for small y ≥ 0: minus the
// derivative of poleFreeMean.
func poleFreeVariance(y float64) float64 {
	z := y * y
	return -(1./12 - z*(3./720-z*(5./30240-z*(7./1209600-z*(9./47900160-z*11*691./1307674368000)))))
}

// inverseSinhSquare returns 1/(4·sinh²(y/2)).
func inverseSinhSquare(y float64) float64 {
	e := math.Expm1(y)
	if math.IsInf(e, 1) {
		return 0
	}
	return 1/e + 1/(e*e)
}
