package queueing

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
)

// erlangMixture sums the survival function of the wait term by term.
func erlangMixture(ratio float64, places int, x float64) float64 {
	var sum, weights float64
	weight := 1.0
	// term is e^{-x}·x^i/i!, tail its sum up to k.
	term, tail := math.Exp(-x), 0.0
	for k := range places {
		tail += term
		term *= x / float64(k+1)
		sum += weight * tail
		weights += weight
		weight *= ratio
	}
	return sum / weights
}

func waitAt(arrivals, rate, places float64) (w queueWait) {
	var tail tailSum
	tail.set(arrivals, rate, places)
	w.set(&tail, rate)
	return w
}

func limitedWait(ratio float64, places int) queueWait {
	const rate = 2.5
	return waitAt(ratio*rate, rate, float64(places))
}

func TestWaitEqualsErlangMixture(t *testing.T) {
	ratios := []float64{1e-6, 0.2, 0.7, 0.95, 0.999, 1 - 1e-4, 1 - 1e-6, 1 - 1e-9, 1, 1 + 1e-9, 1 + 1e-5, 1.001, 1.05, 1.5, 3, 20}
	for _, places := range []int{1, 2, 3, 10, 128, 200} {
		for _, ratio := range ratios {
			w := limitedWait(ratio, places)
			for _, x := range []float64{0, 1e-9, 0.1, 1, 5, 30, 127, 150, 300, 600} {
				want := erlangMixture(ratio, places, x)
				require.InDelta(t, want, w.survival(x/w.rate), 2e-11, "r=%v Q=%d x=%v", ratio, places, x)
			}
		}
	}
}

// TestWaitMoments integrates the survival function.
func TestWaitMoments(t *testing.T) {
	for _, ratio := range []float64{0.3, 0.98, 1, 1.0005, 1.4} {
		for _, places := range []int{1, 5, 40} {
			w := limitedWait(ratio, places)
			const steps = 100_000
			h := (w.mean + 40*math.Sqrt(w.variance)) / steps
			var mean, square float64
			for i := range steps {
				middle := (float64(i) + 0.5) * h
				survival := w.survival(middle)
				mean += survival * h
				square += 2 * middle * survival * h
			}
			require.InEpsilon(t, w.mean, mean, 1e-6, "r=%v Q=%d", ratio, places)
			require.InEpsilon(t, w.variance, square-mean*mean, 1e-5, "r=%v Q=%d", ratio, places)
		}
	}
}

// TestWaitDeepOverload: with many places and far more arrivals than served, the
// wait is that of all places but no formula overflows.
func TestWaitDeepOverload(t *testing.T) {
	w := limitedWait(50, 20_000)
	require.InEpsilon(t, 20_000/w.rate, w.mean, 1e-4)
	require.InDelta(t, 1, w.survival(0.9*w.mean), 1e-12)
	require.InDelta(t, 0.5, w.survival(w.mean), 0.01)
	require.InDelta(t, 0, w.survival(1.1*w.mean), 1e-12)
	previous := 1.0
	for i := range 400 {
		s := w.survival(w.mean * float64(i) / 200)
		require.LessOrEqual(t, s, previous)
		previous = s
	}
}

func TestWaitUnlimitedIsExponential(t *testing.T) {
	w := waitAt(0.8, 1, math.Inf(1))
	require.InEpsilon(t, 5, w.mean, 1e-12)
	require.InEpsilon(t, 25, w.variance, 1e-12)
	require.InEpsilon(t, math.Exp(-0.2*7), w.survival(7), 1e-12)
	require.Zero(t, w.survival(math.Inf(1)))
}

func TestLogUpperGamma(t *testing.T) {
	// Where both are available they agree; beyond, the recurrence
	// Γ(a+1, x) = Γ(a, x) + e^{-x}·x^a/a! holds.
	for _, a := range []float64{1, 2, 17, 300} {
		for _, factor := range []float64{1.5, 3, 20, 1000} {
			x := a*factor + 900
			factorial, _ := math.Lgamma(a + 1)
			step := a*math.Log(x) - x - factorial
			next, this := logUpperGamma(a+1, x), logUpperGamma(a, x)
			require.InDelta(t, 1, math.Exp(this-next)+math.Exp(step-next), 1e-10, "a=%v x=%v", a, x)
		}
	}
	require.InEpsilon(t, math.Log(upperGamma(20, 600)), logUpperGamma(20, 600), 1e-12)
}

// A wait that is stretched by nothing is the same, and one by almost nothing almost.
func TestStretchedByOne(t *testing.T) {
	for _, places := range []float64{3, 10, 1000, math.Inf(1)} {
		w := queueWait{probability: 0.3, mean: 0.7, variance: 0.4, rate: 3, logRatio: -0.1, places: places}
		require.Equal(t, w, w.stretched(1))
		near := w.stretched(1 + 1e-9)
		require.InEpsilon(t, w.mean, near.mean, 1e-8)
		require.InEpsilon(t, w.variance, near.variance, 1e-8)
		require.InEpsilon(t, w.rate, near.rate, 1e-8)
	}
}
