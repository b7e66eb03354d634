package forecast

import (
	"math"
	"slices"
)

const (
	// leastDays is how many days of history the seasonal methods need.
	leastDays = 2
	// preference is how much better than the chosen method, relative to its error,
	// another must be.
	preference = 0.02
)

// judge compares what was predicted for a slot with its mean rate.
func (k *Models) judge(slot int64, rate float64, slots, most int) {
	due := 0
	for due < len(k.Pending) && k.Pending[due].Slot <= slot {
		if p := &k.Pending[due]; p.Slot == slot {
			k.compare(p, rate, slots)
			k.remember(rate-p.Points[p.Method], most)
			within := 0.0
			if rate <= p.Upper {
				within = 1
			}
			k.Coverage += (within - k.Coverage) * decay(k.Judged, slots)
			k.Judged++
		}
		due++
	}
	k.Pending = slices.Clone(k.Pending[due:])
}

// compare updates the mean absolute error of every method. The mean is exponential,
// over about a day.
func (k *Models) compare(p *Pending, rate float64, slots int) {
	if !p.Compared {
		return
	}
	for m := LocalTrend; m < methods; m++ {
		k.Loss[m] += (math.Abs(rate-p.Points[m]) - k.Loss[m]) * decay(k.Scored, slots)
	}
	k.Scored++
}

// decay returns the weight of the next value in a mean that forgets within some
// slots, and is plain before.
func decay(n, slots int) float64 { return 1 / float64(min(n+1, slots)) }

// remember keeps an error in the place of the oldest.
func (k *Models) remember(e float64, most int) {
	if len(k.Errors) != most && k.Oldest != 0 {
		k.Errors = slices.Concat(k.Errors[k.Oldest:], k.Errors[:k.Oldest])
		k.Oldest = 0
	}
	if extra := len(k.Errors) - most; extra > 0 {
		k.Errors = k.Errors[extra:]
	}
	if len(k.Errors) < most {
		k.Errors = append(slices.Clip(k.Errors), float32(e))
		return
	}
	k.Errors = slices.Clone(k.Errors)
	k.Errors[k.Oldest] = float32(e)
	k.Oldest = (k.Oldest + 1) % most
}

// smooth lets exponential smoothing learn from a slot, or begin.
func (k *Models) smooth(s *State, slot int64, rate float64) {
	switch {
	case k.Smoothing != nil:
		k.Smoothing = k.Smoothing.next(slot, rate, int(slot-k.Slot))
	case s.span(slot) >= leastDays*perDay(s.Slot):
		k.Smoothing = newSmoothing(s, slot, rate)
	}
}

// choose takes the method of least error. Before they have been compared for a quarter
// of a day, that is the local trend.
func (k *Models) choose(slots int) {
	k.Method = max(k.Method, LocalTrend)
	if k.Scored < slots/4 {
		return
	}
	best := LocalTrend
	for m := SeasonalChange; m < methods; m++ {
		if k.Loss[m] < k.Loss[best] {
			best = m
		}
	}
	if k.Loss[best] < k.Loss[k.Method]*(1-preference) {
		k.Method = best
	}
}

// margin returns the error that the band reaches up to, at least 0.
func (k *Models) margin(s *State, q float64) float64 {
	rank := min(rankAmong(len(k.Errors), q), k.mostRank(s))
	if rank <= 0 {
		return 0
	}
	return max(0, float64(smallest(slices.Clone(k.Errors), rank-1)))
}

// mostRank is the rank of the largest error that a band may be drawn from.
//
// One step of demand makes Lead+1 errors at most: of the slot that it is in, and of
// those predicted before it. Among few errors these would be the quantile, and the band
// would be as wide as the step long after demand has settled. So they are left out
// until there are the errors of a day.
func (k *Models) mostRank(s *State) int {
	if n := len(k.Errors); n < int(perDay(s.Slot)) {
		return n - s.Lead - 1
	}
	return len(k.Errors)
}

// promise makes the predictions from the last closed slot, to be judged later.
func (k *Models) promise(s *State) {
	p := Pending{Slot: k.Slot + int64(s.Lead), Compared: k.Smoothing != nil, Method: k.Method}
	for m := LocalTrend; m < methods && (p.Compared || m == LocalTrend); m++ {
		p.Points[m] = m.from(s, k, s.Lead)
	}
	p.Upper = p.Points[p.Method] + k.Margin
	k.Pending = append(slices.Clip(k.Pending), p)
}

// look makes the predictions of the chosen method from the open slot on.
func (k *Models) look(s *State, lead int) {
	k.Near = k.Method.from(s, k, k.Gap+1)
	k.Due = k.Method.from(s, k, k.Gap+lead)
	k.Beyond = k.Method.from(s, k, k.Gap+lead+1)
}

// stretch takes the errors for those of another lead, and forgets predictions for the
// former.
func (k *Models) stretch(factor float64) {
	k.Pending = nil
	k.Errors = slices.Clone(k.Errors)
	for i := range k.Errors {
		k.Errors[i] *= float32(factor)
	}
	k.Margin *= factor
}
