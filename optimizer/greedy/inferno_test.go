package greedy

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/poolwright/poolwright/optimizer"
)

// unit is a variant whose replica serves 1 request/s on one device of a pool.
func unit(name string, pool int, price float64) optimizer.Variant {
	return optimizer.Variant{
		Name: name, Capacity: 1, DevicesPerReplica: 1,
		Placements: []optimizer.Placement{{Pool: pool, PricePerHour: price}},
	}
}

// wants is a workload that needs so many replicas of a unit.
func wants(name string, priority int, replicas float64, variants ...optimizer.Variant) optimizer.Workload {
	return optimizer.Workload{Name: name, Priority: priority, Demand: replicas, Variants: variants}
}

func pools(capacities ...int) []optimizer.Pool {
	var all []optimizer.Pool
	for g, capacity := range capacities {
		all = append(all, optimizer.Pool{Name: fmt.Sprint("g", g), Limited: true, Capacity: capacity})
	}
	return all
}

// spell writes a plan as replicas by workload, variant and pool.
func spell(p *optimizer.Problem, s *optimizer.Solution) map[string]int {
	plan := map[string]int{}
	for i, a := range s.Allocations {
		w := &p.Workloads[i]
		for j, counts := range a.Replicas {
			for k, n := range counts {
				if n > 0 {
					pool := p.Pools[w.Variants[j].Placements[k].Pool].Name
					plan[w.Name+"/"+w.Variants[j].Name+"/"+pool] = n
				}
			}
		}
	}
	return plan
}

func inferno(t *testing.T, p *optimizer.Problem, o Options) map[string]int {
	t.Helper()
	s, err := Inferno(p, o, nil)
	require.NoError(t, err)
	return spell(p, s)
}

// Seven devices; a and b of priority 1 want 8 and 9, c of priority 2 wants less or
// more. Of equal regret, infinite here, b goes first because it costs more, so that b
// also runs out of candidates first.
func TestSaturationPolicies(t *testing.T) {
	for _, c := range []struct {
		wanted  float64 // of c
		delayed bool
		policy  Saturation
		a, b, c int
	}{
		// Priority 1 gets nothing in full; c fits.
		{wanted: 4, policy: None, c: 4},
		{wanted: 4, delayed: true, policy: None, c: 4},
		// What priority 1 takes at once is not there for c.
		{wanted: 4, policy: PriorityExhaustive, b: 7},
		{wanted: 4, policy: PriorityRoundRobin, a: 3, b: 4},
		{wanted: 4, policy: RoundRobin, a: 3, b: 4},
		// Delayed, c is served first and 3 devices are left.
		{wanted: 4, delayed: true, policy: PriorityExhaustive, b: 3, c: 4},
		{wanted: 4, delayed: true, policy: PriorityRoundRobin, a: 1, b: 2, c: 4},
		{wanted: 4, delayed: true, policy: RoundRobin, a: 1, b: 2, c: 4},
		// Where c is not served either, it takes turns with the others or after them.
		{wanted: 8, delayed: true, policy: None},
		{wanted: 8, delayed: true, policy: PriorityExhaustive, b: 7},
		{wanted: 8, delayed: true, policy: PriorityRoundRobin, a: 3, b: 4},
		{wanted: 8, delayed: true, policy: RoundRobin, a: 2, b: 3, c: 2},
	} {
		name := fmt.Sprintf("c wants %v, delayed %v, policy %d", c.wanted, c.delayed, c.policy)
		t.Run(name, func(t *testing.T) {
			p := &optimizer.Problem{Pools: pools(7), Workloads: []optimizer.Workload{
				wants("a", 1, 8, unit("v", 0, 1)), wants("b", 1, 9, unit("v", 0, 1)), wants("c", 2, c.wanted, unit("v", 0, 1)),
			}}
			want := map[string]int{}
			for name, n := range map[string]int{"a/v/g0": c.a, "b/v/g0": c.b, "c/v/g0": c.c} {
				if n > 0 {
					want[name] = n
				}
			}
			require.Equal(t, want, inferno(t, p, Options{Saturation: c.policy, DelayedBestEffort: c.delayed}))
		})
	}
}

