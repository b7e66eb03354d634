package replica

import (
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/poolwright/poolwright/queueing"
)

// Distribution names the distribution of token lengths. Without variation both give
// constants.
type Distribution int

const (
	// Gamma contains the exponential distribution, at an SCV of 1. The default.
	Gamma Distribution = iota
	// LogNormal has the heavier tail of the two.
	LogNormal
)

// Lengths draws numbers of tokens, at least one each. Mean and SCV stay what they
// were asked to be: a length is the one token and a varying rest, randomly rounded.
// A mean below 1 gives empty prompts too.
type Lengths struct {
	least, mean float64
	vary        func() float64
	random      *rand.Rand
}

// roundingVariance is the variance that random rounding adds to a length.
const roundingVariance = 1.0 / 6

// NewLengths draws from a distribution of a mean ≥ 0 and a squared coefficient of variation ≥ 0.
func NewLengths(mean queueing.Tokens, scv float64, d Distribution, random *rand.Rand) Lengths {
	l := Lengths{mean: float64(mean), random: random}
	if mean >= 1 {
		l.least = 1
	}
	l.mean -= l.least
	variance := scv*float64(mean*mean) - roundingVariance
	if variance <= 0 || l.mean <= 0 {
		l.vary = func() float64 { return l.mean }
		return l
	}
	scv = variance / (l.mean * l.mean)
	switch d {
	case LogNormal:
		sigma := math.Sqrt(math.Log1p(scv))
		l.vary = distuv.LogNormal{Mu: math.Log(l.mean) - sigma*sigma/2, Sigma: sigma, Src: random}.Rand
	default:
		l.vary = distuv.Gamma{Alpha: 1 / scv, Beta: 1 / (scv * l.mean), Src: random}.Rand
	}
	return l
}

// Draw returns the next length.
func (l *Lengths) Draw() int {
	return int(l.least) + roundRandomly(min(l.vary(), maxTokens-1), l.random)
}

// roundRandomly rounds to one of the two neighbours such that the mean stays.
func roundRandomly(x float64, random *rand.Rand) int {
	whole, part := math.Modf(x)
	if part > 0 && random.Float64() < part {
		whole++
	}
	return int(whole)
}
