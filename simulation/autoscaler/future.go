package autoscaler

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"github.com/poolwright/poolwright/internal/parallel"
	"github.com/poolwright/poolwright/optimizer/lp"
	"github.com/poolwright/poolwright/planner"
	"github.com/poolwright/poolwright/queueing"
	"github.com/poolwright/poolwright/simulation"
	"github.com/poolwright/poolwright/simulation/hindsight"
	"github.com/poolwright/poolwright/simulation/trace"
)

// Static keeps the replicas that the highest rates of the trace need, as whoever plans
// capacity for a peak.
type Static struct{}

// Name implements [Settings].
func (Static) Name() string { return "static peak" }

// Validate implements [Settings].
func (Static) Validate() error { return nil }

// Grid implements [Settings]: there is nothing to set.
func (Static) Grid() []Settings { return []Settings{Static{}} }

// New implements [Settings].
func (Static) New(c *simulation.Cluster, r Resources) (simulation.Autoscaler, error) {
	if r.Schedule == nil {
		return nil, errNoSchedule
	}
	steps := make([][][]hindsight.Step, len(r.Schedule.Static))
	for i, variants := range r.Schedule.Static {
		for _, n := range variants {
			steps[i] = append(steps[i], []hindsight.Step{{Replicas: n}})
		}
	}
	return &scheduled{cluster: c, steps: steps}, nil
}

// Clairvoyant follows the schedule of package hindsight: it knows the rate of every window,
// and starts replicas in time.
type Clairvoyant struct{}

// Name implements [Settings].
func (Clairvoyant) Name() string { return "clairvoyant" }

// Validate implements [Settings].
func (Clairvoyant) Validate() error { return nil }

// Grid implements [Settings]: there is nothing to set.
func (Clairvoyant) Grid() []Settings { return []Settings{Clairvoyant{}} }

// New implements [Settings].
func (Clairvoyant) New(c *simulation.Cluster, r Resources) (simulation.Autoscaler, error) {
	if r.Schedule == nil {
		return nil, errNoSchedule
	}
	steps := make([][][]hindsight.Step, len(r.Schedule.Steps))
	for i, variants := range r.Schedule.Steps {
		steps[i] = append(steps[i], variants...)
	}
	return &scheduled{cluster: c, steps: steps}, nil
}

// Future is what hindsight knows of a simulation.
type Future struct {
	Fleet planner.Fleet
	// Traffic is that of the workloads, in the order of the fleet.
	Traffic []trace.Workload
	// Undeclared tells, by workload, whose lengths of requests change from window to window;
	// nil = those of the fleet hold throughout. See [simulation.Config].
	Undeclared []bool
	Seed       uint64
	// Duration is how long requests arrive, From the part of it that does not count, and Window
	// the length of the windows whose rates are known, > 0; the last one may be shorter.
	Duration, From, Window time.Duration
	// Engine solves linear programs; nil is that of package optimizer.
	Engine lp.Engine
}

// Schedule returns the cheapest schedule for the rates of all windows, with capacities that
// the planner sizes, for the lengths in each window where they are not declared. When stop,
// which may be nil, fires, windows that are not sized yet count at the lengths of the whole
// trace. See [hindsight.Find].
func (f Future) Schedule(stop func() bool) (*hindsight.Schedule, error) {
	in := hindsight.Input{Fleet: f.Fleet, From: f.From, Engine: f.Engine}
	for at := time.Duration(0); at < f.Duration; at += f.Window {
		in.Windows = append(in.Windows, hindsight.Window{
			Length: min(f.Window, f.Duration-at), Rates: make([]queueing.Rate, len(f.Traffic)),
		})
	}
	for i, w := range f.Traffic {
		rates, err := f.rates(w)
		if err != nil {
			return nil, err
		}
		for t, rate := range rates {
			in.Windows[t].Rates[i] = queueing.Rate(rate)
		}
	}
	if slices.Contains(f.Undeclared, true) {
		if err := f.size(in.Windows, stop); err != nil {
			return nil, err
		}
	}
	return hindsight.Find(in, stop)
}

// rates are those of a workload in every window, the last one of which may be shorter.
func (f Future) rates(w trace.Workload) ([]float64, error) {
	whole := int(f.Duration / f.Window)
	rates, err := trace.Rates(w, f.Seed, f.Window.Seconds(), whole)
	rest := f.Duration % f.Window
	if err != nil || rest == 0 {
		return rates, err
	}
	if w.Source == nil {
		return append(rates, 0), nil
	}
	if w.Source, err = trace.Place(w.Source, trace.Placement{From: (f.Duration - rest).Seconds()}); err != nil {
		return nil, err
	}
	last, err := trace.Rates(w, f.Seed, rest.Seconds(), 1)
	return append(rates, last...), err
}

// size finds capacities for the lengths in each window. Where a variant sustains nothing at
// them it counts as at those of the whole trace: it must serve all the same.
func (f Future) size(windows []hindsight.Window, stop func() bool) error {
	shapes := make([][]queueing.Shape, len(f.Traffic))
	for i, w := range f.Traffic {
		if !f.Undeclared[i] {
			continue
		}
		var err error
		if shapes[i], err = trace.Shapes(w, f.Seed, f.Window.Seconds(), len(windows)); err != nil {
			return err
		}
	}
	p := planner.New(f.Engine)
	whole, err := p.Capacities(f.Fleet)
	if err != nil {
		return err
	}
	errs := make([]error, len(windows))
	parallel.Blocks(len(windows), 1, func(_, from, to int) {
		for t := from; t < to && !(stop != nil && stop()); t++ {
			sizes, err := p.Capacities(f.with(shapes, t))
			if err != nil {
				errs[t] = err
				continue
			}
			windows[t].Capacities = make([][]queueing.Rate, len(sizes))
			for i := range sizes {
				for j := range sizes[i] {
					windows[t].Capacities[i] = append(windows[t].Capacities[i], cmp.Or(sizes[i][j].Served, whole[i][j].Served))
				}
			}
		}
	})
	return errors.Join(errs...)
}

// with is the fleet with the lengths of a window.
func (f Future) with(shapes [][]queueing.Shape, t int) planner.Fleet {
	fleet := f.Fleet
	fleet.Workloads = slices.Clone(fleet.Workloads)
	for i := range shapes {
		if len(shapes[i]) == 0 || shapes[i][t].OutputTokens == 0 {
			continue
		}
		s := &fleet.Workloads[i].Shape
		s.InputTokens, s.OutputTokens = shapes[i][t].InputTokens, shapes[i][t].OutputTokens
		s.InputSCV, s.OutputSCV = shapes[i][t].InputSCV, shapes[i][t].OutputSCV
	}
	return fleet
}

var errNoSchedule = errors.New("autoscaler: the schedule is not known")

// scheduled takes steps when they are due.
type scheduled struct {
	cluster *simulation.Cluster
	// steps are those to come, by workload and variant.
	steps [][][]hindsight.Step
	time  time.Duration
}

// scheduleTick is how exactly steps are taken.
const scheduleTick = time.Second

// Interval implements [simulation.Autoscaler].
func (a *scheduled) Interval() time.Duration { return scheduleTick }

// Scale implements [simulation.Autoscaler].
func (a *scheduled) Scale(context.Context, time.Time) error {
	a.time += scheduleTick
	for i := range a.steps {
		for j := range a.steps[i] {
			steps := a.steps[i][j]
			for len(steps) > 0 && steps[0].At <= a.time {
				a.cluster.SetReplicas(i, j, steps[0].Replicas)
				steps = steps[1:]
			}
			a.steps[i][j] = steps
		}
	}
	return nil
}
