package planner

import "fmt"

// notes says what of the fleet's declaration the plan does not use.
func (f *Fleet) notes() []string {
	var notes []string
	for i := range f.Pools {
		p := &f.Pools[i]
		if p.Committed > 0 {
			notes = append(notes, fmt.Sprintf("pool %s: the %d committed devices are priced like the others", p.Name, p.Committed))
		}
		if p.Growth != nil {
			notes = append(notes, fmt.Sprintf("pool %s: planned with its capacity now, not with growth to %d", p.Name, p.Growth.Max))
		}
	}
	for i := range f.Workloads {
		if n := len(f.Workloads[i].Shapes); n > 1 {
			notes = append(notes, fmt.Sprintf("workload %s: each of its %d shapes is routed by itself, in the shares of the allocations",
				f.Workloads[i].QualifiedName(), n))
		}
	}
	return notes
}
