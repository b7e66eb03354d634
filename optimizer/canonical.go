package optimizer

import (
	"cmp"
	"math"
	"math/bits"
	"slices"
)

// canonical is a problem in an order that depends on its content, and on names
// only between parts that are interchangeable. The search works on it, so that
// neither the order of the input nor renaming changes what is found.
type canonical struct {
	// Problem has pools and quotas in canonical order; its workloads are nil, or those of the original
	// problem where the order is as given.
	Problem
	// from is the original problem.
	from *Problem
	// The slices map a canonical index to that of the original problem.
	pools, quotas, workloads []int
	// rank is the canonical index by original pool, and place that by original workload, for what
	// goes through large problems in the order in which they lie in memory.
	rank, place []int
	// items are by original workload, those of each in canonical order.
	items [][]item
	// first and firstVariant are the first item and variant of each canonical workload; behind them are
	// the numbers of all.
	first, firstVariant []int
	// traits are by workload, nil where they aren't known.
	traits []trait
	// one is what workload returns, with its parts in room and places.
	one    Workload
	room   []Variant
	places []Placement
}

// item is a variant of a workload in one of its placements, as the original problem counts them.
type item struct{ variant, placement int32 }

// canonicalize orders by colour refinement (Weisfeiler and Leman, 1968): the
// colour of a part is a hash of its numbers and of the colours of the parts it
// refers to and is referred to by. It is nil where the caller has stopped: the time of that depends on
// the machine anyway.
func canonicalize(p *Problem, stop *stopper) *canonical {
	if stop.asked() {
		return nil
	}
	c := newColours(p)
	c.refine()
	for c.splitPools() {
		c.refine()
	}
	if stop.asked() {
		return nil
	}
	out := &canonical{from: p, pools: orderBy(c.pools, func(i int) string { return p.Pools[i].Name })}
	out.rank = inverse(out.pools)
	out.quotas = orderBy(c.quotas, func(i int) string { return p.Quotas[i].Namespace })
	out.workloads = orderBy(c.workloads, func(i int) string { return p.Workloads[i].Name })
	out.BudgetPerHour = p.BudgetPerHour
	for _, i := range out.pools {
		out.Pools = append(out.Pools, p.Pools[i])
	}
	for _, i := range out.quotas {
		q := p.Quotas[i]
		q.Pool = out.rank[q.Pool]
		out.Quotas = append(out.Quotas, q)
	}
	out.place = inverse(out.workloads)
	out.sortItems(c)
	return out
}

// asGiven leaves all parts in the order in which they are given, and copies none. Facts may be known of them.
func asGiven(p *Problem, known *facts) *canonical {
	c := &canonical{
		Problem: *p, from: p, pools: identity(len(p.Pools)), quotas: identity(len(p.Quotas)), workloads: identity(len(p.Workloads)),
		items: make([][]item, len(p.Workloads)), first: make([]int, len(p.Workloads)+1), firstVariant: make([]int, len(p.Workloads)+1),
	}
	c.rank, c.place = c.pools, c.workloads
	var all slab[item]
	var alike []item
	if known != nil {
		c.traits = known.traits
	}
	for i := range p.Workloads {
		variants := p.Workloads[i].Variants
		if number := len(variants); known != nil && !known.severalPlacements {
			for len(alike) < number {
				alike = append(alike, item{variant: int32(len(alike))})
			}
			c.items[i] = alike[:number:number]
		} else {
			c.items[i] = itemsOf(variants, &all)
		}
		c.first[i+1], c.firstVariant[i+1] = c.first[i]+len(c.items[i]), c.firstVariant[i]+len(variants)
	}
	return c
}

// itemsOf are the items of variants, in their order.
func itemsOf(variants []Variant, all *slab[item]) []item {
	number := 0
	for j := range variants {
		number += len(variants[j].Placements)
	}
	items, next := all.take(number), 0
	for j := range variants {
		for k := range variants[j].Placements {
			items[next] = item{int32(j), int32(k)}
			next++
		}
	}
	return items
}

func identity(n int) []int {
	order := make([]int, n)
	for i := range order {
		order[i] = i
	}
	return order
}

// sortItems orders the items of all workloads, by variant and then by pool.
func (c *canonical) sortItems(by *colours) {
	c.items, c.first, c.firstVariant = make([][]item, len(c.place)), make([]int, len(c.place)+1), make([]int, len(c.place)+1)
	var (
		all   slab[item]
		order []int
	)
	for from, i := range c.place {
		c.first[i+1], c.firstVariant[i+1] = by.items[from], len(by.variants[from])
		order = resize(order, len(by.variants[from]))
		sortBy(order, by.variants[from], func(j int) string { return c.from.Workloads[from].Variants[j].Name })
		c.items[from] = all.take(by.items[from])
		if len(order) < by.items[from] {
			c.placeItems(from, order)
			continue
		}
		for k, j := range order {
			c.items[from][k].variant = int32(j)
		}
	}
	for i := range c.place {
		c.first[i+1] += c.first[i]
		c.firstVariant[i+1] += c.firstVariant[i]
	}
}

