package telemetry

import (
	"context"
	"time"

	"github.com/poolwright/poolwright/controller"
	"github.com/poolwright/poolwright/planner"
)

// Stages of a cycle. What is left of its duration is planning.
const (
	read    = "read"
	observe = "observe"
	plan    = "plan"
	act     = "act"
	record  = "record"
	publish = "publish"
)

// Timed is a controller's configuration in which what it waits for is timed.
func (l *Loop) Timed(c controller.Config) controller.Config {
	c.Catalog = timedCatalog{c.Catalog, l}
	c.Observer = timedObserver{c.Observer, l}
	c.Actuator = timedActuator{c.Actuator, l}
	if c.Ledger != nil {
		c.Ledger = timedLedger{c.Ledger, l}
	}
	return c
}

// Publish times what is written about a cycle once it is recorded.
func (l *Loop) Publish(write func()) {
	defer l.spend(publish, time.Now())
	write()
}

// spend adds the time since a stage began.
func (l *Loop) spend(stage string, began time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.spent[stage] += time.Since(began)
}

// countStages counts what a cycle's parts took, and begins anew.
func (l *Loop) countStages(took time.Duration) {
	for _, stage := range []string{read, observe, act, record, publish} {
		l.stages.WithLabelValues(stage).Observe(l.spent[stage].Seconds())
		took -= l.spent[stage]
	}
	l.stages.WithLabelValues(plan).Observe(max(0, took).Seconds())
	clear(l.spent)
}

type timedCatalog struct {
	controller.Catalog
	loop *Loop
}

// Fleet implements [controller.Catalog].
func (t timedCatalog) Fleet(ctx context.Context) (planner.Fleet, []planner.Pause, error) {
	defer t.loop.spend(read, time.Now())
	return t.Catalog.Fleet(ctx)
}

type timedObserver struct {
	controller.Observer
	loop *Loop
}

// Observe implements [controller.Observer].
func (t timedObserver) Observe(ctx context.Context, f planner.Fleet) ([]planner.Observation, error) {
	defer t.loop.spend(observe, time.Now())
	return t.Observer.Observe(ctx, f)
}

type timedActuator struct {
	controller.Actuator
	loop *Loop
}

// Apply implements [controller.Actuator].
func (t timedActuator) Apply(ctx context.Context, changes []planner.Change) []error {
	defer t.loop.spend(act, time.Now())
	return t.Actuator.Apply(ctx, changes)
}

type timedLedger struct {
	controller.Ledger
	loop *Loop
}

// Checkpoint implements [controller.Ledger].
func (t timedLedger) Checkpoint(m planner.Memory) (planner.Memory, error) {
	defer t.loop.spend(record, time.Now())
	return t.Ledger.Checkpoint(m)
}

// Intend implements [controller.Ledger].
func (t timedLedger) Intend(sequence uint64, changes []planner.Change) error {
	defer t.loop.spend(record, time.Now())
	return t.Ledger.Intend(sequence, changes)
}

// Append implements [controller.Ledger].
func (t timedLedger) Append(e controller.Entry) error {
	defer t.loop.spend(record, time.Now())
	return t.Ledger.Append(e)
}
