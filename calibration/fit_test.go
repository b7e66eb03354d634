package calibration

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/poolwright/poolwright/queueing"
)

func assertProfile(t *testing.T, want, got queueing.Profile, tolerance float64) {
	t.Helper()
	w, g := coefficientsOf(want), coefficientsOf(got)
	for term := range w {
		assert.InDelta(t, w[term], g[term], tolerance*w[term], Term(term))
	}
}

func TestFitRecoversExactProfile(t *testing.T) {
	for name, test := range map[string]struct {
		profile queueing.Profile
		options Options
	}{
		"dense":       {dense, Options{}},
		"mixture":     {mixture, Options{}},
		"budget":      {dense, Options{MaxBatchedTokens: 2048, MaxBatch: 256}},
		"blocking":    {dense, Options{PrefillMode: queueing.Blocking}},
		"speculative": {dense, Options{AcceptedTokens: 2.5}},
		"small KV":    {dense, Options{KVCacheTokens: 100_000}},
	} {
		t.Run(name, func(t *testing.T) {
			test.options.Ignore = loadOnly
			e, err := Fit(measure(grid(), test.profile, test.options, 0, seeded(1)), test.options)
			require.NoError(t, err)
			assertProfile(t, test.profile, e.Profile, 1e-5)
			assert.Less(t, e.Errors.Overall.Max, 1e-6)
			for _, c := range e.Coefficients {
				assert.Equal(t, c.Term != Sigma || test.profile.Sigma > 0, c.Identified, c.Term)
				assert.Equal(t, c.Identified, c.Reason == "", c.Reason)
			}
		})
	}
}

func TestFitRecoversNoisyProfile(t *testing.T) {
	e, err := Fit(measure(grid(), dense, Options{}, 0.02, seeded(2)), Options{Ignore: loadOnly})
	require.NoError(t, err)
	assert.InDelta(t, dense.Alpha, e.Profile.Alpha, 0.03*dense.Alpha)
	assert.InDelta(t, dense.Kappa, e.Profile.Kappa, 0.06*dense.Kappa)
	assert.InDelta(t, dense.Delta, e.Profile.Delta, 0.06*dense.Delta)
	// |N(0, 2 %)| has its median at 1.35 % and its 90th percentile at 3.3 %.
	assert.InDelta(t, 0.0135, e.Errors.Overall.Median, 0.005)
	assert.InDelta(t, 0.033, e.Errors.Overall.P90, 0.01)
}

// The 95 % intervals must hold the truth about 95 times in 100.
func TestConfidenceIntervalsCover(t *testing.T) {
	const runs = 150
	covered, total := [terms]int{}, 0
	truth := coefficientsOf(dense)
	for run := range runs {
		e, err := Fit(measure(grid(), dense, Options{}, 0.03, seeded(uint64(100+run))), Options{Ignore: loadOnly, SquareRoot: SquareRootNever})
		require.NoError(t, err)
		for _, c := range e.Coefficients {
			if c.Term == Sigma {
				continue
			}
			require.True(t, c.Identified, c.Term)
			if c.Confidence.Low <= truth[c.Term] && truth[c.Term] <= c.Confidence.High {
				covered[c.Term]++
				total++
			}
		}
	}
	// 3.5 standard deviations of a binomial of 150, and of 7 · 150 that depend on each other.
	for _, term := range []Term{Alpha, Beta, Kappa, Gamma, Delta, Epsilon, TTFTOffset} {
		assert.InDelta(t, 0.95, float64(covered[term])/runs, 0.063, term)
	}
	assert.InDelta(t, 0.95, float64(total)/(7*runs), 0.04)
}

