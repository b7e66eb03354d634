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
		all[i].setAfterWait(&queueWait{
			probability: math.Pow(r.Float64(), 3), mean: (mean + 1) / rate, variance: (mean + 1 + square - mean*mean) / (rate * rate),
			rate: rate, logRatio: math.Log(ratio), places: places,
		}, duration{constant, varying, varying * varying * math.Exp(4*r.Float64()-3)})
	}
	return all
}

var shares = []float64{0.01, 0.3, 0.5, 0.9, 0.95, 0.99, 0.9999}

// TestQuantilesAreExact to 1e-11 of the latency, as are those of mixtures, and take few
// evaluations, and not many more beside jumps: bisection to that would take about forty.
func TestQuantilesAreExact(t *testing.T) {
	quantiles, evaluations := map[bool]int{}, map[bool]int{}
	check := func(jumps bool, q, at, least, start float64, of func(float64) tail) {
		if at == least {
			return
		}
		require.InDelta(t, at, quantile(func(t float64) tail {
			evaluations[jumps]++
			return of(t)
		}, q, least, start), 1e-12*at)
		quantiles[jumps]++
		// The incomplete gamma function has an error of its own.
		const near, rounding = 1e-11, 1e-10
		require.LessOrEqual(t, of(at*(1+near)).above, (1-q)*(1+rounding))
		require.GreaterOrEqual(t, of(at*(1-near)).above, (1-q)*(1-rounding))
	}
	all := randomLatencies(rand.New(rand.NewPCG(1, 2)), 900)
	for i := range all {
		l, other := &all[i], &all[(i+1)%len(all)]
		var m Mixture
		m.Add(*l, 1)
		m.Add(*other, 2)
		jumps := l.direct.constant()
		for _, q := range shares {
			check(jumps, q, float64(l.Quantile(q)), l.least(), l.roughQuantile(q), l.tail)
			start := (l.roughQuantile(q) + 2*other.roughQuantile(q)) / 3
			check(jumps || other.direct.constant(), q, float64(m.Quantile(q)), min(l.least(), other.least()), start, m.tail)
		}
	}
	for jumps, n := range quantiles {
		t.Logf("jumps %v: %.2f evaluations for each of %d quantiles", jumps, float64(evaluations[jumps])/float64(n), n)
	}
	require.Less(t, evaluations[false], 4*quantiles[false])
	require.Less(t, evaluations[true], 12*quantiles[true])
}

// TestQuantilesBesideSteepFlanks: a part of the requests has a nearly constant latency, whose
// flank is steep and short, and the quantile lies near its end, on either side.
func TestQuantilesBesideSteepFlanks(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for range 4000 {
		q := shares[2+r.IntN(4)]
		delayed := r.Float64()
		if r.IntN(2) == 0 {
			delayed = (1 - q) * (1 + 0.02*r.Float64())
		}
		wait := math.Exp(6*r.Float64() - 3)
		var l Latency
		l.setAfterWait(&queueWait{
			probability: delayed, mean: wait, variance: wait * wait * math.Exp(4*r.Float64()-2), rate: 1 / wait, logRatio: math.Log(0.5), places: math.Inf(1),
		}, duration{0, 1, math.Exp(-math.Log(1e6) * (1 + r.Float64()))})
		lower, upper := 0.0, 1.0
		for l.tail(upper).above > 1-q {
			upper *= 2
		}
		for range 100 {
			if at := (lower + upper) / 2; l.tail(at).above > 1-q {
				lower = at
			} else {
				upper = at
			}
		}
		require.InEpsilon(t, upper, float64(l.Quantile(q)), 1e-8, "%v of %+v", q, l)
	}
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
