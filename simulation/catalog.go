package simulation

import (
	"context"
	"fmt"
	"slices"

	"github.com/poolwright/poolwright/controller"
	"github.com/poolwright/poolwright/planner"
)

// Cluster is all that a controller needs.
var (
	_ controller.Catalog  = (*Cluster)(nil)
	_ controller.Observer = (*Cluster)(nil)
	_ controller.Actuator = (*Cluster)(nil)
)

// Fleet implements [controller.Catalog]: the fleet with its replicas and the devices that
// pools have now.
func (c *Cluster) Fleet(context.Context) (planner.Fleet, []planner.Pause, error) {
	fleet := c.config.Fleet
	fleet.Pools = slices.Clone(fleet.Pools)
	for i, p := range c.pools {
		if !p.unlimited {
			fleet.Pools[i].Capacity.Value = p.available()
		}
	}
	fleet.Workloads = slices.Clone(fleet.Workloads)
	for i, w := range c.workloads {
		variants := slices.Clone(w.config.Variants)
		for j, v := range w.variants {
			v.describe(&variants[j])
		}
		fleet.Workloads[i].Variants = variants
		if len(c.config.Undeclared) > 0 && c.config.Undeclared[i] {
			s := &fleet.Workloads[i].Shape
			s.InputTokens, s.OutputTokens, s.InputSCV, s.OutputSCV = 0, 0, 0, 0
		}
	}
	return fleet, nil, nil
}

// describe puts in how many replicas there are.
func (v *variant) describe(d *planner.Variant) {
	d.CurrentReplicas, d.StartingReplicas, d.LeavingReplicas = v.desired, 0, 0
	d.PoolReplicas = slices.Clone(v.meter.paidIn)
	for _, s := range v.servers {
		switch s.phase {
		case Pending, Starting:
			d.StartingReplicas++
		case Draining:
			d.LeavingReplicas++
		}
	}
}

// Apply implements [controller.Actuator], see [Cluster.SetReplicas].
func (c *Cluster) Apply(_ context.Context, changes []planner.Change) []error {
	errs := make([]error, len(changes))
	for k := range changes {
		errs[k] = c.apply(&changes[k])
	}
	return errs
}

func (c *Cluster) apply(change *planner.Change) error {
	for i, w := range c.workloads {
		if w.config.QualifiedName() != change.Workload {
			continue
		}
		for j, v := range w.variants {
			switch {
			case v.config.Name != change.Variant:
			case v.desired != change.From:
				return fmt.Errorf("simulation: variant %q of workload %q has %d replicas, not %d",
					change.Variant, change.Workload, v.desired, change.From)
			default:
				c.SetReplicas(i, j, change.To)
				return nil
			}
		}
	}
	return fmt.Errorf("simulation: no variant %q of workload %q", change.Variant, change.Workload)
}
