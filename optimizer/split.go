package optimizer

import (
	"cmp"
	"slices"
)

// solve solves the merged problem and, where what that proves of its plan is not enough, the problem as given, from
// that plan and its prices.
func (m *merge) solve(o Options) *Solution {
	inner := newSolver(m.to, o)
	inner.stages()
	merged := inner.solution(m.to)
	order := newOrdering(m.from, o.provenGap())
	first := order.provenBy(m.split(merged, inner.canonical), merged)
	if o.Effort -= merged.Effort; m.exact || first.Proof == Optimal || first.Stopped || o.Effort <= 0 {
		return first
	}
	o.Start = &Start{Problem: m.from, Solution: first}
	second := solveAsIs(m.from, o)
	best := second
	if order.compare(order.values(first), order.values(second)) < 0 {
		best = first
	}
	best = order.provenBy(best, merged, second)
	best.Effort, best.Stopped = merged.Effort+second.Effort, second.Stopped
	return best
}

// split is a solution of the merged problem, whose order is that of c, in terms of the one as given, without what it
// proves.
func (m *merge) split(merged *Solution, c *canonical) *Solution {
	s := m.assess(merged, m.place(merged, c))
	if !m.exact && s.Demand != Served {
		// There may be room for what found none in its pools elsewhere, or in the place of what was left free.
		s = m.assess(merged, m.fill(s))
	}
	for g := range s.Pools {
		s.Pools[g].ShadowPrice = max(0, merged.Pools[m.of[g]].ShadowPrice-m.extra[g])
	}
	for k, subset := range m.subsets {
		for _, g := range subset {
			s.Pools[g].ShadowPrice += merged.Pools[len(m.members)+k].ShadowPrice
		}
	}
	for q := range s.Quotas {
		s.Quotas[q].ShadowPrice = merged.Quotas[q].ShadowPrice
	}
	s.Levels = m.from.levels(s.Allocations, func(int) float64 { return 0 })
	s.BudgetShadowPrice = merged.BudgetShadowPrice
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

// share is replicas of a variant in a merged pool, in parts of a size. Choices is the number of pools of it in which the variant
// may run.
type share struct {
	workload, variant, pool, replicas, part, choices int
}

// place spreads replicas over the pools, those with the fewest choices and then those with the largest parts first, and each in the
// first pool with room, the cheapest. Where all have the same choices, and as sizes divide one another, that leaves no gap that
// is too small for what comes later (first fit decreasing; Coffman, Garey and Johnson, Bin packing with divisible item sizes,
// 1987), and fills the cheapest pools as far as they can be. Elsewhere some replicas may find no room.
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
				s := share{workload: i, variant: int(at.variant), replicas: n}
				s.pool = m.to.Workloads[i].Variants[at.variant].Placements[at.placement].Pool
				_, s.part = m.packings[m.members[s.pool][0]].devices(&variants[at.variant])
				for _, from := range variants[at.variant].Placements {
					if m.of[from.Pool] == s.pool {
						s.choices++
					}
				}
				shares = append(shares, s)
			}
		}
	}
	slices.SortStableFunc(shares, func(a, b share) int { return cmp.Or(a.choices-b.choices, b.part-a.part) })
	use := newOccupancy(m.from, m.packings)
	for _, s := range shares {
		w := &m.from.Workloads[s.workload]
		v := &w.Variants[s.variant]
		for _, g := range m.members[s.pool] {
			k := slices.IndexFunc(v.Placements, func(at Placement) bool { return at.Pool == g })
			if k < 0 {
				continue
			}
			n := s.replicas
			if len(m.members[s.pool]) > 1 {
				_, room := use.pools[g].room(v, g)
				n = max(0, min(n, room))
			}
			use.use(w.Namespace, v, g, n)
			replicas[s.workload][s.variant][k] = n
			s.replicas -= n
		}
	}
	return replicas
}
