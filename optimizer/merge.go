package optimizer

import (
	"cmp"
	"encoding/binary"
	"math"
	"slices"
)

// merge is a problem in which pools that variants use together stand for one. What fits the one fits them, as
// sizes of replicas that divide one another leave no gap that is too small. So nothing is lost where every variant may run in
// all of them or in none, at the same cost. Elsewhere the merged problem is a relaxation: a device costs what it does in
// the cheapest pool, what a dearer one has is paid for as far as it is not left free, and a variant that may not run in
// all of the pools may run in the one.
type merge struct {
	from, to *Problem
	packings []packing // of from
	// of is the merged pool by pool, and members the reverse, the cheapest first.
	of      []int
	members [][]int
	// subsets are the pools, in increasing order, in which variants may run that may not run in all of their class, and the takers that
	// hold some of these. Each has a further pool in the merged problem, behind the others.
	subsets [][]int
	// takers are sets of pools of a class, each in increasing order, for which what overflows is limited. Each has a further pool behind those
	// of subsets, with the other pools of the class.
	takers [][]int
	// quotas are the merged quotas by quota.
	quotas []int
	// ordered is what canonical has worked out, and greedy what greedyPlan has, nil before.
	ordered *canonical
	greedy  [][][]int
	// extra is how much dearer a device of a pool is than one of the cheapest that is merged with it, at least.
	extra []float64
	// charged: what is extra, if anything, counts in the budget as in the objective.
	charged bool
	// exact: nothing is lost.
	exact bool
}

// each calls visit for the pool, or for those that it stands for.
func (g *Pool) each(visit func(part *Pool)) {
	if g.merged == nil {
		visit(g)
		return
	}
	for k := range g.merged.pools {
		visit(&g.merged.pools[k])
	}
}

// mergedPools are pools that one stands for, as all of their class or as a subset that limits what runs in the class.
type mergedPools struct {
	pools  []Pool
	subset bool
	// beyond is the number of devices of takers, where these pools are the others of their class.
	beyond int
}

// limits are those of a quota for replicas of a size or more, the first one for all. Those that follow by rounding from a single
// quota have the sizes given; no replica spans merged ones, so that these limit each size by itself.
func (q *Quota) limits(sizes []int) []limit {
	k := q.merged
	if k == nil {
		k = &packing{rests: []int{q.Capacity}}
	}
	return k.roundedLimits(sizes)
}

// subset says whether the pool limits variants that run in another one.
func (g *Pool) subset() bool { return g.merged != nil && g.merged.subset }

// mergePools merges what can be, nil where nothing can.
func mergePools(p *Problem) *merge {
	m := &merge{from: p, packings: packPools(p)}
	return m.mergeClasses(alikePools(p))
}

// mergeClasses merges what can be of some classes of the pools.
func (m *merge) mergeClasses(classes [][]int) *merge {
	p := m.from
	if len(classes) == len(p.Pools) {
		return nil
	}
	m = &merge{from: p, packings: m.packings, ordered: m.ordered, greedy: m.greedy, of: make([]int, len(p.Pools)), extra: make([]float64, len(p.Pools)), exact: true}
	m.charged = p.BudgetPerHour > 0 && !p.repriced()
	terms, sizes := m.terms(classes), replicaSizes(p)
	for _, class := range classes {
		if len(class) > 1 && m.mergeable(class, sizes, terms) {
			m.add(class, terms)
			continue
		}
		for _, g := range class {
			m.add([]int{g}, terms)
		}
	}
	if len(m.members) == len(p.Pools) {
		return nil
	}
	m.build(sizes)
	return m
}

// terms are those on which variants may use a pool.
type terms struct {
	// least and most are how much dearer a device is than in the cheapest pool of the class, over all variants that
	// may use all of it, and ceiling is the least price of a device of the others.
	least, most, ceiling float64
	// spans: some replica takes several nodes, or counts in quotas and is in no pool. partly: some variant may not use all of
	// the class. uneven: some variant costs the budget more than elsewhere in the class.
	spans, partly, uneven bool
}

// extra is how much dearer a device is, at least, such that no price falls below 0 without it.
func (t *terms) extra() float64 {
	if math.IsInf(t.least, 1) {
		return 0
	}
	return min(t.least, t.ceiling)
}

