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

// threefold is what a cycle decides on three workloads: chat moves, idle stays, and
// nothing is known of blind.
func threefold(t *testing.T) controller.Entry {
	t.Helper()
	f := moving()
	for _, name := range []string{"idle", "blind"} {
		w := f.Workloads[0]
		w.Name = name
		w.Variants = append([]planner.Variant(nil), w.Variants...)
		w.Variants[0].CurrentReplicas, w.Variants[1].CurrentReplicas = 0, 2
		f.Workloads = append(f.Workloads, w)
	}
	observations := append(fresh(15), fresh(15)...)
	observations[1].Workload = "idle"
	w := &world{fleet: f, observations: observations}
	history := controller.NewHistory(controller.HistoryConfig{})
	c := controller.New(controller.Config{
		Planner: planner.New(lp.Simplex()), Catalog: w, Observer: w, Actuator: w, History: history,
	})
	e, err := c.Tick(t.Context(), time.Unix(0, 0), nil)
	require.NoError(t, err)
	remembered, ok := history.Newest()
	require.True(t, ok)
	require.Equal(t, e, remembered.Entry)
	return e
}

// names of the workloads of an entry, whose plans stand beside them.
func names(t *testing.T, e controller.Entry) []string {
	t.Helper()
	require.Len(t, e.Decision.Plans, len(e.Decision.Fleet.Workloads))
	var names []string
	for i := range e.Decision.Fleet.Workloads {
		names = append(names, e.Decision.Fleet.Workloads[i].Name)
	}
	return names
}

func TestBriefHasWhatHappened(t *testing.T) {
	e := threefold(t)
	brief := e.Brief()
	assert.Equal(t, []string{"chat", "blind"}, names(t, brief))
	assert.Empty(t, brief.Decision.Trail)
	assert.Equal(t, e.Decision.Changes, brief.Decision.Changes)
	assert.Equal(t, e.Decision.Plans[0], brief.Decision.Plans[0])
	assert.Equal(t, e.Decision.Pools, brief.Decision.Pools)
	assert.InDelta(t, e.Decision.Objective, brief.Decision.Objective, 0)
	assert.Equal(t, brief, brief.Brief())
	assert.Len(t, names(t, e), 3, "the entry itself stays whole")
}

func TestOnlyHasItsWorkloads(t *testing.T) {
	e := threefold(t)
	e.Dropped = []controller.Drop{{Change: e.Decision.Changes[0]}}
	only := func(name string) controller.Entry {
		return e.Only(func(w *planner.Workload, _ *planner.WorkloadPlan) bool { return w.Name == name })
	}
	chat := only("chat")
	assert.Equal(t, []string{"chat"}, names(t, chat))
	assert.Equal(t, e.Decision.Changes, chat.Decision.Changes)
	assert.Equal(t, e.Dropped, chat.Dropped)
	assert.NotEmpty(t, chat.Decision.Trail)
	for _, s := range chat.Decision.Trail {
		assert.Contains(t, []string{"", "chat", "chat/dear", "chat/cheap"}, s.Subject)
	}
	idle := only("idle")
	assert.Equal(t, []string{"idle"}, names(t, idle))
	assert.Empty(t, idle.Decision.Changes)
	assert.Empty(t, idle.Dropped)
	assert.Empty(t, names(t, only("none")))
}
