package calibration

import (
	"errors"
	"strconv"

	"github.com/poolwright/poolwright/queueing"
)

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
	// StandardError is one standard deviation of the estimate. It is 0 when not
	// Identified.
	StandardError float64
	// Confidence holds the true value with probability 0.95, if the model holds. It
	// never reaches below 0. It is [0, +Inf] when not Identified.
	Confidence Interval
	// Identified tells whether the samples determine the coefficient. Otherwise Value
	// is that of the prior, and Reason says in words why.
	Identified bool
	Reason     string
}

// Residual compares one observed metric of one sample with its prediction.
type Residual struct {
	// Sample is the index of the sample.
	Sample int
	Group  string
	Kind   Kind
	// Metric is queueing.ITL or queueing.TTFT.
	Metric queueing.Metric
	// Observed and Predicted are in seconds.
	Observed, Predicted float64
	// Error is (Predicted - Observed)/Observed.
	Error float64
	// Counts tells whether the fit used the observation, Outlier that it counts less
	// than its weight says because it is far from the others.
	Counts, Outlier bool
}

// Errors summarizes the absolute values of relative errors.
type Errors struct {
	// Count is the number of residuals. If it is 0, so is everything else.
	Count int
	// Median, P90 and Max are of |Error|.
	Median, P90, Max float64
	// Mean is of Error with its sign: above 0, predictions are too long.
	Mean float64
}

// Summary summarizes the residuals that count.
type Summary struct {
	Overall, ITL, TTFT Errors
}

// GroupErrors are the errors on one group.
type GroupErrors struct {
	Group  string
	Errors Summary
}

// Validation is how well fits predict groups that they have not seen.
type Validation struct {
	// Groups are sorted by name.
	Groups []GroupErrors
	// Errors are over the samples of all groups.
	Errors Summary
	// Residuals are in the order of samples.
	Residuals []Residual
}

// Estimate is a fitted profile, and how far to trust it.
type Estimate struct {
	Profile queueing.Profile
	// Coefficients has one entry per term, in the order of the terms.
	Coefficients []Coefficient
	// Residuals are in the order of samples, ITL before TTFT.
	Residuals []Residual
	Errors    Summary
	// HeldOut is filled if Options.HeldOut asks for it and there are two groups.
	HeldOut Validation
	// Notes say in words what to know about the fit.
	Notes []string
}

// Fit estimates a profile from samples.
//
// The error lists every mistake in samples and options, each with its index.
func Fit(samples []Sample, options Options) (Estimate, error) {
	return Estimate{}, errors.Join(validate(samples, options)...)
}

// LeaveOneGroupOut predicts each group of samples by a fit to all others.
//
// The error lists every mistake in samples and options, and is set if there are
// fewer than two groups.
func LeaveOneGroupOut(samples []Sample, options Options) (Validation, error) {
	return Validation{}, errors.Join(validate(samples, options)...)
}

// Predict returns what a profile predicts for samples, in the form of residuals.
//
// The error lists every mistake in samples and options, each with its index.
func Predict(profile queueing.Profile, samples []Sample, options Options) ([]Residual, error) {
	return nil, errors.Join(validate(samples, options)...)
}

// Summarize summarizes the residuals that count.
func Summarize(residuals []Residual) Summary {
	return Summary{Overall: Errors{Count: len(residuals)}}
}

func validate([]Sample, Options) []error { return nil }
