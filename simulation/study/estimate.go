package study

import (
	"math"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"
)

// Estimate is a mean over seeds with its 95 % confidence interval, by Student's
// distribution.
type Estimate struct {
	// Mean over seeds, NaN where no seed has a value.
	Mean float64
	// Lower and Upper are the ends of the interval, within the range of what is estimated; -Inf and
	// +Inf with a single seed, which says nothing about others.
	Lower, Upper float64
}

// confidence is what the intervals are for.
const confidence = 0.95

// estimate returns the estimate of a mean from one value for each seed. Seeds without a
// value, NaN, don't count.
func estimate(values []float64) Estimate {
	known := make([]float64, 0, len(values))
	for _, v := range values {
		if !math.IsNaN(v) {
			known = append(known, v)
		}
	}
	if len(known) == 0 {
		return Estimate{Mean: math.NaN(), Lower: math.Inf(-1), Upper: math.Inf(1)}
	}
	mean, variance := stat.MeanVariance(known, nil)
	if len(known) == 1 {
		return Estimate{Mean: mean, Lower: math.Inf(-1), Upper: math.Inf(1)}
	}
	n := float64(len(known))
	half := distuv.StudentsT{Sigma: 1, Nu: n - 1}.Quantile((1+confidence)/2) * math.Sqrt(variance/n)
	return Estimate{Mean: mean, Lower: mean - half, Upper: mean + half}
}

// upTo ends the interval where the range of what is estimated does, from 0 to most: Student's
// distribution has no ends, and the mean is not beyond.
func (e Estimate) upTo(most float64) Estimate {
	if !math.IsInf(e.Lower, -1) {
		e.Lower, e.Upper = max(e.Lower, 0), min(e.Upper, most)
	}
	return e
}
