package optimizer

import (
	"cmp"
	"math"
	"slices"
)

// solve solves the merged problem and, where what that proves of its plan is not enough, the problem as given, from
// that plan and its prices.
func (m *merge) solve(o Options) *Solution {
	inner := newSolver(m.to, o)
	inner.stages()
	merged := inner.solution(m.to)
	first := m.split(merged, inner.canonical)
	first.Proof = first.proof(o.provenGap())
	if o.Effort -= merged.Effort; m.exact || first.Proof == Optimal || first.Stopped || o.Effort <= 0 {
		return first
	}
	o.Start = &Start{Problem: m.from, Solution: first}
	second := solveAsIs(m.from, o)
	second.Effort += first.Effort
	return m.from.better(first, second, o.provenGap())
}

// split is a solution of the merged problem, whose order is that of c, in terms of the one as given.
func (m *merge) split(merged *Solution, c *canonical) *Solution {
	s := m.assess(merged, m.place(merged, c))
	if !m.exact && s.Demand != Served {
		// What nobody uses may have stood for devices that are left free.
		s = m.assess(merged, m.fill(s))
	}
	for g := range s.Pools {
		s.Pools[g].ShadowPrice = max(0, merged.Pools[m.of[g]].ShadowPrice-m.extra[g])
	}
	for q := range s.Quotas {
		s.Quotas[q].ShadowPrice = merged.Quotas[q].ShadowPrice
	}
	s.Bound = min(merged.Bound, s.Objective)
	s.Gap = gapOf(s.Objective, s.Bound)
	s.Levels, s.BudgetShadowPrice = m.levels(s, merged.Levels), merged.BudgetShadowPrice
	s.Effort, s.Stopped = merged.Effort, merged.Stopped
	return s
}

func (m *merge) assess(merged *Solution, replicas [][][]int) *Solution {
	return m.from.assess(replicas, m.packings, func(i int, a *Allocation) { a.MarginalPrice = merged.Allocations[i].MarginalPrice })
}

// fill adds replicas to a solution where they serve demand that it leaves.
func (m *merge) fill(s *Solution) [][][]int {
	c := canonicalize(m.from, &stopper{})
	packings := make([]packing, len(c.pools))
	for g, from := range c.pools {
		packings[g] = m.packings[from]
	}
	p := &plan{replicas: make([]int32, c.first[len(c.workloads)]), unmet: make([]float64, len(c.workloads))}
	for from, i := range c.place {
		p.unmet[i] = s.Allocations[from].Unmet
		for k, at := range c.items[from] {
			p.replicas[c.first[i]+k] = int32(s.Allocations[from].Replicas[at.variant][at.placement])
		}
	}
	return c.restore(fill(c, packings, p, func(int, int) bool { return true }).replicas)
}

// levels are those of the merged problem with what is left of them.
func (m *merge) levels(s *Solution, merged []Level) []Level {
	if m.exact {
		return merged
	}
	var levels []Level
	for _, l := range merged {
		var unmet, unit runningSum
		for i := range s.Allocations {
			switch w := &m.from.Workloads[i]; {
			case l.Priority == 0:
				unmet.add(float64(s.Allocations[i].Shortfall))
			case !w.Penalized && w.Priority == l.Priority:
				unmet.add(s.Allocations[i].Unmet)
				unit.add(w.Demand)
			}
		}
		if l.Priority == 0 {
			unit.add(1)
		}
		if l.Unmet = unmet.total(); l.Unmet > 0 {
			l.Bound = min(l.Bound, l.Unmet)
			l.Gap = (l.Unmet - l.Bound) / unit.total()
			levels = append(levels, l)
		}
	}
	return levels
}

// better is the better one of two solutions, with what both prove where they leave the same.
func (p *Problem) better(a, b *Solution, wanted float64) *Solution {
	order := levelOrder(a.Levels, b.Levels)
	best, other := a, b
	if order > 0 || order == 0 && b.Objective < a.Objective {
		best, other = b, a
	}
	if best.Effort, best.Stopped = b.Effort, b.Stopped; order == 0 {
		best.Bound = min(best.Objective, max(a.Bound, b.Bound))
		best.Gap = gapOf(best.Objective, best.Bound)
		for k := range best.Levels {
			l := &best.Levels[k]
			gained := max(0, min(l.Unmet, other.Levels[k].Bound)-l.Bound)
			if l.Unmet > l.Bound {
				l.Gap *= 1 - gained/(l.Unmet-l.Bound)
			}
			l.Bound += gained
		}
	}
	best.Proof = best.proof(wanted)
	return best
}

// levelOrder says which levels leave less, the first that differ deciding.
func levelOrder(a, b []Level) int {
	for k := range min(len(a), len(b)) {
		x, y := &a[k], &b[k]
		switch {
		case x.Priority != y.Priority:
			return y.Priority - x.Priority // the other one serves all of the higher priority
		case math.Abs(x.Unmet-y.Unmet) > tolerance*max(x.Unmet, y.Unmet):
			return cmp.Compare(x.Unmet, y.Unmet)
		}
	}
	return len(a) - len(b)
}

// share is replicas of a variant in a merged pool.
type share struct {
	workload, variant, pool, replicas, part int
}

// place spreads replicas over the pools, those with the largest parts first and each in the first pool with
// room, the cheapest. As sizes divide one another, that leaves no gap that is too small for what comes later (first fit
// decreasing; Coffman, Garey and Johnson, Bin packing with divisible item sizes, 1987), and fills the cheapest pools as
// far as they can be.
func (m *merge) place(merged *Solution, c *canonical) [][][]int {
	replicas := make([][][]int, len(m.from.Workloads))
	var (
		shares []share
		lists  slab[[]int]
		counts slab[int]
	)
	for _, i := range c.workloads {
		if i >= len(replicas) {
			continue // it stands for what is left free
		}
		variants := m.from.Workloads[i].Variants
		replicas[i] = lists.take(len(variants))
		for j := range variants {
			replicas[i][j] = counts.take(len(variants[j].Placements))
		}
		for _, at := range c.items[i] {
			if n := merged.Allocations[i].Replicas[at.variant][at.placement]; n > 0 {
				g := m.to.Workloads[i].Variants[at.variant].Placements[at.placement].Pool
				_, part := m.packings[m.members[g][0]].devices(&variants[at.variant])
				shares = append(shares, share{i, int(at.variant), g, n, part})
			}
		}
	}
	slices.SortStableFunc(shares, func(a, b share) int { return b.part - a.part })
	use := newOccupancy(m.from, m.packings)
	for _, s := range shares {
		w := &m.from.Workloads[s.workload]
		v := &w.Variants[s.variant]
		for _, g := range m.members[s.pool] {
			n := s.replicas
			if len(m.members[s.pool]) > 1 {
				_, room := use.pools[g].room(v, g)
				n = max(0, min(n, room))
			}
			k := slices.IndexFunc(v.Placements, func(at Placement) bool { return at.Pool == g })
			use.use(w.Namespace, v, g, n)
			replicas[s.workload][s.variant][k] = n
			s.replicas -= n
		}
	}
	return replicas
}
