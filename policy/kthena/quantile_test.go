package kthena_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/poolwright/poolwright/policy/kthena"
)

func TestQuantileOfNothingIsUnknown(t *testing.T) {
	_, ok, err := kthena.Quantile(95, []float64{1}, []int64{3, 4}, []int64{3, 4})
	require.NoError(t, err)
	assert.False(t, ok)
}

func TestQuantileOfLargeCounts(t *testing.T) {
	value, ok, err := kthena.Quantile(50, []float64{2}, nil, []int64{math.MaxInt64, math.MaxInt64})
	require.NoError(t, err)
	assert.True(t, ok)
	assert.InDelta(t, 1, value, 1e-9)
}

func TestQuantileRefuses(t *testing.T) {
	for want, input := range map[string]struct {
		percentile int
		past, now  []int64
	}{
		"percentile 0 is not in [1, 100]":        {0, nil, []int64{1, 2}},
		"1 bounds need 2 counts":                 {95, nil, []int64{1}},
		"there are 2 and 1":                      {95, []int64{1}, []int64{1, 2}},
		"bucket 1: the count decreases":          {95, nil, []int64{2, 1}},
		"bucket 0: the count decreases: the his": {95, []int64{3, 3}, []int64{1, 2}},
	} {
		_, ok, err := kthena.Quantile(input.percentile, []float64{1}, input.past, input.now)
		require.ErrorContains(t, err, want)
		assert.False(t, ok)
	}
}
