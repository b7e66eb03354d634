package hpa

import (
	"math"
	"time"
)

// What an autoscaler without behavior may grow to at once.
const (
	upFactor  = 2
	upMinimum = 4
)

// limited is a number of replicas and what kept it from being another.
type limited struct {
	replicas int32
	reason   Reason
}

// withoutBehavior keeps replicas in bounds and from growing too fast.
func (c *Config) withoutBehavior(current, wanted int32) limited {
	most, reason := c.MaxReplicas, TooManyReplicas
	if limit := max(upFactor*int64(current), upMinimum); limit < int64(most) {
		most, reason = replicas(limit), ScaleUpLimit
	}
	switch {
	case wanted < c.MinReplicas:
		return limited{c.MinReplicas, TooFewReplicas}
	case wanted > most:
		return limited{most, reason}
	default:
		return limited{wanted, DesiredWithinRange}
	}
}

// withBehavior keeps replicas in bounds and from changing too fast.
func (c *Config) withBehavior(h *History, now time.Time, current, wanted int32) limited {
	switch {
	case wanted > current:
		most, reason := c.MaxReplicas, TooManyReplicas
		if limit := max(c.Behavior.ScaleUp.upLimit(h, now, current), current); limit < most {
			most, reason = limit, ScaleUpLimit
		}
		if wanted > most {
			return limited{most, reason}
		}
	case wanted < current:
		least, reason := c.MinReplicas, TooFewReplicas
		if limit := min(c.Behavior.ScaleDown.downLimit(h, now, current), current); limit > least {
			least, reason = limit, ScaleDownLimit
		}
		if wanted < least {
			return limited{least, reason}
		}
	}
	return limited{wanted, DesiredWithinRange}
}

// atStart returns the replicas that there were at the start of a period, as far as
// changes are known.
func atStart(h *History, now time.Time, current int32, period time.Duration) int32 {
	return replicas(int64(current) - changes(h.Ups, now, period) + changes(h.Downs, now, period))
}

// upLimit returns the most replicas that the rules permit.
func (r *Rules) upLimit(h *History, now time.Time, current int32) int32 {
	if r.Select == Disabled {
		return current
	}
	best, pick := int32(math.MinInt32), larger
	if r.Select == Min {
		best, pick = math.MaxInt32, smaller
	}
	for _, p := range r.Policies {
		start := atStart(h, now, current, p.Period)
		limit := replicas(int64(start) + int64(p.Value))
		if p.Type == Percent {
			// Rounded up, or else few replicas would never grow.
			limit = replicas(whole(math.Ceil(float64(start) * (1 + float64(p.Value)/100))))
		}
		best = pick(best, limit)
	}
	return best
}

// downLimit returns the fewest replicas that the rules permit.
func (r *Rules) downLimit(h *History, now time.Time, current int32) int32 {
	if r.Select == Disabled {
		return current
	}
	best, pick := int32(math.MaxInt32), smaller
	if r.Select == Min {
		best, pick = math.MinInt32, larger
	}
	for _, p := range r.Policies {
		start := atStart(h, now, current, p.Period)
		limit := replicas(int64(start) - int64(p.Value))
		if p.Type == Percent {
			limit = replicas(whole(float64(start) * (1 - float64(p.Value)/100)))
		}
		best = pick(best, limit)
	}
	return best
}

func larger(a, b int32) int32  { return max(a, b) }
func smaller(a, b int32) int32 { return min(a, b) }
