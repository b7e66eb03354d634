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
	Problem
	// The slices map a canonical index to that of the original problem.
	pools, quotas, workloads []int
	variants                 [][]int
	placements               [][][]int
}

// canonicalize orders by colour refinement (Weisfeiler and Leman, 1968): the
// colour of a part is a hash of its numbers and of the colours of the parts it
// refers to and is referred to by.
func canonicalize(p *Problem) *canonical {
	c := newColours(p)
	c.refine()
	for c.splitPools() {
		c.refine()
	}
	out := &canonical{pools: orderBy(c.pools, func(i int) string { return p.Pools[i].Name })}
	rank := inverse(out.pools)
	out.quotas = orderBy(c.quotas, func(i int) string { return p.Quotas[i].Namespace })
	out.workloads = orderBy(c.workloads, func(i int) string { return p.Workloads[i].Name })
	out.BudgetPerHour = p.BudgetPerHour
	out.Workloads = make([]Workload, 0, len(p.Workloads))
	for _, i := range out.pools {
		out.Pools = append(out.Pools, p.Pools[i])
	}
	for _, i := range out.quotas {
		q := p.Quotas[i]
		q.Pool = rank[q.Pool]
		out.Quotas = append(out.Quotas, q)
	}
	b := &canonicalBuilder{canonical: out, rank: rank}
	for _, i := range out.workloads {
		b.addWorkload(&p.Workloads[i], c.variants[i])
	}
	return out
}

// canonicalBuilder copies workloads in canonical order.
type canonicalBuilder struct {
	*canonical
	rank       []int // of the pools
	variants   slab[Variant]
	placements slab[Placement]
	orders     slab[int]
	ofVariants slab[[]int]
}

// addWorkload appends a copy of w in canonical order.
func (b *canonicalBuilder) addWorkload(w *Workload, colours []uint64) {
	order := b.orders.take(len(colours))
	sortBy(order, colours, func(j int) string { return w.Variants[j].Name })
	sorted := *w
	sorted.Variants = b.variants.take(len(order))
	placements := b.ofVariants.take(len(order))
	for to, from := range order {
		v := &sorted.Variants[to]
		*v = w.Variants[from]
		placements[to] = b.placementOrder(v.Placements)
		moved := b.placements.take(len(v.Placements))
		for k, from := range placements[to] {
			moved[k] = v.Placements[from]
			moved[k].Pool = b.rank[moved[k].Pool]
		}
		v.Placements = moved
	}
	sorted.sortShapes(w, order)
	b.Workloads = append(b.Workloads, sorted)
	b.canonical.variants = append(b.canonical.variants, order)
	b.canonical.placements = append(b.canonical.placements, placements)
}

// placementOrder sorts placements by the rank of their pools.
func (b *canonicalBuilder) placementOrder(placements []Placement) []int {
	order := b.orders.take(len(placements))
	for k := range order {
		order[k] = k
	}
	if len(order) > 1 {
		slices.SortFunc(order, func(x, y int) int {
			return cmp.Compare(b.rank[placements[x].Pool], b.rank[placements[y].Pool])
		})
	}
	return order
}

// sortShapes takes the shapes of a workload in their canonical order; the variants are
// sorted already.
func (w *Workload) sortShapes(from *Workload, variants []int) {
	if len(from.Shapes) == 0 {
		return
	}
	order := from.shapeOrder(variants)
	w.Shapes = make([]Shape, len(order))
	for k, s := range order {
		w.Shapes[k] = from.Shapes[s]
	}
	for j := range w.Variants {
		capacities := make([]float64, len(order))
		for k, s := range order {
			capacities[k] = w.Variants[j].ShapeCapacities[s]
		}
		w.Variants[j].ShapeCapacities = capacities
	}
}

// restore returns replicas by canonical item in the order of the original problem.
func (c *canonical) restore(items []int32) [][][]int {
	out := make([][][]int, len(c.workloads))
	var (
		variants slab[[]int]
		counts   slab[int]
	)
	for i, from := range c.workloads {
		out[from] = variants.take(len(c.variants[i]))
		for j, variant := range c.variants[i] {
			places := c.placements[i][j]
			out[from][variant] = counts.take(len(places))
			for k, place := range places {
				out[from][variant][place] = int(items[k])
			}
			items = items[len(places):]
		}
	}
	return out
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
	// namespaces numbers the namespaces in order of appearance.
	namespaces       []uint64
	ofWorkload       []int
	ofQuota          []int
	distinguishedBy  uint64
	namespaceNumbers map[string]int
}

