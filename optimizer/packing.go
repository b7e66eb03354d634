package optimizer

import (
	"fmt"
	"math"
	"slices"
)

// packing says how replicas occupy the devices of one pool.
//
// A pool with nodes of D devices has ⌊N/D⌋ whole nodes and one partial node of
// the devices left over. A replica is a part per node, each of ⌈devices/nodes⌉
// devices; parts of a node or more take whole nodes. When the sizes of the other
// parts divide one another, any set of parts fits exactly when no more take whole nodes than
// there are and, for every size s, the parts of size s and larger together need at most
//
//	⌊N/D⌋·⌊D/s⌋·s + ⌊(N mod D)/s⌋·s
//
// devices, where a whole node counts as ⌊D/s⌋·s: parts placed in descending order of size leave
// no gap that is too small (Coffman, Garey and Johnson, Bin packing with divisible item sizes, 1987). Sizes that
// are no such chain are rounded up to one.
type packing struct {
	// node is D, 0 where nodes do not matter.
	node int
	// sizes are the chain, increasing, and node where some take whole nodes. Of a merged pool without nodes they
	// are those of replicas, and of other pools without nodes there are none.
	sizes []int
	// nodes is ⌊N/D⌋, and rests has N mod D; of a merged pool they are the sum over its parts, and one for each.
	// A pool without nodes is all rest.
	nodes int
	rests []int
	// beyond is the number of devices in other parts, which take what these have no room for.
	beyond int
	// rounded: some size was rounded up although the sizes could mix more tightly.
	rounded bool
}

// packPools chooses the packings of all pools for the replicas placed in them.
func packPools(p *Problem) []packing {
	packings, parts := make([]packing, len(p.Pools)), partSizes(p)
	for g := range packings {
		packings[g] = packPool(&p.Pools[g], parts[g])
	}
	return packings
}

// packPool chooses the packing of a pool for parts of the given sizes, increasing, a node at most where there are nodes.
func packPool(g *Pool, parts []int) packing {
	k := packing{node: g.DevicesPerNode}
	if g.merged != nil {
		k.beyond = g.merged.beyond
	}
	g.each(func(part *Pool) {
		rest := part.Capacity
		if k.node > 0 {
			k.nodes += rest / k.node
			rest %= k.node
		}
		k.rests = append(k.rests, rest)
	})
	switch {
	case !g.Limited:
	case g.DevicesPerNode == 0:
		k.sizes = parts
	default:
		whole, _ := slices.BinarySearch(parts, k.node)
		k.sizes = cheapestChain(parts[:whole], k.node)
		k.rounded = wasteful(parts[:whole], k)
		if whole < len(parts) || whole == 0 {
			k.sizes = sortedOnce(append(k.sizes, k.node))
		}
	}
	return k
}

// partSizes lists the distinct sizes of parts, a node at most where there are nodes, increasing, by pool; none
// where they do not matter.
func partSizes(p *Problem) [][]int {
	if !slices.ContainsFunc(p.Pools, func(g Pool) bool { return g.Limited && (g.DevicesPerNode > 0 || g.merged != nil) }) {
		return make([][]int, len(p.Pools))
	}
	return sizesByPool(p, func(g int, v *Variant) int {
		pool := &p.Pools[g]
		switch {
		case pool.DevicesPerNode > 0:
			return min(partOf(v), pool.DevicesPerNode)
		case pool.merged != nil:
			return v.DevicesPerReplica
		}
		return 0
	})
}

// replicaSizes lists the distinct numbers of devices of replicas, increasing, by pool.
func replicaSizes(p *Problem) [][]int {
	return sizesByPool(p, func(_ int, v *Variant) int { return v.DevicesPerReplica })
}

// sizesByPool lists the distinct sizes of variants above 0, increasing, by pool.
func sizesByPool(p *Problem, sizeOf func(pool int, v *Variant) int) [][]int {
	sizes := make([][]int, len(p.Pools))
	for i := range p.Workloads {
		for j := range p.Workloads[i].Variants {
			v := &p.Workloads[i].Variants[j]
			if v.quotaOnly() {
				continue
			}
			for _, place := range v.Placements {
				for g := range v.takesFrom(place.Pool) {
					if size := sizeOf(g, v); size > 0 && !slices.Contains(sizes[g], size) {
						sizes[g] = append(sizes[g], size)
					}
				}
			}
		}
	}
	for g := range sizes {
		slices.Sort(sizes[g])
	}
	return sizes
}

func partOf(v *Variant) int {
	if v.NodesPerReplica <= 1 {
		return v.DevicesPerReplica
	}
	return ceilDiv(v.DevicesPerReplica, v.NodesPerReplica)
}

func ceilDiv(a, b int) int { return (a + b - 1) / b }

// cheapestChain returns sizes that each divide the next, and that waste the least when the given ones below a node,
// increasing, are rounded up to them: the shortest path over sizes by the sum of (rounded − size)/size.
func cheapestChain(sizes []int, node int) []int {
	if len(sizes) == 0 {
		return nil
	}
	links := chainLinks(node)
	waste := make([]float64, len(links))
	before := make([]int, len(links))
	last := -1
	for i, d := range links {
		waste[i], before[i] = roundingWaste(sizes, 0, d), -1
		for j, e := range links[:i] {
			if d%e != 0 {
				continue
			}
			if w := waste[j] + roundingWaste(sizes, e, d); w < waste[i] {
				waste[i], before[i] = w, j
			}
		}
		if d >= sizes[len(sizes)-1] && (last < 0 || waste[i] < waste[last]) {
			last = i
		}
	}
	var chain []int
	for i := last; i >= 0; i = before[i] {
		chain = append(chain, links[i])
	}
	slices.Reverse(chain)
	return chain
}

