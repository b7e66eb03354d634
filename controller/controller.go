package controller

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/poolwright/poolwright/planner"
)

// Catalog knows the fleet: pools, workloads, variants and their replicas now, and which
// of the workloads are declared to be left alone.
type Catalog interface {
	Fleet(ctx context.Context) (planner.Fleet, []planner.Pause, error)
}

// Observer measures the demand of a fleet's workloads. A workload that it leaves
// out counts as missing, and keeps its replicas.
type Observer interface {
	Observe(ctx context.Context, fleet planner.Fleet) ([]planner.Observation, error)
}

// Actuator changes replicas.
type Actuator interface {
	// Apply carries out changes, each of another variant, all or as many as it can. It
	// returns what became of each, in their order, nil where it was carried out. A change
	// whose variant no longer has From replicas must not be carried out.
	Apply(ctx context.Context, changes []planner.Change) []error
}

// Config is what a controller works with. Planner, Catalog, Observer and Actuator are
// needed.
type Config struct {
	Planner  *planner.Planner
	Catalog  Catalog
	Observer Observer
	Actuator Actuator
	// Ledger is nil where none is kept.
	Ledger Ledger
	// History remembers what is decided, and Pauses are the workloads that people hold; nil
	// where there is nobody to see and to speak.
	History *History
	Pauses  *Pauses
	// Memory and Sequence are those of the last entry of a ledger that is continued.
	Memory   planner.Memory
	Sequence uint64
}

// Controller is the loop. It is for one goroutine.
type Controller struct {
	config   Config
	memory   planner.Memory
	sequence uint64
}

// New returns a controller.
func New(c Config) *Controller {
	return &Controller{config: c, memory: c.Memory, sequence: c.Sequence}
}

// Tick runs one cycle at the given time: observe, plan, revalidate, act, record. The
// entry is what was decided; what could not be carried out stands in it and is planned
// again in the next cycle.
//
// Without observations the fleet is planned all the same: replicas are held, and
// declared minimums hold. The error is one of reading the fleet or of planning, after which
// nothing has been done, or one of adding to the ledger, after which all has.
func (c *Controller) Tick(ctx context.Context, now time.Time, stop func() bool) (Entry, error) {
	fleet, declared, err := c.config.Catalog.Fleet(ctx)
	if err != nil {
		return Entry{}, fmt.Errorf("controller: read the fleet: %w", err)
	}
	var failures []error
	observations, err := c.config.Observer.Observe(ctx, fleet)
	if err != nil {
		failures = append(failures, fmt.Errorf("observe: %w", err))
	}
	if err != nil || observations == nil {
		observations = []planner.Observation{}
	}
	if err := c.Checkpoint(); err != nil {
		failures = append(failures, err)
	}
	now = now.UTC().Round(0) // what a ledger keeps of a time
	entry := Entry{
		Snapshot: planner.Snapshot{Now: now, Fleet: fleet, Observations: observations, Paused: c.paused(now, declared)},
		Declared: len(declared),
	}
	decision, memory, err := c.config.Planner.Plan(entry.Snapshot, c.memory, stop)
	if err != nil {
		return Entry{}, fmt.Errorf("controller: plan: %w", err)
	}
	c.memory = memory
	c.sequence++
	entry.Sequence, entry.Decision = c.sequence, decision
	var failure error
	entry.Dropped, failure = c.act(ctx, now, &entry.Snapshot.Fleet, decision.Changes)
	if err := errors.Join(append(failures, failure)...); err != nil {
		entry.Failure = err.Error()
	}
	return entry, c.record(entry)
}

// Checkpoint has the ledger write down, where that is due, what the controller remembers.
func (c *Controller) Checkpoint() error {
	if c.config.Ledger == nil {
		return nil
	}
	memory, err := c.config.Ledger.Checkpoint(c.memory)
	if err != nil {
		return err
	}
	c.memory = memory
	return nil
}

func (c *Controller) record(e Entry) error {
	if c.config.History != nil {
		c.config.History.Add(e)
	}
	if c.config.Ledger == nil {
		return nil
	}
	if err := c.config.Ledger.Append(e); err != nil {
		return fmt.Errorf("controller: %w", err)
	}
	return nil
}

// paused are the pauses that are declared and those that people asked for, which count
// where a workload has both.
func (c *Controller) paused(now time.Time, declared []planner.Pause) []planner.Pause {
	if c.config.Pauses == nil {
		return declared
	}
	return slices.Concat(declared, c.config.Pauses.At(now))
}
