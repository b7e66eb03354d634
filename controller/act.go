package controller

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/poolwright/poolwright/planner"
)

// act carries out changes of a fleet, additions first. It drops those whose variant has
// moved or whose workload was paused meanwhile, removals from a workload that has moved at
// all, and those from a workload of which an addition failed: what takes their place is
// not on its way.
func (c *Controller) act(ctx context.Context, now time.Time, planned *planner.Fleet, changes []planner.Change) ([]Drop, error) {
	if len(changes) == 0 {
		return nil, nil
	}
	fleet, declared, err := c.config.Catalog.Fleet(ctx)
	if err != nil {
		return dropAll(changes, "the fleet could not be read again"), fmt.Errorf("read the fleet again: %w", err)
	}
	valid, dropped := c.revalidate(planned, &fleet, c.paused(now, declared), changes)
	var failures []error
	if err := c.intend(valid); err != nil {
		failures = append(failures, err)
	}
	failed := make(map[string]bool)
	apply := func(batch []planner.Change) {
		if len(batch) == 0 {
			return
		}
		for k, err := range c.config.Actuator.Apply(ctx, batch) {
			if err != nil {
				failed[batch[k].Workload] = true
				dropped = append(dropped, Drop{Change: batch[k], Reason: err.Error(), Tried: true})
				failures = append(failures, fmt.Errorf("%s %s: %w", batch[k].Workload, batch[k].Variant, err))
			}
		}
	}
	apply(additions(valid, true))
	var removals []planner.Change
	for _, change := range additions(valid, false) {
		if failed[change.Workload] {
			dropped = append(dropped, Drop{Change: change, Reason: "an addition to the workload failed"})
		} else {
			removals = append(removals, change)
		}
	}
	apply(removals)
	find(dropped, &fleet)
	return dropped, errors.Join(failures...)
}

// intend writes down what is about to be done. Where that fails it is done all the same.
func (c *Controller) intend(changes []planner.Change) error {
	if c.config.Ledger == nil || len(changes) == 0 {
		return nil
	}
	return c.config.Ledger.Intend(c.sequence, changes)
}

func dropAll(changes []planner.Change, reason string) []Drop {
	var dropped []Drop
	for _, change := range changes {
		dropped = append(dropped, Drop{Change: change, Reason: reason, Found: change.From})
	}
	return dropped
}

// find says of what was dropped how many replicas a fleet has.
func find(dropped []Drop, fleet *planner.Fleet) {
	changing := make(map[string]bool)
	for k := range dropped {
		changing[dropped[k].Change.Workload] = true
	}
	now := variantsOf(fleet, changing)
	for k := range dropped {
		dropped[k].Found = dropped[k].Change.From
		if v := now[nameOf(&dropped[k].Change)]; v != nil {
			dropped[k].Found = v.CurrentReplicas
		}
	}
}

// additions are the changes that add replicas, or those that do not.
func additions(changes []planner.Change, add bool) []planner.Change {
	var some []planner.Change
	for _, change := range changes {
		if (change.To > change.From) == add {
			some = append(some, change)
		}
	}
	return some
}

// variantName names a variant of the whole fleet.
type variantName struct{ workload, variant string }

func nameOf(c *planner.Change) variantName { return variantName{c.Workload, c.Variant} }

// variantsOf are the variants of the workloads that change.
func variantsOf(fleet *planner.Fleet, changing map[string]bool) map[variantName]*planner.Variant {
	variants := make(map[variantName]*planner.Variant)
	for i := range fleet.Workloads {
		w := &fleet.Workloads[i]
		name := w.QualifiedName()
		if !changing[name] {
			continue
		}
		for j := range w.Variants {
			variants[variantName{name, w.Variants[j].Name}] = &w.Variants[j]
		}
	}
	return variants
}

// moves are the variants that have other replicas than they were planned with. Others who carry
// changes out may be on the way: they were asked for much the same before. From the workloads
// that are unsafe nothing is to be removed, as that counts on replicas that are gone.
func (c *Controller) moves(planned, now map[variantName]*planner.Variant, changes []planner.Change) (moved map[variantName]bool, unsafe map[string]bool) {
	least := make(map[variantName]int)
	for name, was := range planned {
		least[name] = was.CurrentReplicas
	}
	for i := range changes {
		name := nameOf(&changes[i])
		least[name] = min(least[name], changes[i].To)
	}
	moved, unsafe = make(map[variantName]bool), make(map[string]bool)
	for name, was := range planned {
		is := now[name]
		moved[name] = is == nil || is.CurrentReplicas != was.CurrentReplicas && !(is.Delegated && c.memory.Explains(name.workload, is))
		if moved[name] || is.CurrentReplicas < least[name] {
			unsafe[name.workload] = true
		}
	}
	return moved, unsafe
}

// revalidate compares the fleet that changes were planned for with the fleet and the
// pauses as they are now.
func (c *Controller) revalidate(planned, fleet *planner.Fleet, pauses []planner.Pause, changes []planner.Change) (valid []planner.Change, dropped []Drop) {
	paused := make(map[string]bool)
	for _, p := range pauses {
		paused[p.Workload] = true
	}
	changing := make(map[string]bool)
	for i := range changes {
		changing[changes[i].Workload] = true
	}
	now := variantsOf(fleet, changing)
	moved, unsafe := c.moves(variantsOf(planned, changing), now, changes)
	for _, change := range changes {
		name := nameOf(&change)
		switch current := now[name]; {
		case current == nil:
			dropped = append(dropped, Drop{Change: change, Reason: "it is gone"})
		case paused[change.Workload]:
			dropped = append(dropped, Drop{Change: change, Reason: "its workload is paused now"})
		case moved[name]:
			dropped = append(dropped, Drop{Change: change, Reason: fmt.Sprintf("it has %d replicas now", current.CurrentReplicas)})
		case change.To < current.CurrentReplicas && unsafe[change.Workload]:
			dropped = append(dropped, Drop{Change: change, Reason: "another variant of its workload has changed"})
		default:
			valid = append(valid, change)
		}
	}
	return valid, dropped
}
