package queueing

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

// at is the steady state at an arrival rate.
func (c *chain) at(arrivals float64) (s steadyState) {
	c.solve(arrivals, &s)
	return s
}

// oracle solves a chain with limited waiting state by state.
func oracle(c *chain, arrivals float64) steadyState {
	states := c.batch() + int(c.places)
	logWeight := make([]float64, states+1)
	highest := 0.0
	for n := 1; n <= states; n++ {
		logWeight[n] = logWeight[n-1] + math.Log(arrivals/c.rate[min(n, c.batch())])
		highest = max(highest, logWeight[n])
	}
	total := 0.0
	for n := range logWeight {
		total += math.Exp(logWeight[n] - highest)
	}
	var s steadyState
	square, accepted := 0.0, 0.0
	for n := range logWeight {
		p := math.Exp(logWeight[n]-highest) / total
		running := float64(min(n, c.batch()))
		s.running += p * running
		square += p * running * running
		s.queued += p * (float64(n) - running)
		if n > 0 {
			s.throughput += p * c.rate[min(n, c.batch())]
		}
		if n < states {
			accepted += p
			if n >= c.batch() {
				s.wait.probability += p
			}
		}
	}
	s.runningVariance = square - s.running*s.running
	s.empty = math.Exp(-highest) / total
	s.blocked = math.Exp(logWeight[states]-highest) / total
	s.service = s.running / s.throughput
	s.idle = s.empty / accepted
	s.wait.probability /= accepted
	return s
}

// randomChain returns service times that rise with n, smoothly or by jumps.
func randomChain(r *rand.Rand) chain {
	base, slope, jump := r.Float64(), r.Float64()*r.Float64(), 0.0
	if r.IntN(3) == 0 {
		jump = r.Float64() * 2
	}
	return newChain(1+r.IntN(40), float64(r.IntN(60)), func(n int) float64 {
		return base + 1e-3 + slope*float64(n) + jump*math.Floor(float64(n)/7)
	})
}

func requireNear(t *testing.T, want, got float64, name string) {
	t.Helper()
	require.InDelta(t, want, got, 1e-11*math.Max(1, math.Abs(want)), name)
}

func TestChainEqualsOracle(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	unimodal := 0
	for range 2000 {
		c := randomChain(r)
		if c.monotone {
			unimodal++
		}
		arrivals := c.saturation() * math.Exp(r.NormFloat64()*2)
		if r.IntN(10) == 0 {
			arrivals = c.saturation() * (1 + 1e-9*r.NormFloat64())
		}
		want, got := oracle(&c, arrivals), c.at(arrivals)
		requireNear(t, want.running, got.running, "running")
		requireNear(t, want.runningVariance, got.runningVariance, "running variance")
		requireNear(t, want.queued, got.queued, "queued")
		requireNear(t, want.empty, got.empty, "empty")
		requireNear(t, want.blocked, got.blocked, "blocked")
		requireNear(t, want.idle, got.idle, "idle")
		requireNear(t, want.wait.probability, got.wait.probability, "wait probability")
		require.InEpsilon(t, want.throughput, got.throughput, 1e-10)
		require.InEpsilon(t, want.service, got.service, 1e-10)
		// Little's law for the queue.
		requireNear(t, got.queued, got.throughput*got.wait.probability*got.wait.mean, "Little")
	}
	require.Greater(t, unimodal, 500)
	require.Less(t, unimodal, 1999)
}

// fallingChain has service rates that rise, zigzag and fall, so that there can be
// several modes far apart.
func fallingChain(r *rand.Rand) chain {
	batch := 1 + r.IntN(700)
	peak := 1 + r.Float64()*float64(batch)
	fall, zigzag := 3*r.Float64(), r.Float64()/2
	return newChain(batch, float64(r.IntN(300)), func(n int) float64 {
		beyond := max(float64(n)-peak, 0) / float64(batch)
		return 1 + 0.01*float64(n)*(1+fall*beyond) + zigzag*float64(n%3)
	})
}

