package optimizer

import (
	"cmp"
	"math"
	"slices"
)

// merge is a problem in which pools that all variants use alike stand for one: every variant may run in all
// of them or in none. What fits the one fits them, as sizes of replicas that divide one another leave no gap that
// is too small. So nothing is lost where replicas cost as much in each. Where they don't, the merged problem is a
// relaxation: a device costs what it does in the cheapest pool, and what a dearer one has is paid for as far as it
// is not left free.
type merge struct {
	from, to *Problem
	packings []packing // of from
	// of is the merged pool by pool, and members the reverse, the cheapest first.
	of      []int
	members [][]int
	// extra is how much dearer a device of a pool is than one of the cheapest that is merged with it, at least.
	extra []float64
	// exact: replicas cost as much in all pools that are merged.
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

// mergedPools are pools that one stands for.
type mergedPools struct{ pools []Pool }

// mergePools merges what can be, nil where nothing can.
func mergePools(p *Problem) *merge {
	classes := alikePools(p)
	if classes == nil {
		return nil
	}
	m := &merge{from: p, of: make([]int, len(p.Pools)), exact: true, packings: packPools(p)}
	premiums := m.premiums(classes)
	m.extra = make([]float64, len(p.Pools))
	sizes := replicaSizes(p)
	for _, class := range classes {
		if len(class) > 1 && m.mergeable(class, sizes[class[0]], premiums) {
			m.add(class, premiums)
			continue
		}
		for _, g := range class {
			m.add([]int{g}, premiums)
		}
	}
	if len(m.members) == len(p.Pools) {
		return nil
	}
	m.build(premiums)
	return m
}

// premium is how much dearer a device of a pool is than in the cheapest pool of its class, over all variants.
type premium struct {
	least, most float64
	// spans: some replica takes several nodes.
	spans bool
}

// premiums are by pool.
func (m *merge) premiums(classes [][]int) []premium {
	all := make([]premium, len(m.from.Pools))
	class := make([]int, len(m.from.Pools))
	for c, members := range classes {
		for _, g := range members {
			class[g], all[g].least = c, math.Inf(1)
		}
	}
	least := make([]float64, len(classes))
	for i := range m.from.Workloads {
		for j := range m.from.Workloads[i].Variants {
			v := &m.from.Workloads[i].Variants[j]
			for k := range v.Placements {
				least[class[v.Placements[k].Pool]] = math.Inf(1)
			}
			for k := range v.Placements {
				at := &v.Placements[k]
				least[class[at.Pool]] = min(least[class[at.Pool]], at.price())
			}
			for k := range v.Placements {
				at := &v.Placements[k]
				all[at.Pool].add(m.from.Pools[at.Pool].DevicesPerNode, v, &m.packings[at.Pool], at.price()-least[class[at.Pool]])
			}
		}
	}
	return all
}

func (p *premium) add(node int, v *Variant, k *packing, dearer float64) {
	devices, _ := k.devices(v)
	p.spans = p.spans || node > 0 && (v.NodesPerReplica > 1 || devices > node)
	if devices == 0 {
		if dearer > 0 {
			p.most = math.Inf(1)
		}
		return
	}
	p.least, p.most = min(p.least, dearer/float64(devices)), max(p.most, dearer/float64(devices))
}

// price is that of a replica in the objective.
func (p *Placement) price() float64 { return p.PricePerHour + p.change }

// mergeable says whether the pools of a class may stand for one, with replicas of the given sizes in them. Sizes must
// divide one another, as those of parts of nodes are made to. Where prices differ, the budget would be kept by other plans,
// and sizes of parts may be rounded in another way beside devices that are left free.
func (m *merge) mergeable(class, sizes []int, premiums []premium) bool {
	nodes := m.from.Pools[class[0]].DevicesPerNode > 0
	for _, g := range class {
		p := &premiums[g]
		if p.spans || p.most > 0 && (m.from.BudgetPerHour > 0 || nodes) {
			return false
		}
	}
	for k := 1; k < len(sizes) && !nodes; k++ {
		if sizes[k]%sizes[k-1] != 0 {
			return false
		}
	}
	return len(sizes) > 0
}

// add takes pools as one, the cheapest first, and of these the largest.
func (m *merge) add(pools []int, premiums []premium) {
	slices.SortFunc(pools, func(a, b int) int {
		x, y, of, other := &m.from.Pools[a], &m.from.Pools[b], &premiums[a], &premiums[b]
		return cmp.Or(cmp.Compare(of.least, other.least), cmp.Compare(of.most, other.most), y.Capacity-x.Capacity, cmp.Compare(x.Name, y.Name))
	})
	for _, g := range pools {
		m.of[g] = len(m.members)
		m.exact = m.exact && (len(pools) == 1 || premiums[g].most == 0)
	}
	m.members = append(m.members, pools)
}

// build makes the merged problem.
func (m *merge) build(premiums []premium) {
	to := *m.from
	to.Pools, to.Quotas, to.Workloads = make([]Pool, len(m.members)), slices.Clone(m.from.Quotas), slices.Clone(m.from.Workloads)
	for g, members := range m.members {
		pool := &to.Pools[g]
		*pool = m.from.Pools[members[0]]
		if len(members) == 1 {
			continue
		}
		pool.Capacity, pool.merged = 0, &mergedPools{}
		for _, from := range members {
			pool.merged.pools = append(pool.merged.pools, m.from.Pools[from])
			pool.Capacity += m.from.Pools[from].Capacity
		}
	}
	for q := range to.Quotas {
		to.Quotas[q].Pool = m.of[to.Quotas[q].Pool]
	}
	var (
		variants slab[Variant]
		places   slab[Placement]
	)
	for i := range to.Workloads {
		w := &to.Workloads[i]
		from := w.Variants
		w.Variants = variants.take(len(from))
		for j := range from {
			w.Variants[j] = from[j]
			w.Variants[j].Placements = m.placements(places.take(len(from[j].Placements))[:0], from[j].Placements)
		}
	}
	for g, members := range m.members {
		for _, from := range members {
			if extra := premiums[from].least; len(members) > 1 && extra > 0 {
				m.extra[from] = extra
				to.Workloads = append(to.Workloads, leftFree(&m.from.Pools[from], g, extra))
			}
		}
	}
	m.to = &to
}

// placements are those of a variant in the merged pools.
func (m *merge) placements(to, from []Placement) []Placement {
	for k := range from {
		at := from[k]
		at.Pool = m.of[at.Pool]
		n := slices.IndexFunc(to, func(p Placement) bool { return p.Pool == at.Pool })
		if n < 0 {
			to = append(to, at)
			continue
		}
		price := min(to[n].price(), at.price())
		to[n].PricePerHour = min(to[n].PricePerHour, at.PricePerHour)
		to[n].change = price - to[n].PricePerHour
	}
	return to
}

// leftFree is a workload that stands for the devices of a pool that are left free: those that are not cost extra.
func leftFree(pool *Pool, g int, extra float64) Workload {
	return Workload{
		Name: pool.Name, Priority: 1, Demand: float64(pool.Capacity), Penalized: true, UnmetPenalty: extra,
		Variants: []Variant{{Name: pool.Name, Capacity: 1, DevicesPerReplica: 1, Placements: []Placement{{Pool: g}}}},
	}
}