// placeItems orders the items of a workload that may place some of its variants in several pools.
func (c *canonical) placeItems(from int, variants []int) {
	items := c.items[from]
	for _, j := range variants {
		places := c.from.Workloads[from].Variants[j].Placements
		of := items[:len(places)]
		for k := range of {
			of[k] = item{int32(j), int32(k)}
		}
		slices.SortFunc(of, func(x, y item) int { return c.rank[places[x.placement].Pool] - c.rank[places[y.placement].Pool] })
		items = items[len(places):]
	}
}

// given is workload i with its parts in the order of the original problem.
func (c *canonical) given(i int) *Workload { return &c.from.Workloads[c.workloads[i]] }

// workload is workload i in canonical order, valid until the next call. Most solves need each but
// once, and a copy of all would take longer than what is done with it.
func (c *canonical) workload(i int) *Workload {
	if c.Workloads != nil {
		return &c.Workloads[i]
	}
	c.room, c.places = resize(c.room, len(c.given(i).Variants)), resize(c.places, c.first[i+1]-c.first[i])
	c.one = c.sorted(i, c.room, c.places)
	return &c.one
}

// whole is the problem in canonical order, for what looks at workloads again and again. It is not kept:
// of large problems it is large.
func (c *canonical) whole() *Problem {
	if c.Workloads != nil {
		return &c.Problem
	}
	return c.some(func(int) bool { return true })
}

// some is the problem with those workloads only that are wanted, in canonical order.
func (c *canonical) some(wanted func(i int) bool) *Problem {
	p := c.Problem
	p.Workloads = nil
	var (
		variants   slab[Variant]
		placements slab[Placement]
	)
	for i := range c.workloads {
		if wanted(i) {
			p.Workloads = append(p.Workloads, c.sorted(i, variants.take(len(c.given(i).Variants)), placements.take(c.first[i+1]-c.first[i])))
		}
	}
	return &p
}

// sorted is a copy of workload i in canonical order, its parts in the slices given.
func (c *canonical) sorted(i int, variants []Variant, placements []Placement) Workload {
	from, items := c.given(i), c.items[c.workloads[i]]
	from.fetch()
	w := *from
	w.Variants = variants
	for to := range variants {
		v := &variants[to]
		*v = from.Variants[items[0].variant]
		places := placements[:len(v.Placements):len(v.Placements)]
		for k := range places {
			places[k] = v.Placements[items[k].placement]
			places[k].Pool = c.rank[places[k].Pool]
		}
		items, placements = items[len(places):], placements[len(places):]
		v.Placements = places
		v.setWithin(c.ranked(v.within()))
	}
	w.sortShapes()
	return w
}

// packings are those of the pools as given, in canonical order.
func (c *canonical) packings(given []packing) []packing {
	var packings []packing
	for _, g := range c.pools {
		packings = append(packings, given[g])
	}
	return packings
}

// ranked has canonical pools.
func (c *canonical) ranked(from []within) []within {
	if len(from) == 0 {
		return nil
	}
	to := slices.Clone(from)
	for k := range to {
		to[k].pool, to[k].other = c.rank[to[k].pool], c.rank[to[k].other]
	}
	slices.SortFunc(to, func(a, b within) int { return cmp.Or(a.pool-b.pool, a.other-b.other) })
	return to
}

// sortShapes takes the shapes of a workload in their canonical order; the variants are
// sorted already.
func (w *Workload) sortShapes() {
	if len(w.Shapes) == 0 {
		return
	}
	order := w.shapeOrder(identity(len(w.Variants)))
	shapes := make([]Shape, len(order))
	for k, s := range order {
		shapes[k] = w.Shapes[s]
	}
	w.Shapes = shapes
	for j := range w.Variants {
		capacities := make([]float64, len(order))
		for k, s := range order {
			capacities[k] = w.Variants[j].ShapeCapacities[s]
		}
		w.Variants[j].ShapeCapacities = capacities
	}
}

// reorder returns a plan for the same problem as given in this order.
func (c *canonical) reorder(p *plan, given *canonical) *plan {
	out := &plan{replicas: make([]int32, len(p.replicas)), unmet: make([]float64, len(p.unmet))}
	var firsts []int32
	for from, i := range c.place {
		out.unmet[i] = p.unmet[from]
		variants, next := c.from.Workloads[from].Variants, int32(given.first[from])
		firsts = resize(firsts, len(variants))
		for j := range variants {
			firsts[j] = next
			next += int32(len(variants[j].Placements))
		}
		for k, at := range c.items[from] {
			out.replicas[c.first[i]+k] = p.replicas[firsts[at.variant]+at.placement]
		}
	}
	return out
}

