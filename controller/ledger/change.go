package ledger

import (
	"errors"
	"fmt"
	"reflect"

	"github.com/poolwright/poolwright/planner"
)

// fleetChange is what changed of a fleet since the entry before.
type fleetChange struct {
	// Whole is the fleet where more than workloads changed.
	Whole *planner.Fleet
	// Workloads that changed, where that is all.
	Workloads []workloadChange
}

// workloadChange is a workload that changed, by its place in the fleet.
type workloadChange struct {
	Index    int
	Workload planner.Workload
}

// changeOf is nil where nothing changed. There may be no fleet from before.
func changeOf(before, after *planner.Fleet) *fleetChange {
	if before == nil || !sameFrame(*before, *after) {
		return &fleetChange{Whole: after}
	}
	var changed []workloadChange
	for i := range after.Workloads {
		if !reflect.DeepEqual(before.Workloads[i], after.Workloads[i]) {
			changed = append(changed, workloadChange{i, after.Workloads[i]})
		}
	}
	if changed == nil {
		return nil
	}
	return &fleetChange{Workloads: changed}
}

// sameFrame tells whether fleets differ in what workloads are like, at most.
func sameFrame(a, b planner.Fleet) bool {
	if len(a.Workloads) != len(b.Workloads) || (a.Workloads == nil) != (b.Workloads == nil) {
		return false
	}
	a.Workloads, b.Workloads = nil, nil
	return reflect.DeepEqual(a, b)
}

// apply returns the fleet after a change.
func (c *fleetChange) apply(before *planner.Fleet) (*planner.Fleet, error) {
	switch {
	case c != nil && c.Whole != nil:
		return c.Whole, nil
	case before == nil:
		return nil, errors.New("it changes a fleet that is not known")
	case c == nil:
		return before, nil
	}
	after := *before
	after.Workloads = append([]planner.Workload(nil), before.Workloads...)
	for k := range c.Workloads {
		i := c.Workloads[k].Index
		if i < 0 || i >= len(after.Workloads) {
			return nil, fmt.Errorf("it changes workload %d of %d", i, len(after.Workloads))
		}
		after.Workloads[i] = c.Workloads[k].Workload
	}
	return &after, nil
}