func TestFitDetectsMixtureOfExperts(t *testing.T) {
	for _, noise := range []float64{0.01, 0.03} {
		e, err := Fit(measure(grid(), mixture, Options{}, noise, seeded(3)), Options{Ignore: loadOnly})
		require.NoError(t, err)
		assert.True(t, e.Coefficients[Sigma].Identified)
		assert.InDelta(t, mixture.Sigma, e.Profile.Sigma, 0.2*mixture.Sigma)
		assert.Contains(t, strings.Join(e.Notes, "\n"), "mixture of experts")

		e, err = Fit(measure(grid(), dense, Options{}, noise, seeded(3)), Options{Ignore: loadOnly})
		require.NoError(t, err)
		assert.Zero(t, e.Profile.Sigma)
		assert.Equal(t, "the samples do not call for it", e.Coefficients[Sigma].Reason)
	}
}

func TestSquareRootAsAsked(t *testing.T) {
	samples := measure(grid(), mixture, Options{}, 0.01, seeded(4))
	always, err := Fit(samples, Options{SquareRoot: SquareRootAlways, Ignore: loadOnly})
	require.NoError(t, err)
	assert.Positive(t, always.Profile.Sigma)
	never, err := Fit(samples, Options{SquareRoot: SquareRootNever, Ignore: loadOnly})
	require.NoError(t, err)
	assert.Zero(t, never.Profile.Sigma)
	assert.Equal(t, "the model is dense", never.Coefficients[Sigma].Reason)
	assert.Greater(t, never.Errors.ITL.Median, 2*always.Errors.ITL.Median)
}

func TestFitWithstandsOutliers(t *testing.T) {
	for name, factor := range map[string]float64{"too long": 100, "too short": 0.01, "double": 2} {
		t.Run(name, func(t *testing.T) {
			samples := measure(grid(), dense, Options{}, 0.02, seeded(5))
			bad := map[int]bool{}
			for i := 3; i < len(samples); i += 10 {
				if samples[i].Kind() == ClosedLoop {
					continue
				}
				bad[i] = true
				samples[i].ITL.Value *= factor
				samples[i].TTFT.Value *= factor
			}
			require.NotEmpty(t, bad)
			e, err := Fit(samples, Options{Ignore: loadOnly, SquareRoot: SquareRootNever})
			require.NoError(t, err)
			assert.InDelta(t, dense.Alpha, e.Profile.Alpha, 0.05*dense.Alpha)
			assert.InDelta(t, dense.Kappa, e.Profile.Kappa, 0.08*dense.Kappa)
			assert.InDelta(t, dense.Delta, e.Profile.Delta, 0.08*dense.Delta)
			assert.Contains(t, strings.Join(e.Notes, "\n"), "outliers")
			for _, r := range e.Residuals {
				assert.Equal(t, bad[r.Sample], r.Outlier && r.Counts, "samples[%d]: %+v", r.Sample, r)
			}
		})
	}
}

func TestFitIsScaleInvariant(t *testing.T) {
	samples := measure(grid(), dense, Options{}, 0.02, seeded(6))
	// Longer times at a lower rate is the same replica with a slower clock.
	slow := slices.Clone(samples)
	for i := range slow {
		slow[i].ITL.Value *= 1024
		slow[i].TTFT.Value *= 1024
		slow[i].ArrivalRate.Value /= 1024
	}
	a, err := Fit(samples, Options{Ignore: loadOnly})
	require.NoError(t, err)
	b, err := Fit(slow, Options{Ignore: loadOnly})
	require.NoError(t, err)
	for term := range a.Coefficients {
		value := 1024 * a.Coefficients[term].Value
		assert.InDelta(t, value, b.Coefficients[term].Value, 1e-6*value)
		assert.Equal(t, a.Coefficients[term].Identified, b.Coefficients[term].Identified)
	}
	assert.InEpsilon(t, a.Errors.Overall.Median, b.Errors.Overall.Median, 1e-5)
}