// planOf is a plan with replicas in the order of the original problem, and what they leave unmet by workload of that.
func (c *canonical) planOf(replicas [][][]int, unmet func(i int) float64) *plan {
	p := &plan{replicas: make([]int32, c.first[len(c.workloads)]), unmet: make([]float64, len(c.workloads))}
	for from, i := range c.place {
		p.unmet[i] = unmet(from)
		for k, at := range c.items[from] {
			p.replicas[c.first[i]+k] = int32(replicas[from][at.variant][at.placement])
		}
	}
	return p
}

// orderBy sorts indices by colour, then name.
func orderBy(colours []uint64, name func(int) string) []int {
	order := make([]int, len(colours))
	sortBy(order, colours, name)
	return order
}

func sortBy(order []int, colours []uint64, name func(int) string) {
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int {
		if colours[a] != colours[b] {
			return cmp.Compare(colours[a], colours[b])
		}
		return cmp.Or(cmp.Compare(name(a), name(b)), a-b)
	})
}

func inverse(order []int) []int {
	rank := make([]int, len(order))
	for i, from := range order {
		rank[from] = i
	}
	return rank
}

// colours are the hashes of all parts of a problem.
type colours struct {
	problem                         *Problem
	pools, quotas, workloads, spare []uint64
	variants                        [][]uint64
	// numbers are the hashes of what does not refer to other parts.
	poolNumbers, workloadNumbers []uint64
	variantNumbers               [][]uint64
	// once: workloads are coloured but once, and their variants' colours take the place of the numbers.
	once   bool
	hashes slab[uint64]
	// items are the numbers of placements of all variants, by workload.
	items []int
	// namespaces are in order of appearance.
	namespaces       []uint64
	ofWorkload       []int
	ofQuota          []int
	quotaNumbers     []uint64
	distinguishedBy  uint64
	namespaceNumbers map[string]int
}

func newColours(p *Problem) *colours {
	c := &colours{
		problem: p, namespaceNumbers: map[string]int{},
		pools: make([]uint64, len(p.Pools)), quotas: make([]uint64, len(p.Quotas)), spare: make([]uint64, len(p.Pools)),
		workloads: make([]uint64, len(p.Workloads)), variants: make([][]uint64, len(p.Workloads)),
		poolNumbers: make([]uint64, len(p.Pools)), workloadNumbers: make([]uint64, len(p.Workloads)),
		ofWorkload: make([]int, len(p.Workloads)), items: make([]int, len(p.Workloads)),
	}
	for i, g := range p.Pools {
		c.poolNumbers[i] = hashOf(1, flag(g.Limited), uint64(g.Capacity), uint64(g.DevicesPerNode))
		if g.merged != nil {
			c.poolNumbers[i] = hashOf(19, c.poolNumbers[i], uint64(g.merged.beyond))
			g.each(func(part *Pool) { c.poolNumbers[i] = hashOf(15, c.poolNumbers[i], uint64(part.Capacity)) })
		}
		c.pools[i] = c.poolNumbers[i]
	}
	for i := range p.Quotas {
		q := &p.Quotas[i]
		c.ofQuota = append(c.ofQuota, c.namespace(q.Namespace))
		number := uint64(q.Capacity)
		if q.merged != nil {
			for _, capacity := range q.merged.rests {
				number = hashOf(18, number, uint64(capacity))
			}
		}
		c.quotaNumbers = append(c.quotaNumbers, number)
	}
	if c.once = c.apart(); !c.once {
		c.variantNumbers = make([][]uint64, len(p.Workloads))
	}
	return c
}

// number hashes what of workload i does not refer to other parts.
func (c *colours) number(i int) {
	w := &c.problem.Workloads[i]
	w.fetch()
	c.ofWorkload[i] = c.namespace(w.Namespace)
	c.workloadNumbers[i] = hashOf(2, uint64(w.Priority), math.Float64bits(w.Demand), math.Float64bits(w.waived), math.Float64bits(w.UnmetPenalty),
		flag(w.Penalized), uint64(w.Mixing), uint64(w.Redundancy), uint64(w.MinReplicas), flag(w.MaxReplicas.Limited), uint64(w.MaxReplicas.Value))
	c.variants[i] = c.hashes.take(len(w.Variants))
	numbers := c.variants[i]
	if !c.once {
		numbers = c.hashes.take(len(w.Variants))
		c.variantNumbers[i] = numbers
	}
	w.variantColours(numbers, func(int) uint64 { return 0 })
	c.items[i] = 0
	for j := range w.Variants {
		v := &w.Variants[j]
		c.items[i] += len(v.Placements)
		numbers[j] = hashOf(3, numbers[j], uint64(v.DevicesPerReplica), uint64(v.NodesPerReplica)^flag(v.quotaOnly())<<32,
			uint64(v.MinReplicas), flag(v.MaxReplicas.Limited), uint64(v.MaxReplicas.Value), uint64(v.CurrentReplicas),
			math.Float64bits(v.SwitchUp), math.Float64bits(v.SwitchDown))
	}
}

