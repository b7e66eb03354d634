package optimizer

import (
	"math"
	"slices"
)

// sharpen limits what overflows in a solution of the merged problem, which is a cutting plane for each class, size and set of pools
// that it breaks: replicas of a size or more have room for whole multiples of it in each pool of a class, and what others have no room
// for must be in the set, beside all that may run nowhere else. It is nil where nothing overflows.
func (m *merge) sharpen(merged *Solution) *merge {
	overflows := slices.Clone(m.overflows)
	for class, all := range m.inClasses(merged) {
		if len(m.members[class]) == 1 || m.packings[m.members[class][0]].node > 0 {
			continue
		}
		sizes := []int{math.MaxInt} // none has that: what may run in the set alone
		for i := range all {
			sizes = append(sizes, all[i].size)
		}
		for _, size := range sortedOnce(sizes) {
			sets := [][]int{m.crowded(class, size, all)}
			for _, subset := range m.subsets {
				if m.of[subset[0]] == class {
					sets = append(sets, subset)
				}
			}
			for _, pools := range sets {
				if m.overflow(class, size, pools, all) > 0 {
					overflows = append(overflows, pools)
				}
			}
		}
	}
	slices.SortFunc(overflows, slices.Compare)
	if overflows = slices.CompactFunc(overflows, slices.Equal); len(overflows) == len(m.overflows) {
		return nil
	}
	sharper := *m
	sharper.subsets, sharper.quotas, sharper.overflows = nil, nil, overflows
	sharper.build(replicaSizes(m.from))
	return &sharper
}

// inClass is what a plan has of a variant in a class, in devices, and the pools in which it may run there.
type inClass struct {
	devices, size int
	pools         []int
}

// inClasses is what a solution of the merged problem has in every class. What is left free of a pool is there, too.
func (m *merge) inClasses(merged *Solution) [][]inClass {
	all := make([][]inClass, len(m.members))
	add := func(pools []int, i, j int) {
		class, v := m.of[pools[0]], &m.to.Workloads[i].Variants[j]
		for k, at := range v.Placements {
			if n := merged.Allocations[i].Replicas[j][k]; at.Pool == class && n > 0 && v.DevicesPerReplica > 0 {
				all[class] = append(all[class], inClass{n * v.DevicesPerReplica, v.DevicesPerReplica, pools})
			}
		}
	}
	for i := range m.from.Workloads {
		for j := range m.from.Workloads[i].Variants {
			m.eachClass(&m.from.Workloads[i].Variants[j], func(pools []int) { add(pools, i, j) })
		}
	}
	for k, g := range m.dearer() {
		add([]int{g}, len(m.from.Workloads)+k, 0)
	}
	return all
}

// crowded are the pools of a class in which what is smaller than a size and may run nowhere else leaves less than the whole multiples of the
// size that they hold. No set breaks its limit by more, but for what may run in several pools.
func (m *merge) crowded(class, size int, all []inClass) (pools []int) {
	for _, g := range m.members[class] {
		capacity, smaller := m.from.Pools[g].Capacity, 0
		for i := range all {
			if c := &all[i]; c.size < size && len(c.pools) == 1 && c.pools[0] == g {
				smaller += c.devices
			}
		}
		if capacity-smaller < capacity/size*size {
			pools = append(pools, g)
		}
	}
	slices.Sort(pools)
	return pools
}

// overflow is the number of devices by which replicas of a size or more, and all that may run in a set of pools alone, exceed what there
// is for them in a class.
func (m *merge) overflow(class, size int, pools []int, all []inClass) (over int) {
	for i := range all {
		if c := &all[i]; c.size >= size || contains(pools, c.pools) {
			over += c.devices
		}
	}
	for _, g := range m.members[class] {
		capacity := m.from.Pools[g].Capacity
		if !slices.Contains(pools, g) {
			capacity = capacity / size * size
		}
		over -= capacity
	}
	return over
}
