package autoscaler

import (
	"context"
	"time"

	"github.com/poolwright/poolwright/controller"
	"github.com/poolwright/poolwright/planner"
	"github.com/poolwright/poolwright/simulation"
)

// Poolwright is the loop of production, as the fleet's control says.
type Poolwright struct{}

// Name implements [Settings].
func (Poolwright) Name() string { return "poolwright" }

// Validate implements [Settings].
func (Poolwright) Validate() error { return nil }

// Grid implements [Settings]: there is nothing to set.
func (Poolwright) Grid() []Settings { return []Settings{Poolwright{}} }

// New implements [Settings].
func (Poolwright) New(c *simulation.Cluster, r Resources) (simulation.Autoscaler, error) {
	fleet, _, err := c.Fleet(context.Background())
	if err != nil {
		return nil, err
	}
	a := &loop{cycle: fleet.Control.Cycle, controller: controller.New(controller.Config{
		Planner: planner.New(r.Engine), Catalog: c, Observer: c, Actuator: c, Ledger: r.Ledger,
	})}
	if a.cycle == 0 {
		a.cycle = planner.DefaultCycle
	}
	return a, nil
}

type loop struct {
	controller *controller.Controller
	cycle      time.Duration
}

// Interval implements [simulation.Autoscaler].
func (a *loop) Interval() time.Duration { return a.cycle }

// Scale implements [simulation.Autoscaler].
func (a *loop) Scale(ctx context.Context, now time.Time) error {
	_, err := a.controller.Tick(ctx, now, nil)
	return err
}
