package calibration

import "strconv"

// Term is a term of the iteration time, and so a coefficient of a profile.
type Term int

// The terms, in the order of Estimate.Coefficients.
const (
	Alpha Term = iota
	Beta
	Kappa
	Sigma
	Gamma
	Delta
	Epsilon
	TTFTOffset
	terms = iota
)

// String returns the coefficient's name in problem files.
func (t Term) String() string {
	names := [...]string{"alpha", "beta", "kappa", "sigma", "gamma", "delta", "epsilon", "ttftOffset"}
	if t < 0 || int(t) >= len(names) {
		return "Term(" + strconv.Itoa(int(t)) + ")"
	}
	return names[t]
}

// Interval is a range of a value, both ends included.
type Interval struct {
	Low, High float64
}

// Coefficient is one estimated coefficient, in seconds per unit of its term.
type Coefficient struct {
	Term  Term
	Value float64
	// StandardError is one standard deviation of the estimate. It is 0 where Value is
	// that of the prior, and +Inf if nothing is known about the error.
	StandardError float64
	// Confidence holds the true value with probability 0.95, if the model holds. It
	// never reaches below 0. It is [0, +Inf] where Value is that of the prior, or
	// nothing is known about the error.
	Confidence Interval
	// Identified tells whether the samples determine the coefficient: there are more
	// observations than fitted coefficients, and Confidence does not reach from 0 to
	// more than 3 times Value. Otherwise Value is that of the prior or a loose fit,
	// and Reason says in words why.
	Identified bool
	Reason     string
}
