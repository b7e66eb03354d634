package trace_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/stat"

	"github.com/poolwright/poolwright/simulation/trace"
)

func lengths(requests []trace.Request) (inputs, outputs []float64) {
	for _, r := range requests {
		inputs, outputs = append(inputs, float64(r.Input)), append(outputs, float64(r.Output))
	}
	return inputs, outputs
}

func TestLengthsHaveTheirMoments(t *testing.T) {
	for _, d := range []trace.Distribution{trace.GammaLengths, trace.LogNormalLengths} {
		g := poisson(trace.Constant(1000))
		g.Input.Distribution, g.Output.Distribution = d, d
		inputs, outputs := lengths(until(t, generate(t, g), 1, 200))
		for _, x := range []struct {
			lengths   []float64
			mean, scv float64
		}{{inputs, 1000, 1}, {outputs, 250, 0.5}} {
			mean, variance := stat.MeanVariance(x.lengths, nil)
			n := float64(len(x.lengths))
			near(t, x.mean, mean, x.mean*math.Sqrt(x.scv/n), "mean")
			kurtosis := stat.ExKurtosis(x.lengths, nil) + 3
			near(t, x.scv, variance/(mean*mean), x.scv*math.Sqrt((kurtosis-1)/n)+2*x.scv*math.Sqrt(x.scv/n), "SCV")
		}
		assert.InDelta(t, 0, stat.Correlation(inputs, outputs, nil), sigmas/math.Sqrt(float64(len(inputs))))
	}
}

func TestLengthsStayWithinBounds(t *testing.T) {
	g := poisson(trace.Constant(100))
	g.Input.Min, g.Input.Max = 500, 1500
	g.Output = trace.Lengths{Mean: 64}
	inputs, outputs := lengths(until(t, generate(t, g), 1, 100))
	at := map[float64]int{}
	for i := range inputs {
		assert.GreaterOrEqual(t, inputs[i], 500.0)
		assert.LessOrEqual(t, inputs[i], 1500.0)
		assert.InDelta(t, 64, outputs[i], 0)
		at[inputs[i]]++
	}
	assert.Positive(t, at[500])
	assert.Positive(t, at[1500])
}

// Lengths from a sample are those of its requests, each prompt with its output.
func TestSample(t *testing.T) {
	observed := trace.List{{Input: 10, Output: 1}, {At: 1, Input: 20, Output: 2}, {At: 2, Input: 30, Output: 3}, {At: 3, Input: 30, Output: 3}}
	sample, err := trace.NewSample(observed)
	require.NoError(t, err)
	g := trace.Generator{Arrivals: trace.Arrivals{Rate: trace.Constant(1000)}, Sample: sample}
	counts := map[int]float64{}
	requests := until(t, generate(t, g), 1, 40)
	for _, r := range requests {
		require.Equal(t, r.Input, 10*r.Output)
		counts[r.Output]++
	}
	n := float64(len(requests))
	for output, share := range map[int]float64{1: 0.25, 2: 0.25, 3: 0.5} {
		near(t, share, counts[output]/n, math.Sqrt(share*(1-share)/n), "share")
	}
}

// A long trace gives a sample of bounded size that is like all of it.
func TestSampleOfManyRequests(t *testing.T) {
	g := poisson(trace.Constant(1000).Until(300))
	sample, err := trace.NewSample(generate(t, g))
	require.NoError(t, err)
	drawn := trace.Generator{Arrivals: trace.Arrivals{Rate: trace.Constant(1000)}, Sample: sample}
	inputs, outputs := lengths(until(t, generate(t, drawn), 1, 100))
	n := float64(len(inputs)) / 2 // the sample deviates as well, and is as large
	near(t, 1000, stat.Mean(inputs, nil), 1000/math.Sqrt(n), "prompts")
	near(t, 250, stat.Mean(outputs, nil), 250*math.Sqrt(0.5/n), "outputs")
}

