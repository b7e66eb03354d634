package simulation

import (
	"context"
	"fmt"
	"time"

	"github.com/poolwright/poolwright/controller"
	"github.com/poolwright/poolwright/planner"
)

// Fluid is a fleet in virtual time. Its clock moves only by [Fluid.Advance]. It
// is for one goroutine.
type Fluid struct {
	fleet  planner.Fleet // CurrentReplicas is what was asked for last
	curves []Curve       // one per workload
	now    time.Time
	starts [][][]start // per workload and variant, replicas that have not started
}

// start is a group of replicas that serve from ready on.
type start struct {
	ready    time.Time
	replicas int
}

// Fluid implements everything that a controller needs.
var (
	_ controller.Catalog  = (*Fluid)(nil)
	_ controller.Observer = (*Fluid)(nil)
	_ controller.Actuator = (*Fluid)(nil)
)

// NewFluid returns a fleet at the given time. Each workload's declared arrival
// rate is the peak of its curve; curves has one curve per workload.
func NewFluid(fleet planner.Fleet, curves []Curve, now time.Time) (*Fluid, error) {
	if len(curves) != len(fleet.Workloads) {
		return nil, fmt.Errorf("simulation: %d curves for %d workloads", len(curves), len(fleet.Workloads))
	}
	f := &Fluid{fleet: fleet, curves: curves, now: now}
	f.fleet.Workloads = append([]planner.Workload(nil), fleet.Workloads...)
	f.starts = make([][][]start, len(fleet.Workloads))
	for i := range f.fleet.Workloads {
		w := &f.fleet.Workloads[i]
		w.Variants = append([]planner.Variant(nil), w.Variants...)
		f.starts[i] = make([][]start, len(w.Variants))
	}
	return f, nil
}

// Advance moves the clock. Moving it back is an error.
func (f *Fluid) Advance(now time.Time) error {
	if now.Before(f.now) {
		return fmt.Errorf("simulation: time %s is before %s", now, f.now)
	}
	f.now = now
	for i := range f.starts {
		for j, starts := range f.starts[i] {
			kept := starts[:0]
			for _, s := range starts {
				if s.ready.After(now) {
					kept = append(kept, s)
				}
			}
			f.starts[i][j] = kept
		}
	}
	return nil
}

// Now is the fleet's own time.
func (f *Fluid) Now() time.Time { return f.now }

// Fleet implements [controller.Catalog]: the fleet with the replicas asked for.
func (f *Fluid) Fleet(context.Context) (planner.Fleet, []planner.Pause, error) {
	fleet := f.fleet
	fleet.Workloads = append([]planner.Workload(nil), f.fleet.Workloads...)
	for i := range fleet.Workloads {
		w := &fleet.Workloads[i]
		w.Variants = append([]planner.Variant(nil), w.Variants...)
		for j := range w.Variants {
			w.Variants[j].StartingReplicas = w.Variants[j].CurrentReplicas - f.Ready(i, j)
		}
	}
	return fleet, nil, nil
}

// Observe implements [controller.Observer]: each workload's demand at this time.
func (f *Fluid) Observe(_ context.Context, fleet planner.Fleet) ([]planner.Observation, error) {
	observations := make([]planner.Observation, 0, len(fleet.Workloads))
	for i := range f.fleet.Workloads {
		w := &f.fleet.Workloads[i]
		observations = append(observations, planner.Observation{
			Workload: w.QualifiedName(),
			ArrivalRate: planner.Measurement{
				State: planner.Fresh,
				Value: float64(w.ArrivalRate) * f.curves[i].Factor(f.now),
			},
		})
	}
	return observations, nil
}

// Ready is the number of replicas of a variant that serve at this time.
func (f *Fluid) Ready(workload, variant int) int {
	n := f.fleet.Workloads[workload].Variants[variant].CurrentReplicas
	for _, s := range f.starts[workload][variant] {
		n -= s.replicas
	}
	return n
}

// Apply implements [controller.Actuator]: added replicas serve after their
// start-up time; removed ones are taken from those that have not started first.
func (f *Fluid) Apply(_ context.Context, changes []planner.Change) []error {
	errs := make([]error, len(changes))
	for k := range changes {
		errs[k] = f.apply(&changes[k])
	}
	return errs
}

func (f *Fluid) apply(c *planner.Change) error {
	i, j, ok := f.find(c.Workload, c.Variant)
	if !ok {
		return fmt.Errorf("simulation: no variant %q of workload %q", c.Variant, c.Workload)
	}
	v := &f.fleet.Workloads[i].Variants[j]
	if v.CurrentReplicas != c.From {
		return fmt.Errorf("simulation: variant %q of workload %q has %d replicas, not %d", c.Variant, c.Workload, v.CurrentReplicas, c.From)
	}
	v.CurrentReplicas = c.To
	if c.To > c.From {
		f.starts[i][j] = append(f.starts[i][j], start{f.now.Add(v.Startup), c.To - c.From})
	} else {
		f.starts[i][j] = cancel(f.starts[i][j], c.From-c.To)
	}
	return nil
}

// cancel takes n replicas from the starts, the latest first.
func cancel(starts []start, n int) []start {
	for n > 0 && len(starts) > 0 {
		last := &starts[len(starts)-1]
		taken := min(n, last.replicas)
		last.replicas -= taken
		n -= taken
		if last.replicas == 0 {
			starts = starts[:len(starts)-1]
		}
	}
	return starts
}

func (f *Fluid) find(workload, variant string) (i, j int, ok bool) {
	for i := range f.fleet.Workloads {
		if f.fleet.Workloads[i].QualifiedName() != workload {
			continue
		}
		for j := range f.fleet.Workloads[i].Variants {
			if f.fleet.Workloads[i].Variants[j].Name == variant {
				return i, j, true
			}
		}
	}
	return 0, 0, false
}
