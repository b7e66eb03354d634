package optimizer

import "slices"

// alikePools are the pools in classes that all variants use alike, by partition refinement; nil where no two
// pools are alike.
func alikePools(p *Problem) (classes [][]int) {
	r := newRefinement(p)
	for i := range p.Workloads {
		for j := range p.Workloads[i].Variants {
			if r.shared == 0 {
				return nil
			}
			r.refine(p.Workloads[i].Variants[j].Placements)
		}
	}
	classes = make([][]int, len(r.sizes))
	for g, class := range r.class {
		classes[class] = append(classes[class], g)
	}
	classes = slices.DeleteFunc(classes, func(class []int) bool { return len(class) == 0 })
	slices.SortFunc(classes, func(a, b []int) int { return a[0] - b[0] })
	return classes
}

// refinement is a partition of the pools that gets finer.
type refinement struct {
	// class is by pool, sizes by class, and shared the number of classes with several pools.
	class, sizes []int
	shared       int
	// met are the pools of each class that a variant uses, and touched the classes with any: scratch.
	met     [][]int
	touched []int
}

// newRefinement begins with the classes of pools whose limits are alike. Those that are unlimited, that nothing uses
// or that have quotas are not merged.
func newRefinement(p *Problem) *refinement {
	r := &refinement{class: make([]int, len(p.Pools))}
	alone := make([]bool, len(p.Pools))
	for _, q := range p.Quotas {
		alone[q.Pool] = true
	}
	first := map[int]int{}
	for g := range p.Pools {
		pool := &p.Pools[g]
		class, ok := first[pool.DevicesPerNode]
		if alone[g] || !pool.Limited || !ok {
			class = r.add()
		}
		if !alone[g] && pool.Limited {
			first[pool.DevicesPerNode] = class
		}
		r.put(g, class)
	}
	return r
}

func (r *refinement) add() int {
	r.sizes, r.met = append(r.sizes, 0), append(r.met, nil)
	return len(r.sizes) - 1
}

func (r *refinement) put(g, class int) {
	r.class[g] = class
	if r.sizes[class]++; r.sizes[class] == 2 {
		r.shared++
	}
}

// refine sets the pools of a variant apart from the others of their classes.
func (r *refinement) refine(placements []Placement) {
	for k := range placements {
		g := placements[k].Pool
		class := r.class[g]
		if r.sizes[class] == 1 {
			continue
		}
		if len(r.met[class]) == 0 {
			r.touched = append(r.touched, class)
		}
		r.met[class] = append(r.met[class], g)
	}
	for _, class := range r.touched {
		if met := r.met[class]; len(met) < r.sizes[class] {
			apart := r.add()
			for _, g := range met {
				if r.sizes[class]--; r.sizes[class] == 1 {
					r.shared--
				}
				r.put(g, apart)
			}
		}
		r.met[class] = r.met[class][:0]
	}
	r.touched = r.touched[:0]
}
