package controller_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/poolwright/poolwright/controller"
	"github.com/poolwright/poolwright/optimizer/lp"
	"github.com/poolwright/poolwright/planner"
	"github.com/poolwright/poolwright/policy"
)

// world is a fleet that can fail.
type world struct {
	fleet        planner.Fleet
	observations []planner.Observation
	// reread, when not nil, is what the fleet is by the time of acting.
	reread *planner.Fleet
	// onRead, when not nil, is called at each reading of the fleet.
	onRead                              func()
	declared                            []planner.Pause
	catalogErr, observeErr, actuatorErr error
	reads                               int
	applied                             []planner.Change
}

func (w *world) Fleet(context.Context) (planner.Fleet, []planner.Pause, error) {
	w.reads++
	if w.onRead != nil {
		w.onRead()
	}
	if w.reads%2 == 0 && w.reread != nil {
		return *w.reread, w.declared, nil
	}
	return w.fleet, w.declared, w.catalogErr
}

func (w *world) Observe(context.Context, planner.Fleet) ([]planner.Observation, error) {
	return w.observations, w.observeErr
}

func (w *world) Apply(_ context.Context, changes []planner.Change) []error {
	errs := make([]error, len(changes))
	for k := range changes {
		if errs[k] = w.actuatorErr; errs[k] == nil {
			w.applied = append(w.applied, changes[k])
		}
	}
	return errs
}

// moving is a fleet whose demand belongs on the other variant, and whose policy removes
// without delay: one up, one down.
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
		Control: planner.Control{Policy: planner.Policy{Native: &policy.Native{ScaleDownWindow: new(time.Duration)}}},
	}
}

func fresh(rate float64) []planner.Observation {
	return []planner.Observation{{
		Workload: "chat", ArrivalRate: planner.Measurement{State: planner.Fresh, Value: rate},
	}}
}

func newController(w *world) *controller.Controller {
	return controller.New(controller.Config{Planner: planner.New(lp.Simplex()), Catalog: w, Observer: w, Actuator: w})
}

func tick(t *testing.T, w *world) controller.Entry {
	t.Helper()
	entry, err := newController(w).Tick(t.Context(), time.Unix(7, 0), nil)
	require.NoError(t, err)
	return entry
}

func TestTickAddsBeforeItRemoves(t *testing.T) {
	w := &world{fleet: moving(), observations: fresh(15)}
	entry := tick(t, w)
	require.Len(t, w.applied, 1, "nothing is removed before what takes its place is ready")
	assert.Equal(t, planner.ScaleTarget{Kind: "Deployment", Name: "cheap"}, w.applied[0].Target)
	assert.Equal(t, 2, w.applied[0].To)
	assert.Equal(t, w.applied, entry.Decision.Changes)

	w.fleet = moving()
	w.fleet.Workloads[0].Variants[1].CurrentReplicas = 2
	tick(t, w)
	require.Len(t, w.applied, 2)
	assert.Equal(t, "dear", w.applied[1].Variant)
	assert.Equal(t, 0, w.applied[1].To)
}

func TestNothingChangesWithoutObservations(t *testing.T) {
	w := &world{fleet: moving()}
	tick(t, w)
	assert.Empty(t, w.applied)
}

func TestFloorsHoldWithoutObservations(t *testing.T) {
	w := &world{fleet: moving(), observeErr: errors.New("out of reach")}
	w.fleet.Workloads[0].MinReplicas = 3
	entry := tick(t, w)
	require.Len(t, w.applied, 1)
	assert.Equal(t, "cheap", w.applied[0].Variant)
	assert.Equal(t, 1, w.applied[0].To)
	assert.Equal(t, "observe: out of reach", entry.Failure)
}

func TestUnreadableFleetEndsTheCycle(t *testing.T) {
	w := &world{fleet: moving(), observations: fresh(15), catalogErr: errors.New("out of reach")}
	_, err := newController(w).Tick(t.Context(), time.Unix(7, 0), nil)
	require.ErrorIs(t, err, w.catalogErr)
	require.ErrorContains(t, err, "controller: read the fleet")
	assert.Empty(t, w.applied)
}

func TestFailedActionKeepsItsDecision(t *testing.T) {
	w := &world{fleet: moving(), observations: fresh(15), actuatorErr: errors.New("conflict")}
	entry := tick(t, w)
	assert.Equal(t, "chat cheap: conflict", entry.Failure)
	assert.Equal(t, time.Unix(7, 0).UTC(), entry.Decision.At)
	require.Len(t, entry.Dropped, 1)
	assert.Equal(t, controller.Drop{Change: entry.Decision.Changes[0], Reason: "conflict", Tried: true}, entry.Dropped[0])
}