// terms are by pool.
func (m *merge) terms(classes [][]int) []terms {
	all, class := make([]terms, len(m.from.Pools)), make([]int, len(m.from.Pools))
	for c, members := range classes {
		for _, g := range members {
			class[g] = c
			all[g].least, all[g].ceiling = math.Inf(1), math.Inf(1)
		}
	}
	least, charge, used := make([]float64, len(classes)), make([]float64, len(classes)), make([]int, len(classes))
	for i := range m.from.Workloads {
		for j := range m.from.Workloads[i].Variants {
			v := &m.from.Workloads[i].Variants[j]
			for k := range v.Placements {
				c := class[v.Placements[k].Pool]
				least[c], charge[c], used[c] = math.Inf(1), math.Inf(1), 0
			}
			for k := range v.Placements {
				c := class[v.Placements[k].Pool]
				least[c], charge[c] = min(least[c], v.Placements[k].price()), min(charge[c], v.Placements[k].PricePerHour)
				used[c]++
			}
			for k := range v.Placements {
				g, price := v.Placements[k].Pool, v.Placements[k].price()
				devices, _ := m.packings[g].devices(v)
				t, node := &all[g], m.from.Pools[g].DevicesPerNode
				t.uneven = t.uneven || v.Placements[k].PricePerHour > charge[class[g]]
				t.spans = t.spans || v.quotaOnly() || node > 0 && (v.NodesPerReplica > 1 || devices > node)
				if c := class[g]; used[c] < len(classes[c]) {
					t.limit(price, devices)
				} else {
					t.add(price-least[c], devices)
				}
			}
		}
	}
	return all
}

func (t *terms) add(dearer float64, devices int) {
	switch {
	case devices > 0:
		t.least, t.most = min(t.least, dearer/float64(devices)), max(t.most, dearer/float64(devices))
	case dearer > 0:
		t.most = math.Inf(1)
	}
}

func (t *terms) limit(price float64, devices int) {
	t.partly = true
	if devices > 0 {
		t.ceiling = min(t.ceiling, price/float64(devices))
	}
}

// price is that of a replica in the objective.
func (p *Placement) price() float64 { return p.PricePerHour + p.change }

// mergeable says whether the pools of a class may stand for one. The sizes of replicas must divide one another, as those of
// parts of nodes are made to. Where prices differ and there is a budget, a plan could break it by much once it is placed if the budget
// pays other prices than the objective counts. Sizes of parts may be rounded in another way beside devices that are left free, or where
// other variants use a pool.
func (m *merge) mergeable(class []int, sizes [][]int, terms []terms) bool {
	var all []int
	nodes := m.from.Pools[class[0]].DevicesPerNode > 0
	for _, g := range class {
		t := &terms[g]
		if t.spans || t.uneven && m.from.BudgetPerHour > 0 && !m.charged || nodes && (t.most > 0 || t.partly) {
			return false
		}
		all = append(all, sizes[g]...)
	}
	slices.Sort(all)
	for k := 1; k < len(all) && !nodes; k++ {
		if all[k]%all[k-1] != 0 {
			return false
		}
	}
	return len(all) > 0
}

// add takes pools as one, the cheapest first, and of these the largest.
func (m *merge) add(pools []int, terms []terms) {
	slices.SortFunc(pools, func(a, b int) int {
		x, y, of, other := &m.from.Pools[a], &m.from.Pools[b], &terms[a], &terms[b]
		if order := cmp.Or(cmp.Compare(of.extra(), other.extra()), cmp.Compare(of.most, other.most), y.Capacity-x.Capacity); order != 0 {
			return order
		}
		if of.most == 0 && !of.partly && !other.partly && len(m.from.Quotas) == 0 {
			return cmp.Compare(x.Name, y.Name) // nothing else tells them apart
		}
		rank := m.canonical().rank
		return rank[a] - rank[b]
	})
	for _, g := range pools {
		m.of[g] = len(m.members)
		if t := &terms[g]; len(pools) > 1 {
			m.extra[g] = t.extra()
			m.exact = m.exact && t.most == 0 && !t.partly
		}
	}
	m.members = append(m.members, pools)
}

// canonical is the problem in canonical order, worked out once.
func (m *merge) canonical() *canonical {
	if m.ordered == nil {
		m.ordered = canonicalize(m.from, &stopper{})
	}
	return m.ordered
}

