package controller_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/poolwright/poolwright/controller"
	"github.com/poolwright/poolwright/optimizer/lp"
	"github.com/poolwright/poolwright/planner"
)

// world is a fleet that can fail.
type world struct {
	fleet                               planner.Fleet
	observations                        []planner.Observation
	catalogErr, observeErr, actuatorErr error
	applied                             []controller.Change
}

func (w *world) Fleet(context.Context) (planner.Fleet, error) { return w.fleet, w.catalogErr }

func (w *world) Observe(context.Context, planner.Fleet) ([]planner.Observation, error) {
	return w.observations, w.observeErr
}

func (w *world) Apply(_ context.Context, changes []controller.Change) error {
	w.applied = append(w.applied, changes...)
	return w.actuatorErr
}

// moving is a fleet whose demand belongs on the other variant: one up, one down.
func moving() planner.Fleet {
	variant := func(name string, pool, current int) planner.Variant {
		return planner.Variant{
			Name: name, Pools: []int{pool}, DevicesPerReplica: 1, NodesPerReplica: 1,
			Capacity: 10, CurrentReplicas: current,
			ScaleTarget: planner.ScaleTarget{Kind: "Deployment", Name: name},
		}
	}
	return planner.Fleet{
		Pools: []planner.Pool{
			{Name: "a", Accelerator: "A", PricePerHour: 9},
			{Name: "b", Accelerator: "B", PricePerHour: 1},
		},
		Workloads: []planner.Workload{{
			Name: "chat", Priority: 1, ArrivalRate: 15,
			Variants: []planner.Variant{variant("dear", 0, 2), variant("cheap", 1, 0)},
		}},
	}
}

func fresh(rate float64) []planner.Observation {
	return []planner.Observation{{
		Workload: "chat", ArrivalRate: planner.Measurement{State: planner.Fresh, Value: rate},
	}}
}

func tick(t *testing.T, w *world) error {
	t.Helper()
	c := controller.New(controller.Config{Planner: planner.New(lp.Simplex()), Catalog: w, Observer: w, Actuator: w})
	_, _, err := c.Tick(t.Context(), time.Unix(0, 0), nil)
	return err
}

func TestTickAddsBeforeItRemoves(t *testing.T) {
	w := &world{fleet: moving(), observations: fresh(15)}
	require.NoError(t, tick(t, w))
	require.Len(t, w.applied, 2)
	assert.Equal(t, "cheap", w.applied[0].Variant)
	assert.Equal(t, 0, w.applied[0].From)
	assert.Equal(t, 2, w.applied[0].To)
	assert.Equal(t, planner.ScaleTarget{Kind: "Deployment", Name: "cheap"}, w.applied[0].Target)
	assert.Equal(t, "dear", w.applied[1].Variant)
	assert.Equal(t, 0, w.applied[1].To)
}

func TestNothingChangesWithoutObservations(t *testing.T) {
	w := &world{fleet: moving()}
	require.NoError(t, tick(t, w))
	assert.Empty(t, w.applied)
}

func TestFailureStopsTheCycle(t *testing.T) {
	failure := errors.New("out of reach")
	for name, w := range map[string]*world{
		"read the fleet": {fleet: moving(), observations: fresh(15), catalogErr: failure},
		"observe":        {fleet: moving(), observations: fresh(15), observeErr: failure},
	} {
		t.Run(name, func(t *testing.T) {
			err := tick(t, w)
			require.ErrorIs(t, err, failure)
			require.ErrorContains(t, err, "controller: "+name)
			assert.Empty(t, w.applied)
		})
	}
}

func TestFailedActionKeepsItsDecision(t *testing.T) {
	w := &world{fleet: moving(), observations: fresh(15), actuatorErr: errors.New("conflict")}
	c := controller.New(controller.Config{Planner: planner.New(lp.Simplex()), Catalog: w, Observer: w, Actuator: w})
	decision, changes, err := c.Tick(t.Context(), time.Unix(7, 0), nil)
	require.ErrorIs(t, err, w.actuatorErr)
	assert.Equal(t, time.Unix(7, 0), decision.At)
	assert.Len(t, changes, 2)
}
