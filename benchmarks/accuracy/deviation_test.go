package main

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestDeviationsAreSummarisedByAbsoluteValue(t *testing.T) {
	d := deviations{-0.3, 0.1, 0.2, -0.4, 0}
	assert.Equal(t, 0.2, d.quantile(0.5))
	assert.Equal(t, 0.4, d.quantile(1))
	assert.InDelta(t, 0.36, d.quantile(0.9), 1e-12, "between the two largest")
	assert.Equal(t, 0.0, d.bias())
	assert.InDelta(t, -0.08, d.mean(), 1e-12)
	assert.InDelta(t, 0.15, deviations{0.1, -0.2}.quantile(0.5), 1e-12)
}

func TestDeviationsMayBeEndlessOrMissing(t *testing.T) {
	assert.True(t, math.IsNaN(deviations(nil).quantile(0.5)))
	assert.True(t, math.IsNaN(deviations(nil).bias()))
	d := deviations{0.1, math.Inf(1), 0.2}
	assert.Equal(t, 0.2, d.quantile(0.5))
	assert.True(t, math.IsInf(d.quantile(1), 1))
	assert.Equal(t, "inf", signedPercent(relative(math.Inf(1), 2)))
	assert.Equal(t, "+50.0", signedPercent(relative(3, 2)))
	assert.Equal(t, "–", percent(math.NaN()))
}

func TestTargetsThatCannotBeMeasuredAreMissed(t *testing.T) {
	assert.True(t, target{"a", 0.02, 0.02}.met())
	assert.False(t, target{"a", 0.021, 0.02}.met())
	assert.False(t, target{"a", math.NaN(), 0.02}.met())
	assert.False(t, target{"a", math.Inf(1), 0.02}.met())
}
