package planner_test

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/poolwright/poolwright/optimizer"
	"github.com/poolwright/poolwright/optimizer/greedy"
	"github.com/poolwright/poolwright/optimizer/lp"
	"github.com/poolwright/poolwright/planner"
	"github.com/poolwright/poolwright/queueing"
)

// inBatches has a workload that is served by targets of 1 request/s each, at a rate.
func inBatches(targets []greedy.Target, demand float64, rate int) planner.Fleet {
	f := planner.Fleet{Pools: []planner.Pool{{Name: "h100", Accelerator: "H100"}}}
	w := planner.Workload{Name: "chat", Priority: 1, ArrivalRate: queueing.Rate(demand), ExpansionRate: &rate}
	for t, target := range targets {
		w.Variants = append(w.Variants, planner.Variant{
			Name: string(rune('a' + t)), Pools: []int{0}, DevicesPerReplica: 1, Capacity: 1,
			PricePerReplicaHour: target.Cost, Priced: true,
			MinReplicas: target.MinReplicas, MaxReplicas: optimizer.Bound{Limited: true, Value: target.MaxReplicas},
		})
	}
	f.Workloads = []planner.Workload{w}
	return f
}

// Where replicas are equal, a workload in batches gets what Kthena gives it: batches of 1,
// 2, 4 … at the cost of all their replicas are x 3, y 5, x 6, y 10, x 12.
func TestWorkloadInBatches(t *testing.T) {
	targets := []greedy.Target{{Cost: 3, MaxReplicas: 7}, {Cost: 5, MaxReplicas: 7}}
	d := plan(t, planner.Snapshot{Fleet: inBatches(targets, 7, 200)})
	require.Equal(t, []int{4, 3}, totals(&d, 0))
	assert.Contains(t, d.Trail, planner.Step{Stage: "solve", Subject: "chat", After: "at most 4 a, 3 b", Reason: "batches of Kthena at 200 %"})

	f := inBatches(targets, 7, 200)
	f.Workloads[0].ExpansionRate = nil
	d = plan(t, planner.Snapshot{Fleet: f})
	require.Equal(t, []int{7, 0}, totals(&d, 0), "the cheapest")

	random := rand.New(rand.NewPCG(1, 2))
	for range 50 {
		targets := make([]greedy.Target, 1+random.IntN(4))
		for t := range targets {
			targets[t] = greedy.Target{Cost: float64(1 + random.IntN(40)), MinReplicas: random.IntN(3)}
			targets[t].MaxReplicas = max(1, targets[t].MinReplicas+random.IntN(9))
		}
		demand, rate := random.IntN(20), 50*random.IntN(8)
		d := plan(t, planner.Snapshot{Fleet: inBatches(targets, float64(demand), rate)})
		require.Equal(t, greedy.Distribute(targets, demand, rate), totals(&d, 0), "%v %d at %d", targets, demand, rate)
	}
}

// The pools are shared out by priority as without batches, and the cause of what is not
// served is the strategy where another variant would have room.
func TestBatchesYieldPools(t *testing.T) {
	f := inBatches([]greedy.Target{{Cost: 3, MaxReplicas: 2}, {Cost: 30, MaxReplicas: 9}}, 2, 100)
	f.Pools[0].Capacity = optimizer.Bound{Limited: true, Value: 2}
	f.Pools = append(f.Pools, planner.Pool{Name: "a100", Accelerator: "A100"})
	f.Workloads[0].Variants[1].Pools = []int{1}
	f.Workloads[0].Priority = 2
	f.Workloads = append(f.Workloads, planner.Workload{
		Name: "search", Priority: 1, ArrivalRate: 1,
		Variants: []planner.Variant{{Name: "search", Pools: []int{0}, DevicesPerReplica: 1, Capacity: 1}},
	})
	d := plan(t, planner.Snapshot{Fleet: f})
	require.Equal(t, []int{1, 0}, totals(&d, 0))
	assert.Equal(t, "strategy", d.Plans[0].Binding)

	rate := -1
	f.Workloads[0].ExpansionRate = &rate
	_, _, err := planner.New(lp.Simplex()).Plan(planner.Snapshot{Fleet: f}, planner.Memory{}, nil)
	require.ErrorContains(t, err, "planner: workloads[0].expansionRate: -1 < 0")
}
