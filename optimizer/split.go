package optimizer

import (
	"cmp"
	"slices"
)

// solve solves the merged problem and, where what that proves of its plan is not enough, the one with some devices set
// apart, and then the problem as given, from that plan and its prices.
func (m *merge) solve(o Options) *Solution {
	order, given := newOrdering(m.from, o.provenGap()), o.Effort
	merged, replicas := m.solveMerged(o)
	best := order.provenBy(m.split(merged, replicas), merged)
	// improve takes another plan if it is better, and says whether to go on, after so much more effort.
	improve := func(s *Solution, effort int, stopped bool) bool {
		if order.strictly(s, best) < 0 {
			best = s
		}
		o.Effort -= effort
		best.Effort, best.Stopped = given-o.Effort, stopped
		return !stopped && o.Effort > 0 && best.Proof != Optimal
	}
	if best.Demand == Infeasible {
		improve(order.provenBy(m.split(merged, m.fill(nil)), merged), 0, false)
	}
	if !improve(best, merged.Effort, merged.Stopped) || m.exact {
		return best
	}
	if apart := m.setApart(best); apart != nil {
		other, replicas := apart.solveMerged(o)
		if !improve(order.provenBy(m.split(merged, replicas), merged), other.Effort, other.Stopped) {
			return best
		}
	}
	o.Start = &Start{Problem: m.from, Solution: best}
	last := solveAsIs(m.from, o)
	improve(last, last.Effort, last.Stopped)
	return order.provenBy(best, merged, last)
}

// solveMerged solves the merged problem and places its replicas. Where something may be lost half of the effort is left for what
// follows.
func (m *merge) solveMerged(o Options) (merged *Solution, replicas [][][]int) {
	if !m.exact {
		o.Effort -= o.Effort / 2
	}
	inner := newSolver(m.to, o)
	inner.stages()
	merged = inner.solution(m.to)
	return merged, m.place(merged, inner.canonical)
}

// setApart merges the pools without the devices that variants use which may not run in all pools of a class: these are for such
// variants alone. So no plan is one that the problem does not have, and none of it is lost when it is placed, but where there are
// too many subsets. It is nil where no pools remain that can be merged.
func (m *merge) setApart(s *Solution) *merge {
	if len(m.subsets) == 0 {
		return nil
	}
	p := *m.from
	p.Pools, p.Workloads = slices.Clone(p.Pools), slices.Clone(p.Workloads)
	first := make([]int, len(m.subsets))
	for k, subset := range m.subsets {
		first[k] = len(p.Pools)
		for _, g := range subset {
			apart := m.from.Pools[g]
			apart.Name, apart.Capacity = apart.Name+" of "+m.to.Pools[len(m.members)+k].Name, 0
			p.Pools = append(p.Pools, apart)
		}
	}
	for i := range p.Workloads {
		w := &p.Workloads[i]
		w.Variants = slices.Clone(w.Variants)
		for j := range w.Variants {
			v := &w.Variants[j]
			m.eachSubset(&m.from.Workloads[i].Variants[j], func(pools []int) {
				k, limited := slices.BinarySearchFunc(m.subsets, pools, slices.Compare[[]int])
				if !limited {
					return
				}
				v.Placements = slices.Clone(v.Placements)
				for n := range v.Placements {
					at := slices.Index(pools, v.Placements[n].Pool)
					if at < 0 {
						continue
					}
					devices := s.Allocations[i].Replicas[j][n] * v.DevicesPerReplica
					p.Pools[pools[at]].Capacity -= devices
					p.Pools[first[k]+at].Capacity += devices
					v.Placements[n].Pool = first[k] + at
				}
			})
		}
	}
	return mergePools(&p)
}

// split is a solution of the merged problem in terms of the one as given, its replicas placed, without what it proves.
func (m *merge) split(merged *Solution, replicas [][][]int) *Solution {
	s := m.assess(merged, replicas)
	if !m.exact && s.Demand != Served {
		// There may be room for what found none in its pools elsewhere, or in the place of what was left free.
		s = m.assess(merged, m.fill(s))
	}
	for g := range s.Pools {
		var price exactSum
		price.add(max(0, merged.Pools[m.of[g]].ShadowPrice-m.extra[g]))
		for k, subset := range m.subsets {
			if slices.Contains(subset, g) {
				price.add(merged.Pools[len(m.members)+k].ShadowPrice)
			}
		}
		s.Pools[g].ShadowPrice = price.total()
	}
	for q := range s.Quotas {
		s.Quotas[q].ShadowPrice = merged.Quotas[q].ShadowPrice
	}
	s.Levels = m.from.levels(s.Allocations, func(int) float64 { return 0 })
	s.BudgetShadowPrice = merged.BudgetShadowPrice
	return s
}

func (m *merge) assess(merged *Solution, replicas [][][]int) *Solution {
	return m.from.assess(replicas, m.packings, func(i int, a *Allocation) { a.MarginalPrice = merged.Allocations[i].MarginalPrice })
}

// fill adds replicas to a solution where they serve demand that it leaves; without one it makes a greedy plan.
func (m *merge) fill(s *Solution) [][][]int {
	c := canonicalize(m.from, &stopper{})
	packings := c.packings(m.packings)
	if s == nil {
		return c.restore(fill(c, packings, nil, nil).replicas)
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
