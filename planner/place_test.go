package planner

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/poolwright/poolwright/optimizer"
)

// scattered are workloads of one variant each in some of a few pools, with as many
// replicas as fit somewhere, of one size, or of several.
func scattered(r *rand.Rand, sizes int) Fleet {
	var f Fleet
	free := make([]int, 2+r.IntN(3))
	for p := range free {
		free[p] = 8 * r.IntN(4)
		f.Pools = append(f.Pools, Pool{
			Name: fmt.Sprint("pool-", p), PricePerHour: float64(1 + r.IntN(2)),
			Capacity: optimizer.Bound{Limited: true, Value: free[p]},
		})
	}
	for i := range 1 + r.IntN(6) {
		v := Variant{Name: "v", Pools: r.Perm(len(free))[:1+r.IntN(len(free))], DevicesPerReplica: 2 << r.IntN(sizes), Capacity: 1}
		for _, p := range v.Pools {
			n := r.IntN(free[p]/v.DevicesPerReplica + 1)
			free[p] -= n * v.DevicesPerReplica
			v.LeavingReplicas += r.IntN(n + 1)
			v.CurrentReplicas += n
		}
		v.CurrentReplicas -= v.LeavingReplicas
		v.StartingReplicas = r.IntN(v.CurrentReplicas + 1)
		f.Workloads = append(f.Workloads, Workload{Name: fmt.Sprint("w-", i), Priority: 1, Variants: []Variant{v}})
	}
	return f
}

func placementOf(t *testing.T, f *Fleet) (*placement, optimizer.Evaluation) {
	t.Helper()
	sizes := make([][]Size, len(f.Workloads))
	for i := range sizes {
		sizes[i] = make([]Size, len(f.Workloads[i].Variants))
		for j := range sizes[i] {
			sizes[i][j].Served = f.Workloads[i].Variants[j].Capacity
		}
	}
	problem := f.Problem(sizes)
	placed := newPlacer(f, problem).place(nil)
	all := placed.current()
	for i := range all {
		for j := range all[i] {
			for k := range all[i][j] {
				all[i][j][k] += placed.leaving[i][j][k]
			}
		}
	}
	e, err := problem.Evaluate(all)
	require.NoError(t, err)
	return placed, e
}

// Replicas of one size that fit somehow are found room, and all are counted once.
func TestPlacementFindsRoom(t *testing.T) {
	for seed := range uint64(2000) {
		f := scattered(rand.New(rand.NewPCG(seed, 1)), 1)
		placed, e := placementOf(t, &f)
		require.Empty(t, e.Violations, "seed %d", seed)
		for i := range f.Workloads {
			v := &f.Workloads[i].Variants[0]
			require.Equal(t, v.ready(), sum(placed.ready[i][0]), "seed %d", seed)
			require.Equal(t, v.StartingReplicas, sum(placed.starting[i][0]), "seed %d", seed)
			require.Equal(t, v.LeavingReplicas, sum(placed.leaving[i][0]), "seed %d", seed)
		}
	}
}

// The order in which a fleet is written down changes nothing.
func TestPlacementKnowsNoOrder(t *testing.T) {
	for seed := range uint64(500) {
		r := rand.New(rand.NewPCG(seed, 2))
		f := scattered(r, 3)
		placed, _ := placementOf(t, &f)
		to := r.Perm(len(f.Workloads))
		shuffled := f
		shuffled.Workloads = make([]Workload, len(to))
		for i := range to {
			shuffled.Workloads[to[i]] = f.Workloads[i]
			variant := f.Workloads[i].Variants[0]
			variant.Pools = slices.Clone(variant.Pools)
			slices.Reverse(variant.Pools)
			shuffled.Workloads[to[i]].Variants = []Variant{variant}
		}
		other, _ := placementOf(t, &shuffled)
		for i := range to {
			for _, pair := range [][2][]int{
				{placed.ready[i][0], other.ready[to[i]][0]},
				{placed.starting[i][0], other.starting[to[i]][0]},
				{placed.leaving[i][0], other.leaving[to[i]][0]},
			} {
				slices.Reverse(pair[1])
				require.Equal(t, pair[0], pair[1], "seed %d", seed)
			}
		}
	}
}

// Where replicas are known to run they are, and others move out of their way.
func TestPlacementKeepsWhatIsKnown(t *testing.T) {
	both := Variant{Name: "v", Pools: []int{0, 1}, DevicesPerReplica: 1, CurrentReplicas: 3, StartingReplicas: 1, Capacity: 1}
	known := both
	known.LeavingReplicas, known.PoolReplicas = 2, []int{4, 0}
	f := Fleet{
		Pools: []Pool{
			{Name: "a", PricePerHour: 1, Capacity: optimizer.Bound{Limited: true, Value: 4}},
			{Name: "b", PricePerHour: 2, Capacity: optimizer.Bound{Limited: true, Value: 4}},
		},
		Workloads: []Workload{{Name: "known", Variants: []Variant{known}}, {Name: "guessed", Variants: []Variant{both}}},
	}
	placed, e := placementOf(t, &f)
	assert.Empty(t, e.Violations)
	assert.Equal(t, [][]int{{2, 0}}, placed.ready[0])
	assert.Equal(t, [][]int{{2, 0}}, placed.leaving[0])
	assert.Equal(t, [][]int{{0, 1}}, placed.starting[0], "it waits for devices")
	assert.Equal(t, [][]int{{0, 2}}, placed.ready[1])
	assert.Equal(t, [][]int{{0, 1}}, placed.starting[1])
}

// Replicas do not run where a quota leaves them no devices.
func TestPlacementKeepsQuotas(t *testing.T) {
	f := Fleet{
		Pools: []Pool{
			{Name: "a", PricePerHour: 1, Capacity: optimizer.Bound{Limited: true, Value: 4}, Quotas: []Quota{{Namespace: "prod", Devices: 1}}},
			{Name: "b", PricePerHour: 2, Capacity: optimizer.Bound{Limited: true, Value: 4}},
		},
		Workloads: []Workload{{Namespace: "prod", Name: "w", Variants: []Variant{
			{Name: "v", Pools: []int{0, 1}, DevicesPerReplica: 1, CurrentReplicas: 4, Capacity: 1},
		}}},
	}
	placed, _ := placementOf(t, &f)
	assert.Equal(t, [][]int{{1, 3}}, placed.ready[0])
}
