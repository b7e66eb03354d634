package optimizer

import "slices"

// refine takes a pool out of the class in which most is lost when a plan of the merged problem is placed: replicas that find no room first,
// and then money. What the finer problem proves holds, too. It is nil where nothing is lost, or nothing would be left that is merged.
func (m *merge) refine(merged, placed *Solution, lacking lack) *merge {
	worst, left, lost := -1, 0, tolerance*placed.Objective
	money := m.lost(merged, placed)
	for _, g := range m.canonical().pools { // whose order decides between classes that are alike
		class := m.of[g]
		if len(m.members[class]) == 1 {
			continue
		}
		if devices := lacking.devices[class]; devices > left || devices == left && money[class] > lost {
			worst, left, lost = class, devices, money[class]
		}
	}
	if worst < 0 {
		return nil
	}
	apart := m.mostPinned(worst, merged)
	classes := [][]int{{apart}}
	for class, members := range m.members {
		if members = slices.Clone(members); class == worst {
			members = slices.DeleteFunc(members, func(g int) bool { return g == apart })
		}
		classes = append(classes, members)
	}
	finer := m.mergeClasses(classes)
	if finer == nil {
		return nil
	}
	for _, takers := range m.takers {
		if m.of[takers[0]] != worst {
			finer.takers = append(finer.takers, takers)
		}
	}
	finer.build(replicaSizes(m.from))
	return finer
}

// lost is what the replicas of a plan cost, once it is placed and filled, beyond what they do in the merged problem, by class. What it was filled
// with counts, too, so that it tells where to look, and not how much is lost.
func (m *merge) lost(merged, placed *Solution) []float64 {
	costs := make([]exactSum, len(m.members))
	for i := range m.from.Workloads {
		from, to := m.from.Workloads[i].Variants, m.to.Workloads[i].Variants
		for j := range from {
			for k, n := range placed.Allocations[i].Replicas[j] {
				at := &from[j].Placements[k]
				costs[m.of[at.Pool]].add(float64(n) * at.price())
			}
			for k, n := range merged.Allocations[i].Replicas[j] {
				at := &to[j].Placements[k]
				costs[at.Pool].add(-float64(n) * at.price())
			}
		}
	}
	for k, g := range m.dearer() {
		free := merged.Allocations[len(m.from.Workloads)+k].Replicas[0][0]
		costs[m.of[g]].add(-m.extra[g] * float64(m.from.Pools[g].Capacity-free))
	}
	lost := make([]float64, len(costs))
	for class := range costs {
		lost[class] = costs[class].total()
	}
	return lost
}

// mostPinned is the pool of a class in which replicas that may run in that pool alone take most of the room for larger ones, or most devices.
func (m *merge) mostPinned(class int, merged *Solution) (pool int) {
	pinned, sizes := map[[2]int]int{}, []int(nil)
	for _, c := range m.running(merged)[class] {
		sizes = append(sizes, c.size)
		if len(c.pools) == 1 {
			pinned[[2]int{c.pools[0], c.size}] += c.devices
		}
	}
	sizes = sortedOnce(sizes)
	most := []int{-1, -1}
	for _, g := range m.canonical().pools {
		if m.of[g] != class {
			continue
		}
		capacity, room, smaller := m.from.Pools[g].Capacity, 0, 0
		for _, size := range sizes {
			room = max(room, capacity/size*size-max(0, capacity-smaller)/size*size)
			smaller += pinned[[2]int{g, size}]
		}
		if taken := []int{room, smaller}; slices.Compare(taken, most) > 0 {
			pool, most = g, taken
		}
	}
	return pool
}
