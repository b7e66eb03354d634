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

func TestInverse(t *testing.T) {
	assert.Equal(t, sample.Summary{Median: 0.5, Low: 0.25, High: 1}, sample.Summary{Median: 2, Low: 1, High: 4}.Inverse())
	unbounded := sample.Summarize([]float64{2}).Inverse()
	assert.InDelta(t, 0.5, unbounded.Median, 0)
	assert.True(t, math.IsInf(unbounded.High, 1), "there is still no interval")
}

func TestValuesKeepTheirOrder(t *testing.T) {
	values := []float64{3, 1, 2}
	sample.Summarize(values)
	assert.Equal(t, []float64{3, 1, 2}, values)
}
