package optimizer

import (
	"math"
	"slices"
)

// Replicas of s devices or more have room for whole multiples of s in each pool of a class. Those that overflow some of the pools are in
// the others, R, beside all that may run nowhere else and what is left free there:
//
//	Σ replicas of s or more + Σ smaller ones that may only run in R + Σ left free in R  ≤  Σ outside R ⌊N/s⌋·s + Σ in R N,
//	Σ all that may only run in R + Σ left free in R  ≤  Σ in R N,
//
// in devices. The pools of R are takers. They are 2^pools sets, few of which matter, so that they are found as plans break their limits
// (cutting planes; G. Dantzig, R. Fulkerson, S. Johnson, Solution of a large-scale traveling-salesman problem, 1954).

// sharpen adds takers of which a solution of the merged problem breaks some limit. It is nil where it finds none.
func (m *merge) sharpen(merged *Solution) *merge {
	takers := slices.Clone(m.takers)
	for class, all := range m.withLeftFree(merged) {
		if len(m.members[class]) == 1 || m.packings[m.members[class][0]].node > 0 {
			continue
		}
		sizes := []int{math.MaxInt} // none is that large: the second limit
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
				if m.excess(class, size, pools, all) > 0 {
					takers = append(takers, pools)
				}
			}
		}
	}
	slices.SortFunc(takers, slices.Compare)
	if takers = slices.CompactFunc(takers, slices.Equal); len(takers) == len(m.takers) {
		return nil
	}
	sharper := *m
	sharper.takers = takers
	sharper.build(replicaSizes(m.from))
	return &sharper
}

// inClass is what a plan has of a variant in a class, in devices, and the pools in which it may run there.
type inClass struct {
	devices, size int
	pools         []int
}

// running is what a solution of the merged problem has running in every class.
func (m *merge) running(merged *Solution) [][]inClass {
	all := make([][]inClass, len(m.members))
	for i := range m.from.Workloads {
		for j := range m.from.Workloads[i].Variants {
			v := &m.to.Workloads[i].Variants[j]
			m.eachClass(&m.from.Workloads[i].Variants[j], func(pools []int) {
				class := m.of[pools[0]]
				for k, at := range v.Placements {
					if n := merged.Allocations[i].Replicas[j][k]; at.Pool == class && n > 0 && v.DevicesPerReplica > 0 {
						all[class] = append(all[class], inClass{n * v.DevicesPerReplica, v.DevicesPerReplica, pools})
					}
				}
			})
		}
	}
	return all
}

// withLeftFree is that with what is left free of each pool.
func (m *merge) withLeftFree(merged *Solution) [][]inClass {
	all := m.running(merged)
	for k, g := range m.dearer() {
		if n := merged.Allocations[len(m.from.Workloads)+k].Replicas[0][0]; n > 0 {
			all[m.of[g]] = append(all[m.of[g]], inClass{n, 1, []int{g}})
		}
	}
	return all
}

// crowded are the pools of a class in which smaller replicas that may run in that pool alone leave less than the whole multiples of a size
// that it holds. As the limit is a sum over pools, these exceed it most, but for what may run in several.
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

// excess is the number of devices by which a limit of takers is exceeded, where it is positive.
func (m *merge) excess(class, size int, takers []int, all []inClass) (over int) {
	for i := range all {
		if c := &all[i]; c.size >= size || contains(takers, c.pools) {
			over += c.devices
		}
	}
	for _, g := range m.members[class] {
		capacity := m.from.Pools[g].Capacity
		if !slices.Contains(takers, g) {
			capacity = capacity / size * size
		}
		over -= capacity
	}
	return over
}
