package planner

import (
	"cmp"
	"slices"
	"time"

	"github.com/poolwright/poolwright/queueing"
)

// Start is replicas that began to start in the same cycle.
type Start struct {
	// At is the time of that cycle; zero = they were starting when the workload was first seen, or
	// seen again after a gap.
	At       time.Time
	Replicas int
}

// starts are the replicas of a variant that are starting, the oldest first: those that are
// no more are taken for the oldest, which are ready by now.
func (c *cycle) starts(i, j int) []Start {
	v, last := &c.fleet.Workloads[i].Variants[j], c.next[i]
	starting := v.CurrentReplicas - v.ready()
	if starting == 0 {
		return nil
	}
	var starts []Start
	if m := last.variant(j, v.Name); m != nil {
		starts = slices.Clone(m.Starting)
	}
	known := 0
	for _, s := range starts {
		known += s.Replicas
	}
	if known < starting {
		now := c.snapshot.Now.UTC().Round(0)
		if c.gap(last) {
			now = time.Time{}
		}
		return append(starts, Start{At: now, Replicas: starting - known})
	}
	for known > starting {
		gone := min(known-starting, starts[0].Replicas)
		starts[0].Replicas -= gone
		known -= gone
		if starts[0].Replicas == 0 {
			starts = starts[1:]
		}
	}
	return starts
}

// ripening is replicas of a variant that are about to be ready.
type ripening struct {
	in                time.Duration
	variant, replicas int
}

// ripening are the starting replicas of a workload in the order in which they are due. Those
// that are overdue, or of which nobody saw the beginning, are due in a cycle: what they
// will not be in time for waits before it counts.
func (c *cycle) ripening(i int) []ripening {
	var all []ripening
	w := &c.fleet.Workloads[i]
	soon := cmp.Or(c.fleet.Control.Cycle, DefaultCycle)
	for j := range w.Variants {
		v := &w.Variants[j]
		for _, s := range c.starts(i, j) {
			in := soon
			if !s.At.IsZero() {
				in = max(in, v.Startup-max(0, c.snapshot.Now.Sub(s.At)))
			}
			all = append(all, ripening{in: in, variant: j, replicas: s.Replicas})
		}
	}
	slices.SortStableFunc(all, func(a, b ripening) int { return cmp.Compare(a.in, b.in) })
	return all
}

// queue is the number of requests that wait when replicas asked for now are ready: those
// that wait now and, until then, what arrives beyond what replicas complete at saturation
// that serve or come to serve. Where nothing waits, or nobody knows what replicas
// complete, it is what waits now.
func (c *cycle) queue(i int) float64 {
	w, s := &c.fleet.Workloads[i], &c.seen[i]
	if s.waiting == 0 {
		return 0
	}
	queue, now, horizon := s.waiting, time.Duration(0), w.horizon(&c.fleet.Control)
	counts := w.ready()
	flow := func(until time.Duration) {
		if until > now {
			queue = max(0, queue+(float64(s.rate)-c.completed(i, counts))*(until-now).Seconds())
			now = until
		}
	}
	for _, r := range c.ripening(i) {
		flow(min(r.in, horizon))
		counts[r.variant] += r.replicas
	}
	flow(horizon)
	for j, n := range counts {
		if n > 0 && c.sustained[i][j].atSaturation() == 0 {
			return s.waiting
		}
	}
	return queue
}

// atSaturation is what a replica completes when it has enough to do.
func (s *Size) atSaturation() queueing.Rate { return max(s.Saturation, s.Served) }
