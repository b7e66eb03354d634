package calibration

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// autoregressiveITL is the ITL of an open loop in which every iteration takes
// T = α + b·n + P·N, N prompts are computed and n requests decode, each for so many
// iterations, and N is Poisson distributed given the iteration before: a request makes
// λP others arrive during its own prefill, and λb during each of its iterations. That is
// linear, so that the mean of T over the iterations of a request follows from
// autocovariances, and these from the response to one request.
func autoregressiveITL(alpha, b, prefill, rate float64, steps int) float64 {
	const lags = 40_000
	response, sum := make([]float64, lags), make([]float64, lags+1)
	response[0], sum[1] = 1, 1
	for k := 1; k < lags; k++ {
		response[k] = rate*prefill*response[k-1] + rate*b*(sum[k-1]-sum[max(k-1-steps, 0)])
		sum[k+1] = sum[k] + response[k]
	}
	covariances := 0.0
	for k := range lags - steps - 2 {
		covariances += response[k] * (sum[k+steps+2] - sum[k+2])
	}
	mean := alpha / (1 - rate*prefill - rate*b*float64(steps))
	return mean + covariances/(float64(steps)*rate)
}

func TestOpenLoopMatchesExactSolution(t *testing.T) {
	const alpha, delta = 7e-3, 3e-5
	for _, test := range []struct {
		b        float64
		in, out  float64
		accurate float64
	}{
		{0.15e-3, 1700, 81, 0.004},
		{0.15e-3, 2700, 151, 0.003},
		{0.05e-3, 330, 251, 0.001},
		{0.06e-3, 500, 31, 0.006},
		{0.06e-3, 500, 13, 0.011},
		{0.15e-3, 1800, 8, 0.014},
		{0.06e-3, 500, 4, 0.007},
		{0.2e-3, 3700, 501, 0.001},
	} {
		for _, share := range []float64{0.2, 0.5, 0.8} {
			c := coefficients{Alpha: alpha, Beta: test.b, Delta: delta}
			rate := share / (delta*test.in + test.b*(test.out-1))
			exact := autoregressiveITL(alpha, test.b, delta*test.in, rate, int(test.out)-1)
			l := loadOf(Sample{ArrivalRate: Of(rate), InputTokens: Of(test.in), OutputTokens: Of(test.out)}, Options{})
			predicted := l.itl(&c)
			assert.InEpsilon(t, exact, predicted, test.accurate, "%v/%v at %v", test.in, test.out, share)

			// With the number running known, Little's law is not needed.
			o := l.openLoop(&c, predicted)
			running := rate*(test.out-1)*predicted + rate*o.gated(c.iteration(o.decoding, l.context), 1).own
			l = loadOf(Sample{ArrivalRate: Of(rate), InputTokens: Of(test.in), OutputTokens: Of(test.out), Running: Of(running)}, Options{})
			assert.InEpsilon(t, predicted, l.itl(&c), 0.005, "%v/%v at %v, %v running", test.in, test.out, share, running)
		}
	}
}

// The wake of a request is all that delays it beyond a random moment.
func TestWake(t *testing.T) {
	none := newWake(0, 100, 1, 0)
	assert.Equal(t, wake{together: 1}, none)

	// Over many iterations nobody leaves early, and all of the wake comes.
	long := newWake(0.5, 1e6, 1, 0)
	assert.InEpsilon(t, 1/(0.5*0.5), long.together, 1e-5)
	assert.InEpsilon(t, 0.5/(0.5*0.75), long.prefills, 1e-5)
	assert.InEpsilon(t, long.together*1.2, newWake(0.5, 1e6, 1, 0.8).together, 1e-5)

	// With one iteration, only requests of the same one decode together.
	short := newWake(0.5, 1, 1, 0)
	assert.InEpsilon(t, 1/0.75, short.together, 1e-12)
	assert.InEpsilon(t, 0.5/0.75, short.prefills, 1e-12)

	assert.InEpsilon(t, 1+3/2., newWake(0.5, 1e6, 1, 0).varied(1).together, 1e-5)
}
