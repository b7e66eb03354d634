package controller

import (
	"context"
	"fmt"
	"sort"
	"time"

	"github.com/poolwright/poolwright/planner"
)

// Catalog knows the fleet: pools, workloads, variants and their replicas now.
type Catalog interface {
	Fleet(ctx context.Context) (planner.Fleet, error)
}

// Observer measures the demand of a fleet's workloads. A workload that it leaves
// out counts as missing, and keeps its replicas.
type Observer interface {
	Observe(ctx context.Context, fleet planner.Fleet) ([]planner.Observation, error)
}

// Actuator changes replicas.
type Actuator interface {
	// Apply carries out the changes in their order. A change whose variant no
	// longer has From replicas is dropped.
	Apply(ctx context.Context, changes []Change) error
}

// Change is a wanted change of one variant's replicas.
type Change struct {
	// Workload is the qualified name.
	Workload string
	Variant  string
	Target   planner.ScaleTarget
	From, To int
	Reason   string
}

// Config is what a controller works with; all fields are needed.
type Config struct {
	Planner  *planner.Planner
	Catalog  Catalog
	Observer Observer
	Actuator Actuator
}

// Controller is the loop. It is for one goroutine.
type Controller struct {
	config Config
	memory planner.Memory
}

// New returns a controller that remembers nothing yet.
func New(c Config) *Controller {
	return &Controller{config: c}
}

// Tick runs one cycle at the given time: observe, plan, act. When it fails,
// nothing after the failure is done and the next tick starts afresh; a decision
// that was made is returned beside the error of carrying it out.
func (c *Controller) Tick(ctx context.Context, now time.Time, stop func() bool) (planner.Decision, []Change, error) {
	fleet, err := c.config.Catalog.Fleet(ctx)
	if err != nil {
		return planner.Decision{}, nil, fmt.Errorf("controller: read the fleet: %w", err)
	}
	observations, err := c.config.Observer.Observe(ctx, fleet)
	if err != nil {
		return planner.Decision{}, nil, fmt.Errorf("controller: observe: %w", err)
	}
	if observations == nil {
		observations = []planner.Observation{}
	}
	snapshot := planner.Snapshot{Now: now, Fleet: fleet, Observations: observations}
	decision, memory, err := c.config.Planner.Plan(snapshot, c.memory, stop)
	if err != nil {
		return planner.Decision{}, nil, fmt.Errorf("controller: plan: %w", err)
	}
	c.memory = memory
	changes := Changes(&decision)
	if err := c.config.Actuator.Apply(ctx, changes); err != nil {
		return decision, changes, fmt.Errorf("controller: act: %w", err)
	}
	return decision, changes, nil
}

// Changes lists what a decision changes: additions before removals, so that
// capacity is never given up before its successor was asked for, then by name.
func Changes(d *planner.Decision) []Change {
	var changes []Change
	for i := range d.Plans {
		w := &d.Fleet.Workloads[i]
		for j := range d.Plans[i].Variants {
			v, to := &w.Variants[j], d.Plans[i].Variants[j].Total()
			if to == v.CurrentReplicas {
				continue
			}
			changes = append(changes, Change{
				Workload: w.QualifiedName(), Variant: v.Name, Target: v.ScaleTarget,
				From: v.CurrentReplicas, To: to, Reason: d.Plans[i].Variants[j].Reason,
			})
		}
	}
	sort.SliceStable(changes, func(a, b int) bool {
		x, y := &changes[a], &changes[b]
		if up := x.To > x.From; up != (y.To > y.From) {
			return up
		}
		if x.Workload != y.Workload {
			return x.Workload < y.Workload
		}
		return x.Variant < y.Variant
	})
	return changes
}