func TestFitIgnoresOrder(t *testing.T) {
	samples := measure(grid(), dense, Options{}, 0.02, seeded(7))
	a, err := Fit(samples, Options{Ignore: loadOnly})
	require.NoError(t, err)
	order := seeded(8).Perm(len(samples))
	shuffled := make([]Sample, len(samples))
	for i, from := range order {
		shuffled[i] = samples[from]
	}
	b, err := Fit(shuffled, Options{Ignore: loadOnly})
	require.NoError(t, err)
	assertProfile(t, a.Profile, b.Profile, 1e-6)
	for _, r := range b.Residuals {
		i := slices.IndexFunc(a.Residuals, func(x Residual) bool { return x.Sample == order[r.Sample] && x.Metric == r.Metric })
		assert.InDelta(t, a.Residuals[i].Error, r.Error, 1e-6)
	}
}

func TestTwiceTheWeightIsTwiceTheSample(t *testing.T) {
	samples := measure(grid(), dense, Options{}, 0.02, seeded(9))
	weighted, doubled := slices.Clone(samples), slices.Clone(samples)
	for i := 0; i < len(samples); i += 3 {
		weighted[i].Weight = Of(2)
		doubled = append(doubled, samples[i])
	}
	a, err := Fit(weighted, Options{Ignore: loadOnly})
	require.NoError(t, err)
	b, err := Fit(doubled, Options{Ignore: loadOnly})
	require.NoError(t, err)
	assertProfile(t, a.Profile, b.Profile, 1e-6)
}

func TestFitRepeatsBitForBit(t *testing.T) {
	samples := measure(grid(), mixture, Options{}, 0.02, seeded(10))
	a, err := Fit(samples, Options{HeldOut: true})
	require.NoError(t, err)
	b, err := Fit(samples, Options{HeldOut: true})
	require.NoError(t, err)
	assert.Equal(t, a, b)
}

func TestFitSaysWhatSamplesCannotTellApart(t *testing.T) {
	decode := func(batches, contexts []float64) []Sample {
		var samples []Sample
		for _, b := range batches {
			for _, c := range contexts {
				samples = append(samples, Sample{Batch: Of(b), ContextTokens: Of(c)})
			}
		}
		return samples
	}
	prompts := func(lengths ...float64) []Sample {
		var samples []Sample
		for _, x := range lengths {
			samples = append(samples, Sample{InputTokens: Of(x)}, Sample{InputTokens: Of(x)})
		}
		return samples
	}
	all := []float64{1, 8, 64}
	for name, test := range map[string]struct {
		samples []Sample
		fixed   map[Term]string
	}{
		"one context": {
			decode(all, []float64{500, 500}),
			map[Term]string{Kappa: "tell it apart from beta"},
		},
		"one batch": {
			decode([]float64{8, 8}, []float64{100, 1000, 4000}),
			map[Term]string{Beta: "tell it apart from alpha"},
		},
		"one point": {
			decode([]float64{8, 8, 8}, []float64{100}),
			map[Term]string{Beta: "alpha", Kappa: "alpha"},
		},
		"no prompt": {
			decode(all, []float64{100, 1000, 8000}),
			map[Term]string{Gamma: "no sample", Delta: "no sample", Epsilon: "no sample", TTFTOffset: "no sample"},
		},
		"idle prompts": {
			prompts(100, 500, 1000, 4000, 8000),
			map[Term]string{Alpha: "ttftOffset", Gamma: "ttftOffset", Beta: "no sample", Kappa: "no sample"},
		},
		"one prompt": {
			prompts(1000, 1000),
			map[Term]string{Epsilon: "delta", Delta: "ttftOffset"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			samples := measure(test.samples, dense, Options{}, 0.01, seeded(11))
			e, err := Fit(samples, Options{SquareRoot: SquareRootNever})
			require.NoError(t, err)
			for term, reason := range test.fixed {
				c := e.Coefficients[term]
				assert.False(t, c.Identified, term)
				assert.Contains(t, c.Reason, reason, term)
				assert.Zero(t, c.Value, term)
				assert.Equal(t, Interval{0, math.Inf(1)}, c.Confidence)
			}
			assert.Less(t, e.Errors.Overall.Median, 0.02, "what is left explains the samples")
		})
	}
}

