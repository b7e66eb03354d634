package optimizer

import "slices"

// alikePools are the pools in classes that variants mostly use together: pools of which more than
// half of the variants that use either use both, and what hangs together by such pairs. Unlimited pools are alone, and so are
// those whose nodes differ from all others'.
func alikePools(p *Problem) (classes [][]int) {
	together := variantsTogether(p)
	class := identity(len(p.Pools)) // the least pool of its class
	for g := range p.Pools {
		for h := range g {
			if p.Pools[g].alike(&p.Pools[h]) && class[g] != class[h] && 2*together[g][h] > max(together[g][g], together[h][h]) {
				from, to := max(class[g], class[h]), min(class[g], class[h])
				for k := range class {
					if class[k] == from {
						class[k] = to
					}
				}
			}
		}
	}
	classes = make([][]int, len(p.Pools))
	for g, least := range class {
		classes[least] = append(classes[least], g)
	}
	return slices.DeleteFunc(classes, func(class []int) bool { return len(class) == 0 })
}

// variantsTogether is the number of variants that may run in both of two pools.
func variantsTogether(p *Problem) [][]int {
	together := make([][]int, len(p.Pools))
	for g := range together {
		together[g] = make([]int, len(p.Pools))
	}
	for i := range p.Workloads {
		for j := range p.Workloads[i].Variants {
			for _, at := range p.Workloads[i].Variants[j].Placements {
				for _, other := range p.Workloads[i].Variants[j].Placements {
					together[at.Pool][other.Pool]++
				}
			}
		}
	}
	return together
}

// alike says whether the limits of two pools are of the same kind.
func (g *Pool) alike(h *Pool) bool {
	return g.Limited && h.Limited && g.DevicesPerNode == h.DevicesPerNode
}
