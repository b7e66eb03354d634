package optimizer

import (
	"fmt"
	"slices"
)

// Start is an earlier problem and its solution, for a search to begin from. Pools, quotas,
// workloads and variants are the same where their names are; whatever else may differ. Where
// little has changed most of the work is saved. What is proven does not depend on it, but of
// plans within the gap asked for another one may be found.
type Start struct {
	Problem  *Problem
	Solution *Solution
}

// Validate says whether the solution has the shape of the problem. A nil start has.
func (s *Start) Validate() error {
	if s == nil {
		return nil
	}
	if s.Problem == nil || s.Solution == nil {
		return fmt.Errorf("optimizer: start: without a problem or its solution")
	}
	if err := s.Problem.checkShape(s.Solution.Replicas()); err != nil {
		return fmt.Errorf("optimizer: start: %w", err)
	}
	if len(s.Solution.Pools) != len(s.Problem.Pools) || len(s.Solution.Quotas) != len(s.Problem.Quotas) {
		return fmt.Errorf("optimizer: start: %d pools and %d quotas, want %d and %d",
			len(s.Solution.Pools), len(s.Solution.Quotas), len(s.Problem.Pools), len(s.Problem.Quotas))
	}
	return nil
}

// warmStart is a Start in terms of a program.
type warmStart struct {
	prices []float64
	// x are replicas by item; kept tells the workloads whose demand and plan are the same.
	x    []int32
	kept []bool
}

// warmStart translates the start for the current program, nil if there is none.
func (s *solver) warmStart() *warmStart {
	if s.options.Start == nil {
		return nil
	}
	w := &warmStart{x: make([]int32, s.last.program.items), kept: make([]bool, len(s.last.program.workloads))}
	pools := s.startPools()
	w.prices = s.startPrices(pools)
	from := s.options.Start
	workloads := indexOf(len(from.Problem.Workloads), func(i int) string { return from.Problem.Workloads[i].Name })
	for given, i := range s.canonical.place {
		to := &s.canonical.from.Workloads[given]
		old, ok := workloads.find(to.Name, given)
		if !ok {
			continue
		}
		complete := s.startReplicas(given, old, pools, w.x[s.canonical.first[i]:])
		w.kept[i] = complete && to.Demand == from.Problem.Workloads[old].Demand
	}
	return w
}

// startPools are the canonical pools by pool of the start, or none.
func (s *solver) startPools() []int32 {
	from := s.options.Start.Problem.Pools
	index := indexOf(len(from), func(g int) string { return from[g].Name })
	pools := slices.Repeat([]int32{none}, len(from))
	for g, given := range s.canonical.pools {
		if s.canonical.Pools[g].subset() {
			continue // replicas are in another one
		}
		s.canonical.Pools[g].each(func(part *Pool) {
			if old, ok := index.find(part.Name, given); ok {
				pools[old] = int32(g)
			}
		})
	}
	return pools
}

// startPrices are the shadow prices of the start by row; that of a pool or quota stands in its first row.
func (s *solver) startPrices(pools []int32) []float64 {
	from := s.options.Start
	prices := make([]float64, len(s.last.program.rows))
	for r, row := range s.last.program.rows {
		if r > 0 && s.last.program.rows[r-1].kind == row.kind && s.last.program.rows[r-1].index == row.index {
			continue
		}
		switch row.kind {
		case poolRow:
			for g, to := range pools {
				if int(to) == row.index {
					prices[r] = max(prices[r], from.Solution.Pools[g].ShadowPrice)
				}
			}
		case quotaRow:
			quota := &s.canonical.Quotas[row.index]
			for q := range from.Problem.Quotas {
				if old := &from.Problem.Quotas[q]; old.Namespace == quota.Namespace && int(pools[old.Pool]) == quota.Pool {
					prices[r] = max(prices[r], from.Solution.Quotas[q].ShadowPrice)
				}
			}
		case budgetRow:
			prices[r] = from.Solution.BudgetShadowPrice
		}
	}
	return prices
}

// startReplicas fills in the replicas that a workload had as workload old of the start,
// and says whether all that ran there still can.
func (s *solver) startReplicas(given, old int, pools []int32, x []int32) (complete bool) {
	from, to := &s.options.Start.Problem.Workloads[old], &s.canonical.from.Workloads[given]
	variants := indexOf(len(to.Variants), func(j int) string { return to.Variants[j].Name })
	complete = true
	for j, places := range s.options.Start.Solution.Allocations[old].Replicas {
		for k, n := range places {
			if n == 0 {
				continue
			}
			index := -1
			if v, ok := variants.find(from.Variants[j].Name, j); ok {
				pool := int(pools[from.Variants[j].Placements[k].Pool])
				index = slices.IndexFunc(s.canonical.items[given], func(at item) bool {
					return int(at.variant) == v && s.canonical.rank[to.Variants[v].Placements[at.placement].Pool] == pool
				})
			}
			if index < 0 {
				complete = false
				continue
			}
			x[index] += int32(n)
		}
	}
	return complete
}

// nameIndex finds elements of a list by name.
type nameIndex struct {
	n      int
	name   func(int) string
	byName map[string]int
}

func indexOf(n int, name func(int) string) nameIndex { return nameIndex{n: n, name: name} }

// find looks at the place where the name is expected first; usually nothing has moved.
func (x *nameIndex) find(name string, expected int) (int, bool) {
	if expected < x.n && x.name(expected) == name {
		return expected, true
	}
	if x.byName == nil {
		x.byName = make(map[string]int, x.n)
		for i := range x.n {
			x.byName[x.name(i)] = i
		}
	}
	i, ok := x.byName[name]
	return i, ok
}
