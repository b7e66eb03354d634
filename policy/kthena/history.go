package kthena

import (
	"time"

	"github.com/poolwright/poolwright/policy"
)

// History is what the autoscaler remembers of one workload. The zero value is that of
// one never seen. It holds no more than what can still be an extreme of a window.
type History struct {
	// Largest and Smallest are of recommendations.
	Largest  policy.Maximum
	Smallest policy.Minimum
	// Most and Fewest are of decisions that another has followed, at the time of that
	// one: until then they held.
	Most   policy.Maximum
	Fewest policy.Minimum
	// Last is the decision that still holds, if Decided.
	Decided bool
	Last    int
	// Panicked is when there last was cause for a panic, if HasPanicked.
	HasPanicked bool
	Panicked    time.Time
}

// clone returns a copy that shares nothing.
func (h History) clone() History {
	h.Largest, h.Smallest = h.Largest.Clone(), h.Smallest.Clone()
	h.Most, h.Fewest = h.Most.Clone(), h.Fewest.Clone()
	return h
}

// Resume returns the history after a time in which nobody looked: as many replicas as there are
// may have been wanted in it. What lies in the future, as a clock was set back, counts as of now.
func (h History) Resume(now time.Time, current int) History {
	h = h.clone()
	h.Largest.SetBack(now)
	h.Smallest.SetBack(now)
	h.Most.SetBack(now)
	h.Fewest.SetBack(now)
	if h.Panicked.After(now) {
		h.Panicked = now.Round(0).UTC()
	}
	h.Largest.Add(now, current)
	return h
}

// largest returns the largest of a recommendation and those of a window.
func (h *History) largest(recommended int, now time.Time, window time.Duration) int {
	if value, ok := h.Largest.Since(now.Add(-window)); ok && window > 0 {
		return max(recommended, value)
	}
	return recommended
}

// smallest is the counterpart of largest.
func (h *History) smallest(recommended int, now time.Time, window time.Duration) int {
	if value, ok := h.Smallest.Since(now.Add(-window)); ok && window > 0 {
		return min(recommended, value)
	}
	return recommended
}

// most returns the most replicas that there were within a period.
func (h *History) most(current int, now time.Time, period time.Duration) int {
	if h.Decided {
		current = max(current, h.Last)
	}
	if value, ok := h.Most.Since(now.Add(-period)); ok {
		current = max(current, value)
	}
	return current
}

// fewest is the counterpart of most.
func (h *History) fewest(current int, now time.Time, period time.Duration) int {
	if h.Decided {
		current = min(current, h.Last)
	}
	if value, ok := h.Fewest.Since(now.Add(-period)); ok {
		current = min(current, value)
	}
	return current
}

// panics tells whether there is a panic, and remembers its cause.
func (h *History) panics(p Panic, now time.Time, current, recommended int) bool {
	if p.Hold == 0 {
		return false
	}
	if 100*recommended >= current*p.ThresholdPercent {
		h.HasPanicked, h.Panicked = true, now.Round(0).UTC()
	}
	return h.HasPanicked && !now.After(h.Panicked.Add(p.Hold))
}

// record remembers a recommendation and what became of it, and forgets what no window
// reaches.
func (h *History) record(c *Config, now time.Time, recommended, decided int) {
	h.Largest.Add(now, recommended)
	h.Largest.Forget(now.Add(-c.ScaleDown.Window))
	h.Smallest.Add(now, recommended)
	h.Smallest.Forget(now.Add(-c.ScaleUp.Window))
	if h.Decided {
		h.Most.Add(now, h.Last)
		h.Most.Forget(now.Add(-c.ScaleDown.Period))
		h.Fewest.Add(now, h.Last)
		h.Fewest.Forget(now.Add(-max(c.ScaleUp.Period, c.Panic.Period)))
	}
	h.Decided, h.Last = true, decided
}
