package optimizer

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// fits says whether parts fit into bins, by trying everything.
func fits(parts, bins []int) bool {
	if len(parts) == 0 {
		return true
	}
	tried := map[int]bool{}
	for b, room := range bins {
		if room < parts[0] || tried[room] {
			continue
		}
		tried[room] = true
		bins[b] -= parts[0]
		ok := fits(parts[1:], bins)
		bins[b] += parts[0]
		if ok {
			return true
		}
	}
	return false
}

// packingCase draws a pool of nodes with replica sizes, of which larger ones take whole nodes, and some counts of them.
func packingCase(r *rand.Rand, node int, sizes []int) (p *Problem, counts []int) {
	p = &Problem{Pools: []Pool{{Name: "g", Limited: true, Capacity: r.IntN(4*node + 1), DevicesPerNode: node}}}
	w := Workload{Name: "w", Priority: 1}
	for _, s := range sizes {
		if r.IntN(3) > 0 {
			w.Variants = append(w.Variants, Variant{Name: string(rune('a' + len(w.Variants))), Capacity: 1, DevicesPerReplica: s, Placements: []Placement{{}}})
			counts = append(counts, r.IntN(5))
		}
	}
	p.Workloads = []Workload{w}
	return p, counts
}

// binsOf are the whole nodes and the partial one.
func binsOf(g Pool) []int {
	var bins []int
	for left := g.Capacity; left > 0; left -= g.DevicesPerNode {
		bins = append(bins, min(left, g.DevicesPerNode))
	}
	return bins
}

func violates(t *testing.T, p *Problem, counts []int) bool {
	t.Helper()
	replicas := make([][]int, len(counts))
	for j, n := range counts {
		replicas[j] = []int{n}
	}
	e, err := p.Evaluate([][][]int{replicas})
	if err != nil {
		t.Fatal(err)
	}
	return len(e.Violations) > 0
}

func TestChainsOfSizesPackExactly(t *testing.T) {
	agreed := map[bool]int{}
	for seed := range uint64(3000) {
		r := rand.New(rand.NewPCG(seed, 11))
		c := []struct {
			node  int
			sizes []int
		}{
			{8, []int{1, 2, 4, 8}},
			{8, []int{2, 4, 8}},
			{6, []int{1, 3, 6}},
			{6, []int{1, 2, 6}},
			{4, []int{4}},
			{12, []int{3, 12}},
			{7, []int{1, 2, 4}},
			{7, []int{2, 4, 7}},
			{6, []int{1, 4, 12}},
			{10, []int{1, 2, 4, 8, 10}},
			{5, []int{1, 3, 5}},
			{11, []int{2, 4}},
		}[r.IntN(12)]
		p, counts := packingCase(r, c.node, c.sizes)
		want := fits(partsOf(p, counts), binsOf(p.Pools[0]))
		if got := !violates(t, p, counts); got != want {
			t.Fatalf("seed %d: fits %v, want %v: %+v × %v", seed, got, want, p, counts)
		}
		if notes := packingNotes(p, packPools(p)); notes != nil {
			t.Fatalf("seed %d: %v", seed, notes)
		}
		agreed[want]++
	}
	if agreed[true] < 500 || agreed[false] < 500 {
		t.Errorf("cases %v", agreed)
	}
}

// partsOf are the parts of replicas, the largest first: what is more than a node takes several.
func partsOf(p *Problem, counts []int) []int {
	var parts []int
	for j, n := range counts {
		devices, node := p.Workloads[0].Variants[j].DevicesPerReplica, p.Pools[0].DevicesPerNode
		parts = append(parts, slices.Repeat([]int{min(devices, node)}, n*ceilDiv(devices, node))...)
	}
	slices.Sort(parts)
	slices.Reverse(parts)
	return parts
}

