package trace

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/poolwright/poolwright/queueing"
	"github.com/poolwright/poolwright/simulation/replica"
)

// MaxTokens is the most tokens that a prompt or an output may have.
const MaxTokens = 10_000_000

// Distribution names a distribution of lengths.
type Distribution = replica.Distribution

// Those of lengths; gamma is the default.
const (
	GammaLengths     = replica.Gamma
	LogNormalLengths = replica.LogNormal
)

// Lengths is a distribution of numbers of tokens.
type Lengths struct {
	Distribution Distribution
	// Mean is ≥ 0, SCV the squared coefficient of variation, ≥ 0; 0 = all lengths are the
	// mean. Both are those before Min and Max.
	Mean, SCV float64
	// Min and Max are the bounds that lengths beyond are set to. A Max of 0 is none.
	Min, Max int
}

func (l Lengths) check(least int) error {
	var errs []error
	if !(l.Mean >= float64(least) && l.Mean <= MaxTokens) {
		errs = append(errs, fmt.Errorf("mean %g is not in [%d, %d]", l.Mean, least, MaxTokens))
	}
	if !(l.SCV >= 0 && l.SCV <= maxLengthSCV) {
		errs = append(errs, fmt.Errorf("scv %g is not in [0, %g]", l.SCV, float64(maxLengthSCV)))
	}
	if l.Distribution != GammaLengths && l.Distribution != LogNormalLengths {
		errs = append(errs, fmt.Errorf("there is no distribution %d", l.Distribution))
	}
	if high := l.max(); l.Min < 0 || high < 0 || l.Min > high || high > MaxTokens {
		errs = append(errs, fmt.Errorf("bounds [%d, %d] are none within [0, %d]", l.Min, high, MaxTokens))
	}
	return errors.Join(errs...)
}

// maxLengthSCV is far beyond what requests have.
const maxLengthSCV = 1e6

func (l Lengths) max() int {
	if l.Max == 0 {
		return MaxTokens
	}
	return l.Max
}

// lengths draws from a distribution within bounds.
type lengths struct {
	replica.Lengths
	min, max int
}

func newLengths(l Lengths, least int, random *rand.Rand) lengths {
	return lengths{
		Lengths: replica.NewLengths(queueing.Tokens(l.Mean), l.SCV, l.Distribution, random),
		min:     max(l.Min, least),
		max:     l.max(),
	}
}

func (l *lengths) draw() int { return min(max(l.Draw(), l.min), l.max) }

// Sample is lengths that were observed, each prompt with its output.
type Sample struct{ pairs []pair }

type pair struct{ input, output int32 }

// maxSample is the most pairs that a sample holds: enough for its 99.9th percentile within a few per cent.
const maxSample = 100_000

// NewSample draws a sample from a source that ends: all its lengths if they are few,
// otherwise 100,000 of them, each with the same chance.
func NewSample(s Source) (Sample, error) {
	if math.IsInf(s.end(), 1) {
		return Sample{}, errors.New("trace: a sample needs requests that end")
	}
	const fixed = 1
	requests := s.stream(seedOf(fixed, ""))
	random := seedOf(fixed, "").of(ofResampling).random()
	var sample Sample
	seen := 0
	err := expectEach(requests, func(r *Request) {
		p := pair{int32(r.Input), int32(r.Output)} //nolint:gosec // both are MaxTokens at most
		seen++
		if len(sample.pairs) < maxSample {
			sample.pairs = append(sample.pairs, p)
		} else if i := random.IntN(seen); i < maxSample {
			sample.pairs[i] = p
		}
	}, func() bool { return false })
	if err == nil && seen == 0 {
		err = errors.New("trace: a sample needs requests")
	}
	return sample, err
}