// build makes the merged problem.
func (m *merge) build(sizes [][]int) {
	m.findSubsets()
	to := *m.from
	to.Pools, to.Workloads = nil, slices.Clone(m.from.Workloads)
	for _, members := range m.members {
		if len(members) == 1 {
			to.Pools = append(to.Pools, m.from.Pools[members[0]])
		} else {
			to.Pools = append(to.Pools, m.merged(members, false))
		}
	}
	for _, subset := range m.subsets {
		to.Pools = append(to.Pools, m.merged(subset, true))
	}
	for _, takers := range m.takers {
		pool := m.merged(m.others(takers), true)
		for _, g := range takers {
			pool.merged.beyond += m.from.Pools[g].Capacity
		}
		to.Pools = append(to.Pools, pool)
	}
	to.Quotas = m.mergeQuotas(sizes)
	var (
		variants slab[Variant]
		places   slab[Placement]
	)
	for i := range to.Workloads {
		w := &to.Workloads[i]
		from := w.Variants
		w.Variants = variants.take(len(from))
		for j := range from {
			v := &w.Variants[j]
			*v = from[j]
			v.Placements = m.placements(places.take(len(from[j].Placements))[:0], &from[j])
			m.eachClass(&from[j], func(pools []int) { v.setWithin(m.limitedByTakers(m.limitedBy(v.within(), pools), pools)) })
		}
	}
	namespace := m.unquoted()
	for _, g := range m.dearer() {
		to.Workloads = append(to.Workloads, m.leftFree(g, namespace))
	}
	m.to = &to
}

// merged is a pool that stands for several, whose order does not matter.
func (m *merge) merged(pools []int, subset bool) Pool {
	parts := &mergedPools{subset: subset}
	for _, g := range pools {
		parts.pools = append(parts.pools, m.from.Pools[g])
	}
	slices.SortFunc(parts.pools, byCapacity)
	pool := parts.pools[0]
	pool.merged = parts
	for _, part := range parts.pools[1:] {
		pool.Capacity += part.Capacity
		pool.Name += "+" + part.Name
	}
	return pool
}

// mergeQuotas makes one of the quotas of a namespace in pools that are merged. It has all of those pools in which the namespace
// has none.
func (m *merge) mergeQuotas(sizes [][]int) (merged []Quota) {
	known, own := map[quotaKey]int{}, m.from.quotaOf()
	m.quotas = nil
	for _, q := range m.from.Quotas {
		members := m.members[m.of[q.Pool]]
		at := quotaKey{q.Namespace, m.of[q.Pool]}
		index, ok := known[at]
		if !ok {
			index = len(merged)
			known[at] = index
			merged = append(merged, Quota{Namespace: q.Namespace, Pool: at.pool, Capacity: q.Capacity})
		}
		m.quotas = append(m.quotas, index)
		if ok || len(members) == 1 {
			continue
		}
		m.exact = false
		all := &packing{}
		merged[index].merged, merged[index].Capacity = all, 0
		for _, g := range members {
			capacity := m.from.Pools[g].Capacity
			if quota, limited := own[quotaKey{q.Namespace, g}]; limited {
				capacity = min(capacity, m.from.Quotas[quota].Capacity)
			}
			all.rests = append(all.rests, capacity)
			all.sizes = append(all.sizes, sizes[g]...)
			merged[index].Capacity += capacity
		}
		slices.Sort(all.rests)
		all.sizes = sortedOnce(all.sizes)
	}
	return merged
}

// byCapacity orders parts, the largest first.
func byCapacity(a, b Pool) int { return cmp.Or(b.Capacity-a.Capacity, cmp.Compare(a.Name, b.Name)) }

// mostSubsets is the number of subsets up to which each has a limit; where there are more, only single pools have.
const mostSubsets = 64

// findSubsets finds the subsets of classes in which variants may run, and the takers that hold some of these.
func (m *merge) findSubsets() {
	known := map[string]bool{}
	m.subsets = nil
	for i := range m.from.Workloads {
		for j := range m.from.Workloads[i].Variants {
			m.eachSubset(&m.from.Workloads[i].Variants[j], func(pools []int) {
				var key []byte
				for _, g := range pools {
					key = binary.AppendUvarint(key, uint64(g))
				}
				if !known[string(key)] {
					known[string(key)] = true
					m.subsets = append(m.subsets, pools)
				}
			})
		}
	}
	if len(m.subsets) > mostSubsets {
		m.subsets = slices.DeleteFunc(m.subsets, func(pools []int) bool { return len(pools) > 1 })
	}
	for _, takers := range m.takers {
		if slices.ContainsFunc(m.subsets, func(subset []int) bool { return contains(takers, subset) }) {
			m.subsets = append(m.subsets, takers)
		}
	}
	slices.SortFunc(m.subsets, slices.Compare)
	m.subsets = slices.CompactFunc(m.subsets, slices.Equal)
}

