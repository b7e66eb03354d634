package optimizer

import "slices"

// solve solves the problem by way of the merged one. Where that proves nothing of the cost, the least costs of workloads do.
func (m *merge) solve(o Options) *Solution {
	search := mergedSearch{order: newOrdering(m.from, o.provenGap()), options: o}
	s := search.run(m)
	s.Effort = o.Effort - search.options.Effort
	if s.Bound > 0 {
		return s
	}
	bounds := search.order.bounds(s)
	least := m.from.leastCost(s.Levels, func(i int) float64 { return m.from.Workloads[i].leastCost() })
	bounds[len(bounds)-1] = min(proven(least), s.Objective)
	return search.order.with(s, bounds)
}

// mergedSearch solves a problem by way of others with merged pools.
type mergedSearch struct {
	order *ordering
	// options have the effort that is left.
	options Options
	best    *Solution
	// by is the relaxation solved last, relaxed its solution, placed its plan, and lacking what that lacks.
	by              *merge
	relaxed, placed *Solution
	lacking         lack
	// proofs are the solutions of relaxations and of the problem as given. Those of problems with less room prove nothing of it.
	proofs []proof
}

// run solves the merged problem and, where what that proves of its plan is not enough, the one with sharper limits, the one with some
// devices set apart, those with some fewer devices or less budget, finer ones, and then the problem as given, from the best plan so far and its
// prices. No plan is worse than a greedy one, unless the caller has no time for that.
func (s *mergedSearch) run(m *merge) *Solution {
	more := s.relax(m)
	if s.best.Demand == Infeasible || s.best.Proof != Optimal && !s.best.Stopped {
		more = s.take(m.split(s.relaxed, m.greedyPlan()), 0, s.best.Stopped)
	}
	if !more || m.exact {
		return s.best
	}
	if !s.sharpen() || !s.setApart() || !s.tighten() || !s.refine() {
		return s.best
	}
	s.fromBest()
	last := solveAsIs(m.from, s.options, nil)
	s.proofs = append(s.proofs, last)
	s.take(last.Solution, last.Effort, last.Stopped)
	return s.best
}

// setApart solves the problem with some devices set apart, and says whether to go on, as do the next ones.
func (s *mergedSearch) setApart() bool {
	// The relaxation solved last knows best what leaves room for larger replicas, though its plan need not be the best one.
	apart := s.by.setApart(s.placed)
	if apart == nil {
		return true
	}
	_, more := s.restrict(apart)
	return more
}

// tighten solves problems with some fewer devices or less budget.
func (s *mergedSearch) tighten() bool {
	tighter, lacking := s.by, s.lacking
	for range tightenings {
		if tighter = tighter.tighten(lacking); tighter == nil || s.best.Demand == Infeasible {
			break // the bound says nothing of plans that lack more replicas
		}
		s.fromBest()
		var more bool
		if lacking, more = s.restrict(tighter); !more {
			return false
		}
	}
	return true
}

// refine solves finer relaxations, with half of the effort, as long as each is solved within what it gets.
func (s *mergedSearch) refine() bool {
	for half := s.options.Effort / 2; s.relaxed.Proof == Optimal && s.options.Effort > half; {
		finer := s.by.refine(s.relaxed, s.placed, s.lacking)
		if finer == nil {
			break
		}
		s.fromBest()
		if !s.relax(finer) || !s.sharpen() {
			return false
		}
	}
	return true
}

// sharpen solves the relaxation again with sharper limits, for as long as there are some and it is solved within its effort.
func (s *mergedSearch) sharpen() bool {
	for range sharpenings {
		if s.relaxed.Proof != Optimal {
			break // it has taken all of its effort
		}
		sharper := s.by.sharpen(s.relaxed)
		if sharper == nil {
			break
		}
		s.fromBest()
		if !s.relax(sharper) {
			return false
		}
	}
	return true
}

// fromBest lets the next search start from the best plan so far.
func (s *mergedSearch) fromBest() { s.options.Start = &Start{Problem: s.by.from, Solution: s.best} }