// Removals count on the other replicas of their workload.
func TestRemovalFromWhatMovedIsDropped(t *testing.T) {
	w := &world{fleet: moving(), observations: fresh(15)}
	w.fleet.Workloads[0].Variants[1].CurrentReplicas = 2
	now := moving()
	now.Workloads[0].Variants[1].CurrentReplicas = 1
	w.reread = &now
	entry := tick(t, w)
	assert.Empty(t, w.applied)
	require.Len(t, entry.Dropped, 1)
	assert.Equal(t, "another variant of its workload has changed", entry.Dropped[0].Reason)
}

func TestWhatMovedMeanwhileIsDropped(t *testing.T) {
	now := moving()
	now.Workloads[0].Variants[1].CurrentReplicas = 1
	w := &world{fleet: moving(), observations: fresh(15), reread: &now}
	entry := tick(t, w)
	assert.Empty(t, w.applied)
	require.Len(t, entry.Dropped, 1)
	assert.Equal(t, "it has 1 replicas now", entry.Dropped[0].Reason)
	assert.Equal(t, 1, entry.Dropped[0].Found)
}

// Where the fleet could not be read again, replicas are those of the snapshot.
func TestUnreadableFleetDropsAll(t *testing.T) {
	w := &world{fleet: moving(), observations: fresh(15)}
	w.fleet.Workloads[0].Variants[1].CurrentReplicas = 1
	w.onRead = func() {
		if w.reads == 2 {
			w.catalogErr = errors.New("out of reach")
		}
	}
	entry := tick(t, w)
	require.NotEmpty(t, entry.Decision.Changes)
	require.Len(t, entry.Dropped, len(entry.Decision.Changes))
	for _, d := range entry.Dropped {
		assert.Equal(t, d.Change.From, d.Found)
	}
}

// Others who carry out what is asked for go on meanwhile. What they have not been asked for is
// somebody else's.
func TestStepsOfOthersMeanwhile(t *testing.T) {
	for name, test := range map[string]struct {
		delegated bool
		now       int // where 0 → 2 is asked for
		dropped   []string
	}{
		"on the way":           {delegated: true, now: 1},
		"there":                {delegated: true, now: 2},
		"beyond":               {delegated: true, now: 3, dropped: []string{"it has 3 replicas now"}},
		"where none are taken": {now: 1, dropped: []string{"it has 1 replicas now"}},
	} {
		t.Run(name, func(t *testing.T) {
			fleet, now := moving(), moving()
			fleet.Workloads[0].Variants[1].Delegated, now.Workloads[0].Variants[1].Delegated = test.delegated, test.delegated
			now.Workloads[0].Variants[1].CurrentReplicas = test.now
			entry := tick(t, &world{fleet: fleet, observations: fresh(15), reread: &now})
			var dropped []string
			for _, d := range entry.Dropped {
				dropped = append(dropped, d.Reason)
			}
			assert.Equal(t, test.dropped, dropped)
		})
	}
}

// Until it has decided, others follow what was asked for in the cycle before.
func TestStepsOfOthersByWhatWasAskedForBefore(t *testing.T) {
	w := &world{fleet: moving(), observations: fresh(45)}
	w.fleet.Workloads[0].Variants[1].Delegated = true
	c := newController(w)
	entry, err := c.Tick(t.Context(), time.Unix(7, 0), nil)
	require.NoError(t, err)
	require.Equal(t, 5, entry.Decision.Changes[0].To)

	now := moving()
	now.Workloads[0].Variants[1].CurrentReplicas, now.Workloads[0].Variants[1].Delegated = 4, true
	w.observations, w.reread = fresh(15), &now
	entry, err = c.Tick(t.Context(), time.Unix(22, 0), nil)
	require.NoError(t, err)
	require.Equal(t, 2, entry.Decision.Changes[0].To)
	assert.Empty(t, entry.Dropped)
}