func TestSampleNeedsRequestsThatEnd(t *testing.T) {
	_, err := trace.NewSample(generate(t, poisson(trace.Constant(1))))
	require.ErrorContains(t, err, "a sample needs requests that end")
	_, err = trace.NewSample(trace.List{})
	require.ErrorContains(t, err, "a sample needs requests")
}

func TestPrefixGroups(t *testing.T) {
	g := poisson(trace.Constant(1000))
	g.Prefixes = trace.Prefixes{Groups: 3, Tokens: 700, Share: 0.6, Popularity: 1}
	requests := until(t, generate(t, g), 1, 100)
	counts := map[uint64]float64{}
	without := 0.0
	for _, r := range requests {
		if r.Prefix == nil {
			without++
			continue
		}
		require.Len(t, r.Prefix, 1)
		require.Equal(t, 700, r.BlockTokens)
		counts[r.Prefix[0]]++
	}
	n := float64(len(requests))
	near(t, 0.4, without/n, math.Sqrt(0.4*0.6/n), "without a prefix")
	require.Len(t, counts, 3)
	harmonic := 1 + 1.0/2 + 1.0/3
	var most float64
	for _, c := range counts {
		most = math.Max(most, c)
	}
	share := 0.6 / harmonic
	near(t, share, most/n, math.Sqrt(share*(1-share)/n), "the most popular group")
}

func TestPrefixAsAShareOfThePrompt(t *testing.T) {
	g := poisson(trace.Constant(100))
	g.Prefixes = trace.Prefixes{Groups: 1, Ratio: 0.25, Share: 1}
	for _, r := range until(t, generate(t, g), 1, 10) {
		require.Len(t, r.Prefix, 1)
		require.InDelta(t, float64(r.Input)/4, float64(r.BlockTokens), 0.5)
	}
	g.Prefixes.Ratio = 1e-3
	none := 0
	for _, r := range until(t, generate(t, g), 1, 10) {
		require.Equal(t, r.BlockTokens > 0, len(r.Prefix) == 1, "a prefix has a token at least")
		if len(r.Prefix) == 0 {
			none++
		}
	}
	require.Positive(t, none)
}

// Streams of random numbers are apart: what changes in one leaves the others as they are.
func TestPurposesAreIndependent(t *testing.T) {
	g := poisson(trace.Constant(100))
	before := until(t, generate(t, g), 1, 10)
	g.Input.Mean = 10
	g.Prefixes = trace.Prefixes{Groups: 5, Tokens: 100, Share: 0.5}
	after := until(t, generate(t, g), 1, 10)
	require.Len(t, after, len(before))
	for i := range before {
		require.InDelta(t, before[i].At, after[i].At, 0)
		require.Equal(t, before[i].Output, after[i].Output)
	}
}

func TestSeedsDiffer(t *testing.T) {
	s := generate(t, poisson(trace.Constant(100)))
	one := until(t, s, 1, 10)
	require.Equal(t, one, until(t, s, 1, 10))
	require.NotEqual(t, one, until(t, s, 2, 10))
}

// Generating takes no memory, whatever the distributions.
func TestGeneratingDoesNotAllocate(t *testing.T) {
	for _, process := range []trace.Process{trace.Poisson, trace.Weibull} {
		g := poisson(trace.Constant(1000))
		g.Arrivals.Process, g.Arrivals.SCV = process, 2
		g.Arrivals.States = []trace.State{{Factor: 1, Sojourn: 1}, {Factor: 3, Sojourn: 1}}
		g.Prefixes = trace.Prefixes{Groups: 10, Tokens: 100, Share: 0.5, Popularity: 1}
		workloads := []trace.Workload{{Name: "a", Source: generate(t, g)}, {Name: "b", Source: generate(t, g)}}
		run := func(n int) func() {
			return func() {
				requests, _ := trace.Requests(workloads, 1)
				for range requests {
					if n--; n <= 0 {
						return
					}
				}
			}
		}
		require.InDelta(t, testing.AllocsPerRun(5, run(10)), testing.AllocsPerRun(5, run(10_000)), 0)
	}
}
