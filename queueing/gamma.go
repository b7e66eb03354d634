package queueing

import (
	"math"

	"gonum.org/v1/gonum/mathext"
)

const (
	// normalShape is the shape from which on the cube root of a gamma variable is
	// normal to working precision.
	normalShape = 1e7
	// pointShape is the shape from which on a gamma variable counts as constant.
	pointShape = 1e12
	// rareShape is the shape below which a gamma variable is 0 but for a share that no
	// quantile sees.
	rareShape = 1e-12
)

// spread is the distribution of shift + G with G of a gamma distribution. A zero
// shape means the constant shift.
type spread struct {
	shift, shape, scale float64
}

// matchGamma returns the distribution of shift plus a gamma variable of the given
// mean and variance.
func matchGamma(shift, mean, variance float64) spread {
	if mean <= 0 || variance <= 0 || mean*mean >= pointShape*variance || mean*mean <= rareShape*variance {
		return spread{shift: shift + max(mean, 0)}
	}
	return spread{shift: shift, shape: mean * mean / variance, scale: variance / mean}
}

// constant tells whether s has one value.
func (s spread) constant() bool { return s.shape == 0 }

// cdf returns P(X ≤ t).
func (s spread) cdf(t float64) float64 {
	switch x := t - s.shift; {
	case t < s.shift:
		return 0
	case s.constant() || math.IsInf(t, 1):
		return 1
	default:
		return gammaCDF(s.shape, x/s.scale)
	}
}

// tail returns what is above t.
func (s spread) tail(t float64) tail {
	x := (t - s.shift) / s.scale
	if s.constant() || !(x > 0) || math.IsInf(x, 1) {
		return tail{above: 1 - s.cdf(t)}
	}
	factorial, _ := math.Lgamma(s.shape)
	density := math.Exp((s.shape-1)*math.Log(x)-x-factorial) / s.scale
	return tail{gammaAbove(s.shape, x), density, density * ((s.shape-1)/x - 1) / s.scale}
}

// roughQuantile returns the quantile to some percent; the lower end for q ≤ 0.
func (s spread) roughQuantile(q float64) float64 {
	if s.constant() || !(q > 0) {
		return s.shift
	}
	third := 1 / (9 * s.shape)
	root := 1 - third + math.Sqrt2*math.Erfinv(2*q-1)*math.Sqrt(third)
	if root > 0.3 {
		return s.shift + s.shape*s.scale*root*root*root
	}
	// Near its lower end the distribution function is x^shape/Γ(shape+1).
	factorial, _ := math.Lgamma(s.shape + 1)
	return s.shift + s.scale*math.Exp((math.Log(q)+factorial)/s.shape)
}

// gammaCDF returns the distribution function of a gamma variable with scale 1.
func gammaCDF(shape, x float64) float64 {
	if shape < normalShape {
		return mathext.GammaIncReg(shape, x)
	}
	return 0.5 * math.Erfc(-cubeRootNormal(shape, x)/math.Sqrt2)
}

// gammaAbove is 1 - gammaCDF, to working precision where that is small.
func gammaAbove(shape, x float64) float64 {
	if shape < normalShape {
		return mathext.GammaIncRegComp(shape, x)
	}
	return 0.5 * math.Erfc(cubeRootNormal(shape, x)/math.Sqrt2)
}

// cubeRootNormal returns the value of a standard normal variable that corresponds to that
// of a gamma variable with scale 1, by E. B. Wilson and M. M. Hilferty, "The distribution of
// chi-square" (1931).
func cubeRootNormal(shape, x float64) float64 {
	third := 1 / (9 * shape)
	return (math.Cbrt(x/shape) - 1 + third) / math.Sqrt(third)
}
