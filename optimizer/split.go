package optimizer

import "slices"

// solve solves the problem by way of the merged one. Where that proves nothing of the cost, the least costs of workloads do.
func (m *merge) solve(o Options) *Solution {
	order := newOrdering(m.from, o.provenGap())
	s := m.search(o, order)
	if s.Bound > 0 {
		return s
	}
	bounds := order.bounds(s)
	least := m.from.leastCost(s.Levels, func(i int) float64 { return m.from.Workloads[i].leastCost() })
	bounds[len(bounds)-1] = min(proven(least), s.Objective)
	return order.with(s, bounds)
}

// search solves the merged problem and, where what that proves of its plan is not enough, the one with some devices set
// apart, those with some fewer devices, and then the problem as given, from that plan and its prices.
func (m *merge) search(o Options, order *ordering) *Solution {
	given := o.Effort
	merged, replicas, left := m.solveMerged(o)
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
		other, replicas, _ := apart.solveMerged(o)
		if !improve(order.provenBy(m.split(merged, replicas), merged), other.Effort, other.Stopped) {
			return best
		}
	}
	tighter := m
	for range tightenings {
		if tighter = tighter.tighten(left); tighter == nil || best.Demand == Infeasible {
			break // the bound says nothing of plans that lack more replicas
		}
		var other *Solution
		o.Start = &Start{Problem: m.from, Solution: best}
		other, replicas, left = tighter.solveMerged(o)
		if !improve(order.provenBy(m.split(merged, replicas), merged), other.Effort, other.Stopped) {
			return best
		}
	}
	o.Start = &Start{Problem: m.from, Solution: best}
	last := solveAsIs(m.from, o)
	improve(last, last.Effort, last.Stopped)
	return order.provenBy(best, merged, last)
}

// tightenings is how often the merged problem is solved again with fewer devices.
const tightenings = 3

// tighten takes as many devices out of merged pools as those of the replicas that found no room, so that what is placed next has room to
// spare. It proves nothing, but the plan is good for the problem as given. It is nil where all replicas found room.
func (m *merge) tighten(left []int) *merge {
	if !slices.ContainsFunc(left, func(n int) bool { return n > 0 }) {
		return nil
	}
	to := *m.to
	to.Pools = slices.Clone(to.Pools)
	for g, n := range left {
		if n == 0 {
			continue
		}
		pool := &to.Pools[g]
		parts := slices.Clone(pool.merged.pools)
		n = min(n, parts[0].Capacity)
		parts[0].Capacity -= n
		pool.Capacity -= n
		slices.SortFunc(parts, byCapacity)
		pool.merged = &mergedPools{pools: parts, subset: pool.merged.subset}
	}
	tighter := *m
	tighter.to = &to
	return &tighter
}

// solveMerged solves the merged problem and places its replicas; left are the devices of those that find no room, by merged pool.
// Where something may be lost half of the effort is left for what follows.
func (m *merge) solveMerged(o Options) (merged *Solution, replicas [][][]int, left []int) {
	if !m.exact {
		o.Effort -= o.Effort / 2
	}
	inner := newSolver(m.to, o)
	inner.stages()
	merged = inner.solution(m.to)
	replicas, left = m.place(merged, inner.canonical)
	return merged, replicas, left
}

// setApart merges the pools without the devices that variants use which may not run in all pools of a class: these are for such
// variants alone. So no plan is one that the problem does not have, and none of it is lost when it is placed, but where there are
// too many subsets. It is nil where no pools remain that can be merged.
func (m *merge) setApart(s *Solution) *merge {
	if len(m.subsets) == 0 {
		return nil
	}
	p := *m.from
	p.Pools, p.Quotas, p.Workloads = slices.Clone(p.Pools), slices.Clone(p.Quotas), slices.Clone(p.Workloads)
	first := make([]int, len(m.subsets))
	for k, subset := range m.subsets {
		first[k] = len(p.Pools)
		for _, g := range subset {
			apart := m.from.Pools[g]
			apart.Name, apart.Capacity = apart.Name+" of "+m.to.Pools[len(m.members)+k].Name, 0
			p.Pools = append(p.Pools, apart)
		}
	}
	for _, q := range m.from.Quotas {
		for k, subset := range m.subsets {
			if at := slices.Index(subset, q.Pool); at >= 0 {
				p.Quotas = append(p.Quotas, Quota{Namespace: q.Namespace, Pool: first[k] + at})
			}
		}
	}
	quotas := p.quotaOf()
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
					if q, limited := quotas[quotaKey{w.Namespace, pools[at]}]; limited {
						p.Quotas[q].Capacity -= devices
						p.Quotas[quotas[quotaKey{w.Namespace, first[k] + at}]].Capacity += devices
					}
					v.Placements[n].Pool = first[k] + at
				}
			})
		}
	}
	return mergePools(&p)
}

// split is a solution of the merged problem in terms of the one as given, its replicas placed, without what it proves. The replicas may also
// be those of a problem with fewer devices, whose prices are not those of the devices that there are.
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
		s.Quotas[q].ShadowPrice = merged.Quotas[m.quotas[q]].ShadowPrice
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
	c := m.canonical()
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

// place spreads the replicas of merged pools over those that they stand for; left are the devices of those that find no room.
func (m *merge) place(merged *Solution, c *canonical) (replicas [][][]int, left []int) {
	replicas, left = make([][][]int, len(m.from.Workloads)), make([]int, len(m.members))
	var (
		lists  slab[[]int]
		counts slab[int]
	)
	shares, use := make([][]share, len(m.members)), newOccupancy(m.from, m.packings)
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
			n := merged.Allocations[i].Replicas[at.variant][at.placement]
			if n == 0 {
				continue
			}
			v := &variants[at.variant]
			pool := m.to.Workloads[i].Variants[at.variant].Placements[at.placement].Pool
			first, placed := m.members[pool][0], replicas[i][at.variant]
			if len(m.members[pool]) == 1 {
				placed[v.placementIn(first)] = n
				continue
			}
			s := share{workload: i, variant: v, replicas: n, placed: placed}
			s.devices, s.part = m.packings[first].devices(v)
			for _, from := range v.Placements {
				if m.of[from.Pool] == pool {
					s.choices++
				}
			}
			shares[pool] = append(shares[pool], s)
		}
	}
	for pool, members := range m.members {
		left[pool] = placeAll(m.from, &use, members, shares[pool])
	}
	return replicas, left
}
