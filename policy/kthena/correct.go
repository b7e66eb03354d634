package kthena

import "time"

// limited is a number of replicas and what made it that.
type limited struct {
	replicas int
	reason   Reason
}

// part returns the whole replicas in a share of some.
func part(replicas, percent int) int { return replicas * percent / 100 }

// limits tells whether a direction has a rate limit.
func (s Stable) limits() bool { return s.Period > 0 && s.Select != Unlimited }

// pick returns the limit that counts, of one that permits more and one that permits less.
func (s Stable) pick(loose, strict int) int {
	if s.Select == And {
		return strict
	}
	return loose
}

// down shrinks as far as recent recommendations and decisions permit.
func (c *Config) down(h *History, now time.Time, current, recommended int) []limited {
	s := c.ScaleDown
	held := h.largest(recommended, now, s.Window)
	out := []limited{{min(held, current), ScaleDownStabilized}}
	if s.limits() {
		start := h.most(current, now, s.Period)
		a, b := start-s.Instances, start-part(start, s.Percent)
		limit := s.pick(min(a, b), max(a, b))
		out = append(out, limited{min(max(held, limit), current), ScaleDownLimited})
	}
	return out
}

// up grows as far as recent recommendations and decisions permit.
func (c *Config) up(h *History, now time.Time, current, recommended int) []limited {
	s := c.ScaleUp
	held := h.smallest(recommended, now, s.Window)
	out := []limited{{max(held, current), ScaleUpStabilized}}
	if s.limits() {
		start := h.fewest(current, now, s.Period)
		a, b := start+s.Instances, start+part(start, s.Percent)
		limit := s.pick(max(a, b), min(a, b))
		out = append(out, limited{max(min(held, limit), current), ScaleUpLimited})
	}
	return out
}

// panicked grows without regard to recommendations before, and never shrinks.
func (c *Config) panicked(h *History, now time.Time, current, recommended int) []limited {
	grown := recommended
	if c.Panic.Period > 0 {
		if start := h.fewest(current, now, c.Panic.Period); start > 0 {
			grown = min(grown, start+part(start, c.Panic.Percent))
		}
	}
	return []limited{
		{max(recommended, current), PanicKept},
		{max(grown, current), PanicLimited},
	}
}

// correct returns what a recommendation becomes, step by step.
func (c *Config) correct(h *History, now time.Time, current, recommended int, panics bool) []limited {
	switch {
	case panics:
		return c.panicked(h, now, current, recommended)
	case recommended < current:
		return c.down(h, now, current, recommended)
	case recommended > current:
		return c.up(h, now, current, recommended)
	default:
		return nil
	}
}