// Removals go on where another variant of the workload goes where it was asked to.
func TestRemovalBesideStepsOfOthers(t *testing.T) {
	fleet := moving()
	fleet.Workloads[0].Variants[0].CurrentReplicas, fleet.Workloads[0].Variants[1].CurrentReplicas = 1, 5
	third := fleet.Workloads[0].Variants[0]
	third.Name = "dearer"
	fleet.Workloads[0].Variants = append(fleet.Workloads[0].Variants, third)
	fleet.Workloads[0].Variants[1].Delegated = true
	now := fleet
	now.Workloads = slices.Clone(fleet.Workloads)
	now.Workloads[0].Variants = slices.Clone(fleet.Workloads[0].Variants)
	now.Workloads[0].Variants[1].CurrentReplicas = 3
	entry := tick(t, &world{fleet: fleet, observations: fresh(15), reread: &now})
	require.Len(t, entry.Decision.Changes, 3)
	assert.Empty(t, entry.Dropped)

	now.Workloads[0].Variants[1].CurrentReplicas = 1
	entry = tick(t, &world{fleet: fleet, observations: fresh(15), reread: &now})
	assert.Len(t, entry.Dropped, 3)
}

// Below what is asked for now nothing is removed, and asking for more takes nothing away.
func TestStepsOfOthersBelowWhatIsAskedFor(t *testing.T) {
	w := &world{fleet: moving(), observations: fresh(25)}
	dear, cheap := &w.fleet.Workloads[0].Variants[0], &w.fleet.Workloads[0].Variants[1]
	dear.CurrentReplicas, cheap.CurrentReplicas, cheap.Delegated = 0, 8, true
	c := newController(w)
	entry, err := c.Tick(t.Context(), time.Unix(7, 0), nil)
	require.NoError(t, err)
	require.Equal(t, 3, entry.Decision.Changes[0].To)

	now := moving()
	now.Workloads[0].Variants[0].CurrentReplicas, now.Workloads[0].Variants[1].CurrentReplicas, now.Workloads[0].Variants[1].Delegated = 0, 4, true
	w.observations, w.reread = fresh(45), &now
	entry, err = c.Tick(t.Context(), time.Unix(22, 0), nil)
	require.NoError(t, err)
	require.Equal(t, 5, entry.Decision.Changes[0].To)
	assert.Empty(t, entry.Dropped)
}

// A removal counts on replicas that others may be taking away by what was asked for before.
func TestRemovalBesideStepsBack(t *testing.T) {
	w := &world{fleet: moving(), observations: fresh(15)}
	dear, cheap := &w.fleet.Workloads[0].Variants[0], &w.fleet.Workloads[0].Variants[1]
	dear.CurrentReplicas, cheap.CurrentReplicas, cheap.Delegated = 0, 6, true
	c := newController(w)
	entry, err := c.Tick(t.Context(), time.Unix(7, 0), nil)
	require.NoError(t, err)
	require.Equal(t, 2, entry.Decision.Changes[0].To)

	dear.CurrentReplicas = 1
	w.observations = fresh(55)
	now := moving()
	now.Workloads[0].Variants[0].CurrentReplicas, now.Workloads[0].Variants[1].CurrentReplicas, now.Workloads[0].Variants[1].Delegated = 1, 4, true
	w.reread = &now
	entry, err = c.Tick(t.Context(), time.Unix(7+3600, 0), nil) // nobody is blamed for the other variant
	require.NoError(t, err)
	require.Len(t, entry.Decision.Changes, 1)
	require.Equal(t, "dear", entry.Decision.Changes[0].Variant)
	require.Len(t, entry.Dropped, 1)
	assert.Equal(t, "another variant of its workload has changed", entry.Dropped[0].Reason)
}

// brokenLedger is on a full disk.
type brokenLedger struct{}

var errFull = errors.New("no space left")

func (brokenLedger) Checkpoint(m planner.Memory) (planner.Memory, error) { return m, errFull }

func (brokenLedger) Intend(uint64, []planner.Change) error { return errFull }

func (brokenLedger) Append(controller.Entry) error { return errFull }

func TestBrokenLedgerStopsNothing(t *testing.T) {
	w := &world{fleet: moving(), observations: fresh(15)}
	c := controller.New(controller.Config{
		Planner: planner.New(lp.Simplex()), Catalog: w, Observer: w, Actuator: w, Ledger: brokenLedger{},
	})
	entry, err := c.Tick(t.Context(), time.Unix(0, 0), nil)
	require.ErrorIs(t, err, errFull)
	assert.Equal(t, errors.Join(errFull, errFull).Error(), entry.Failure, "of the checkpoint and of the intent")
	assert.NotEmpty(t, w.applied)
}
