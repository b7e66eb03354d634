package scenario

import (
	"errors"
	"fmt"
	"slices"

	"github.com/poolwright/poolwright/optimizer"
	"github.com/poolwright/poolwright/planner"
)

// View is a cluster at one moment, as rules look at it.
type View struct {
	Fleet        planner.Fleet
	Observations []planner.Observation
	Paused       map[string]bool
	// Pending replicas have no devices; per workload and variant.
	Pending [][]int
	// Moved: somebody else changed replicas after the loop had looked.
	Moved bool
}

// view returns the cluster as it is.
func (c *Cluster) view() View {
	v := View{Fleet: c.current(), Observations: c.observed, Paused: c.Paused, Moved: c.moved}
	for i := range c.workloads {
		counts := make([]int, len(c.workloads[i].variants))
		for j := range counts {
			counts[j] = c.workloads[i].variants[j].count(pending)
		}
		v.Pending = append(v.Pending, counts)
	}
	return v
}

// Check returns every rule that the changes broke which were made of a decision, nil if
// none. Between before and after nothing else happened. The rules:
//
//   - what is added finds devices at once, within pools and quotas and the budget of
//     devices per cycle, unless it is one replica alone; and unless somebody else has just
//     taken them
//   - additions come before removals
//   - nothing is taken below a declared minimum, unless the decision says that minimums
//     don't all fit, or devices are lacking
//   - a paused workload stays as it is, and one of whose demand nothing is known is
//     raised to its minimums at most
//   - one of whose demand only a part is known loses nothing that serves, unless a declared
//     maximum says so, or devices are lacking: replicas wait for them, or a minimum does
//   - what has neither profile nor capacity gets no replicas
func Check(before View, d *planner.Decision, changes []planner.Change, after View) error {
	c := checker{before: before, after: after}
	c.order(changes)
	for _, change := range changes {
		c.change(change)
	}
	if d.Demand != optimizer.Infeasible {
		c.floors(changes)
	}
	c.devices(changes)
	return errors.Join(c.errs...)
}

type checker struct {
	before, after View
	errs          []error
}

func (c *checker) fail(format string, args ...any) {
	c.errs = append(c.errs, fmt.Errorf(format, args...))
}

func (c *checker) order(changes []planner.Change) {
	for k := 1; k < len(changes); k++ {
		if last := changes[k-1]; last.To < last.From && changes[k].To > changes[k].From {
			c.fail("%s/%s is added to after %s/%s was taken from",
				changes[k].Workload, changes[k].Variant, last.Workload, last.Variant)
		}
	}
}

// change holds one change to what is known of its workload.
func (c *checker) change(change planner.Change) {
	i, j, found := c.find(change)
	if !found {
		c.fail("%s/%s is not in the fleet", change.Workload, change.Variant)
		return
	}
	w := &c.before.Fleet.Workloads[i]
	v := &w.Variants[j]
	if c.before.Paused[change.Workload] {
		c.fail("%s/%s: %d → %d while paused", change.Workload, v.Name, change.From, change.To)
	}
	switch known := knowledge(c.before.Observations, change.Workload); {
	case known == nothing && change.To < change.From,
		known == partial && change.From-change.To > max(v.StartingReplicas, excess(w, v)) && !c.lacking(v):
		c.fail("%s/%s: %d → %d with %s data", change.Workload, v.Name, change.From, change.To, known)
	case change.To > change.From && known == nothing && replicas(w) >= w.MinReplicas && change.To > v.MinReplicas:
		c.fail("%s/%s: %d → %d without data, above its minimum", change.Workload, v.Name, change.From, change.To)
	}
	if change.To > change.From && v.Replica == nil && v.Capacity == 0 {
		c.fail("%s/%s: %d → %d without a profile", change.Workload, v.Name, change.From, change.To)
	}
	if c.after.Pending[i][j] > c.before.Pending[i][j] && !c.before.Moved {
		c.fail("%s/%s: %d → %d, and %d find no devices", change.Workload, v.Name, change.From, change.To,
			c.after.Pending[i][j]-c.before.Pending[i][j])
	}
}

