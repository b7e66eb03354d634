package optimizer

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/poolwright/poolwright/internal/short"
)

// Headroom and Evaluate agree about what fits: what Headroom allows breaks nothing,
// and one replica more does.
func TestHeadroomIsExact(t *testing.T) {
	for seed := range short.Of(uint64(3000)) {
		r := rand.New(rand.NewPCG(seed, 1))
		p := randomSmall(r)
		h := NewHeadroom(p)
		replicas := make([][][]int, len(p.Workloads))
		for i := range replicas {
			replicas[i] = make([][]int, len(p.Workloads[i].Variants))
			for j := range replicas[i] {
				replicas[i][j] = make([]int, len(p.Workloads[i].Variants[j].Placements))
			}
		}
		violations := func() []error {
			e, err := p.Evaluate(replicas)
			require.NoError(t, err)
			return e.Violations
		}
		for range 12 {
			i := r.IntN(len(p.Workloads))
			j := r.IntN(len(replicas[i]))
			k := r.IntN(len(replicas[i][j]))
			at := fmt.Sprintf("seed %d, workload %d, variant %d, placement %d", seed, i, j, k)
			room := h.Replicas(i, j, k)
			if room < int(unlimited) {
				replicas[i][j][k] += room + 1
				require.NotEmpty(t, violations(), at)
				replicas[i][j][k] -= room + 1
			}
			require.Equal(t, room == 0, len(h.Stops(i, j, k)) > 0, at)
			n := r.IntN(min(room, 20) + 1)
			h.Place(i, j, k, n)
			replicas[i][j][k] += n
			require.Empty(t, violations(), at)
			require.Equal(t, totals(replicas[i]), h.Counts(i), at)
		}
	}
}

// A budget that replicas use up to the last cent pays for all of them, although
// 1.2 / 0.4 is less than 3 in floating point.
func TestHeadroomSpendsTheWholeBudget(t *testing.T) {
	p := &Problem{
		Pools: []Pool{{Name: "g"}}, BudgetPerHour: 1.2,
		Workloads: []Workload{{
			Name: "w", Priority: 1,
			Variants: []Variant{{Name: "v", Capacity: 1, DevicesPerReplica: 1, Placements: []Placement{{PricePerHour: 0.4}}}},
		}},
	}
	h := NewHeadroom(p)
	require.Equal(t, 3, h.Replicas(0, 0, 0))
	h.Place(0, 0, 0, 3)
	require.Zero(t, h.Replicas(0, 0, 0))
}

func TestStopsNameEveryLimit(t *testing.T) {
	one := Bound{Limited: true, Value: 1}
	p := &Problem{
		Pools:         []Pool{{Name: "g", Limited: true, Capacity: 12, DevicesPerNode: 8}},
		Quotas:        []Quota{{Namespace: "a", Capacity: 12}},
		BudgetPerHour: 5,
		Workloads: []Workload{{
			Name: "w", Namespace: "a", Priority: 1, Mixing: Single, MaxReplicas: one,
			Variants: []Variant{
				{Name: "v", Capacity: 1, DevicesPerReplica: 8, MaxReplicas: one, Placements: []Placement{{PricePerHour: 4}}},
				{Name: "small", Capacity: 1, DevicesPerReplica: 4, Placements: []Placement{{PricePerHour: 1}}},
			},
		}, {
			Name: "spread", Namespace: "b", Priority: 1,
			Variants: []Variant{{Name: "v", Capacity: 1, DevicesPerReplica: 4, NodesPerReplica: 4, Placements: []Placement{{PricePerHour: 0.5}}}},
		}, {
			Name: "whole", Namespace: "b", Priority: 1,
			Variants: []Variant{{Name: "v", Capacity: 1, DevicesPerReplica: 12, Placements: []Placement{{PricePerHour: 0.5}}}},
		}},
	}
	h := NewHeadroom(p)
	require.Empty(t, h.Stops(0, 0, 0))
	h.Place(0, 0, 0, 1)
	require.Equal(t, []Limit{
		{WorkloadMaximum, 0}, {VariantMaximum, 0}, {Kind: PoolLimits}, {Kind: QuotaLimits}, {Kind: BudgetLimit},
	}, h.Stops(0, 0, 0))
	require.Equal(t, []Limit{{WorkloadMaximum, 0}, {SingleMixing, 0}}, h.Stops(0, 1, 0))
	require.Empty(t, h.Stops(1, 0, 0))
	require.Equal(t, []Limit{{Kind: NodeLimits}}, NewHeadroom(p).Stops(2, 0, 0), "12 devices are free, but not on two whole nodes")
}
