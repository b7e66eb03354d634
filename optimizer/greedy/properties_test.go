package greedy

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/poolwright/poolwright/optimizer"
)

type strategy = func(p *optimizer.Problem, stop func() bool) (*optimizer.Solution, error)

// strategies are all ways to plan of this package.
func strategies() map[string]strategy {
	all := map[string]strategy{}
	for _, rate := range []int{0, 100, 150, 200, 1000} {
		all[fmt.Sprint("kthena ", rate)] = func(p *optimizer.Problem, stop func() bool) (*optimizer.Solution, error) {
			return Kthena(p, rate, stop)
		}
	}
	for policy := None; policy <= RoundRobin; policy++ {
		for _, delayed := range []bool{false, true} {
			o := Options{Saturation: policy, DelayedBestEffort: delayed}
			all[fmt.Sprintf("inferno %+v", o)] = func(p *optimizer.Problem, stop func() bool) (*optimizer.Solution, error) { return Inferno(p, o, stop) }
		}
	}
	return all
}

// Every plan keeps all limits, and is the same in whatever order the problem is
// written.
func TestPlansKeepLimitsAndIgnoreOrder(t *testing.T) {
	for name, strategy := range strategies() {
		t.Run(name, func(t *testing.T) {
			for seed := range uint64(400) {
				r := rand.New(rand.NewPCG(seed, 2))
				p := randomProblem(r)
				s, err := strategy(p, nil)
				require.NoError(t, err)
				e, err := p.Evaluate(s.Replicas())
				require.NoError(t, err)
				require.Empty(t, e.Violations, seed)
				q := reordered(r, p)
				again, err := strategy(q, nil)
				require.NoError(t, err)
				require.Equal(t, spell(p, s), spell(q, again), seed)
			}
		})
	}
}

// No plan that serves what the optimum serves is cheaper than its bound.
func TestOptimumIsNeverDearer(t *testing.T) {
	compared := 0
	for seed := range uint64(300) {
		p := randomProblem(rand.New(rand.NewPCG(seed, 3)))
		optimum, err := optimizer.Solve(p, optimizer.Options{})
		require.NoError(t, err)
		for name, strategy := range strategies() {
			s, err := strategy(p, nil)
			require.NoError(t, err)
			served := true
			for i, a := range s.Allocations {
				served = served && a.Shortfall == 0 && (p.Workloads[i].Penalized || a.Unmet == 0)
			}
			if served {
				compared++
				require.GreaterOrEqual(t, s.Objective*(1+1e-9), optimum.Bound, "seed %d, %s", seed, name)
			}
		}
	}
	require.Greater(t, compared, 1000)
}

// A policy of best effort serves no less than none, and leaves no room for a
// replica of a workload without any that wants some.
func TestBestEffortLeavesNoRoom(t *testing.T) {
	for seed := range uint64(400) {
		p := randomProblem(rand.New(rand.NewPCG(seed, 4)))
		for policy := PriorityExhaustive; policy <= RoundRobin; policy++ {
			s, err := Inferno(p, Options{Saturation: policy, DelayedBestEffort: true}, nil)
			require.NoError(t, err)
			h := optimizer.NewHeadroom(p)
			place(h, s)
			for i, a := range s.Allocations {
				w := &p.Workloads[i]
				if a.Unmet == 0 || sum(slices.Concat(a.Replicas...)) > 0 {
					continue
				}
				for j := range w.Variants {
					for k := range w.Variants[j].Placements {
						if w.Variants[j].Capacity > 0 {
							require.Zero(t, h.Replicas(i, j, k), "seed %d, policy %d, workload %d", seed, policy, i)
						}
					}
				}
			}
		}
	}
}

func place(h *optimizer.Headroom, s *optimizer.Solution) {
	for i, a := range s.Allocations {
		for j, counts := range a.Replicas {
			for k, n := range counts {
				h.Place(i, j, k, n)
			}
		}
	}
}
