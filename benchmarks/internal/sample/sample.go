// Package sample summarizes repeated measurements as benchstat does.
package sample

import (
	"fmt"
	"math"
	"slices"

	"golang.org/x/perf/benchmath"
)

// Summary is a median with its interval.
type Summary struct {
	Median float64
	// Low and High hold the median of the distribution with a confidence of 95 %. With fewer
	// than six values there is no such interval: they are -Inf and +Inf.
	Low, High float64
}

// Summarize returns the summary of at least one value, in any order, without assuming a
// distribution: the interval is that of order statistics.
func Summarize(values []float64) Summary {
	s := benchmath.NewSample(slices.Clone(values), &benchmath.DefaultThresholds)
	x := benchmath.AssumeNothing.Summary(s, 0.95)
	return Summary{x.Center, x.Lo, x.Hi}
}

// Inverse is the summary of the inverses of positive values.
func (s Summary) Inverse() Summary {
	if math.IsInf(s.Low, -1) {
		return Summary{1 / s.Median, s.Low, s.High}
	}
	return Summary{1 / s.Median, 1 / s.High, 1 / s.Low}
}

// Text writes the summary in a unit, which may be empty: "11.2 (11.0–11.4)", or "11.2 (± ∞)" where there
// is no interval, as benchstat does.
func (s Summary) Text(unit string) string {
	if math.IsInf(s.Low, 0) || math.IsInf(s.High, 0) {
		return fmt.Sprintf("%.3g%s (± ∞)", s.Median, unit)
	}
	return fmt.Sprintf("%.3g%s (%.3g–%.3g)", s.Median, unit, s.Low, s.High)
}
