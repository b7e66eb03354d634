package trace_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/stat"

	"github.com/poolwright/poolwright/simulation/trace"
)

// sigmas is how far an estimate may lie from what theory says, in standard deviations: a
// right one lies beyond with probability 6e-5.
const sigmas = 4

func near(t *testing.T, want, got, deviation float64, what string) {
	t.Helper()
	assert.InDelta(t, want, got, sigmas*deviation, "%s", what)
}

// processes are arrivals whose gaps have a known SCV.
func processes() []trace.Arrivals {
	return []trace.Arrivals{
		{Process: trace.Poisson, SCV: 1},
		{Process: trace.Gamma, SCV: 0.25},
		{Process: trace.Gamma, SCV: 4},
		{Process: trace.Weibull, SCV: 0.5},
		{Process: trace.Weibull, SCV: 3},
	}
}

func name(a trace.Arrivals) string { return fmt.Sprintf("process %d, scv %g", a.Process, a.SCV) }

// Gaps have the mean and the SCV that was asked for. The mean of n gaps deviates by
// √(SCV/n), their variance by √((κ-1)/n) of itself with κ the kurtosis, estimated.
func TestGaps(t *testing.T) {
	const n, rate = 200_000, 50.0
	for _, a := range processes() {
		t.Run(name(a), func(t *testing.T) {
			a.Rate = trace.Constant(rate)
			g := poisson(a.Rate)
			g.Arrivals = a
			requests := until(t, generate(t, g), 1, n/rate)
			var gaps []float64
			for i := range requests[1:] {
				gaps = append(gaps, requests[i+1].At-requests[i].At)
			}
			mean, variance := stat.MeanVariance(gaps, nil)
			count := float64(len(gaps))
			near(t, 1/rate, mean, math.Sqrt(a.SCV/count)/rate, "mean")
			kurtosis := stat.ExKurtosis(gaps, nil) + 3
			near(t, a.SCV, variance/(mean*mean), a.SCV*math.Sqrt((kurtosis-1)/count)+2*a.SCV*math.Sqrt(a.SCV/count), "SCV")
		})
	}
}

// The index of dispersion of counts of a renewal process approaches the SCV of its gaps
// (Cox: Renewal Theory, 1962), and counts begin as they go on. The variance of n windows
// with about normal counts deviates by √(2/n) of itself.
func TestDispersion(t *testing.T) {
	const windows, perWindow = 2000, 200.0
	for _, a := range processes() {
		t.Run(name(a), func(t *testing.T) {
			a.Rate = trace.Constant(perWindow)
			g := poisson(a.Rate)
			g.Arrivals = a
			counts := countWindows(until(t, generate(t, g), 2, windows), 1, windows)
			mean, variance := stat.MeanVariance(counts, nil)
			near(t, perWindow, mean, math.Sqrt(a.SCV*perWindow/windows), "mean")
			// What is left of the first and the last gap of a window adds about 1/perWindow.
			near(t, a.SCV, variance/mean, a.SCV*math.Sqrt(2.0/windows)+a.SCV/perWindow, "index of dispersion")
		})
	}
}

// The first arrivals come as those in the middle do: over many seeds the mean number of
// requests in the first short window is the rate's.
func TestArrivalsBeginAsTheyGoOn(t *testing.T) {
	const seeds, window = 4000, 2.0
	for _, a := range processes() {
		t.Run(name(a), func(t *testing.T) {
			a.Rate = trace.Constant(1)
			g := poisson(a.Rate)
			g.Arrivals = a
			s := generate(t, g)
			var counts []float64
			for seed := range uint64(seeds) {
				counts = append(counts, float64(len(until(t, s, seed, window))))
			}
			mean, deviation := stat.MeanStdDev(counts, nil)
			near(t, window, mean, deviation/math.Sqrt(seeds), "mean")
		})
	}
}

func countWindows(requests []trace.Request, window float64, n int) []float64 {
	counts := make([]float64, n)
	for _, r := range requests {
		if i := int(r.At / window); i < n {
			counts[i]++
		}
	}
	return counts
}

// In the long run the counts of a Markov-modulated Poisson process of two states have the
// index of dispersion 1 + 2·(λ₁-λ₂)²·r₁·r₂/((r₁+r₂)²·(λ₁·r₂+λ₂·r₁)) with r the rates of
// leaving the states (Fischer, Meier-Hellstern: The Markov-modulated Poisson process (MMPP)
// cookbook, 1993), and the mean rate is that of the curve.
func TestMarkovModulated(t *testing.T) {
	const windows, window, rate = 2000, 100.0, 5.0
	g := poisson(trace.Constant(rate))
	g.Arrivals.States = []trace.State{{Factor: 0.5, Sojourn: 3}, {Factor: 2.5, Sojourn: 1}}
	requests := until(t, generate(t, g), 3, windows*window)
	counts := countWindows(requests, window, windows)
	mean, variance := stat.MeanVariance(counts, nil)
	r1, r2, l1, l2 := 1.0/3, 1.0, 0.5*rate, 2.5*rate // the mean of the factors is 1
	dispersion := 1 + 2*(l1-l2)*(l1-l2)*r1*r2/((r1+r2)*(r1+r2)*(l1*r2+l2*r1))
	near(t, rate*window, mean, math.Sqrt(dispersion*mean/windows), "mean")
	near(t, dispersion, variance/mean, dispersion*(math.Sqrt(2.0/windows)+1/((r1+r2)*window)), "index of dispersion")
}