// Other mixes may be refused though they fit, with a note, but never accepted
// though they don't.
func TestOtherSizesNeverOverfill(t *testing.T) {
	refused := 0
	for seed := range uint64(3000) {
		r := rand.New(rand.NewPCG(seed, 12))
		c := []struct {
			node  int
			sizes []int
		}{
			{8, []int{2, 3, 8}}, {8, []int{2, 3, 6, 8}}, {8, []int{3, 5, 7, 8}}, {10, []int{4, 6, 10}}, {10, []int{3, 4}}, {12, []int{4, 6, 12}}, {100, []int{35, 65, 100}},
		}[r.IntN(7)]
		p, counts := packingCase(r, c.node, c.sizes)
		room := fits(partsOf(p, counts), binsOf(p.Pools[0]))
		accepted := !violates(t, p, counts)
		if accepted && !room {
			t.Fatalf("seed %d: overfilled: %+v × %v", seed, p, counts)
		}
		if room && !accepted {
			refused++
			if packingNotes(p, packPools(p)) == nil {
				t.Fatalf("seed %d: refused without a note: %+v × %v", seed, p, counts)
			}
		}
	}
	if refused == 0 {
		t.Error("nothing was rounded")
	}
}

func TestDevicesOfReplicas(t *testing.T) {
	for _, c := range []struct {
		node, devices, nodes, want int
	}{
		{0, 3, 0, 3},
		{0, 16, 2, 16},
		{8, 0, 1, 0},
		{8, 4, 1, 4},
		{8, 8, 1, 8},
		{8, 9, 1, 16},
		{8, 16, 1, 16},
		{8, 16, 2, 16},
		{8, 12, 2, 12}, // two parts of 6
		{8, 8, 2, 8},   // two parts of 4
		{8, 20, 2, 32}, // two parts of 10, each two nodes
		{8, 9, 2, 10},  // two parts of 5
	} {
		v := Variant{Name: "v", Capacity: 1, DevicesPerReplica: c.devices, NodesPerReplica: c.nodes, Placements: []Placement{{}}}
		p := &Problem{
			Pools:     []Pool{{Name: "g", Limited: true, Capacity: 64, DevicesPerNode: c.node}},
			Workloads: []Workload{{Name: "w", Priority: 1, Variants: []Variant{v}}},
		}
		k := packPools(p)[0]
		if got, _ := k.devices(&v); got != c.want {
			t.Errorf("node of %d: replica of %d devices on %d nodes takes %d, want %d", c.node, c.devices, c.nodes, got, c.want)
		}
	}
}

func TestReachable(t *testing.T) {
	for _, c := range []struct {
		limit int
		sizes []int
		want  int
	}{
		{7, []int{4, 8}, 4},
		{7, []int{1, 4}, 7},
		{11, []int{4, 6}, 10},
		{5, nil, 5},
		{3, []int{4}, 0},
		{0, []int{2}, 0},
		{1<<20 + 1, []int{4, 6}, 1 << 20},
	} {
		if got := reachable(c.limit, c.sizes); got != c.want {
			t.Errorf("reachable(%d, %v) = %d, want %d", c.limit, c.sizes, got, c.want)
		}
	}
}

// What fits a pool without nodes keeps all rows that follow by rounding, and some of what does not fit in fractions is
// cut off.
func TestRoundedLimitsHoldForWhatFits(t *testing.T) {
	for _, sizes := range [][]int{{1, 2, 4, 8}, {2, 4}, {3, 5, 7}, {1, 8}, {4}} {
		for capacity := range 40 {
			k := packing{rests: []int{capacity}}
			rows := k.roundedLimits(sizes)
			counts := make([]int, len(sizes))
			var fill func(from, left int)
			fill = func(from, left int) {
				if from == len(sizes) {
					for _, l := range rows {
						used := 0
						for i, n := range counts {
							used += n * (sizes[i] / l.size * l.size)
						}
						if used > l.devices {
							t.Fatalf("%d devices, %v replicas of %v: %d of %+v", capacity, counts, sizes, used, l)
						}
					}
					return
				}
				for n := 0; n*sizes[from] <= left; n++ {
					counts[from] = n
					fill(from+1, left-n*sizes[from])
				}
			}
			fill(0, capacity)
		}
	}
	k := packing{rests: []int{13}}
	if got, want := k.roundedLimits([]int{1, 2, 4, 8}), []limit{{1, 13}, {2, 12}, {8, 8}}; !slices.Equal(got, want) {
		t.Errorf("limits %v, want %v", got, want)
	}
	if k.node, k.sizes = 8, []int{8}; len(k.roundedLimits([]int{1, 8})) != len(k.limits()) {
		t.Error("rows of nodes are rounded")
	}
}