// The best effort is of one candidate, the first by value that fits at all, and does
// not go on to another when that is used up.
func TestBestEffortStaysWithOneCandidate(t *testing.T) {
	p := &optimizer.Problem{Pools: pools(0, 1, 2), Workloads: []optimizer.Workload{
		wants("a", 1, 3, unit("x", 0, 1), unit("y", 1, 2), unit("z", 2, 3)),
	}}
	for policy := PriorityExhaustive; policy <= RoundRobin; policy++ {
		require.Equal(t, map[string]int{"a/y/g1": 1}, inferno(t, p, Options{Saturation: policy}))
	}
	require.Empty(t, inferno(t, p, Options{}))
}

// The server that would lose most by its next candidate goes first.
func TestRegretDecidesTheOrder(t *testing.T) {
	p := &optimizer.Problem{Pools: pools(1, 9), Workloads: []optimizer.Workload{
		wants("a", 1, 1, unit("x", 0, 1), unit("y", 1, 4)),
		wants("b", 1, 1, unit("x", 0, 2), unit("y", 1, 9)),
	}}
	require.Equal(t, map[string]int{"b/x/g0": 1, "a/y/g1": 1}, inferno(t, p, Options{}))
	p.Workloads[1].Priority = 2
	require.Equal(t, map[string]int{"a/x/g0": 1, "b/y/g1": 1}, inferno(t, p, Options{}), "priority goes before regret")
}

// A server that goes on to its next candidate queues again, by its new regret.
//
// At first a regrets 9·1.1 and b 3·1.1. Pool g0 has nothing for a, which then
// regrets 1·1.1. So b takes the device of g1 that a wants too, and a goes to z.
func TestServerQueuesAgain(t *testing.T) {
	p := &optimizer.Problem{Pools: pools(0, 1, 9), Workloads: []optimizer.Workload{
		wants("a", 1, 1, unit("x", 0, 1), unit("y", 1, 10), unit("z", 2, 11)),
		wants("b", 1, 1, unit("y", 1, 2), unit("z", 2, 5)),
	}}
	require.Equal(t, map[string]int{"b/y/g1": 1, "a/z/g2": 1}, inferno(t, p, Options{}))
}

// A change of accelerator is worth a tenth of both costs: two replicas on y for 20
// stay where x for 19 would add −1 + 3.9, and go where x for 16 adds −4 + 3.6.
func TestTransitionPenaltyKeepsTheAccelerator(t *testing.T) {
	y := unit("y", 0, 10)
	y.CurrentReplicas = 2
	for _, c := range []struct {
		price float64
		want  string
	}{{9.5, "a/y/g0"}, {8, "a/x/g0"}} {
		p := &optimizer.Problem{Pools: pools(9), Workloads: []optimizer.Workload{wants("a", 1, 2, unit("x", 0, c.price), y)}}
		require.Equal(t, map[string]int{c.want: 2}, inferno(t, p, Options{}))
	}
}

// Switching costs of the problem take the place of that tenth: at 0.1 a replica, x
// saves 1 − 0.2 − 0.2.
func TestSwitchingCostsDecide(t *testing.T) {
	x, y := unit("x", 0, 9.5), unit("y", 0, 10)
	x.SwitchUp, y.SwitchDown, y.CurrentReplicas = 0.1, 0.1, 2
	p := &optimizer.Problem{Pools: pools(9), Workloads: []optimizer.Workload{wants("a", 1, 2, x, y)}}
	require.Equal(t, map[string]int{"a/x/g0": 2}, inferno(t, p, Options{}))
	p.Workloads[0].Variants[0].SwitchUp = 0.5
	require.Equal(t, map[string]int{"a/y/g0": 2}, inferno(t, p, Options{}))
}