// Factors count in relation to each other only.
func TestFactorsAreRelative(t *testing.T) {
	g := poisson(trace.Constant(20))
	g.Arrivals.States = []trace.State{{Factor: 1, Sojourn: 3}, {Factor: 5, Sojourn: 1}, {Factor: 0, Sojourn: 2}}
	one := until(t, generate(t, g), 3, 500)
	for i := range g.Arrivals.States {
		g.Arrivals.States[i].Factor *= 8
	}
	require.Equal(t, one, until(t, generate(t, g), 3, 500))
}

// The rate over time is that of the curve: in every window, counts of a Poisson process
// deviate by the root of the integral; the sum of squares of the deviations, a χ² variable,
// by the root of twice the number of windows.
func TestRateFollowsItsCurve(t *testing.T) {
	linear, err := trace.Linear([]trace.Point{{At: 0, Rate: 10}, {At: 3000, Rate: 200}, {At: 3001, Rate: 0}, {At: 4000, Rate: 0}, {At: 9000, Rate: 150}})
	require.NoError(t, err)
	crowd, err := trace.Crowd{At: 5000, Rise: 120, Hold: 60, Decay: 600, Factor: 4}.Curve()
	require.NoError(t, err)
	curve := trace.Product(10_000, linear, crowd)
	w := trace.Workload{Name: "w", Source: generate(t, poisson(curve))}
	counts := countWindows(until(t, w.Source, 4, 10_000), 100, 100)
	rates, err := trace.Rates(w, 4, 100, 100)
	require.NoError(t, err)
	var chi2 float64
	positive := 0.0
	for i, n := range counts {
		expected := rates[i] * 100
		assert.InDelta(t, expected, curve.Integral(float64(i)*100, float64(i+1)*100), 1e-6)
		if expected == 0 {
			assert.Zero(t, n, "window %d", i)
			continue
		}
		chi2 += (n - expected) * (n - expected) / expected
		positive++
	}
	assert.Greater(t, positive, 85.0)
	near(t, positive, chi2, math.Sqrt(2*positive), "χ²")
}

// The expected requests of modulated arrivals follow the path of their states.
func TestRatesKnowTheStates(t *testing.T) {
	g := poisson(trace.Constant(100))
	g.Arrivals.States = []trace.State{{Factor: 0, Sojourn: 50}, {Factor: 1, Sojourn: 50}}
	w := trace.Workload{Name: "w", Source: generate(t, g)}
	const windows, window = 1000, 10.0
	counts := countWindows(until(t, w.Source, 5, windows*window), window, windows)
	rates, err := trace.Rates(w, 5, window, windows)
	require.NoError(t, err)
	silent := 0
	var chi2, positive float64
	for i, n := range counts {
		if rates[i] == 0 {
			assert.Zero(t, n)
			silent++
		} else if expected := rates[i] * window; expected > 5 {
			chi2 += (n - expected) * (n - expected) / expected
			positive++
		}
	}
	assert.Greater(t, silent, 200)
	near(t, positive, chi2, math.Sqrt(2*positive), "χ²")
}

func TestArrivalMistakes(t *testing.T) {
	g := poisson(trace.Constant(1))
	g.Arrivals.Process, g.Arrivals.SCV = trace.Gamma, -1
	g.Arrivals.States = []trace.State{{Factor: -1, Sojourn: 1}, {Factor: 1, Sojourn: 0}}
	g.Input.Mean, g.Output.Mean = -1, 0.5
	g.Output.Min, g.Output.Max = 7, 5
	g.Prefixes = trace.Prefixes{Groups: 1, Share: 2, Tokens: -1}
	_, err := trace.Generate(g)
	for _, want := range []string{"scv -1", "states[0]: factor -1", "states[1]: sojourn 0", "input: mean -1", "output: mean 0.5", "bounds [7, 5]", "share 2", "-1 tokens"} {
		require.ErrorContains(t, err, want)
	}
	g.Arrivals.States = []trace.State{{Factor: 0, Sojourn: 1}}
	_, err = trace.Generate(g)
	for _, want := range []string{"scv -1", "states: the mean of factors over time must be positive and finite, and is 0"} {
		assert.ErrorContains(t, err, want)
	}
}
