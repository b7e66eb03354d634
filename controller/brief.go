package controller

import (
	"reflect"

	"github.com/poolwright/poolwright/planner"
)

// Brief returns the entry with those workloads alone that change or have a condition, and
// without the trail.
func (e Entry) Brief() Entry {
	changed := make(map[string]bool, len(e.Decision.Changes))
	for i := range e.Decision.Changes {
		changed[e.Decision.Changes[i].Workload] = true
	}
	e = e.Only(func(w *planner.Workload, p *planner.WorkloadPlan) bool {
		return len(p.Conditions) > 0 || changed[w.QualifiedName()]
	})
	e.Decision.Trail = nil
	return e
}

// Only returns the entry with what concerns some of its workloads: their plans, changes and
// steps, and the steps of the whole fleet. Price and proof, pools and quotas stay those
// of the whole fleet. What was observed and what becomes of scenarios is left out.
func (e Entry) Only(keep func(*planner.Workload, *planner.WorkloadPlan) bool) Entry {
	d := &e.Decision
	workloads, plans := d.Fleet.Workloads, d.Plans
	kept := make(map[string]bool)
	d.Fleet.Workloads, d.Plans = nil, nil
	for i := range plans {
		w := &workloads[i]
		if !keep(w, &plans[i]) {
			continue
		}
		d.Fleet.Workloads, d.Plans = append(d.Fleet.Workloads, *w), append(d.Plans, plans[i])
		kept[w.QualifiedName()] = true
		for j := range w.Variants {
			kept[w.QualifiedName()+"/"+w.Variants[j].Name] = true
		}
	}
	e.Snapshot = planner.Snapshot{Now: e.Snapshot.Now, Paused: e.Snapshot.Paused}
	d.Fleet.Scenarios, d.Robust, d.Calibrations = nil, nil, nil
	if d.Solution != nil {
		solution := *d.Solution
		solution.Allocations = nil
		d.Solution = &solution
	}
	d.Changes = filter(d.Changes, func(c *planner.Change) bool { return kept[c.Workload] })
	d.Trail = filter(d.Trail, func(s *planner.Step) bool { return s.Subject == "" || kept[s.Subject] })
	e.Dropped = filter(e.Dropped, func(x *Drop) bool { return kept[x.Change.Workload] })
	return e
}

// filter returns the elements to keep in a slice of their own; nil if there are none.
func filter[T any](all []T, keep func(*T) bool) []T {
	var out []T
	for i := range all {
		if keep(&all[i]) {
			out = append(out, all[i])
		}
	}
	return out
}

// bytes estimates the memory that an entry takes: what grows with the fleet, and the
// words of the decision.
func (e *Entry) bytes() int {
	d := &e.Decision
	n := sizeOf[Entry](1) + sizeOf[planner.Change](len(d.Changes)) + sizeOf[Drop](len(e.Dropped)) +
		sizeOf[planner.Observation](len(e.Snapshot.Observations)) + sizeOf[planner.Calibration](len(d.Calibrations)) +
		fleetBytes(&e.Snapshot.Fleet) + fleetBytes(&d.Fleet)
	for i := range d.Plans {
		p := &d.Plans[i]
		n += sizeOf[planner.WorkloadPlan](1) + sizeOf[planner.Prediction](1) + sizeOf[planner.VariantPlan](len(p.Variants)) + len(p.Reason)
		for j := range p.Variants {
			n += len(p.Variants[j].Reason) + sizeOf[int](len(p.Variants[j].Replicas)+len(p.Variants[j].ShapeShares))
		}
	}
	for i := range d.Trail {
		s := &d.Trail[i]
		n += sizeOf[planner.Step](1) + len(s.Before) + len(s.After) + len(s.Reason)
	}
	return n
}

func fleetBytes(f *planner.Fleet) int {
	n := sizeOf[planner.Pool](len(f.Pools)) + sizeOf[planner.Workload](len(f.Workloads))
	for i := range f.Workloads {
		n += sizeOf[planner.Variant](len(f.Workloads[i].Variants))
	}
	return n
}

// sizeOf is the size of so many values of a type.
func sizeOf[T any](n int) int { return n * int(reflect.TypeFor[T]().Size()) }