func TestUnidentifiedCoefficientsKeepThePrior(t *testing.T) {
	var samples []Sample
	for _, b := range []float64{1, 4, 16, 64, 128} {
		samples = append(samples, Sample{Batch: Of(b), ContextTokens: Of(1000)}, Sample{Batch: Of(2 * b), ContextTokens: Of(1000)})
	}
	samples = measure(samples, dense, Options{}, 0.01, seeded(12))
	e, err := Fit(samples, Options{Prior: queueing.Profile{Kappa: dense.Kappa, Delta: 5e-5}, SquareRoot: SquareRootNever})
	require.NoError(t, err)
	assert.Equal(t, dense.Kappa, e.Profile.Kappa)
	assert.Equal(t, 5e-5, e.Profile.Delta)
	assert.InDelta(t, dense.Beta, e.Profile.Beta, 0.2*dense.Beta)

	// The one with a prior is kept, whichever it is.
	e, err = Fit(samples, Options{Prior: queueing.Profile{Beta: dense.Beta}, SquareRoot: SquareRootNever})
	require.NoError(t, err)
	assert.Equal(t, dense.Beta, e.Profile.Beta)
	assert.InDelta(t, dense.Kappa, e.Profile.Kappa, 0.1*dense.Kappa)
}

// At low load the batch hardly varies: an estimate of β would be noise.
func TestLowLoadKeepsThePrior(t *testing.T) {
	var samples []Sample
	for _, clients := range []float64{1, 2, 3} {
		for _, in := range []float64{900, 1000, 1100} {
			samples = append(samples, Sample{Concurrency: Of(clients), InputTokens: Of(in), OutputTokens: Of(200)})
		}
	}
	prior := dense
	prior.Beta *= 1.2
	e, err := Fit(measure(samples, dense, Options{}, 0.02, seeded(13)), Options{Prior: prior, Ignore: loadOnly, SquareRoot: SquareRootNever})
	require.NoError(t, err)
	for _, term := range []Term{Beta, Kappa, Gamma, Epsilon} {
		assert.False(t, e.Coefficients[term].Identified, term)
		assert.NotEmpty(t, e.Coefficients[term].Reason, term)
	}
	assert.Equal(t, prior.Beta, e.Profile.Beta)
	assert.True(t, e.Coefficients[Alpha].Identified)
	assert.InDelta(t, dense.Alpha, e.Profile.Alpha, 0.05*dense.Alpha)
}

func TestConstantPartOfTTFT(t *testing.T) {
	samples := []Sample{}
	for _, s := range grid() {
		if s.Kind() == DecodePoint || s.Kind() == PrefillPoint {
			samples = append(samples, s)
		}
	}
	samples = measure(samples, dense, Options{}, 0.005, seeded(14))
	e, err := Fit(samples, Options{SquareRoot: SquareRootNever})
	require.NoError(t, err)
	assert.Contains(t, e.Coefficients[Gamma].Reason, "ttftOffset")
	assert.InDelta(t, dense.TTFTOffset+dense.Gamma, e.Profile.TTFTOffset, 0.05*dense.TTFTOffset)
	assert.Contains(t, strings.Join(e.Notes, "\n"), "counts as ttftOffset")

	// Who knows γ says so; who knows the offset, likewise.
	e, err = Fit(samples, Options{SquareRoot: SquareRootNever, Prior: queueing.Profile{Gamma: dense.Gamma}})
	require.NoError(t, err)
	assert.Equal(t, dense.Gamma, e.Profile.Gamma)
	assert.InDelta(t, dense.TTFTOffset, e.Profile.TTFTOffset, 0.05*dense.TTFTOffset)
}

