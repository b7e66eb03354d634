package optimizer

import (
	"cmp"
	"fmt"
	"math"
	"slices"
)

// Stay returns, of plans that are as good as a solution within a relative gap, one in
// which more workloads keep their replicas of now: those that serve no less there, and fit
// beside the others. Current has them by workload, variant and placement. The problem must
// be valid, and the solution one of it.
//
// The error is that of current or a solution without the shape of the problem.
func (p *Problem) Stay(s *Solution, current [][][]int, gap float64) (*Solution, error) {
	if err := p.checkShape(current); err != nil {
		return nil, err
	}
	if err := (&Start{Problem: p, Solution: s}).Validate(); err != nil {
		return nil, fmt.Errorf("optimizer: stay: %w", err)
	}
	st := staying{
		problem: p, room: NewHeadroom(p), replicas: s.Replicas(),
		objective: s.Objective, most: max(s.Objective, s.Bound+gap*math.Abs(s.Objective)),
	}
	for i := range st.replicas {
		st.place(i, st.replicas[i], 1)
	}
	moved := st.movers(s, current)
	stayed := false
	for again := true; again; {
		again = false
		moved = slices.DeleteFunc(moved, func(i int) bool {
			ok := st.stay(i, s.Allocations[i].Unmet, current[i])
			again = again || ok
			return ok
		})
		stayed = stayed || again
	}
	if !stayed {
		return s, nil
	}
	return p.reassess(s, st.replicas)
}

// reassess is a solution with other replicas that serve the same.
func (p *Problem) reassess(s *Solution, replicas [][][]int) (*Solution, error) {
	next, err := p.Assess(replicas)
	if err != nil {
		return nil, err
	}
	for i := range next.Allocations {
		next.Allocations[i].MarginalPrice = s.Allocations[i].MarginalPrice
	}
	for g := range next.Pools {
		next.Pools[g].ShadowPrice = s.Pools[g].ShadowPrice
	}
	for q := range next.Quotas {
		next.Quotas[q].ShadowPrice = s.Quotas[q].ShadowPrice
	}
	next.Proof, next.Bound, next.Gap = s.Proof, s.Bound, gapOf(next.Objective, s.Bound)
	next.Levels, next.BudgetShadowPrice = s.Levels, s.BudgetShadowPrice
	next.Effort, next.Stopped, next.Notes = s.Effort, s.Stopped, s.Notes
	return next, nil
}

// staying is a plan in which workloads return to their replicas of now.
type staying struct {
	problem  *Problem
	room     *Headroom
	replicas [][][]int
	// objective is that of the plan, and most what it may be.
	objective, most float64
}

// movers are the workloads that could stay and don't: those of which all that was
// declared holds with the replicas of now, which serve no less. The most important
// come first, then by name.
func (st *staying) movers(s *Solution, current [][][]int) []int {
	var moved []int
	for i := range st.problem.Workloads {
		w := &st.problem.Workloads[i]
		if equalReplicas(st.replicas[i], current[i]) {
			continue
		}
		counts := totals(current[i])
		if w.shortfall(counts) > s.Allocations[i].Shortfall || len(w.violations(counts)) > 0 {
			continue
		}
		if w.Unmet(counts) <= s.Allocations[i].Unmet+tolerance*w.Demand {
			moved = append(moved, i)
		}
	}
	slices.SortFunc(moved, func(a, b int) int {
		x, y := &st.problem.Workloads[a], &st.problem.Workloads[b]
		return cmp.Or(cmp.Compare(x.Priority, y.Priority), cmp.Compare(x.Name, y.Name))
	})
	return moved
}

func equalReplicas(a, b [][]int) bool {
	return slices.EqualFunc(a, b, slices.Equal)
}

// stay brings a workload back to its replicas of now, if they fit and cost no more than
// the plan may.
func (st *staying) stay(i int, unmet float64, current [][]int) bool {
	w := &st.problem.Workloads[i]
	objective := st.objective + w.cost(current, w.Unmet(totals(current))) - w.cost(st.replicas[i], unmet)
	if objective > st.most+tolerance*math.Abs(st.most) {
		return false
	}
	st.place(i, st.replicas[i], -1)
	if !st.fits(i, current) {
		st.place(i, st.replicas[i], 1)
		return false
	}
	st.replicas[i], st.objective = current, objective
	return true
}

// fits places replicas, unless they don't fit.
func (st *staying) fits(i int, replicas [][]int) bool {
	for j := range replicas {
		for k, n := range replicas[j] {
			if n == 0 {
				continue
			}
			if st.room.Replicas(i, j, k) < n {
				st.takeBack(i, replicas, j, k)
				return false
			}
			st.room.Place(i, j, k, n)
		}
	}
	return true
}

// takeBack takes back what was placed before placement k of variant j.
func (st *staying) takeBack(i int, replicas [][]int, j, k int) {
	for v := 0; v <= j; v++ {
		for at, n := range replicas[v] {
			if v < j || at < k {
				st.room.Place(i, v, at, -n)
			}
		}
	}
}

// place adds replicas to what is placed, or takes them away where sign is -1.
func (st *staying) place(i int, replicas [][]int, sign int) {
	for j := range replicas {
		for k, n := range replicas[j] {
			if n != 0 {
				st.room.Place(i, j, k, sign*n)
			}
		}
	}
}

// cost is what replicas add to the objective.
func (w *Workload) cost(replicas [][]int, unmet float64) float64 {
	cost := 0.0
	for j := range replicas {
		v, total := &w.Variants[j], 0
		for k, n := range replicas[j] {
			total += n
			cost += float64(n) * v.Placements[k].PricePerHour
		}
		cost += v.Switching(total)
	}
	if w.Penalized {
		cost += w.UnmetPenalty * unmet
	}
	return cost
}
