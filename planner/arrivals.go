package planner

import (
	"fmt"
	"slices"
	"time"

	"github.com/poolwright/poolwright/queueing"
)

// arrivals finds the rate of arrivals in what was measured, the best first.
//
// Rates are means over a window, and so must be the growth of what is inside that makes
// arrivals of completions. A load that has just risen shows a window late in both. But
// where requests wait, replicas complete what they can, now as in the window: what they
// complete, and the growth since the last cycle, arrives at least.
func (s *seen) arrivals(o *Observation, last *WorkloadMemory, now time.Time) {
	arrivals, completions := o.ArrivalRate.checked(), o.CompletionRate.checked()
	growth, ok := s.growth(last, now, o.Window)
	if rising, _ := s.growth(last, now, 0); s.waiting > 0 && rising > growth {
		growth = rising
	}
	ok = ok && completions.State == Fresh
	reconstructed := queueing.Rate(max(0, completions.Value+growth))
	late := ok && s.waiting > 0 && o.Window > 0 && float64(reconstructed) > arrivals.Value
	switch {
	case arrivals.State == Fresh && !late:
		s.known, s.complete, s.rate, s.reason = true, true, queueing.Rate(arrivals.Value), "observed"
	case ok:
		s.known, s.complete, s.rate = true, true, reconstructed
		s.reason = fmt.Sprintf("%.4g/s completed, and %+.4g/s inside", completions.Value, growth)
	case arrivals.State == Incomplete:
		s.known, s.rate, s.reason = true, queueing.Rate(arrivals.Value), "at least, as not all replicas report"
	case completions.State == Fresh || completions.State == Incomplete:
		s.known, s.rate, s.reason = true, queueing.Rate(completions.Value), "completed, which does not show a backlog"
	default:
		s.reason = arrivals.State.String() + " arrival rate"
	}
}

// Count is a number of requests, running or waiting, at a time.
type Count struct {
	At       time.Time
	Requests float64
}

// longestGrowth is the longest time over which numbers of requests are compared, unless
// rates are over a longer one.
const longestGrowth = 5 * time.Minute

// growth is that of the number of requests inside, per second, over the time since it was
// counted that is nearest to a window.
func (s *seen) growth(last *WorkloadMemory, now time.Time, window time.Duration) (float64, bool) {
	if !s.counted {
		return 0, false
	}
	var from Count
	elapsed := time.Duration(-1)
	for _, c := range slices.Backward(last.Inside) {
		since := now.Sub(c.At)
		if elapsed < 0 || (since-window).Abs() < (elapsed-window).Abs() {
			from, elapsed = c, since
		}
	}
	if elapsed <= 0 || elapsed > max(longestGrowth, 2*window) {
		return 0, false
	}
	return (s.inside - from.Requests) / elapsed.Seconds(), true
}

// count remembers the number of requests inside, for as long as it is compared. A gap begins
// anew.
func (s *seen) count(past []Count, now time.Time, window time.Duration) []Count {
	if !s.counted {
		return nil
	}
	first := 0
	for first < len(past)-1 && now.Sub(past[first+1].At) >= window {
		first++
	}
	return append(slices.Clone(past[min(first, len(past)):]), Count{At: now.UTC().Round(0), Requests: s.inside})
}