func TestIgnoredMetricsDoNotCount(t *testing.T) {
	samples := measure(grid(), dense, Options{}, 0.01, seeded(15))
	for i := range samples {
		if samples[i].Kind() == PrefillPoint {
			samples[i].TTFT.Value *= 7
		}
	}
	o := Options{Ignore: []Use{{PrefillPoint, queueing.TTFT}, {ClosedLoop, queueing.TTFT}}}
	e, err := Fit(samples, o)
	require.NoError(t, err)
	assert.InDelta(t, dense.Delta, e.Profile.Delta, 0.1*dense.Delta)
	for _, r := range e.Residuals {
		ignored := r.Metric == queueing.TTFT && (r.Kind == PrefillPoint || r.Kind == ClosedLoop)
		assert.Equal(t, ignored, !r.Counts)
	}
	assert.Less(t, e.Errors.TTFT.Max, 0.1)
}

func TestWaitingRequestsDisqualifyTTFT(t *testing.T) {
	s := Sample{ArrivalRate: Of(1), InputTokens: Of(100), OutputTokens: Of(100), ITL: Of(0.01), TTFT: Of(9), Waiting: Of(3), Running: Of(1)}
	e, err := Fit([]Sample{s}, Options{})
	require.NoError(t, err)
	require.Len(t, e.Residuals, 2)
	assert.True(t, e.Residuals[0].Counts)
	assert.False(t, e.Residuals[1].Counts)
}

func TestFitNotesContradictionsOfLittle(t *testing.T) {
	s := Sample{ArrivalRate: Of(10), InputTokens: Of(100), OutputTokens: Of(101), ITL: Of(0.01), Running: Of(80)}
	e, err := Fit([]Sample{s}, Options{})
	require.NoError(t, err)
	assert.Contains(t, e.Notes[0], "samples[0]: 80 requests run, but arrivals and ITL make 10")
}

// The documented two-point calibration: exact, and nothing is known of its error.
func TestFitOfTwoPoints(t *testing.T) {
	samples := measure([]Sample{
		{Batch: Of(1), ContextTokens: Of(500)},
		{Batch: Of(64), ContextTokens: Of(500)},
	}, queueing.Profile{Alpha: 7e-3, Beta: 5e-5}, Options{}, 0, seeded(16))
	e, err := Fit(samples, Options{})
	require.NoError(t, err)
	assert.InDelta(t, 7e-3, e.Profile.Alpha, 1e-8)
	assert.InDelta(t, 5e-5, e.Profile.Beta, 1e-9)
	assert.False(t, e.Coefficients[Alpha].Identified)
	assert.Equal(t, math.Inf(1), e.Coefficients[Alpha].StandardError)
	assert.Contains(t, e.Coefficients[Alpha].Reason, "no more observations than coefficients")
	assert.Zero(t, e.Errors, "an exact fit says nothing of errors")
	assert.Len(t, e.Residuals, 2)
}

// An interval from 0 to several times the value is no knowledge of a coefficient.
func TestLooseCoefficientsAreNotIdentified(t *testing.T) {
	samples := []Sample{
		{Batch: Of(1), ContextTokens: Of(500), ITL: Of(7.0e-3)},
		{Batch: Of(2), ContextTokens: Of(500), ITL: Of(7.4e-3)},
		{Batch: Of(4), ContextTokens: Of(500), ITL: Of(7.3e-3)},
	}
	e, err := Fit(samples, Options{SquareRoot: SquareRootNever})
	require.NoError(t, err)
	beta := e.Coefficients[Beta]
	assert.False(t, beta.Identified)
	assert.Contains(t, beta.Reason, "anything from 0 to")
	assert.Zero(t, beta.Confidence.Low)
	assert.Greater(t, beta.Confidence.High, mostLoose*beta.Value)
	assert.True(t, e.Coefficients[Alpha].Identified)
	assert.Equal(t, 3, e.Errors.Overall.Count)
}