// eachSubset calls visit for the pools, in increasing order, of every class of which a variant may use some and not all.
func (m *merge) eachSubset(v *Variant, visit func(pools []int)) {
	m.eachClass(v, func(pools []int) {
		if len(pools) < len(m.members[m.of[pools[0]]]) {
			visit(pools)
		}
	})
}

// eachClass calls visit for the pools, in increasing order, that a variant may use of every class of several.
func (m *merge) eachClass(v *Variant, visit func(pools []int)) {
	for k := range v.Placements {
		class := m.of[v.Placements[k].Pool]
		if len(m.members[class]) == 1 || slices.ContainsFunc(v.Placements[:k], func(at Placement) bool { return m.of[at.Pool] == class }) {
			continue
		}
		var pools []int
		for _, at := range v.Placements[k:] {
			if m.of[at.Pool] == class {
				pools = append(pools, at.Pool)
			}
		}
		slices.Sort(pools)
		visit(pools)
	}
}

// others are the pools of a class that are not among some of it.
func (m *merge) others(pools []int) []int {
	return slices.DeleteFunc(slices.Clone(m.members[m.of[pools[0]]]), func(g int) bool { return slices.Contains(pools, g) })
}

// limitedBy appends the further pools that limit what may run in some pools of a class alone: those of all subsets that hold them.
func (m *merge) limitedBy(in []within, pools []int) []within {
	for k, subset := range m.subsets {
		if contains(subset, pools) {
			in = append(in, within{pool: m.of[pools[0]], other: len(m.members) + k})
		}
	}
	return in
}

// limitedByTakers appends those of takers of the class. There it counts whatever its size if it may run in no others.
func (m *merge) limitedByTakers(in []within, pools []int) []within {
	class := m.of[pools[0]]
	for k, takers := range m.takers {
		if m.of[takers[0]] == class {
			in = append(in, within{pool: class, other: m.besideTakers(k), anySize: contains(takers, pools)})
		}
	}
	return in
}

// besideTakers is the further pool with the others of some takers.
func (m *merge) besideTakers(k int) int { return len(m.members) + len(m.subsets) + k }

// contains says whether some pools are all among others.
func contains(all, some []int) bool {
	return !slices.ContainsFunc(some, func(g int) bool { return !slices.Contains(all, g) })
}

// placements are those of a variant in the merged pools, with what is extra off their prices.
func (m *merge) placements(to []Placement, v *Variant) []Placement {
	for _, at := range v.Placements {
		if extra := m.extra[at.Pool]; extra > 0 {
			devices, _ := m.packings[at.Pool].devices(v)
			if extra *= float64(devices); m.charged {
				at.PricePerHour = max(0, at.PricePerHour-extra)
			} else {
				at.change -= extra
			}
		}
		at.Pool = m.of[at.Pool]
		n := slices.IndexFunc(to, func(p Placement) bool { return p.Pool == at.Pool })
		switch {
		case n < 0:
			to = append(to, at)
		case cmp.Or(cmp.Compare(at.price(), to[n].price()), cmp.Compare(at.PricePerHour, to[n].PricePerHour), cmp.Compare(at.change, to[n].change)) < 0:
			to[n] = at
		}
	}
	for k := range to {
		to[k].change = max(to[k].change, -to[k].PricePerHour) // but for rounding it is
	}
	return to
}

// unquoted is a namespace without quotas.
func (m *merge) unquoted() string {
	name := ""
	for _, q := range m.from.Quotas {
		if len(q.Namespace) >= len(name) {
			name = q.Namespace + "+" // longer than any
		}
	}
	return name
}

// dearer are the pools of which a device costs extra.
func (m *merge) dearer() (pools []int) {
	for g, extra := range m.extra {
		if extra > 0 {
			pools = append(pools, g)
		}
	}
	return pools
}

// leftFree is a workload that stands for the devices of a pool that are left free: those that are not cost extra. No quota may limit
// its namespace. It counts for subsets and takers as replicas do that may run in the pool alone.
func (m *merge) leftFree(g int, namespace string) Workload {
	pool, pools := &m.from.Pools[g], []int{g}
	v := Variant{Name: pool.Name, Capacity: m.extra[g], DevicesPerReplica: 1, Placements: []Placement{{Pool: m.of[g]}}}
	v.setWithin(m.limitedByTakers(m.limitedBy(nil, pools), pools))
	return Workload{
		Name: pool.Name + " left free", Namespace: namespace, Priority: 1, Demand: m.extra[g] * float64(pool.Capacity), Penalized: true, UnmetPenalty: 1,
		Variants: []Variant{v}, leftFree: true, charged: m.charged,
	}
}
