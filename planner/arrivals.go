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
	growth, counted := s.growth(last, now, o.Window)
	if rising, _ := s.growth(last, now, 0); s.waiting > 0 && rising > growth {
		growth = rising
	}
	reconstructed := completions.Value + growth
	ok := completions.State == Fresh && counted && reconstructed >= 0
	late := ok && s.waiting > 0 && o.Window > 0 && reconstructed > arrivals.Value
	switch {
	case arrivals.State == Fresh && !late:
		s.known, s.complete, s.rate, s.reason = true, true, queueing.Rate(arrivals.Value), "observed"
	case ok:
		s.known, s.complete, s.rate = true, true, queueing.Rate(reconstructed)
		s.reason = fmt.Sprintf("%.4g/s completed, and %+.4g/s inside", completions.Value, growth)
	case arrivals.State == Incomplete:
		s.known, s.rate, s.reason = true, queueing.Rate(arrivals.Value), "at least, as not all replicas report"
	case completions.State == Fresh && counted:
		s.known, s.rate, s.reason = true, queueing.Rate(completions.Value), "completed, of more that do not wait any more"
	case completions.State == Fresh || completions.State == Incomplete:
		s.known, s.rate, s.reason = true, queueing.Rate(completions.Value), "completed, which does not show a backlog"
	default:
		s.reason = arrivals.State.String() + " arrival rate"
	}
}

// Count is the number of requests inside at a time.
type Count struct {
	At time.Time
	// Running and Waiting are requests in batches and in queues.
	Running, Waiting float64
}

// longestGrowth is the longest time over which numbers of requests are compared, unless
// rates are over a longer one.
const longestGrowth = 5 * time.Minute

// growth is that of the number of requests inside, per second, since the count that is
// nearest to a window ago.
//
// Arrivals are completions and this growth where nothing is lost: a shrinking queue is
// completed from, which is no new demand. But engines that restart lose what they run, and
// what leaves with a replica is reported by none. That what runs is less is not taken for
// less demand, therefore: running grows since it was least. Where nothing was lost,
// demand that falls is seen as late as its requests end.
func (s *seen) growth(last *WorkloadMemory, now time.Time, window time.Duration) (float64, bool) {
	if !s.counted {
		return 0, false
	}
	var from Count
	least, running := s.inside.Running, s.inside.Running
	elapsed := time.Duration(-1)
	for _, c := range slices.Backward(last.Inside) {
		since := now.Sub(c.At)
		running = min(running, c.Running)
		if elapsed < 0 || (since-window).Abs() < (elapsed-window).Abs() {
			from, elapsed, least = c, since, running
		}
	}
	if elapsed <= 0 || elapsed > max(longestGrowth, 2*window) {
		return 0, false
	}
	return (s.inside.Running - least + s.inside.Waiting - from.Waiting) / elapsed.Seconds(), true
}

// count remembers the number of requests inside, for as long as it is compared. A gap begins
// anew.
func (s *seen) count(past []Count, window time.Duration) []Count {
	if !s.counted {
		return nil
	}
	first := 0
	for first < len(past)-1 && s.inside.At.Sub(past[first+1].At) >= window {
		first++
	}
	return append(slices.Clone(past[min(first, len(past)):]), s.inside)
}
