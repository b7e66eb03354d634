package queueing

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
)

// The rule is as good as one of eight times as many nodes.
func TestMeanReciprocal(t *testing.T) {
	const step = reciprocalStep / 8
	for _, mean := range []float64{1.001, 1.5, 2, 10, 256, 5000, 1e6} {
		for _, scv := range []float64{1e-6, 0.01, 0.1, 1, 3, 30, 1000} {
			rest, variance := mean-1, scv*mean*mean
			want := 0.0
			for u := -60.0; u < 5; u += step {
				s := math.Exp(u)
				want += step * s * math.Exp(-s-rest*rest/variance*math.Log1p(variance/rest*s))
			}
			require.InEpsilon(t, want, meanReciprocal(mean, scv), 1e-11, "mean %v, SCV %v", mean, scv)
		}
	}
	// Of 1 and an exponential rest of mean 1 it is e·E₁(1).
	require.InEpsilon(t, 0.596347362323194, meanReciprocal(2, 0.25), 1e-13)
	require.InEpsilon(t, 0.2, meanReciprocal(5, 0), 0)
	require.InEpsilon(t, 1, meanReciprocal(1, 3), 0)
}
