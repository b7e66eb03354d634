package planner

import (
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/poolwright/poolwright/queueing"
)

// arrivals finds the rate of arrivals in what was measured, the best first.
//
// Rates are means over a window, and so must be the growth of what is inside that makes
// arrivals of completions.
func (s *seen) arrivals(o *Observation, last *WorkloadMemory) {
	arrivals, completions := o.ArrivalRate.checked(), o.CompletionRate.checked()
	growth, counted := s.growth(last, o.Window)
	reconstructed := completions.Value + growth
	switch {
	case arrivals.State == Fresh:
		s.known, s.complete, s.rate, s.reason = true, true, queueing.Rate(arrivals.Value), "observed"
	case completions.State == Fresh && counted && reconstructed >= 0:
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

// chance is the number of standard deviations up to which a count of arrivals is taken for
// what its rate makes by chance.
const chance = 2

// risen raises the rate to that since the last cycle, where requests wait and more have arrived
// than the rate lets expect: a load that has just risen shows a window late in a mean over it.
//
// What was completed and is more inside has arrived, at least: of what was lost nobody knows, and
// of the time between the cycles and that between their counts the one counts by which less has
// arrived. Counts that are further apart than a window tell no more than it. Arrivals are taken
// for those of a Poisson process.
func (s *seen) risen(o *Observation, last *WorkloadMemory) {
	if !s.known || !s.counted || s.waiting == 0 || o.Window == 0 || len(last.Inside) == 0 {
		return
	}
	completed, from := o.RecentCompletionRate.checked(), &last.Inside[len(last.Inside)-1]
	growth, cycles := s.inside.inside()-from.inside(), s.inside.At.Sub(from.At)
	counts := cycles + from.Age - s.inside.Age
	elapsed := min(cycles, counts)
	if growth > 0 {
		elapsed = max(cycles, counts)
	}
	if !completed.usable() || elapsed <= 0 || elapsed > o.Window {
		return
	}
	arrived := completed.Value*elapsed.Seconds() + growth
	if arrived-float64(s.rate)*elapsed.Seconds() <= chance*math.Sqrt(max(0, arrived)) {
		return
	}
	reason := fmt.Sprintf("%.4g/s completed, and %+.4g/s inside, since the last cycle", completed.Value, growth/elapsed.Seconds())
	if !s.complete {
		reason = s.reason + "; " + reason
	}
	s.rate, s.reason = queueing.Rate(arrived/elapsed.Seconds()), reason
}

// Count is the number of requests inside at a time.
type Count struct {
	At time.Time
	// Age is how long before that they were counted, on the mean over replicas.
	Age time.Duration
	// Running and Waiting are requests in batches and in queues.
	Running, Waiting float64
}

func (c *Count) inside() float64 { return c.Running + c.Waiting }

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
func (s *seen) growth(last *WorkloadMemory, window time.Duration) (float64, bool) {
	if !s.counted {
		return 0, false
	}
	var from Count
	least, running := s.inside.Running, s.inside.Running
	elapsed := time.Duration(-1)
	for _, c := range slices.Backward(last.Inside) {
		since := s.inside.At.Sub(c.At)
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