// lacking tells whether devices are lacking where replicas of a variant run: a workload
// that could run there has replicas that wait for devices, or less than its minimums.
func (c *checker) lacking(v *planner.Variant) bool {
	for i := range c.before.Fleet.Workloads {
		w := &c.before.Fleet.Workloads[i]
		short, shared := replicas(w) < w.MinReplicas, false
		for j := range w.Variants {
			u := &w.Variants[j]
			short = short || c.before.Pending[i][j] > 0 || u.CurrentReplicas < u.MinReplicas
			shared = shared || slices.ContainsFunc(u.Pools, func(pool int) bool { return slices.Contains(v.Pools, pool) })
		}
		if short && shared {
			return true
		}
	}
	return false
}

// excess is the number of replicas above declared maximums, or besides another variant
// where only one may be used.
func excess(w *planner.Workload, v *planner.Variant) int {
	n := 0
	if w.Mixing == optimizer.Single && replicas(w) > v.CurrentReplicas {
		n = v.CurrentReplicas
	}
	if v.MaxReplicas.Limited {
		n = max(n, v.CurrentReplicas-v.MaxReplicas.Value)
	}
	if w.MaxReplicas.Limited {
		n = max(n, replicas(w)-w.MaxReplicas.Value)
	}
	return n
}

func (c *checker) floors(changes []planner.Change) {
	for _, change := range changes {
		i, j, found := c.find(change)
		if !found || change.To > change.From {
			continue
		}
		w := &c.after.Fleet.Workloads[i]
		v := &w.Variants[j]
		if c.lacking(v) {
			continue
		}
		if v.CurrentReplicas < v.MinReplicas {
			c.fail("%s/%s: %d → %d, below its minimum %d", change.Workload, v.Name, change.From, change.To, v.MinReplicas)
		}
		if n := replicas(w); n < w.MinReplicas {
			c.fail("%s: %d replicas, below its minimum %d", change.Workload, n, w.MinReplicas)
		}
	}
}

func (c *checker) devices(changes []planner.Change) {
	added, replicas, limit := 0, 0, c.before.Fleet.Control.DevicesPerCycle
	for _, change := range changes {
		if i, j, found := c.find(change); found && change.To > change.From {
			replicas += change.To - change.From
			added += (change.To - change.From) * c.before.Fleet.Workloads[i].Variants[j].DevicesPerReplica
		}
	}
	if limit.Limited && added > limit.Value && (replicas > 1 || limit.Value == 0) {
		c.fail("%d devices are added in one cycle, of %d allowed", added, limit.Value)
	}
}

func (c *checker) find(change planner.Change) (i, j int, found bool) {
	for i := range c.before.Fleet.Workloads {
		w := &c.before.Fleet.Workloads[i]
		for j := range w.Variants {
			if w.QualifiedName() == change.Workload && w.Variants[j].Name == change.Variant {
				return i, j, true
			}
		}
	}
	return 0, 0, false
}

func replicas(w *planner.Workload) int {
	n := 0
	for j := range w.Variants {
		n += w.Variants[j].CurrentReplicas
	}
	return n
}

// known is how much is known of a demand.
type known string

const (
	nothing  known = "no"
	partial  known = "incomplete"
	complete known = "complete"
)

// knowledge tells how much is known of a workload's demand.
func knowledge(observations []planner.Observation, workload string) known {
	for i := range observations {
		o := &observations[i]
		if o.Workload != workload {
			continue
		}
		switch {
		case usable(o.ArrivalRate, planner.Fresh) || usable(o.CompletionRate, planner.Fresh):
			return complete
		case usable(o.ArrivalRate, planner.Incomplete) || usable(o.CompletionRate, planner.Incomplete):
			return partial
		}
	}
	return nothing
}

func usable(m planner.Measurement, state planner.MeasurementState) bool {
	return m.State == state && m.Value >= 0
}