// TestChainWithSeveralModes compares small probabilities as well, relative to their size.
func TestChainWithSeveralModes(t *testing.T) {
	r := rand.New(rand.NewPCG(21, 22))
	apart := 0
	for range 500 {
		c := fallingChain(r)
		rates := c.rate[1:]
		arrivals := rates[r.IntN(len(rates))] * math.Exp(r.NormFloat64()/10)
		low, mode, high := c.modes(arrivals)
		require.True(t, low <= mode && mode <= high && high < c.batch())
		if high-low > 2*blockSize {
			apart++
		}
		want, got := oracle(&c, arrivals), c.at(arrivals)
		require.InEpsilon(t, want.running, got.running, 1e-11)
		require.InEpsilon(t, want.throughput, got.throughput, 1e-11)
		require.InDelta(t, want.runningVariance, got.runningVariance, 1e-11*want.running*want.running)
		for name, pair := range map[string][2]float64{
			"queued": {want.queued, got.queued}, "empty": {want.empty, got.empty},
			"blocked": {want.blocked, got.blocked}, "waits": {want.wait.probability, got.wait.probability},
		} {
			if pair[0] > 1e-290 {
				require.InEpsilon(t, pair[0], pair[1], 1e-10, name)
			}
		}
	}
	require.Greater(t, apart, 50)
}

// TestChainManyPlaces: the work does not grow with the number of places, and very
// many places are like no limit.
func TestChainManyPlaces(t *testing.T) {
	serviceTime := func(n int) float64 { return 1 + 0.01*float64(n) }
	limited := newChain(64, math.MaxInt32, serviceTime)
	unlimited := newChain(64, math.Inf(1), serviceTime)
	for _, load := range []float64{1e-9, 0.3, 0.9, 0.999} {
		a, b := limited.at(load*limited.saturation()), unlimited.at(load*limited.saturation())
		require.InEpsilon(t, b.running, a.running, 1e-12)
		require.InEpsilon(t, b.service, a.service, 1e-12)
		require.InDelta(t, b.queued, a.queued, 1e-9*b.queued)
		require.InDelta(t, 0, a.blocked, 1e-15)
	}
	overloaded := limited.at(2 * limited.saturation())
	require.InEpsilon(t, 0.5, overloaded.blocked, 1e-12)
	require.InEpsilon(t, limited.saturation(), overloaded.throughput, 1e-12)
	require.InEpsilon(t, math.MaxInt32, overloaded.queued, 1e-8)
}

// TestChainExtremeRates: nothing under- or overflows.
func TestChainExtremeRates(t *testing.T) {
	for _, places := range []float64{0, 1, 1000} {
		c := newChain(3, places, func(int) float64 { return 1 })
		for _, arrivals := range []float64{0, math.SmallestNonzeroFloat64, 1e-120, 1e-90, 1e90, math.MaxFloat64, math.Inf(1)} {
			s := c.at(arrivals)
			for _, v := range []float64{s.throughput, s.running, s.queued, s.empty, s.blocked, s.idle, s.service, s.wait.probability} {
				require.False(t, math.IsNaN(v) || math.IsInf(v, 0) || v < 0, "places %v, arrivals %v: %+v", places, arrivals, s)
			}
			require.InEpsilon(t, 1, s.service, 1e-12)
		}
		require.InEpsilon(t, 3, c.at(math.Inf(1)).throughput, 1e-12)
	}
}

func TestGeometricEqualsSum(t *testing.T) {
	for _, n := range []int{0, 1, 2, 3, 17, 1000} {
		for _, a := range []float64{0, 1e-15, 1e-8, 1e-4, 4e-4, 6e-4, 0.01, 0.1, 0.249, 0.251, 1, 30} {
			var sum, first, second float64
			for j := range n {
				w := math.Exp(-a * float64(j))
				sum += w
				first += w * float64(j)
			}
			g := newGeometric(a, math.Expm1(a), float64(n))
			requireNear(t, sum, g.sum, "sum")
			if n == 0 {
				continue
			}
			require.InDelta(t, first/sum, g.mean, 1e-12*float64(n)+1e-13*first/sum, "a=%v n=%d", a, n)
			for j := range n {
				d := float64(j) - first/sum
				second += math.Exp(-a*float64(j)) * d * d
			}
			require.InDelta(t, second/sum, g.variance, 1e-11*float64(n*n), "a=%v n=%d", a, n)
		}
	}
}