func (c *colours) namespace(name string) int {
	number, ok := c.namespaceNumbers[name]
	if !ok {
		number = len(c.namespaces)
		c.namespaceNumbers[name] = number
		c.namespaces = append(c.namespaces, 0)
	}
	return number
}

// refine recolours until colours have travelled between any two parts that are
// three references apart. That is done early where all pools have colours of their own
// and nothing else connects workloads: those of one colour are interchangeable then.
func (c *colours) refine() {
	for range 3 {
		c.colourWorkloads()
		if c.apart() {
			return
		}
		c.colourNamespaces()
		c.colourPools()
	}
	c.colourWorkloads()
}

func (c *colours) colourWorkloads() {
	for i := range c.problem.Workloads {
		w := &c.problem.Workloads[i]
		if c.variants[i] == nil {
			c.number(i)
		}
		numbers := c.variants[i]
		if !c.once {
			numbers = c.variantNumbers[i]
		}
		var all uint64
		for j := range w.Variants {
			var places uint64
			for _, place := range w.Variants[j].Placements {
				places += hashOf(4, c.pools[place.Pool], place.bits())
			}
			for _, in := range w.Variants[j].within() {
				places += hashOf(16, c.pools[in.pool], c.pools[in.other], flag(in.anySize))
			}
			c.variants[i][j] = hashOf(5, numbers[j], places)
			all += hashOf(6, c.variants[i][j])
		}
		c.workloads[i] = hashOf(7, c.workloadNumbers[i], all, c.namespaces[c.ofWorkload[i]])
	}
}

func (c *colours) colourNamespaces() {
	next := make([]uint64, len(c.namespaces))
	for i := range c.problem.Quotas {
		q := &c.problem.Quotas[i]
		number := hashOf(8, c.pools[q.Pool], c.quotaNumbers[i])
		next[c.ofQuota[i]] += number
		c.quotas[i] = hashOf(9, number, c.namespaces[c.ofQuota[i]])
	}
	for i, number := range c.ofWorkload {
		next[number] += hashOf(10, c.workloads[i])
	}
	copy(c.namespaces, next)
}

func (c *colours) colourPools() {
	clear(c.spare)
	for i := range c.problem.Workloads {
		for j := range c.problem.Workloads[i].Variants {
			for _, place := range c.problem.Workloads[i].Variants[j].Placements {
				c.spare[place.Pool] += hashOf(11, c.workloads[i], c.variants[i][j], place.bits())
			}
			for _, in := range c.problem.Workloads[i].Variants[j].within() {
				c.spare[in.other] += hashOf(17, c.workloads[i], c.variants[i][j], flag(in.anySize))
			}
		}
	}
	for i := range c.problem.Quotas {
		c.spare[c.problem.Quotas[i].Pool] += hashOf(12, c.quotas[i])
	}
	for i := range c.pools {
		c.pools[i] = hashOf(13, c.poolNumbers[i], c.pools[i], c.spare[i])
	}
}

// apart says whether nothing connects workloads but pools that have colours of their own.
func (c *colours) apart() bool {
	if len(c.problem.Quotas) > 0 {
		return false
	}
	for i, colour := range c.pools {
		if slices.Contains(c.pools[:i], colour) {
			return false
		}
	}
	return true
}

// splitPools gives one of the pools that share a colour one of its own, the first
// by name, and says whether there was any.
func (c *colours) splitPools() bool {
	order := orderBy(c.pools, func(i int) string { return c.problem.Pools[i].Name })
	for i := 1; i < len(order); i++ {
		if c.pools[order[i-1]] == c.pools[order[i]] {
			c.distinguishedBy++
			c.pools[order[i-1]] = hashOf(14, c.pools[order[i]], c.distinguishedBy)
			return true
		}
	}
	return false
}

// bits tell prices apart, changed or not.
func (p *Placement) bits() uint64 {
	return math.Float64bits(p.PricePerHour) ^ bits.ReverseBytes64(math.Float64bits(p.change))
}

func flag(b bool) uint64 {
	if b {
		return 1
	}
	return 0
}

// hashOf mixes numbers in their order by multiplication to 128 bits and folding.
func hashOf(numbers ...uint64) uint64 {
	h := uint64(0x9e3779b97f4a7c15)
	for _, n := range numbers {
		high, low := bits.Mul64(h^n, 0xd6e8feb86659fd93)
		h = (high ^ low) + 0xa0761d6478bd642f
	}
	return h ^ h>>29
}