func TestFitNotesProfilesThatServeNothing(t *testing.T) {
	for name, test := range map[string]struct {
		samples []Sample
		noted   bool
	}{
		"wrong unit": {[]Sample{
			{Batch: Of(1), ContextTokens: Of(0), ITL: Of(1e-12)},
			{Batch: Of(1e6), ContextTokens: Of(1e9), ITL: Of(1e-6)},
		}, true},
		"TTFT alone": {[]Sample{{InputTokens: Of(5), TTFT: Of(1)}}, true},
		"fast":       {[]Sample{{Batch: Of(1), ContextTokens: Of(0), ITL: Of(1e-9)}}, false},
	} {
		t.Run(name, func(t *testing.T) {
			e, err := Fit(test.samples, Options{})
			require.NoError(t, err)
			assert.Equal(t, test.noted, strings.Contains(strings.Join(e.Notes, "\n"), "a request takes no time"))
		})
	}
}

// Of a test that begins with all clients at once, TTFT is mostly the wait for prompts
// of the others.
func TestFitNotesStartBursts(t *testing.T) {
	samples := measure(grid(), dense, Options{}, 0.02, seeded(17))
	advice := func(o Options) bool {
		e, err := Fit(samples, o)
		require.NoError(t, err)
		return strings.Contains(strings.Join(e.Notes, "\n"), "--ignore closed-loop.ttft")
	}
	assert.False(t, advice(Options{}), "a steady state")
	for i := range samples {
		if s := &samples[i]; s.Kind() == ClosedLoop {
			s.TTFT.Value += s.Concurrency.Value * s.InputTokens.Value * dense.Delta / 2
		}
	}
	assert.True(t, advice(Options{}))
	assert.False(t, advice(Options{Ignore: loadOnly}), "already left out")
}

func TestMedianOfAnEvenNumberIsInTheMiddle(t *testing.T) {
	errors := func(values ...float64) []Residual {
		var all []Residual
		for _, v := range values {
			all = append(all, Residual{Metric: queueing.ITL, Error: v, Counts: true})
		}
		return all
	}
	assert.InDelta(t, 0.25, Summarize(errors(-0.4, 0.1, 0.2, 0.3)).Overall.Median, 1e-15)
	assert.InDelta(t, 0.2, Summarize(errors(-0.4, 0.1, 0.2)).ITL.Median, 1e-15)
}

func TestFitNeedsSomethingToFit(t *testing.T) {
	_, err := Fit(nil, Options{})
	require.ErrorContains(t, err, "no sample has a metric that counts")
	e, err := Fit([]Sample{{InputTokens: Of(5), TTFT: Of(1)}}, Options{})
	require.NoError(t, err)
	assert.Contains(t, strings.Join(e.Notes, "\n"), "do not size by this profile")
	_, err = Fit([]Sample{{InputTokens: Of(5), TTFT: Of(1)}}, Options{Ignore: []Use{{PrefillPoint, queueing.TTFT}}})
	require.ErrorContains(t, err, "no sample has a metric that counts")
}

// A fit that is stopped, whenever that is, says so and nothing else.
func TestFitStops(t *testing.T) {
	samples := measure(workloads(), dense, Options{}, 0.01, seeded(30))
	asked := 0
	options := Options{HeldOut: true, Stop: func() bool {
		asked++
		return false
	}}
	e, err := Fit(samples, options)
	require.NoError(t, err)
	want, err := Fit(samples, Options{HeldOut: true})
	require.NoError(t, err)
	require.Equal(t, want, e)

	all := asked
	require.Greater(t, all, 20)
	for until := 1; until <= all; until += 7 {
		asked = 0
		options.Stop = func() bool {
			asked++
			return asked == until
		}
		_, err := Fit(samples, options)
		require.ErrorIs(t, err, ErrStopped)
		require.Equal(t, until, asked, "it is not asked again")
	}
}