// largestLink is the number of devices up to which all sizes are tried: hardly any node has more.
const largestLink = 64

// chainLinks are the sizes that a chain may be made of, increasing.
func chainLinks(node int) []int {
	links := divisorsOf(node)
	for d := 1; d < min(node, largestLink+1); d++ {
		links = append(links, d)
	}
	return sortedOnce(links)
}

// roundingWaste is the relative waste of rounding the sizes in (above, to] to to.
func roundingWaste(sizes []int, above, to int) float64 {
	waste := 0.0
	for _, s := range sizes {
		if s > above && s <= to {
			waste += float64(to-s) / float64(s)
		}
	}
	return waste
}

func divisorsOf(n int) []int {
	var divisors []int
	for d := 1; d*d <= n; d++ {
		if n%d == 0 {
			divisors = append(divisors, d)
			if d*d != n {
				divisors = append(divisors, n/d)
			}
		}
	}
	slices.Sort(divisors)
	return divisors
}

// wasteful says whether rounding may forbid what would fit. It can't where one
// size alone shares nodes and as many parts fit as without rounding.
func wasteful(parts []int, k packing) bool {
	for _, s := range parts {
		class := k.class(s)
		if class == s {
			continue
		}
		if len(parts) > 1 || k.room(s)/s != k.room(class)/class {
			return true
		}
	}
	return false
}

// counted is what a replica of the variant occupies, and the size of its parts, above all where it counts as one of any size.
func (k *packing) counted(v *Variant, anySize bool) (devices, part int) {
	devices, part = k.devices(v)
	if anySize {
		part = math.MaxInt
	}
	return devices, part
}

// class is the size to which a part below a node is rounded.
func (k *packing) class(part int) int {
	for _, s := range k.sizes {
		if s >= part {
			return s
		}
	}
	return part
}

// devices is what a replica of the variant occupies, and part the size of its
// parts, all of it where nodes do not matter; at or above node they take whole nodes.
func (k *packing) devices(v *Variant) (devices, part int) {
	if v.quotaOnly() {
		return 0, 1
	}
	if k.node == 0 || v.DevicesPerReplica == 0 {
		return v.DevicesPerReplica, max(1, v.DevicesPerReplica)
	}
	nodes := max(v.NodesPerReplica, 1)
	part = partOf(v)
	if part >= k.node {
		return nodes * ceilDiv(part, k.node) * k.node, k.node
	}
	part = k.class(part)
	return nodes * part, part
}

// limit is the capacity for parts of at least the size, which hold whole multiples of it.
type limit struct {
	size, devices int
}

// taken is what devices in parts of a size count: of each part whole multiples of the size of the limit, and nothing below it.
func (l *limit) taken(devices, part int) int {
	switch {
	case part < l.size:
		return 0
	case part > devices:
		return devices // as one of any size
	}
	return devices / part * (part / l.size * l.size)
}

// room is what the nodes and rests hold of parts of a size, in devices.
func (k *packing) room(size int) int {
	devices := k.inNodes(size)
	for _, rest := range k.rests {
		devices += rest / size * size
	}
	return devices
}

// inNodes is what the whole nodes hold of parts of a size, in devices.
func (k *packing) inNodes(size int) int { return k.nodes * (k.node / size * size) }

// limits are the rows of the pool: the first one for all parts, the others where
// the nodes and rests are of less use to larger parts.
func (k *packing) limits() []limit {
	var rows []limit
	if k.node == 0 {
		rows = []limit{{size: 1, devices: k.beyond + k.room(1)}}
	}
	for _, s := range k.sizes {
		row := limit{size: s, devices: k.beyond + k.room(s)}
		if len(rows) == 0 || k.less(&row, &rows[len(rows)-1]) {
			rows = append(rows, row)
		}
	}
	return rows
}

// less says whether a row allows less of what it limits than the one before, of smaller parts: of whole nodes, which count in
// each by its size, if the rests hold some of the smaller parts.
func (k *packing) less(row, before *limit) bool {
	if row.size == k.node {
		return k.inNodes(before.size) < k.room(before.size)
	}
	return row.devices < before.devices
}

// roundedLimits are the limits with others that follow from them where they are not by size already, for replicas of the
// given sizes, increasing.
func (k *packing) roundedLimits(sizes []int) []limit {
	rows := k.limits()
	if k.sizes != nil {
		return rows
	}
	return rounded(rows, k.room(1), sizes)
}

// rounded appends the limits that follow from a number of devices by rounding: replicas of s devices or more hold whole
// multiples of s, of which there are ⌊N/s⌋ (V. Chvátal, Edmonds polytopes and a hierarchy of combinatorial problems,
// Discrete Mathematics 4, 1973).
func rounded(rows []limit, devices int, sizes []int) []limit {
	least := reachable(devices, sizes)
	for _, s := range sizes {
		if whole := devices / s * s; whole < least {
			rows, least = append(rows, limit{size: s, devices: whole}), whole
		}
	}
	return rows
}

// notes lists the declared restrictions of the packings.
func packingNotes(p *Problem, packings []packing) []string {
	var notes []string
	for i := range packings {
		if packings[i].rounded {
			notes = append(notes, fmt.Sprintf(
				"pool %q: replica sizes that do not divide one another are rounded up to %v; objective and bound hold under this restriction",
				p.Pools[i].Name, packings[i].sizes))
		}
	}
	return notes
}
