package server

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/poolwright/poolwright/controller"
	"github.com/poolwright/poolwright/internal/access"
	"github.com/poolwright/poolwright/planner"
	poolwrightv1 "github.com/poolwright/poolwright/proto/poolwright/v1"
)

// What many ask about is translated once, for those who see all of it.
func TestFleetIsTranslatedOnce(t *testing.T) {
	history := controller.NewHistory(controller.HistoryConfig{})
	add := func(sequence uint64) {
		fleet := planner.Fleet{Workloads: []planner.Workload{{Namespace: "a", Name: "chat"}}}
		history.Add(controller.Entry{Sequence: sequence, Snapshot: planner.Snapshot{Now: time.Unix(0, 0)}, Decision: planner.Decision{
			Fleet: fleet, Plans: make([]planner.WorkloadPlan, 1), Changes: []planner.Change{{Workload: "a/chat"}},
		}})
	}
	f := NewFleet(struct {
		*controller.History
		*controller.Pauses
	}{history, &controller.Pauses{}})
	all := context.WithValue(t.Context(), callerKey{}, caller{scope: access.Everywhere()})
	ask := func(view poolwrightv1.Decision_View) *poolwrightv1.GetFleetResponse {
		answer, err := f.GetFleet(all, &poolwrightv1.GetFleetRequest{View: view})
		require.NoError(t, err)
		return answer
	}
	add(1)
	first, again, full := ask(poolwrightv1.Decision_BASIC), ask(poolwrightv1.Decision_BASIC), ask(poolwrightv1.Decision_FULL)
	assert.Same(t, first.GetFleet(), again.GetFleet())
	assert.Same(t, first.GetDecision(), again.GetDecision())
	assert.Same(t, first.GetFleet(), full.GetFleet())
	assert.Equal(t, poolwrightv1.Decision_FULL, full.GetDecision().GetView())

	add(2)
	next := ask(poolwrightv1.Decision_BASIC)
	assert.EqualValues(t, 2, next.GetDecision().GetSequence())
	assert.NotSame(t, first.GetFleet(), next.GetFleet())
	old, _ := history.After(0)
	seen := sightOf(all)
	d, err := f.shown.decisionOf(old, filter{seen: seen})
	require.NoError(t, err)
	assert.EqualValues(t, 1, d.GetSequence(), "who is behind gets what is old")
	assert.Same(t, next.GetDecision(), ask(poolwrightv1.Decision_BASIC).GetDecision(), "and has nothing made anew")
	require.False(t, f.shown.lock(old))
	require.True(t, f.shown.mu.TryLock(), "and holds nobody up")
	f.shown.mu.Unlock()
	d, err = f.shown.decisionOf(old, filter{seen: seen, workload: "b/other"})
	require.NoError(t, err)
	assert.Nil(t, d)

	_, err = f.GetFleet(context.WithValue(t.Context(), callerKey{}, caller{}), &poolwrightv1.GetFleetRequest{})
	require.Error(t, err, "what is shown to some is not shown to others")
}
