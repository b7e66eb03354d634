package queueing

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

// randomLatencies draws distributions of all forms.
func randomLatencies(r *rand.Rand, n int) []Latency {
	all := make([]Latency, n)
	for i := range all {
		constant, varying := r.Float64(), r.ExpFloat64()
		if r.IntN(4) == 0 {
			varying = 0
		}
		places := math.Inf(1)
		if r.IntN(2) == 0 {
			places = float64(1 + r.IntN(200))
		}
		// Of a geometric number of requests that are met, cut off at the places.
		ratio := r.Float64() * 1.2
		if math.IsInf(places, 1) {
			ratio = r.Float64() * 0.99
		}
		sum, mean, square := 0.0, 0.0, 0.0
		for k := 0.0; k < min(places, 5000); k++ {
			p := math.Pow(ratio, k)
			sum, mean, square = sum+p, mean+p*k, square+p*k*k
		}
		mean, square = mean/sum, square/sum
		rate := math.Exp(4*r.Float64() - 2)
		all[i] = latencyAfterWait(queueWait{
			probability: math.Pow(r.Float64(), 3), mean: (mean + 1) / rate, variance: (mean + 1 + square - mean*mean) / (rate * rate),
			rate: rate, logRatio: math.Log(ratio), places: places,
		}, duration{constant, varying, varying * varying * math.Exp(4*r.Float64()-3)})
	}
	return all
}

var shares = []float64{0.01, 0.3, 0.5, 0.9, 0.95, 0.99, 0.9999}

// TestQuantilesAreExact to 1e-11 of the latency, as are those of mixtures, and take few
// evaluations, jumps included: bisection to that would take about forty.
func TestQuantilesAreExact(t *testing.T) {
	quantiles, evaluations := 0, 0
	check := func(q, at, least, start float64, of func(float64) tail) {
		if at == least {
			return
		}
		require.InDelta(t, at, quantile(func(t float64) tail {
			evaluations++
			return of(t)
		}, q, least, start), 1e-12*at)
		quantiles++
		// The incomplete gamma function has an error of its own.
		const near, rounding = 1e-11, 1e-10
		require.LessOrEqual(t, of(at*(1+near)).above, (1-q)*(1+rounding))
		require.GreaterOrEqual(t, of(at*(1-near)).above, (1-q)*(1-rounding))
	}
	all := randomLatencies(rand.New(rand.NewPCG(1, 2)), 900)
	for i := range all {
		l := &all[i]
		var m Mixture
		m.Add(*l, 1)
		m.Add(all[(i+1)%len(all)], 2)
		least := min(l.least(), all[(i+1)%len(all)].least())
		for _, q := range shares {
			check(q, float64(l.Quantile(q)), l.least(), l.roughQuantile(q), l.tail)
			start := (l.roughQuantile(q) + 2*all[(i+1)%len(all)].roughQuantile(q)) / 3
			check(q, float64(m.Quantile(q)), least, start, m.tail)
		}
	}
	t.Logf("%.2f evaluations for each of %d quantiles", float64(evaluations)/float64(quantiles), quantiles)
	require.Less(t, evaluations, 8*quantiles)
}

// TestTailIsThatOfTheCDF: its share is what the CDF leaves, and its density the derivative
// of that.
func TestTailIsThatOfTheCDF(t *testing.T) {
	all := randomLatencies(rand.New(rand.NewPCG(3, 4)), 300)
	for i := range all {
		l := &all[i]
		for _, q := range shares {
			at := float64(l.Quantile(q))
			require.InDelta(t, 1-l.CDF(Seconds(at)), l.tail(at).above, 1e-12)
			end := max(l.direct.shift, l.delayed.shift)
			if at <= end {
				continue
			}
			h := 1e-5 * (at - end)
			above, below := at+h, at-h
			slope := (l.tail(below).above - l.tail(above).above) / (above - below)
			require.InDelta(t, slope, l.tail(at).density, 1e-4*slope+1e-9, "%+v at %v", l, at)
		}
	}
}

// TestQuantileAtJumps: where the share above falls at once, the bracket is narrowed.
func TestQuantileAtJumps(t *testing.T) {
	steps := func(t float64) tail {
		switch {
		case t < 2:
			return tail{above: 1}
		case t < 5:
			return tail{above: 0.4}
		}
		return tail{}
	}
	for _, start := range []float64{0, 1, 2, 3, 9, math.NaN()} {
		require.InEpsilon(t, 2, quantile(steps, 0.5, 1, start), 1e-12)
		require.InEpsilon(t, 5, quantile(steps, 0.7, 1, start), 1e-12)
	}
	require.True(t, math.IsInf(quantile(func(float64) tail { return tail{above: 1} }, 0.5, 1, 2), 1))
}
