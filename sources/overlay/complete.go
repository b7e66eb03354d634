package overlay

import (
	"slices"

	"github.com/poolwright/poolwright/internal/message"
	"github.com/poolwright/poolwright/internal/resource"
	"github.com/poolwright/poolwright/optimizer"
	"github.com/poolwright/poolwright/planner"
	poolwrightv1 "github.com/poolwright/poolwright/proto/poolwright/v1"
	"github.com/poolwright/poolwright/queueing"
)

// Completed is a fleet, and what was found on the way to it.
type Completed struct {
	Fleet planner.Fleet
	// Workloads are those of the fleet, in its order, and so are their variants: with the
	// mode, series and accelerators that were resolved, and all conditions.
	Workloads []resource.Workload
	// Skipped are objects whose workload is not in the fleet.
	Skipped []resource.Skipped
}

// Complete returns the fleet of the pools that were discovered and the workloads that were
// declared, in their order. The view has the objects whose annotations count. For pools of
// unknown capacity the variants need the numbers of their current and leaving replicas.
// Nothing that is given is changed.
func (o *Overlay) Complete(v resource.View, discovered []Pool, declared []resource.Workload) Completed {
	o.annotations.startCycle()
	c := completion{
		Overlay: o, view: v, pools: o.pools(discovered), claims: newClaims(v),
		checked: make(map[queueing.Replica]error), index: make(map[int]int),
	}
	for i := range declared {
		c.workload(i, declared)
	}
	o.assume(c.pools, c.fleet, c.notes)
	for i := range c.out.Workloads {
		c.out.Workloads[i].Conditions = slices.Concat(c.out.Workloads[i].Conditions, c.notes[i])
	}
	c.out.Fleet = planner.Fleet{
		Pools: c.pools.list, Workloads: c.fleet, Objective: o.Fleet.Objective, Control: o.Fleet.Control,
	}
	return c.out
}

// completion is one call of Complete.
type completion struct {
	*Overlay
	view   resource.View
	pools  *pools
	claims *claims
	// checked are replicas by what is wrong with them.
	checked map[queueing.Replica]error
	// index is where a declared workload is among those that are completed.
	index map[int]int
	fleet []planner.Workload
	notes []conditions
	out   Completed
}

// workload completes a workload, or skips it.
func (c *completion) workload(i int, declared []resource.Workload) {
	w := declared[i]
	if conflict := c.claims.claim(i, declared); conflict != nil {
		c.skip(&w, conflict.reason, conflict.message)
		if k, ok := c.index[conflict.with]; ok {
			c.notes[k].add(conflict.reason, "%s", conflict.message)
		}
		return
	}
	var notes conditions
	says := c.onObjects(&w, &notes)
	said := c.ofWorkload(&w, says.workload)
	c.apply(said, &w)
	w.Declared = nil
	for j, v := range declared[i].Declared {
		if first := sameTarget(w.Declared, v.Target); first != nil {
			notes.add(resource.DuplicateOwnership, "%s and %s both scale %v: the latter is left out", first.Name, v.Name, v.Target)
		} else if c.variant(&w, &v, says.replicas[j], &notes) {
			w.Declared = append(w.Declared, v)
		}
	}
	if len(w.Declared) == 0 {
		c.skip(&w, NoVariant, notes.text("it has no variants"))
		return
	}
	if said.Strategy == nil && slices.ContainsFunc(w.Declared, performs) {
		w.ExpansionRate = nil
	}
	reconcile(&w, &notes)
	c.index[i] = len(c.fleet)
	c.notes = append(c.notes, notes)
	c.out.Workloads = append(c.out.Workloads, w)
	planned := w.Workload
	planned.Variants = nil
	for j := range w.Declared {
		planned.Variants = append(planned.Variants, w.Declared[j].Variant)
	}
	c.fleet = append(c.fleet, planned)
}

