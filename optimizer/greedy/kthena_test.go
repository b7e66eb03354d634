package greedy

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/poolwright/poolwright/optimizer"
)

func kthena(t *testing.T, p *optimizer.Problem, expansionRate int) map[string]int {
	t.Helper()
	s, err := Kthena(p, expansionRate, nil)
	require.NoError(t, err)
	return spell(p, s)
}

// Batches of 1, 2, 4 … at the cost of all their replicas: x 3, y 5, x 6, y 10, x 12.
// Seven replicas are filled up to one of the four of x in its third batch.
func TestKthenaFillsBatches(t *testing.T) {
	p := &optimizer.Problem{Pools: pools(99), Workloads: []optimizer.Workload{
		wants("a", 1, 7, unit("x", 0, 3), unit("y", 0, 5)),
	}}
	require.Equal(t, map[string]int{"a/x/g0": 4, "a/y/g0": 3}, kthena(t, p, 200))
	require.Equal(t, map[string]int{"a/x/g0": 7}, kthena(t, p, 100), "the cheapest first")
}

// Kthena counts replicas, not what they sustain: x fills up before y, which would
// serve it all for less.
func TestKthenaIgnoresCapacity(t *testing.T) {
	y := unit("y", 0, 5)
	y.Capacity = 7
	p := &optimizer.Problem{Pools: pools(99), Workloads: []optimizer.Workload{
		wants("a", 1, 7, unit("x", 0, 3), y),
	}}
	require.Equal(t, map[string]int{"a/x/g0": 1, "a/y/g0": 1}, kthena(t, p, 200))
	require.Equal(t, map[string]int{"a/x/g0": 7}, kthena(t, p, 100))
}

// Replicas without room stay pending, and others are asked for. Minimums and
// maximums bind, priorities go first.
func TestKthenaWithinLimits(t *testing.T) {
	x, y := unit("x", 0, 3), unit("y", 1, 5)
	y.MinReplicas = 1
	p := &optimizer.Problem{Pools: pools(3, 99), Workloads: []optimizer.Workload{
		wants("a", 2, 5, x, y), wants("b", 1, 2, x),
	}}
	require.Equal(t, map[string]int{"b/x/g0": 2, "a/x/g0": 1, "a/y/g1": 4}, kthena(t, p, 200))
	p.Workloads[0].Variants[1].MaxReplicas = optimizer.Bound{Limited: true, Value: 2}
	require.Equal(t, map[string]int{"b/x/g0": 2, "a/x/g0": 1, "a/y/g1": 2}, kthena(t, p, 200))
}

// The minimum of a workload needs no demand; a variant that sustains nothing gets
// no more than its own minimum.
func TestKthenaMinimums(t *testing.T) {
	x := unit("x", 0, 1)
	x.Capacity, x.MinReplicas = 0, 1
	p := &optimizer.Problem{Pools: pools(99), Workloads: []optimizer.Workload{
		wants("a", 1, 2, x, unit("y", 0, 5)), wants("b", 1, 0, unit("v", 0, 1)),
	}}
	p.Workloads[1].MinReplicas = 2
	require.Equal(t, map[string]int{"a/x/g0": 1, "a/y/g0": 2, "b/v/g0": 2}, kthena(t, p, 200))
}

// A prefill and a decode variant are targets like others: they fill up in the order of
// their batches until pairs serve the demand. The greedy of inferno takes one only
// beside a minimum of the other.
func TestPhases(t *testing.T) {
	prefill, decode := unit("p", 0, 2), unit("d", 0, 5)
	prefill.Phase, decode.Phase = optimizer.Prefill, optimizer.Decode
	prefill.Capacity = 2
	p := &optimizer.Problem{Pools: pools(99), Workloads: []optimizer.Workload{wants("a", 1, 4, prefill, decode)}}
	require.Equal(t, map[string]int{"a/p/g0": 2, "a/d/g0": 4}, kthena(t, p, 200))
	require.Empty(t, inferno(t, p, Options{Saturation: RoundRobin}))
	p.Workloads[0].Variants[0].MinReplicas = 2
	require.Equal(t, map[string]int{"a/p/g0": 2, "a/d/g0": 4}, inferno(t, p, Options{}))
}

// A variant that can't serve all shapes is filled as far as it can serve, and no
// candidate alone.
func TestShapeThatNotAllVariantsServe(t *testing.T) {
	short, every := unit("x", 0, 1), unit("y", 0, 5)
	short.ShapeCapacities, every.ShapeCapacities = []float64{1, 0}, []float64{1, 1}
	w := wants("a", 1, 4, short, every)
	w.Shapes = []optimizer.Shape{{Share: 0.5}, {Share: 0.5}}
	p := &optimizer.Problem{Pools: pools(99), Workloads: []optimizer.Workload{w}}
	require.Equal(t, map[string]int{"a/x/g0": 2, "a/y/g0": 2}, kthena(t, p, 200))
	require.Equal(t, map[string]int{"a/y/g0": 4}, inferno(t, p, Options{}))
}

// The number of replicas is brought into the sums of minimums and maximums.
func TestDistributeClamps(t *testing.T) {
	targets := []Target{{Cost: 1, MinReplicas: 1, MaxReplicas: 3}, {Cost: 2, MinReplicas: 2, MaxReplicas: 2}}
	require.Equal(t, []int{1, 2}, Distribute(targets, 0, 200))
	require.Equal(t, []int{2, 2}, Distribute(targets, 4, 200))
	require.Equal(t, []int{3, 2}, Distribute(targets, 9, 200))
	require.Empty(t, Distribute(nil, 3, 200))
}
