package planner_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/poolwright/poolwright/optimizer/lp"
	"github.com/poolwright/poolwright/planner"
)

// What breaks the rules of its type is an error, with its path, and never a panic.
func TestMistakesInAFleetAreNamed(t *testing.T) {
	for want, mistake := range map[string]func(*planner.Fleet, *planner.Variant){
		"workloads[0].variants: there is none": func(f *planner.Fleet, _ *planner.Variant) { f.Workloads[0].Variants = nil },
		"pools: there is none":                 func(_ *planner.Fleet, v *planner.Variant) { v.Pools = nil },
		"pools[1]: pool 2 of 2":                func(_ *planner.Fleet, v *planner.Variant) { v.Pools = []int{0, 2} },
		"pools[0]: pool -1 of 2":               func(_ *planner.Fleet, v *planner.Variant) { v.Pools = []int{-1} },
		"devicesPerReplica: -1 < 0":            func(_ *planner.Fleet, v *planner.Variant) { v.DevicesPerReplica = -1 },
		"nodesPerReplica: -1 < 0":              func(_ *planner.Fleet, v *planner.Variant) { v.NodesPerReplica = -1 },
		"minReplicas: -1 < 0":                  func(_ *planner.Fleet, v *planner.Variant) { v.MinReplicas = -1 },
		"currentReplicas: -1 < 0":              func(_ *planner.Fleet, v *planner.Variant) { v.CurrentReplicas = -1 },
		"startingReplicas: -1 < 0":             func(_ *planner.Fleet, v *planner.Variant) { v.StartingReplicas = -1 },
		"leavingReplicas: -1 < 0":              func(_ *planner.Fleet, v *planner.Variant) { v.LeavingReplicas = -1 },
		"poolReplicas: 2 for 1 pools":          func(_ *planner.Fleet, v *planner.Variant) { v.PoolReplicas = []int{0, 0} },
		"poolReplicas[0]: -1 < 0":              func(_ *planner.Fleet, v *planner.Variant) { v.PoolReplicas = []int{-1} },
	} {
		t.Run(want, func(t *testing.T) {
			f := twoPools(12, declared("chat-h100", 0, 7))
			mistake(&f, &f.Workloads[0].Variants[0])
			p := planner.New(lp.Simplex())
			_, _, err := p.Plan(planner.Snapshot{Fleet: f}, planner.Memory{}, nil)
			require.ErrorContains(t, err, want)
			require.ErrorContains(t, err, "planner: workloads[0].variants")
			_, _, err = p.Evaluate(planner.Snapshot{Fleet: f}, planner.Memory{})
			require.ErrorContains(t, err, want)
		})
	}
}
