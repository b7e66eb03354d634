package planner_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/poolwright/poolwright/optimizer"
	"github.com/poolwright/poolwright/optimizer/greedy"
	"github.com/poolwright/poolwright/optimizer/lp"
	"github.com/poolwright/poolwright/planner"
)

// scarce has 2 of the 3 A100 replicas that the greedy would take for 12 requests/s, and
// 1 of the 2 H100 replicas.
func scarce() planner.Fleet {
	f := twoPools(12, declared("chat-h100", 0, 7), declared("chat-a100", 1, 4))
	f.Pools[0].Capacity.Value, f.Pools[1].Capacity.Value = 1, 2
	return f
}

func TestStrategies(t *testing.T) {
	for _, c := range []struct {
		name      string
		objective planner.Objective
		proof     optimizer.Proof
		demand    optimizer.Demand
		replicas  []int
		binding   string
		note      string
	}{
		{
			name: "the solver mixes", proof: optimizer.Optimal, demand: optimizer.Served, replicas: []int{1, 2},
			binding: "capacityRps",
		},
		{
			name: "the greedy serves in full with one variant or not at all", objective: planner.Objective{Strategy: planner.InfernoGreedy},
			proof: optimizer.Unproven, demand: optimizer.Partial, replicas: []int{0, 0}, binding: "strategy",
			note: "planned by the greedy of the inferno family, saturation policy None; nothing is proven",
		},
		{
			name: "or with what there is of it",
			objective: planner.Objective{
				Strategy: planner.InfernoGreedy,
				Greedy:   greedy.Options{Saturation: greedy.RoundRobin, DelayedBestEffort: true},
			},
			proof: optimizer.Unproven, demand: optimizer.Partial, replicas: []int{0, 2}, binding: "strategy",
			note: "planned by the greedy of the inferno family, saturation policy RoundRobin, delayed best effort; nothing is proven",
		},
		{
			name: "batches mix", objective: planner.Objective{Strategy: planner.Kthena, ExpansionRate: 200},
			proof: optimizer.Unproven, demand: optimizer.Served, replicas: []int{1, 2}, binding: "capacityRps",
			note: "planned by the batches of Kthena; nothing is proven",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := scarce()
			f.Objective = c.objective
			d := plan(t, planner.Snapshot{Fleet: f})
			assert.Equal(t, c.proof, d.Solution.Proof)
			assert.Equal(t, c.demand, d.Demand)
			assert.Equal(t, c.replicas, totals(&d, 0))
			assert.Equal(t, c.binding, d.Plans[0].Binding)
			step := d.Trail[len(d.Trail)-1]
			assert.Equal(t, "solve", step.Stage)
			if c.note == "" {
				assert.Empty(t, d.Notes)
				return
			}
			assert.Equal(t, []string{c.note}, d.Notes)
			assert.Equal(t, c.note, "planned by the "+step.Reason)
		})
	}
}

// The time limit holds for every strategy: a workload that had no turn gets no more than
// its variants' minimums, and the plan says why.
func TestStoppedStrategy(t *testing.T) {
	for _, strategy := range []planner.Strategy{planner.InfernoGreedy, planner.Kthena} {
		f := scarce()
		f.Objective = planner.Objective{Strategy: strategy, ExpansionRate: 200}
		f.Workloads[0].Variants[1].MinReplicas = 1
		d, _, err := planner.New(lp.Simplex()).Plan(planner.Snapshot{Fleet: f}, planner.Memory{}, func() bool { return true })
		require.NoError(t, err)
		assert.Equal(t, optimizer.Feasible, d.Solution.Proof)
		assert.Equal(t, optimizer.Partial, d.Demand)
		assert.Equal(t, []int{0, 1}, totals(&d, 0))
		assert.Equal(t, "timeLimit", d.Plans[0].Binding)
		assert.Contains(t, d.Notes, "stopped before all workloads had their turn")
	}
}

// A workload without a fresh observation keeps its replicas under any strategy, and
// what they use is not there for the others.
func TestStrategyPlansAroundHeldWorkloads(t *testing.T) {
	f := twoPools(8, declared("v", 1, 4))
	f.Workloads[0].Variants[0].CurrentReplicas = 7
	f.Workloads = append(f.Workloads, planner.Workload{Name: "code", Priority: 1, ArrivalRate: 8, Variants: []planner.Variant{
		declared("v", 1, 4), declared("w", 0, 4),
	}})
	f.Objective.Strategy = planner.InfernoGreedy
	d := plan(t, planner.Snapshot{Fleet: f, Observations: []planner.Observation{
		{Workload: "code", ArrivalRate: planner.Measurement{State: planner.Fresh, Value: 8}},
	}})
	assert.Equal(t, []int{7}, totals(&d, 0))
	assert.Equal(t, []int{0, 2}, totals(&d, 1))
	assert.Equal(t, 7, d.Pools[1].Used)
	assert.InDelta(t, 22, d.PricePerHour, 1e-12)
}
