package main

import (
	"fmt"
	"math"
	"slices"
)

// relative returns predicted/observed - 1; an endless prediction deviates by +Inf.
func relative(predicted, observed float64) float64 { return predicted/observed - 1 }

// deviations are relative errors of one metric, signed.
type deviations []float64

// quantile returns the least absolute error that at least the share q has, NaN
// without errors.
func (d deviations) quantile(q float64) float64 {
	if len(d) == 0 {
		return math.NaN()
	}
	absolute := make([]float64, len(d))
	for i, e := range d {
		absolute[i] = math.Abs(e)
	}
	slices.Sort(absolute)
	// The middle of two halves is their mean, as is usual for a median; other
	// quantiles are interpolated alike.
	place := q * float64(len(d)-1)
	low := int(place)
	high := min(low+1, len(d)-1)
	share := place - float64(low)
	if share == 0 {
		return absolute[low]
	}
	return absolute[low]*(1-share) + absolute[high]*share
}

// bias returns the median of the signed errors.
func (d deviations) bias() float64 {
	if len(d) == 0 {
		return math.NaN()
	}
	sorted := slices.Clone(d)
	slices.Sort(sorted)
	return (sorted[(len(d)-1)/2] + sorted[len(d)/2]) / 2
}

// mean returns the mean of the signed errors.
func (d deviations) mean() float64 {
	sum := 0.0
	for _, e := range d {
		sum += e
	}
	return sum / float64(len(d))
}

// percent writes a share, as "1.2" or "inf".
func percent(share float64) string {
	switch {
	case math.IsNaN(share):
		return "–"
	case math.IsInf(share, 1):
		return "inf"
	}
	return fmt.Sprintf("%.1f", 100*share)
}

// signedPercent writes a share with its sign.
func signedPercent(share float64) string {
	if math.IsNaN(share) || math.IsInf(share, 0) {
		return percent(share)
	}
	return fmt.Sprintf("%+.1f", 100*share)
}