func newColours(p *Problem) *colours {
	c := &colours{
		problem: p, namespaceNumbers: map[string]int{},
		pools: make([]uint64, len(p.Pools)), quotas: make([]uint64, len(p.Quotas)), spare: make([]uint64, len(p.Pools)),
		workloads: make([]uint64, len(p.Workloads)), variants: make([][]uint64, len(p.Workloads)),
		poolNumbers: make([]uint64, len(p.Pools)), workloadNumbers: make([]uint64, len(p.Workloads)),
		variantNumbers: make([][]uint64, len(p.Workloads)),
	}
	for i, g := range p.Pools {
		c.poolNumbers[i] = hashOf(1, flag(g.Limited), uint64(g.Capacity), uint64(g.DevicesPerNode))
		c.pools[i] = c.poolNumbers[i]
	}
	for i := range p.Quotas {
		c.ofQuota = append(c.ofQuota, c.namespace(p.Quotas[i].Namespace))
	}
	var hashes slab[uint64]
	for i := range p.Workloads {
		w := &p.Workloads[i]
		c.ofWorkload = append(c.ofWorkload, c.namespace(w.Namespace))
		c.workloadNumbers[i] = hashOf(2, uint64(w.Priority), math.Float64bits(w.Demand), math.Float64bits(w.waived), math.Float64bits(w.UnmetPenalty),
			flag(w.Penalized), uint64(w.Mixing), uint64(w.Redundancy), uint64(w.MinReplicas), flag(w.MaxReplicas.Limited), uint64(w.MaxReplicas.Value))
		c.variants[i] = hashes.take(len(w.Variants))
		c.variantNumbers[i] = hashes.take(len(w.Variants))
		traffic := w.variantColours(func(int) uint64 { return 0 })
		for j := range w.Variants {
			v := &w.Variants[j]
			c.variantNumbers[i][j] = hashOf(3, traffic[j], uint64(v.DevicesPerReplica), uint64(v.NodesPerReplica)^flag(v.quotaOnly)<<32,
				uint64(v.MinReplicas), flag(v.MaxReplicas.Limited), uint64(v.MaxReplicas.Value), uint64(v.CurrentReplicas),
				math.Float64bits(v.SwitchUp), math.Float64bits(v.SwitchDown))
		}
	}
	c.namespaces = make([]uint64, len(c.namespaceNumbers))
	return c
}

func (c *colours) namespace(name string) int {
	number, ok := c.namespaceNumbers[name]
	if !ok {
		number = len(c.namespaceNumbers)
		c.namespaceNumbers[name] = number
	}
	return number
}

// refine recolours until colours have travelled between any two parts that are
// three references apart. That is done early where all pools have colours of their own
// and nothing else connects workloads: those of one colour are interchangeable then.
func (c *colours) refine() {
	for range 3 {
		c.colourWorkloads()
		if len(c.problem.Quotas) == 0 && c.poolsDiffer() {
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
		var all uint64
		for j := range w.Variants {
			var places uint64
			for _, place := range w.Variants[j].Placements {
				places += hashOf(4, c.pools[place.Pool], place.bits())
			}
			c.variants[i][j] = hashOf(5, c.variantNumbers[i][j], places)
			all += hashOf(6, c.variants[i][j])
		}
		c.workloads[i] = hashOf(7, c.workloadNumbers[i], all, c.namespaces[c.ofWorkload[i]])
	}
}

func (c *colours) colourNamespaces() {
	next := make([]uint64, len(c.namespaces))
	for i := range c.problem.Quotas {
		q := &c.problem.Quotas[i]
		number := hashOf(8, c.pools[q.Pool], uint64(q.Capacity))
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
		}
	}
	for i := range c.problem.Quotas {
		c.spare[c.problem.Quotas[i].Pool] += hashOf(12, c.quotas[i])
	}
	for i := range c.pools {
		c.pools[i] = hashOf(13, c.poolNumbers[i], c.pools[i], c.spare[i])
	}
}

func (c *colours) poolsDiffer() bool {
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