// Without demand a server gets its minimum, on the accelerator of the least value,
// and nothing without a minimum.
func TestZeroLoad(t *testing.T) {
	w := wants("a", 1, 0, unit("x", 0, 2), unit("y", 0, 1))
	p := &optimizer.Problem{Pools: pools(9), Workloads: []optimizer.Workload{w}}
	require.Empty(t, inferno(t, p, Options{Saturation: RoundRobin}))
	p.Workloads[0].MinReplicas = 2
	require.Equal(t, map[string]int{"a/y/g0": 2}, inferno(t, p, Options{}))
}

// Minimums of variants come first, whatever the priority, and serve demand.
func TestMinimumsOfVariants(t *testing.T) {
	y := unit("y", 0, 9)
	y.MinReplicas = 2
	p := &optimizer.Problem{Pools: pools(5), Workloads: []optimizer.Workload{
		wants("a", 1, 4, unit("x", 0, 1)),
		wants("b", 2, 3, unit("x", 0, 1), y),
	}}
	require.Equal(t, map[string]int{"b/y/g0": 2, "b/x/g0": 1}, inferno(t, p, Options{}), "a does not fit any more")
	p.Workloads[1].Mixing = optimizer.Single
	require.Equal(t, map[string]int{"b/y/g0": 3}, inferno(t, p, Options{}), "single mixing leaves the variant with the minimum")
}

// What the original lacks stops replicas as a full pool does.
func TestOtherLimitsCountAsCapacity(t *testing.T) {
	for _, c := range []struct {
		name  string
		limit func(p *optimizer.Problem)
	}{
		{"quota", func(p *optimizer.Problem) { p.Quotas = []optimizer.Quota{{Namespace: "n", Pool: 0, Capacity: 2}} }},
		{"budget", func(p *optimizer.Problem) { p.BudgetPerHour = 2.5 }},
		{"maximum", func(p *optimizer.Problem) {
			p.Workloads[0].MaxReplicas = optimizer.Bound{Limited: true, Value: 2}
		}},
		{"maximum of a variant", func(p *optimizer.Problem) {
			p.Workloads[0].Variants[0].MaxReplicas = optimizer.Bound{Limited: true, Value: 2}
		}},
		{"nodes", func(p *optimizer.Problem) {
			p.Pools[0].DevicesPerNode, p.Workloads[0].Variants[0].DevicesPerReplica = 4, 3
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := &optimizer.Problem{Pools: pools(9), Workloads: []optimizer.Workload{wants("a", 1, 3, unit("v", 0, 1))}}
			p.Workloads[0].Namespace = "n"
			require.Equal(t, map[string]int{"a/v/g0": 3}, inferno(t, p, Options{}))
			c.limit(p)
			require.Empty(t, inferno(t, p, Options{}))
			require.Equal(t, map[string]int{"a/v/g0": 2}, inferno(t, p, Options{Saturation: RoundRobin}))
		})
	}
}

// One replica more is wanted for each that may fail.
func TestRedundancyCounts(t *testing.T) {
	p := &optimizer.Problem{Pools: pools(9), Workloads: []optimizer.Workload{wants("a", 1, 3, unit("v", 0, 1))}}
	p.Workloads[0].Redundancy = 2
	require.Equal(t, map[string]int{"a/v/g0": 5}, inferno(t, p, Options{}))
}

func TestBadOptions(t *testing.T) {
	p := &optimizer.Problem{}
	_, err := Inferno(p, Options{Saturation: RoundRobin + 1}, nil)
	require.ErrorContains(t, err, "saturation policy 4")
	_, err = Kthena(p, -1, nil)
	require.ErrorContains(t, err, "expansion rate -1")
	p.BudgetPerHour = -1
	_, err = Inferno(p, Options{}, nil)
	require.ErrorContains(t, err, "budgetPerHour")
	_, err = Kthena(p, DefaultExpansionRate, nil)
	require.ErrorContains(t, err, "budgetPerHour")
}
