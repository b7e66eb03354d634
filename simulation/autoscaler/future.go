package autoscaler

import (
	"context"
	"errors"
	"time"

	"github.com/poolwright/poolwright/simulation"
	"github.com/poolwright/poolwright/simulation/hindsight"
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