// relax solves a relaxation, and says whether to go on.
func (s *mergedSearch) relax(m *merge) bool {
	by, replicas, left := m.solveMerged(s.options)
	s.by, s.relaxed, s.placed = m, by.Solution, m.split(by.Solution, replicas)
	s.lacking = lack{left, m.from.overBudget(s.placed.PricePerHour)}
	s.proofs = append(s.proofs, by)
	return s.takeWithin(s.placed, s.lacking.budget, by.Solution)
}

// restrict solves a problem with less room, whose prices are not those of the devices that there are, and says what its plan lacks and whether
// to go on.
func (s *mergedSearch) restrict(m *merge) (lacking lack, more bool) {
	by, replicas, left := m.solveMerged(s.options)
	placed := s.by.split(s.relaxed, replicas)
	lacking = lack{left, m.from.overBudget(placed.PricePerHour)}
	return lacking, s.takeWithin(placed, lacking.budget, by.Solution)
}

// takeWithin takes a plan that a solution of a merged problem led to. In place of one that is over the budget the best so far stays, or there
// is a greedy one.
func (s *mergedSearch) takeWithin(plan *Solution, over float64, by *Solution) bool {
	if over > 0 {
		if trimmed := s.by.canonical().trimmed(plan.Replicas(), over); trimmed != nil {
			plan = s.by.split(s.relaxed, trimmed)
		} else if plan = s.best; plan == nil {
			plan = s.by.split(s.relaxed, s.by.greedyPlan())
		}
	}
	return s.take(plan, by.Effort, by.Stopped)
}

// take takes a plan if it is better than the best so far, with all that is proven, after so much more effort. It says whether to go on.
func (s *mergedSearch) take(plan *Solution, effort int, stopped bool) bool {
	plan = s.order.provenBy(plan, s.proofs...)
	if s.best != nil {
		s.best = s.order.provenBy(s.best, s.proofs...)
	}
	if s.best == nil || s.order.prefers(plan, s.best) {
		s.best = plan
	}
	s.options.Effort -= effort
	s.best.Stopped = stopped
	return !stopped && s.options.Effort > 0 && s.best.Proof != Optimal
}

// sharpenings is how often a merged problem is solved again with sharper limits.
const sharpenings = 20

// tightenings is how often the merged problem is solved again with fewer devices or less budget.
const tightenings = 3

// lack is what a plan of a merged problem lacks once it is placed: devices of replicas that find no room, by merged pool, and money.
type lack struct {
	devices []int
	budget  float64
}

// tighten takes as much out of merged pools and the budget as a plan lacks, so that what is placed next has room to
// spare. It proves nothing, but the plan is good for the problem as given. It is nil where nothing is lacking, or too much.
func (m *merge) tighten(by lack) *merge {
	if by.budget == 0 && !slices.ContainsFunc(by.devices, func(n int) bool { return n > 0 }) || by.budget > 0 && by.budget >= m.to.BudgetPerHour {
		return nil
	}
	to := *m.to
	to.BudgetPerHour -= by.budget
	to.Pools = slices.Clone(to.Pools)
	for g, n := range by.devices {
		if n == 0 {
			continue
		}
		pool := &to.Pools[g]
		parts := slices.Clone(pool.merged.pools)
		n = min(n, parts[0].Capacity)
		parts[0].Capacity -= n
		pool.Capacity -= n
		slices.SortFunc(parts, byCapacity)
		pool.merged = &mergedPools{pools: parts}
	}
	tighter := *m
	tighter.to = &to
	return &tighter
}

