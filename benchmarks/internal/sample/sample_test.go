package sample_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/poolwright/poolwright/benchmarks/internal/sample"
)

// Of nine values the second and the eighth hold the median with 96 %: 1 - 2·(1+9)/2^9.
func TestIntervalOfOrderStatistics(t *testing.T) {
	s := sample.Summarize([]float64{9, 1, 8, 2, 7, 3, 6, 4, 5})
	assert.Equal(t, sample.Summary{Median: 5, Low: 2, High: 8}, s)
	assert.Equal(t, "5 µs (2–8)", s.Text(" µs"))
}

func TestFewValuesHaveNoInterval(t *testing.T) {
	s := sample.Summarize([]float64{1, 2})
	assert.InDelta(t, 1.5, s.Median, 1e-12)
	assert.True(t, math.IsInf(s.Low, -1))
	assert.True(t, math.IsInf(s.High, 1))
	assert.Equal(t, "1.5 (± ∞)", s.Text(""))
}

func TestValuesKeepTheirOrder(t *testing.T) {
	values := []float64{3, 1, 2}
	sample.Summarize(values)
	assert.Equal(t, []float64{3, 1, 2}, values)
}
