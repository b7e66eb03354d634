package queueing

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestFindRoot(t *testing.T) {
	for name, c := range map[string]struct {
		f     func(float64) float64
		root  float64
		calls int
	}{
		"line":        {func(x float64) float64 { return x - 0.7 }, 0.7, 4},
		"convex":      {func(x float64) float64 { return math.Exp(3*x) - 5 }, math.Log(5) / 3, 9},
		"steep end":   {func(x float64) float64 { return math.Log(0.1 / (1 - x)) }, 0.9, 12},
		"hockey":      {func(x float64) float64 { return math.Pow(x, 40) - 0.1 }, math.Pow(0.1, 1.0/40), 16},
		"flat before": {func(x float64) float64 { return max(-50, 100*(x-0.99)) }, 0.99, 16},
		"jump": {func(x float64) float64 {
			if x < 0.3 {
				return -1e-3
			}
			return 7
		}, 0.3, 80},
	} {
		calls := 0
		root := findRoot(func(x float64) float64 {
			require.True(t, x > 0 && x < 1, name)
			calls++
			return c.f(x)
		}, 0, 1-1e-9, c.f(0), c.f(1-1e-9))
		require.InEpsilon(t, c.root, root, 1e-9, name)
		require.LessOrEqual(t, c.f(root), 0.0, name)
		require.LessOrEqual(t, calls, c.calls, name)
	}
}

// TestFindRootAtZero: a root at the end of the bracket where f ≤ 0 ends the search.
func TestFindRootAtZero(t *testing.T) {
	require.Zero(t, findRoot(func(float64) float64 { return 1 }, 0, 1, -1, 1))
}

// TestFindRootFallsFromAbove: the end where f ≤ 0 may be the upper one.
func TestFindRootFallsFromAbove(t *testing.T) {
	root := findRoot(func(x float64) float64 { return 2 - x*x }, 3, 0, -7, 2)
	require.InEpsilon(t, math.Sqrt2, root, 1e-12)
	require.LessOrEqual(t, 2-root*root, 0.0)
}

// TestFindRootNextToZero: where numbers are further apart than the tolerance, as they are there, the search ends between two of them. Waits on
// hardly loaded replicas are as short.
func TestFindRootNextToZero(t *testing.T) {
	const place = 1.404089586597e-312
	for name, f := range map[string]func(x float64) float64{
		"jump": func(x float64) float64 {
			if x < place {
				return 0.8
			}
			return -688
		},
		"knee": func(x float64) float64 {
			if x < place {
				return 5e-10 * (1 - x/place)
			}
			return -688 * (x/place - 1)
		},
	} {
		root := findRoot(f, 2.2e-312, 6.1e-313, f(2.2e-312), f(6.1e-313))
		require.InEpsilon(t, place, root, 1e-9, name)
		require.LessOrEqual(t, f(root), 0.0, name)
	}
}

// TestFindRootEndsWithoutValues: a value that is no number is taken as one that fails, and without any the search ends.
func TestFindRootEndsWithoutValues(t *testing.T) {
	none := func(float64) float64 { return math.NaN() }
	require.InDelta(t, 0, findRoot(none, 0, 1, -1, 1), 1e-9)
	require.Contains(t, []float64{0, 1}, findRoot(none, 0, 1, math.NaN(), math.NaN()))
}
