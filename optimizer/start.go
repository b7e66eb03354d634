package optimizer

import (
	"fmt"
)

// Start is an earlier problem and its solution, for a search to begin from. Pools, quotas,
// workloads and variants are the same where their names are; whatever else may differ. Where
// little has changed most of the work is saved. What is proven does not depend on it, but of
// plans within the gap asked for another one may be found.
type Start struct {
	Problem  *Problem
	Solution *Solution
}

// check says whether the solution has the shape of the problem.
func (s *Start) check() error {
	if s == nil {
		return nil
	}
	if s.Problem == nil || s.Solution == nil {
		return fmt.Errorf("optimizer: start: without a problem or its solution")
	}
	if err := s.Problem.checkShape(s.Solution.replicas()); err != nil {
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
	w := &warmStart{x: make([]int32, s.program.items), kept: make([]bool, len(s.program.workloads))}
	w.prices = s.startPrices()
	from := s.options.Start
	workloads := indexOf(len(from.Problem.Workloads), func(i int) string { return from.Problem.Workloads[i].Name })
	for i := range s.canonical.Workloads {
		to := &s.canonical.Workloads[i]
		old, ok := workloads.find(to.Name, s.canonical.workloads[i])
		if !ok {
			continue
		}
		first := s.program.workloads[i].firstItem
		complete := s.startReplicas(i, old, w.x[first:first+s.program.workloads[i].items])
		w.kept[i] = complete && to.Demand == from.Problem.Workloads[old].Demand
	}
	return w
}

// startPrices are the shadow prices of the start by row; that of a pool stands in its first row.
func (s *solver) startPrices() []float64 {
	from := s.options.Start
	pools := indexOf(len(from.Problem.Pools), func(g int) string { return from.Problem.Pools[g].Name })
	prices := make([]float64, len(s.program.rows))
	for r, row := range s.program.rows {
		switch row.kind {
		case poolRow:
			first := r == 0 || s.program.rows[r-1].kind != poolRow || s.program.rows[r-1].index != row.index
			if g, ok := pools.find(s.canonical.Pools[row.index].Name, s.canonical.pools[row.index]); ok && first {
				prices[r] = from.Solution.Pools[g].ShadowPrice
			}
		case quotaRow:
			quota := &s.canonical.Quotas[row.index]
			for q := range from.Problem.Quotas {
				old := &from.Problem.Quotas[q]
				if old.Namespace == quota.Namespace && from.Problem.Pools[old.Pool].Name == s.canonical.Pools[quota.Pool].Name {
					prices[r] = from.Solution.Quotas[q].ShadowPrice
				}
			}
		case budgetRow:
			prices[r] = from.Solution.BudgetShadowPrice
		}
	}
	return prices
}

// startReplicas fills in the replicas that canonical workload i had in workload old of the start,
// and says whether all that ran there still can.
func (s *solver) startReplicas(i, old int, x []int32) (complete bool) {
	from := &s.options.Start.Problem.Workloads[old]
	replicas := s.options.Start.Solution.Allocations[old].Replicas
	to := &s.canonical.Workloads[i]
	variants := indexOf(len(from.Variants), func(j int) string { return from.Variants[j].Name })
	found, total, item := 0, 0, 0
	for j := range replicas {
		for _, n := range replicas[j] {
			total += n
		}
	}
	for j := range to.Variants {
		v, ok := variants.find(to.Variants[j].Name, s.canonical.variants[i][j])
		for k := range to.Variants[j].Placements {
			if ok {
				pool := s.canonical.Pools[to.Variants[j].Placements[k].Pool].Name
				for place, placement := range from.Variants[v].Placements {
					if s.options.Start.Problem.Pools[placement.Pool].Name == pool {
						x[item] = int32(replicas[v][place])
						found += replicas[v][place]
					}
				}
			}
			item++
		}
	}
	return found == total
}

// nameIndex finds elements of a list by name.
type nameIndex struct {
	n      int
	name   func(int) string
	byName map[string]int
}

func indexOf(n int, name func(int) string) *nameIndex { return &nameIndex{n: n, name: name} }

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
