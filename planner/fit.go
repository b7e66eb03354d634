package planner

import (
	"cmp"
	"slices"

	"github.com/poolwright/poolwright/optimizer"
)

// fit lowers the bounds of policies that pools, quotas, maximums or the budget have no
// room for: devices were lost, or a workload is between two variants of which it may
// use one. Declared minimums come first, then replicas that serve, then the others;
// among them the more important workloads, and of one's variants those that are wanted.
func (c *cycle) fit() {
	f := fitting{cycle: c, room: optimizer.NewHeadroom(c.free), running: c.currentOfFree()}
	for k, i := range c.planned {
		f.order = append(f.order, [2]int{i, k})
	}
	slices.SortFunc(f.order, func(a, b [2]int) int {
		x, y := &c.fleet.Workloads[a[0]], &c.fleet.Workloads[b[0]]
		return cmp.Or(cmp.Compare(x.Priority, y.Priority), cmp.Compare(x.QualifiedName(), y.QualifiedName()))
	})
	for _, at := range f.order {
		for j, v := range c.free.Workloads[at[1]].Variants {
			f.place(at[1], j, v.MinReplicas)
		}
	}
	for _, at := range f.order {
		f.minimum(at)
	}
	for _, at := range f.order {
		f.serving(&c.fleet.Workloads[at[0]], &c.permitted[at[0]], at[1])
	}
	for _, at := range f.order {
		f.bound(&c.permitted[at[0]], at[1])
	}
}

// fitting places replicas as long as there is room.
type fitting struct {
	*cycle
	room *optimizer.Headroom
	// running are the replicas that there are, less those placed.
	running [][][]int
	// order has the workloads that are not held, the most important first: where each is
	// in the fleet and in the problem.
	order [][2]int
}

// minimum places the declared minimum of a workload: replicas that it must keep or may
// add, and others only where those don't do, which are permitted then.
func (f *fitting) minimum(at [2]int) {
	w, p := &f.fleet.Workloads[at[0]], &f.permitted[at[0]]
	counts, order := f.room.Counts(at[1]), f.byWanted(at[1])
	fill := func(most func(j int) int) {
		for _, j := range order {
			f.place(at[1], j, min(most(j), counts[j]+w.MinReplicas-sum(counts)))
		}
	}
	fill(func(j int) int { return p.variants[j].Min })
	fill(func(j int) int {
		if p.variants[j].Limited {
			return p.variants[j].Max
		}
		return w.MinReplicas
	})
	fill(func(j int) int {
		if w.Variants[j].unknown() {
			return 0
		}
		return w.MinReplicas
	})
	for j := range counts {
		p.variants[j].Max = max(p.variants[j].Max, counts[j])
	}
}

// place brings a variant up to n replicas, as far as there is room: first those that run
// where they do. It returns how many it has then.
func (f *fitting) place(free, j, n int) int {
	add := func(k, most int) {
		more := max(0, min(n-f.room.Counts(free)[j], most, f.room.Replicas(free, j, k)))
		f.room.Place(free, j, k, more)
		f.running[free][j][k] -= more
	}
	for k, running := range f.running[free][j] {
		add(k, running)
	}
	for k := range f.running[free][j] {
		add(k, n)
	}
	return f.room.Counts(free)[j]
}

// byWanted are the variants of a workload, the most wanted first.
func (f *fitting) byWanted(free int) []int {
	wanted := f.wanted.Plan.Allocations[free].Replicas
	order := make([]int, len(wanted))
	for j := range order {
		order[j] = j
	}
	variants := f.free.Workloads[free].Variants
	slices.SortFunc(order, func(a, b int) int {
		return cmp.Or(cmp.Compare(sum(wanted[b]), sum(wanted[a])), cmp.Compare(variants[a].Name, variants[b].Name))
	})
	return order
}

// serving keeps the replicas that serve, as far as they are bound to stay; of a workload
// that is between two variants, those of the more wanted one.
func (f *fitting) serving(w *Workload, p *permitted, free int) {
	ready := w.ready()
	for _, j := range f.byWanted(free) {
		if p.variants[j].Min == 0 {
			continue
		}
		f.place(free, j, min(ready[j], p.variants[j].Min))
		if w.Mixing == optimizer.Single {
			return
		}
	}
}

// bound lowers the bounds of a workload to what there is room for.
func (f *fitting) bound(p *permitted, free int) {
	total := 0
	for _, j := range f.byWanted(free) {
		if least := f.place(free, j, p.variants[j].Min); least < p.variants[j].Min {
			p.variants[j].Min = least
			p.variants[j].Reason += "; the limits leave no room for more"
		}
		total += f.room.Counts(free)[j]
	}
	for _, j := range f.byWanted(free) {
		had := f.room.Counts(free)[j]
		total += f.place(free, j, had+p.total.Min-total) - had
	}
	p.total.Min = min(p.total.Min, total)
}
