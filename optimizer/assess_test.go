package optimizer

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestAssess(t *testing.T) {
	p := &Problem{
		Pools:  []Pool{{Name: "g", Limited: true, Capacity: 8}, {Name: "h"}},
		Quotas: []Quota{{Namespace: "n", Pool: 0, Capacity: 8}},
		Workloads: []Workload{
			{Name: "served", Namespace: "n", Priority: 1, Demand: 3, Variants: []Variant{{
				Name: "v", Capacity: 2, DevicesPerReplica: 2,
				Placements: []Placement{{Pool: 0, PricePerHour: 5}, {Pool: 1, PricePerHour: 4}},
			}}},
			{Name: "short", Priority: 1, Demand: 4, Penalized: true, UnmetPenalty: 10, Variants: []Variant{{
				Name: "v", Capacity: 1, DevicesPerReplica: 1, Placements: []Placement{{Pool: 0, PricePerHour: 1}},
			}, {
				Name: "idle", DevicesPerReplica: 1, Placements: []Placement{{Pool: 0, PricePerHour: 1}},
			}}},
		},
	}
	s, err := p.Assess([][][]int{{{2, 0}}, {{3}, {0}}})
	require.NoError(t, err)
	require.Equal(t, Unproven, s.Proof)
	require.Equal(t, Partial, s.Demand)
	require.InDelta(t, 13, s.PricePerHour, 0)
	require.InDelta(t, 23, s.Objective, 0)
	require.Zero(t, s.Bound)
	require.InDelta(t, 1, s.Gap, 0)
	require.Equal(t, []Usage{{Used: 7}, {}}, s.Pools)
	require.Equal(t, []Usage{{Used: 4}}, s.Quotas)
	require.InDelta(t, 1, s.Allocations[1].Unmet, 0)
	require.Equal(t, []float64{2}, s.Allocations[0].MarginalPrice, "at the cheaper placement")
	require.Equal(t, []float64{1, math.Inf(1)}, s.Allocations[1].MarginalPrice)

	p.Workloads[1].MinReplicas = 4
	s, err = p.Assess([][][]int{{{2, 0}}, {{3}, {0}}})
	require.NoError(t, err)
	require.Equal(t, Infeasible, s.Demand)
	require.Equal(t, 1, s.Allocations[1].Shortfall)

	_, err = p.Assess(nil)
	require.Error(t, err)
}
