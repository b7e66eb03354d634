package controller

import (
	"context"
	"slices"

	"github.com/poolwright/poolwright/planner"
)

// Part is a part of a cycle that is done by others than the controller.
type Part int

// The parts, in the order in which a cycle comes to them. It plans between Checkpoint and
// Intend, or, without a ledger, between Observe and Apply.
const (
	PartRead Part = iota // twice, before planning and before writing
	PartObserve
	PartCheckpoint
	PartIntend
	PartApply
	PartAppend
)

// Around returns a configuration that calls around before each part, and what that returns
// after it, with the first error of the part. The part is done in the context that around
// returns; those of the ledger have none of their own.
func (c Config) Around(around func(context.Context, Part) (context.Context, func(error))) Config {
	c.Catalog = aroundCatalog{c.Catalog, around}
	c.Observer = aroundObserver{c.Observer, around}
	c.Actuator = aroundActuator{c.Actuator, around}
	if c.Ledger != nil {
		c.Ledger = aroundLedger{c.Ledger, around}
	}
	return c
}

type around func(context.Context, Part) (context.Context, func(error))

type aroundCatalog struct {
	Catalog
	around around
}

// Fleet implements [Catalog].
func (a aroundCatalog) Fleet(ctx context.Context) (planner.Fleet, []planner.Pause, error) {
	ctx, end := a.around(ctx, PartRead)
	fleet, pauses, err := a.Catalog.Fleet(ctx)
	end(err)
	return fleet, pauses, err
}

type aroundObserver struct {
	Observer
	around around
}

// Observe implements [Observer].
func (a aroundObserver) Observe(ctx context.Context, f planner.Fleet) ([]planner.Observation, error) {
	ctx, end := a.around(ctx, PartObserve)
	observations, err := a.Observer.Observe(ctx, f)
	end(err)
	return observations, err
}

type aroundActuator struct {
	Actuator
	around around
}

// Apply implements [Actuator].
func (a aroundActuator) Apply(ctx context.Context, changes []planner.Change) []error {
	ctx, end := a.around(ctx, PartApply)
	errs := a.Actuator.Apply(ctx, changes)
	var first error
	if i := slices.IndexFunc(errs, func(err error) bool { return err != nil }); i >= 0 {
		first = errs[i]
	}
	end(first)
	return errs
}

type aroundLedger struct {
	Ledger
	around around
}

// Checkpoint implements [Ledger].
func (a aroundLedger) Checkpoint(m planner.Memory) (planner.Memory, error) {
	_, end := a.around(context.Background(), PartCheckpoint)
	m, err := a.Ledger.Checkpoint(m)
	end(err)
	return m, err
}

// Intend implements [Ledger].
func (a aroundLedger) Intend(sequence uint64, changes []planner.Change) error {
	_, end := a.around(context.Background(), PartIntend)
	err := a.Ledger.Intend(sequence, changes)
	end(err)
	return err
}

// Append implements [Ledger].
func (a aroundLedger) Append(e Entry) error {
	_, end := a.around(context.Background(), PartAppend)
	err := a.Ledger.Append(e)
	end(err)
	return err
}
