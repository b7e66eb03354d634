package scenario_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/poolwright/poolwright/internal/scenario"
	"github.com/poolwright/poolwright/optimizer"
	"github.com/poolwright/poolwright/planner"
)

// view is a cluster of one workload with replicas of two variants.
func view(first, second int) scenario.View {
	return scenario.View{
		Fleet: planner.Fleet{Workloads: []planner.Workload{{
			Name: "chat", MinReplicas: 2,
			Variants: []planner.Variant{
				{Name: "first", DevicesPerReplica: 2, Capacity: 1, MinReplicas: 1, CurrentReplicas: first},
				{Name: "second", DevicesPerReplica: 2, Capacity: 1, CurrentReplicas: second},
			},
		}}},
		Observations: observed(planner.Fresh),
		Pending:      [][]int{{0, 0}},
	}
}

func observed(state planner.MeasurementState) []planner.Observation {
	return []planner.Observation{{Workload: "chat", ArrivalRate: planner.Measurement{State: state, Value: 1}}}
}

func change(variant string, from, to int) planner.Change {
	return planner.Change{Workload: "chat", Variant: variant, From: from, To: to}
}

func TestRulesHold(t *testing.T) {
	changes := []planner.Change{change("first", 2, 3), change("second", 2, 0)}
	assert.NoError(t, scenario.Check(view(2, 2), &planner.Decision{}, changes, view(3, 0)))
}

func TestEveryRuleCanBreak(t *testing.T) {
	for broken, c := range map[string]struct {
		arrange func(before, after *scenario.View)
		changes []planner.Change
	}{
		"chat/first is added to after chat/second was taken from": {
			changes: []planner.Change{change("second", 2, 1), change("first", 2, 3)},
		},
		"chat/third is not in the fleet": {changes: []planner.Change{change("third", 0, 1)}},
		"chat/first: 2 → 3 while paused": {
			arrange: func(before, _ *scenario.View) { before.Paused = map[string]bool{"chat": true} },
			changes: []planner.Change{change("first", 2, 3)},
		},
		"chat/second: 2 → 1 with no data": {
			arrange: func(before, _ *scenario.View) { before.Observations = nil },
			changes: []planner.Change{change("second", 2, 1)},
		},
		"chat/second: 2 → 1 with incomplete data": {
			arrange: func(before, _ *scenario.View) { before.Observations = observed(planner.Incomplete) },
			changes: []planner.Change{change("second", 2, 1)},
		},
		"chat/first: 2 → 3 without data, above its minimum": {
			arrange: func(before, _ *scenario.View) { before.Observations = observed(planner.Stale) },
			changes: []planner.Change{change("first", 2, 3)},
		},
		"chat/first: 2 → 3 without a profile": {
			arrange: func(before, _ *scenario.View) { before.Fleet.Workloads[0].Variants[0].Capacity = 0 },
			changes: []planner.Change{change("first", 2, 3)},
		},
		"chat/first: 2 → 3, and 1 find no devices": {
			arrange: func(_, after *scenario.View) { after.Pending[0][0] = 1 },
			changes: []planner.Change{change("first", 2, 3)},
		},
		"chat/first: 2 → 0, below its minimum 1": {
			arrange: func(_, after *scenario.View) { *after = view(0, 2) },
			changes: []planner.Change{change("first", 2, 0)},
		},
		"chat: 1 replicas, below its minimum 2": {
			arrange: func(_, after *scenario.View) { *after = view(1, 0) },
			changes: []planner.Change{change("second", 2, 0)},
		},
		"4 devices are added in one cycle, of 3 allowed": {
			arrange: func(before, _ *scenario.View) {
				before.Fleet.Control.DevicesPerCycle = optimizer.Bound{Limited: true, Value: 3}
			},
			changes: []planner.Change{change("first", 2, 4)},
		},
	} {
		t.Run(broken, func(t *testing.T) {
			before, after := view(2, 2), view(2, 2)
			if c.arrange != nil {
				c.arrange(&before, &after)
			}
			err := scenario.Check(before, &planner.Decision{}, c.changes, after)
			require.Error(t, err)
			assert.Equal(t, broken, err.Error())
		})
	}
}
