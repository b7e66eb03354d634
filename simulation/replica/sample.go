package replica

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/stat/distuv"
)

// Sample is the values of one metric, in order of completion.
type Sample struct {
	values []float64
	sorted []float64
}

// Len is the number of values.
func (s *Sample) Len() int { return len(s.values) }

// Mean is the mean of the values, NaN if there are none.
func (s *Sample) Mean() float64 { return mean(s.values) }

func mean(values []float64) float64 {
	var sum float64
	for _, v := range values {
		sum += v
	}
	return sum / float64(len(values))
}

// Variance is the variance of the values, NaN if there are none.
func (s *Sample) Variance() float64 { return variance(s.values) }

func variance(values []float64) float64 {
	m := mean(values)
	var sum float64
	for _, v := range values {
		sum += (v - m) * (v - m)
	}
	return sum / float64(len(values))
}

// Quantile is the least value that at least the share q of all values does not
// exceed, for q in [0, 1]; NaN if there are none.
func (s *Sample) Quantile(q float64) float64 {
	n := len(s.values)
	if n == 0 {
		return math.NaN()
	}
	if len(s.sorted) != n {
		s.sorted = slices.Clone(s.values)
		slices.Sort(s.sorted)
	}
	rank := int(math.Ceil(q*float64(n))) - 1
	return s.sorted[min(max(rank, 0), n-1)]
}

// batches is the number of batches of values that count as independent.
const batches = 30

// Interval is half the width of the 95 % confidence interval of the mean, +Inf if
// there are fewer than 60 values. Values that follow each other depend on each other,
// so it comes from the means of 30 batches: A. M. Law, "Simulation Modeling and
// Analysis" (5th ed., 2015), section 9.5.3.
func (s *Sample) Interval() float64 {
	size := len(s.values) / batches
	if size < 2 {
		return math.Inf(1)
	}
	means := make([]float64, batches)
	for i := range means {
		means[i] = mean(s.values[i*size : (i+1)*size])
	}
	t := distuv.StudentsT{Sigma: 1, Nu: batches - 1}.Quantile(0.975)
	return t * math.Sqrt(variance(means)/(batches-1))
}
