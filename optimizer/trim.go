package optimizer

import (
	"cmp"
	"container/heap"
	"math"
	"slices"
)

// trimming takes replicas out of a plan that is over the budget, of what matters least first, and of that those first that serve least for their price.
type trimming struct {
	*canonical
	replicas [][][]int
	// next are the replicas of each workload to take out, a heap.
	next []trim
}

// trim is a replica to take out of a plan, what that saves the budget, and what it costs, in unmet demand or in money, for each
// unit that it saves.
type trim struct {
	choice
	saves, rate float64
}

// trimmed is a plan within the budget, with replicas taken out of one that is so much over it: of workloads with penalties first, then
// by priority, the last first. No minimum is broken that holds. It is nil where that isn't enough. The plan is as given, and not in this order,
// which decides between replicas that are alike.
func (c *canonical) trimmed(replicas [][][]int, over float64) [][][]int {
	t := trimming{canonical: c, replicas: make([][][]int, len(replicas))}
	for i := range replicas {
		t.replicas[i] = slices.Clone(replicas[i])
		for j := range replicas[i] {
			t.replicas[i][j] = slices.Clone(replicas[i][j])
		}
	}
	for _, class := range c.from.classes() {
		t.next = t.next[:0]
		for _, i := range class {
			if next := t.cheapest(i); next.saves > 0 {
				t.next = append(t.next, next)
			}
		}
		heap.Init(&t)
		for len(t.next) > 0 {
			next := &t.next[0]
			t.replicas[next.workload][next.variant][next.placement]--
			if over -= next.saves; over <= 0 {
				return t.replicas
			}
			if *next = t.cheapest(next.workload); next.saves > 0 {
				heap.Fix(&t, 0)
			} else {
				heap.Pop(&t)
			}
		}
	}
	return nil
}

// classes are the workloads by what their unmet demand counts for, the least important first.
func (p *Problem) classes() [][]int {
	by := map[int][]int{}
	for i := range p.Workloads {
		priority := p.Workloads[i].Priority
		if p.Workloads[i].Penalized {
			priority = math.MaxInt
		}
		by[priority] = append(by[priority], i)
	}
	var classes [][]int
	for _, priority := range slices.Backward(sortedKeys(by)) {
		classes = append(classes, by[priority])
	}
	return classes
}

// cheapest is the replica of a workload that serves least for its price; it saves nothing where none may be taken out.
func (t *trimming) cheapest(i int) (best trim) {
	w, replicas := &t.from.Workloads[i], t.replicas[i]
	counts := totals(replicas)
	unmet, missing := w.Unmet(counts), w.shortfall(counts)
	for _, at := range t.items[i] {
		v, place := &w.Variants[at.variant], &w.Variants[at.variant].Placements[at.placement]
		n := &counts[at.variant]
		if replicas[at.variant][at.placement] == 0 || place.PricePerHour == 0 {
			continue
		}
		*n--
		if w.shortfall(counts) <= missing {
			loss := w.Unmet(counts) - unmet
			if w.Penalized {
				loss = w.UnmetPenalty*loss + v.Switching(*n) - v.Switching(*n+1)
			}
			if rate := loss / place.PricePerHour; best.saves == 0 || rate < best.rate {
				best = trim{choice{i, int(at.variant), int(at.placement)}, place.PricePerHour, rate}
			}
		}
		*n++
	}
	return best
}

func (t *trimming) Len() int      { return len(t.next) }
func (t *trimming) Swap(a, b int) { t.next[a], t.next[b] = t.next[b], t.next[a] }
func (t *trimming) Push(any)      {}
func (t *trimming) Less(a, b int) bool {
	return cmp.Or(cmp.Compare(t.next[a].rate, t.next[b].rate), t.place[t.next[a].workload]-t.place[t.next[b].workload]) < 0
}

func (t *trimming) Pop() any {
	t.next = t.next[:len(t.next)-1]
	return nil
}
