package calibration

import (
	"errors"
	"math"

	"github.com/poolwright/poolwright/queueing"
)

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
	// Median, P90 and Max are of |Error|. The median of an even number is the middle of
	// the two in the middle.
	Median, P90, Max float64
	// Mean is of Error with its sign: above 0, predictions are too long.
	Mean float64
}

// Summary summarizes the residuals that count.
type Summary struct {
	Overall, ITL, TTFT Errors
}

// Predict returns what a profile predicts for samples, in the form of residuals.
// Residuals that a fit would leave out do not count.
//
// The ITL of a closed loop is predicted from the batch that Little's law says if both
// ITL and TTFT are known, and from a prediction of TTFT otherwise.
//
// The error lists every mistake in profile, samples and options, each with its index.
func Predict(profile queueing.Profile, samples []Sample, options Options) ([]Residual, error) {
	var v violations
	validateProfile("profile", profile, &v)
	if err := errors.Join(append(v, validate(samples, options))...); err != nil {
		return nil, err
	}
	c := coefficientsOf(profile)
	return residuals(observe(samples, options), &c), nil
}

// Summarize summarizes the residuals that count.
func Summarize(residuals []Residual) Summary {
	of := func(keep func(queueing.Metric) bool) Errors {
		var e Errors
		var sizes []weightedValue
		for _, r := range residuals {
			if r.Counts && keep(r.Metric) {
				sizes = append(sizes, weightedValue{math.Abs(r.Error), 1})
				e.Mean += r.Error
			}
		}
		if len(sizes) == 0 {
			return e
		}
		e.Count = len(sizes)
		e.Mean /= float64(len(sizes))
		e.P90, e.Max = quantile(sizes, 0.9), quantile(sizes, 1)
		// Sorted by now.
		middle := len(sizes) / 2
		e.Median = (sizes[(len(sizes)-1)/2].value + sizes[middle].value) / 2
		return e
	}
	return Summary{
		Overall: of(func(queueing.Metric) bool { return true }),
		ITL:     of(func(m queueing.Metric) bool { return m == queueing.ITL }),
		TTFT:    of(func(m queueing.Metric) bool { return m == queueing.TTFT }),
	}
}

func residuals(observations []observation, c *coefficients) []Residual {
	all := make([]Residual, len(observations))
	for i := range observations {
		o := &observations[i]
		predicted := o.predict(c)
		all[i] = Residual{
			Sample:    o.sample,
			Group:     o.group,
			Kind:      o.load.kind,
			Metric:    o.metric,
			Observed:  o.value,
			Predicted: predicted,
			Error:     predicted/o.value - 1,
			Counts:    o.counts,
		}
	}
	return all
}