// solveMerged solves the merged problem and places its replicas; left are the devices of those that find no room, by merged pool.
// Where something may be lost a quarter of the effort is left for what follows.
func (m *merge) solveMerged(o Options) (by proof, replicas [][][]int, left []int) {
	if !m.exact {
		o.Effort -= o.Effort / 4
	}
	if m.charged && len(m.dearer()) > 0 {
		o.greedy = m.joinedGreedy
	}
	inner := newSolver(m.to, o, nil)
	inner.stages()
	by = inner.proof(m.to)
	replicas, left = m.place(by.Solution, inner.canonical)
	return by, replicas, left
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
// be those of a problem with fewer devices or less budget, whose prices are not those of the devices that there are.
func (m *merge) split(merged *Solution, replicas [][][]int) *Solution {
	s := m.assess(merged, replicas)
	if !m.exact && s.Demand != Served {
		// There may be room for what found none in its pools elsewhere, or in the place of what was left free.
		s = m.assess(merged, m.fill(s))
	}
	for g := range s.Pools {
		s.Pools[g].ShadowPrice = m.shadowPrice(merged, g)
	}
	for q := range s.Quotas {
		s.Quotas[q].ShadowPrice = merged.Quotas[m.quotas[q]].ShadowPrice
	}
	s.Levels = m.from.levels(s.Allocations, func(int) float64 { return 0 })
	s.BudgetShadowPrice = merged.BudgetShadowPrice
	return s
}

// shadowPrice is what one more device of a pool saves, at the prices of the merged problem: those of the limits that it raises, less what it
// costs to use it or to leave it free.
func (m *merge) shadowPrice(merged *Solution, g int) float64 {
	var raised, free exactSum
	class := merged.Pools[m.of[g]].ShadowPrice
	raised.add(class)
	free.add(class)
	for k, subset := range m.subsets {
		if slices.Contains(subset, g) {
			price := merged.Pools[len(m.members)+k].ShadowPrice
			raised.add(price)
			free.add(price)
		}
	}
	for k, takers := range m.takers {
		if m.of[takers[0]] != m.of[g] {
			continue
		}
		price := merged.Pools[m.besideTakers(k)].ShadowPrice
		raised.add(price)
		if slices.Contains(takers, g) {
			free.add(price)
		}
	}
	extra := m.extra[g]
	if m.charged {
		extra *= 1 + merged.BudgetShadowPrice
	}
	raised.add(-min(extra, free.total()))
	return max(0, raised.total())
}

func (m *merge) assess(merged *Solution, replicas [][][]int) *Solution {
	return m.from.assess(asSpelled(replicas), m.packings, func(i int, a *Allocation) { a.MarginalPrice = merged.Allocations[i].MarginalPrice })
}

// fill adds replicas to a solution where they serve demand that it leaves.
func (m *merge) fill(s *Solution) [][][]int {
	c := m.canonical()
	p := c.planOf(s.Replicas(), func(i int) float64 { return s.Allocations[i].Unmet })
	return c.restore(fill(c, c.packings(m.packings), p, c.mayGain(p, anywhere)).replicas)
}

// greedyPlan is a plan of the problem as given that is made without prices, once.
func (m *merge) greedyPlan() [][][]int {
	if m.greedy == nil {
		c := m.canonical()
		m.greedy = c.restore(fill(c, c.packings(m.packings), nil, nil).replicas)
	}
	return m.greedy
}

// joinedGreedy is that plan in terms of the merged problem. Its own greedy plan would not see what dearer devices cost the budget.
func (m *merge) joinedGreedy() [][][]int {
	replicas := m.greedyPlan()
	if m.to.BudgetPerHour < m.from.BudgetPerHour {
		price := m.from.evaluate(asSpelled(replicas), m.packings, func(int, [][]int, evaluated) {}).PricePerHour
		if over := m.to.overBudget(price); over > 0 {
			if trimmed := m.canonical().trimmed(replicas, over); trimmed != nil {
				replicas = trimmed
			}
		}
	}
	return m.join(replicas)
}

// join is the reverse of place.
func (m *merge) join(replicas [][][]int) [][][]int {
	joined, used := make([][][]int, len(m.to.Workloads)), make([]int, len(m.from.Pools))
	for i := range m.from.Workloads {
		from, to := m.from.Workloads[i].Variants, m.to.Workloads[i].Variants
		joined[i] = make([][]int, len(to))
		for j := range to {
			joined[i][j] = make([]int, len(to[j].Placements))
			for k, n := range replicas[i][j] {
				g := from[j].Placements[k].Pool
				used[g] += n * from[j].DevicesPerReplica
				joined[i][j][to[j].placementIn(m.of[g])] += n
			}
		}
	}
	for k, g := range m.dearer() {
		joined[len(m.from.Workloads)+k] = [][]int{{m.from.Pools[g].Capacity - used[g]}}
	}
	return joined
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
		if m.to.Workloads[i].leftFree {
			continue
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