// performs tells whether it is known what a replica sustains.
func performs(v resource.Variant) bool { return v.Replica != nil || v.Capacity > 0 }

// sameTarget is the variant that scales a target already, or nil.
func sameTarget(variants []resource.Variant, target resource.Reference) *resource.Variant {
	i := slices.IndexFunc(variants, func(v resource.Variant) bool {
		return target.Name != "" && nameOf(v.Target) == nameOf(target)
	})
	if i < 0 {
		return nil
	}
	return &variants[i]
}

func (c *completion) skip(w *resource.Workload, reason, text string) {
	c.out.Skipped = append(c.out.Skipped, resource.Skipped{Object: w.Object, Reason: reason, Message: text})
}

// apply sets what is said of a workload itself.
func (o *Overlay) apply(said *poolwrightv1.WorkloadOverlay, w *resource.Workload) {
	message.ApplyWorkload(said, &w.Workload)
	w.MinimumDeclared = w.MinimumDeclared || said.MinReplicas != nil
	w.Priority = max(1, w.Priority)
	if said.TakeOver != nil {
		w.TakeOver = said.GetTakeOver()
	}
	switch {
	case said.Mode != nil:
		w.Mode = modes[said.GetMode()]
	case w.Mode == "", w.Mode == resource.Recommend && w.TakeOver:
		// Objects recommend what they leave to an autoscaler of their own.
		w.Mode = resource.Apply
	}
	w.Series = o.series(w.Series, said.GetMetrics())
	if said.GetMetrics().GetEngine() != "" {
		w.Conditions = slices.DeleteFunc(slices.Clone(w.Conditions), func(c resource.Condition) bool { return c.Type == resource.EngineUnsupported })
	}
}

// modes are those of messages.
var modes = [...]resource.Mode{
	poolwrightv1.WorkloadOverlay_APPLY:     resource.Apply,
	poolwrightv1.WorkloadOverlay_RECOMMEND: resource.Recommend,
	poolwrightv1.WorkloadOverlay_DRY_RUN:   resource.DryRun,
	poolwrightv1.WorkloadOverlay_OFF:       resource.Off,
}

// reconcile makes what several sources say of a workload agree.
func reconcile(w *resource.Workload, notes *conditions) {
	if len(w.SLO.Limits) == 0 && slices.ContainsFunc(w.Declared, func(v resource.Variant) bool { return v.Replica != nil }) {
		notes.add(SLOMissing, "no SLO is known: only stability limits a replica")
	}
	phases := slices.ContainsFunc(w.Declared, func(v resource.Variant) bool { return v.Role != optimizer.Whole })
	if phases && w.Mixing == optimizer.Single {
		w.Mixing = optimizer.Allowed
		notes.add(MixingImpossible, "prefill and decode need a variant each: mixing is allowed")
	}
	if wakeless(w) {
		w.MinReplicas = 1
		notes.add(MinimumAssumed, "nobody says how many replicas there are at least, and without any nothing would tell of requests: one stays, until a gateway counts them (metrics.gateway) or minReplicas says 0")
	}
	bounds(w.MinReplicas, &w.MaxReplicas, "the workload", notes)
}

// wakeless tells whether a workload without replicas would stay without, and nobody asks for
// that: only a gateway tells of requests then.
func wakeless(w *resource.Workload) bool {
	none := func(most optimizer.Bound) bool { return most.Limited && most.Value == 0 }
	return !w.MinimumDeclared && w.Series.Gateway == nil && !none(w.MaxReplicas) &&
		slices.ContainsFunc(w.Declared, func(v resource.Variant) bool { return !none(v.MaxReplicas) })
}

// bounds keeps the declared minimum, whatever the maximum says.
func bounds(least int, most *optimizer.Bound, whose string, notes *conditions) {
	if most.Limited && most.Value < least {
		notes.add(BoundsInvalid, "%s: minReplicas is %d and maxReplicas %d: the minimum counts", whose, least, most.Value)
		most.Value = least
	}
}
