package calibration

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/poolwright/poolwright/queueing"
)

func TestQuantityIsMissingUnlessKnown(t *testing.T) {
	assert.Equal(t, 7.0, Quantity{}.Or(7))
	assert.Equal(t, 0.0, Of(0).Or(7))
	assert.False(t, Quantity{Value: 3}.Known)
}

func TestKind(t *testing.T) {
	for name, test := range map[string]struct {
		sample Sample
		kind   Kind
	}{
		"decode":      {Sample{Batch: Of(1), ContextTokens: Of(0)}, DecodePoint},
		"prefill":     {Sample{InputTokens: Of(1)}, PrefillPoint},
		"closed loop": {Sample{Concurrency: Of(1), InputTokens: Of(1)}, ClosedLoop},
		"open loop":   {Sample{ArrivalRate: Of(1), OutputTokens: Of(1)}, OpenLoop},
		"production":  {Sample{Running: Of(1)}, OpenLoop},
		"nothing":     {Sample{}, UnknownKind},
		"two":         {Sample{Batch: Of(1), Concurrency: Of(1)}, UnknownKind},
		"lengths":     {Sample{InputTokens: Of(1), OutputTokens: Of(1)}, UnknownKind},
	} {
		assert.Equal(t, test.kind, test.sample.Kind(), name)
	}
	assert.Equal(t, "closed loop", ClosedLoop.String())
	assert.Equal(t, "Kind(9)", Kind(9).String())
	assert.Equal(t, "ttftOffset", TTFTOffset.String())
	assert.Equal(t, "Term(8)", Term(8).String())
}

func TestFitNamesEveryMistake(t *testing.T) {
	nan := math.NaN()
	valid := Sample{Concurrency: Of(1), InputTokens: Of(10), OutputTokens: Of(10), ITL: Of(0.1), TTFT: Of(0.1)}
	change := func(f func(*Sample)) Sample {
		s := valid
		f(&s)
		return s
	}
	for name, test := range map[string]struct {
		sample Sample
		errors []string
	}{
		"nothing known":     {Sample{}, []string{"samples[1]: batch and contextTokens, concurrency, arrivalRate, or inputTokens alone must be known"}},
		"two kinds":         {change(func(s *Sample) { s.ArrivalRate = Of(1) }), []string{"samples[1]: batch and contextTokens"}},
		"no latency":        {change(func(s *Sample) { s.ITL, s.TTFT = Quantity{}, Quantity{} }), []string{"samples[1]: neither itl nor ttft is known"}},
		"zero ITL":          {change(func(s *Sample) { s.ITL = Of(0) }), []string{"samples[1].itl: 0 is not in"}},
		"NaN":               {change(func(s *Sample) { s.TTFT = Of(nan) }), []string{"samples[1].ttft: NaN is not in"}},
		"negative":          {change(func(s *Sample) { s.InputTokens = Of(-1) }), []string{"samples[1].inputTokens: -1 is not in"}},
		"infinite":          {change(func(s *Sample) { s.Concurrency = Of(math.Inf(1)) }), []string{"samples[1].concurrency: +Inf is not in"}},
		"no output":         {change(func(s *Sample) { s.OutputTokens = Quantity{} }), []string{"samples[1].outputTokens: missing in a closed loop"}},
		"ITL of one token":  {change(func(s *Sample) { s.OutputTokens = Of(1) }), []string{"samples[1].itl: an output of 1 token has none"}},
		"weight":            {change(func(s *Sample) { s.Weight = Of(0) }), []string{"samples[1].weight: 0 is not in"}},
		"hit ratio":         {change(func(s *Sample) { s.PrefixHitRatio = Of(1.5) }), []string{"samples[1].prefixHitRatio: 1.5 is not in"}},
		"foreign quantity":  {Sample{Batch: Of(1), ContextTokens: Of(1), ITL: Of(1), OutputTokens: Of(2)}, []string{"samples[1].outputTokens: a decode point has none"}},
		"decode of prompts": {Sample{Batch: Of(1), ITL: Of(1), TTFT: Of(2)}, []string{"samples[1].contextTokens: missing", "samples[1].ttft: a decode point has none"}},
		"several": {
			Sample{InputTokens: Of(nan), ITL: Of(0)},
			[]string{"samples[1].inputTokens: NaN", "samples[1].itl: 0", "samples[1].itl: a prefill point has none", "samples[1].ttft: missing"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Fit([]Sample{valid, test.sample}, Options{})
			require.Error(t, err)
			for _, want := range test.errors {
				require.ErrorContains(t, err, want)
			}
			assert.NotContains(t, err.Error(), "samples[0]")
			_, err = Predict(queueing.Profile{}, []Sample{valid, test.sample}, Options{})
			require.Error(t, err)
		})
	}
	_, err := Fit([]Sample{valid}, Options{})
	require.NoError(t, err)
}

func TestFitNamesMistakesInOptions(t *testing.T) {
	_, err := Fit(nil, Options{
		Ignore:           []Use{{UnknownKind, queueing.E2E}},
		SquareRoot:       7,
		Prior:            queueing.Profile{Alpha: -1, Sigma: math.NaN()},
		MaxBatch:         -1,
		KVCacheTokens:    -1,
		MaxBatchedTokens: -1,
		PrefillMode:      9,
		AcceptedTokens:   0.5,
	})
	for _, want := range []string{
		"options.ignore[0]: kind 0 is none", "options.ignore[0]: metric e2e is neither itl nor ttft",
		"options.squareRoot: 7 is none", "options.prior.alpha: -1", "options.prior.sigma: NaN",
		"options.maxBatch: -1", "options.kvCacheTokens: -1", "options.maxBatchedTokens: -1",
		"options.prefillMode: 9 is none", "options.acceptedTokens: 0.5",
	} {
		require.ErrorContains(t, err, want)
	}
	_, err = Predict(queueing.Profile{Delta: math.Inf(1)}, nil, Options{})
	require.ErrorContains(t, err, "profile.delta: +Inf")
}
