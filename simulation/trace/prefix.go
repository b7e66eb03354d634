package trace

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
)

// MaxGroups is the most groups of prompts.
const MaxGroups = 10_000

// Prefixes says which prompts begin alike: those of a group have a prefix in common, as the
// prompts of an application have its instructions. The zero value is no prefixes.
type Prefixes struct {
	// Groups is the number of groups.
	Groups int
	// Tokens is the length of each prefix. A prompt that is not longer lies within it.
	Tokens int
	// Ratio, in [0, 1], is the prefix as a share of each prompt, in place of Tokens.
	Ratio float64
	// Share of the requests that belong to a group, in [0, 1].
	Share float64
	// Popularity is the exponent, ≥ 0, of Zipf's law: the i-th group is met in proportion to
	// i^-Popularity. 0 = all alike.
	Popularity float64
}

func (p *Prefixes) check() error {
	var errs []error
	if p.Groups < 0 || p.Groups > MaxGroups {
		errs = append(errs, fmt.Errorf("trace: prefixes: %d groups are not in [0, %d]", p.Groups, MaxGroups))
	}
	if p.Tokens < 0 || p.Tokens > MaxTokens {
		errs = append(errs, fmt.Errorf("trace: prefixes: %d tokens are not in [0, %d]", p.Tokens, MaxTokens))
	}
	if !(p.Ratio >= 0 && p.Ratio <= 1) {
		errs = append(errs, fmt.Errorf("trace: prefixes: ratio %g is not in [0, 1]", p.Ratio))
	}
	if !(p.Share >= 0 && p.Share <= 1) {
		errs = append(errs, fmt.Errorf("trace: prefixes: share %g is not in [0, 1]", p.Share))
	}
	if !(p.Popularity >= 0 && p.Popularity <= maxPopularity) {
		errs = append(errs, fmt.Errorf("trace: prefixes: popularity %g is not in [0, %d]", p.Popularity, maxPopularity))
	}
	return errors.Join(errs...)
}

const maxPopularity = 10

// prefixes draws the group of each request.
type prefixes struct {
	Prefixes
	random *rand.Rand
	// names has that of each group's prefix, below the chance of it or a group before.
	names  []uint64
	chance []float64
}

func newPrefixes(p Prefixes, s seed) *prefixes {
	if p.Groups == 0 || p.Share == 0 {
		return nil
	}
	x := &prefixes{Prefixes: p, random: s.random(), names: make([]uint64, p.Groups), chance: make([]float64, p.Groups)}
	var sum float64
	for i := range x.names {
		x.names[i] = mix(s.low + uint64(i))
		sum += math.Pow(float64(i+1), -p.Popularity)
		x.chance[i] = sum
	}
	for i := range x.chance {
		x.chance[i] *= p.Share / sum
	}
	return x
}

// draw sets the prefix of a request, whose Input is known.
func (x *prefixes) draw(r *Request) {
	r.Prefix, r.BlockTokens = nil, 0
	if x == nil {
		return
	}
	u := x.random.Float64()
	if u >= x.Share {
		return
	}
	i, _ := slices.BinarySearch(x.chance, u)
	i = min(i, len(x.names)-1)
	tokens := x.Tokens
	if tokens == 0 {
		tokens = int(math.Round(x.Ratio * float64(r.Input)))
	}
	if tokens > 0 {
		r.Prefix, r.BlockTokens = x.names[i:i+1:i+1], tokens
	}
}
