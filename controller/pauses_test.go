package controller_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/poolwright/poolwright/controller"
	"github.com/poolwright/poolwright/optimizer/lp"
	"github.com/poolwright/poolwright/planner"
)

func TestPauses(t *testing.T) {
	var p controller.Pauses
	now := time.Unix(100, 0)
	assert.Empty(t, p.At(now))
	p.Pause(planner.Pause{Workload: "b", Reason: "first"})
	p.Pause(planner.Pause{Workload: "a", Reason: "short", Until: now.Add(time.Minute)})
	p.Pause(planner.Pause{Workload: "b", Reason: "second"})
	assert.Equal(t, []planner.Pause{
		{Workload: "a", Reason: "short", Until: now.Add(time.Minute)}, {Workload: "b", Reason: "second"},
	}, p.At(now))
	assert.Equal(t, []planner.Pause{{Workload: "b", Reason: "second"}}, p.At(now.Add(time.Minute)))

	_, ok := p.Resume("a")
	assert.False(t, ok, "it has ended by itself")
	ended, ok := p.Resume("b")
	assert.True(t, ok)
	assert.Equal(t, "second", ended.Reason)
	assert.Empty(t, p.At(now))
}

// A paused workload keeps its replicas until it is resumed, or until its pause ends.
func TestReplacePauses(t *testing.T) {
	var p controller.Pauses
	p.Pause(planner.Pause{Workload: "a"})
	p.Replace([]planner.Pause{{Workload: "b", Reason: "incident 12"}})
	assert.Equal(t, []planner.Pause{{Workload: "b", Reason: "incident 12"}}, p.At(time.Unix(0, 0)))
	p.Replace(nil)
	assert.Empty(t, p.At(time.Unix(0, 0)))
}

func TestTickHoldsPausedWorkloads(t *testing.T) {
	w := &world{fleet: moving(), observations: fresh(15)}
	pauses := &controller.Pauses{}
	c := controller.New(controller.Config{
		Planner: planner.New(lp.Simplex()), Catalog: w, Observer: w, Actuator: w, Pauses: pauses,
	})
	tick := func(now time.Time) []planner.Change {
		e, err := c.Tick(t.Context(), now, nil)
		require.NoError(t, err)
		return e.Decision.Changes
	}
	pauses.Pause(planner.Pause{Workload: "chat", Reason: "incident 12"})
	assert.Empty(t, tick(time.Unix(0, 0)))
	pauses.Resume("chat")
	assert.NotEmpty(t, tick(time.Unix(15, 0)))
	pauses.Pause(planner.Pause{Workload: "chat", Reason: "incident 13", Until: time.Unix(45, 0)})
	assert.Empty(t, tick(time.Unix(30, 0)))
	assert.NotEmpty(t, tick(time.Unix(45, 0)))
}

// What is declared to be left alone is, beside what people hold.
func TestTickLeavesAloneWhatIsDeclared(t *testing.T) {
	w := &world{fleet: moving(), observations: fresh(15), declared: []planner.Pause{{Workload: "chat", Reason: "its mode is off"}}}
	pauses := &controller.Pauses{}
	c := controller.New(controller.Config{
		Planner: planner.New(lp.Simplex()), Catalog: w, Observer: w, Actuator: w, Pauses: pauses,
	})
	pauses.Pause(planner.Pause{Workload: "other", Reason: "incident 12"})
	e, err := c.Tick(t.Context(), time.Unix(0, 0), nil)
	require.NoError(t, err)
	assert.Empty(t, e.Decision.Changes)
	assert.Equal(t, []planner.Pause{{Workload: "chat", Reason: "its mode is off"}, {Workload: "other", Reason: "incident 12"}}, e.Snapshot.Paused)
	w.declared = nil
	e, err = c.Tick(t.Context(), time.Unix(15, 0), nil)
	require.NoError(t, err)
	assert.NotEmpty(t, e.Decision.Changes)
}

// A pause counts for changes that were decided before it.
func TestPausedMeanwhile(t *testing.T) {
	pauses := &controller.Pauses{}
	w := &world{fleet: moving(), observations: fresh(15)}
	w.onRead = func() {
		if w.reads == 2 { // before acting
			pauses.Pause(planner.Pause{Workload: "chat", Reason: "incident 12"})
		}
	}
	c := controller.New(controller.Config{
		Planner: planner.New(lp.Simplex()), Catalog: w, Observer: w, Actuator: w, Pauses: pauses,
	})
	e, err := c.Tick(t.Context(), time.Unix(0, 0), nil)
	require.NoError(t, err)
	assert.NotEmpty(t, e.Decision.Changes)
	assert.Len(t, e.Dropped, len(e.Decision.Changes))
	assert.Equal(t, "its workload is paused now", e.Dropped[0].Reason)
	assert.Empty(t, w.applied)
	assert.Empty(t, e.Failure)
}
