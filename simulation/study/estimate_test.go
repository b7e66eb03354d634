package study

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
)

// Half-widths are by tables of Student's distribution: t(0.975) is 4.3027 with 2 degrees of
// freedom, 2.7764 with 4 and 2.2622 with 9.
func TestEstimate(t *testing.T) {
	for _, c := range []struct {
		name       string
		values     []float64
		mean, half float64
	}{
		{"two degrees of freedom", []float64{1, 2, 3}, 2, 4.3027 * 1 / math.Sqrt(3)},
		{"four degrees of freedom", []float64{2, 4, 4, 4, 6}, 4, 2.7764 * math.Sqrt(2) / math.Sqrt(5)},
		{"nine degrees of freedom", []float64{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}, 5.5, 2.2622 * math.Sqrt(55.0/6) / math.Sqrt(10)},
		{"all equal", []float64{7, 7}, 7, 0},
		{"without a value for each", []float64{math.NaN(), 1, 2, 3}, 2, 4.3027 / math.Sqrt(3)},
	} {
		t.Run(c.name, func(t *testing.T) {
			e := estimate(c.values)
			assert.InDelta(t, c.mean, e.Mean, 1e-12)
			assert.InDelta(t, c.mean-c.half, e.Lower, 1e-4)
			assert.InDelta(t, c.mean+c.half, e.Upper, 1e-4)
		})
	}
}

// The interval of three shares by Student's distribution would be 0.99 ± 0.025.
func TestEstimateIsWithinItsRange(t *testing.T) {
	e := estimate([]float64{0.98, 0.99, 1}).upTo(1)
	assert.InDelta(t, 0.99-4.3027*0.01/math.Sqrt(3), e.Lower, 1e-6)
	assert.InDelta(t, 1, e.Upper, 0)
	e = estimate([]float64{0, 0, 3}).upTo(math.Inf(1))
	assert.InDelta(t, 0, e.Lower, 0)
	assert.InDelta(t, 1+4.3027, e.Upper, 1e-4)
	assert.True(t, math.IsInf(estimate([]float64{0.5}).upTo(1).Upper, 1), "one seed has no interval")
}

func TestEstimateOfOneSeedHasNoBounds(t *testing.T) {
	assert.Equal(t, Estimate{Mean: 3, Lower: math.Inf(-1), Upper: math.Inf(1)}, estimate([]float64{3}))
	none := estimate([]float64{math.NaN()})
	assert.True(t, math.IsNaN(none.Mean))
	assert.True(t, math.IsInf(none.Lower, -1) && math.IsInf(none.Upper, 1))
}
