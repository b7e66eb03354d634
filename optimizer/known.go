package optimizer

import (
	"math"

	"github.com/poolwright/poolwright/internal/parallel"
)

// evaluateKnown is the Lagrangian over the configurations met so far, in place of its bound: never
// below L, and some twenty times quicker.
func (l *lagrangian) evaluateKnown(prices []float64) lagrangianValue {
	v := lagrangianValue{ok: true, values: make([]float64, len(l.workloads))}
	v.cut = cut{picks: make([]int32, len(l.workloads)), use: make([]float64, len(l.rows))}
	parts := make([]knownPart, len(l.workers))
	uses := make([]float64, len(l.workers)*len(l.rows))
	parallel.Blocks(len(l.workloads), l.block, func(block, from, to int) {
		part := &parts[block]
		part.use = uses[block*len(l.rows):][:len(l.rows)]
		for i := from; i < to && !part.none; i++ {
			v.values[i], v.cut.picks[i] = part.add(l, i, prices)
		}
	})
	for k := range parts {
		part := &parts[k]
		if part.none {
			return lagrangianValue{bound: math.Inf(1)}
		}
		v.bound += part.value
		v.scale += part.scale
		v.cut.cost += part.cost
		for r := range v.cut.use {
			v.cut.use[r] += part.use[r]
		}
	}
	for r, row := range l.rows {
		v.bound -= prices[r] * row.limit
		v.scale += prices[r] * row.limit
	}
	return v
}

// knownPart sums up a block of workloads.
type knownPart struct {
	value, scale, cost float64
	use                []float64
	none               bool // some workload has no configuration
}

func (p *knownPart) add(l *lagrangian, i int, prices []float64) (least float64, pick int32) {
	least, pick = l.cheapestKnown(i, prices)
	if pick == none {
		p.none = true
		return least, pick
	}
	p.value += least
	p.scale += math.Abs(least)
	of := l.columns[i].entries(pick)
	p.cost += of.cost()
	for n, r := range l.workloads[i].rows {
		p.use[r] += of.use()[n]
	}
	return least, pick
}

// cheapestKnown finds the known configuration of workload i of least reduced cost.
func (l *lagrangian) cheapestKnown(i int, prices []float64) (least float64, pick int32) {
	w, columns := &l.workloads[i], &l.columns[i]
	least, pick = math.Inf(1), none
	from, to := int32(0), int32(columns.len())
	if len(l.fixed) > 0 && l.fixed[i] >= 0 {
		from, to = l.fixed[i], l.fixed[i]+1
	}
	for k := from; k < to; k++ {
		reduced := w.reduced(columns.entries(k), prices)
		if reduced < least && (l.narrowed[i] == 0 || l.fits(i, k)) {
			least, pick = reduced, k
		}
	}
	return least, pick
}

// usuallyMet is the number of configurations that most workloads meet in the passes of a solve.
const usuallyMet = 5

// seed adds, for every workload, the configuration without replicas and those of one
// variant alone, so that the first quick passes have something to go by.
func (l *lagrangian) seed() {
	if l.seeded {
		return
	}
	l.seeded = true
	var (
		x     []int32
		slabs columnSlabs
	)
	for i := range l.workloads {
		if l.halted(i) {
			return
		}
		w := &l.workloads[i]
		lo, hi := l.bounds(w)
		if w.tenant != nil {
			continue
		}
		slabs.grow(&l.columns[i], w, l.columns[i].len()+w.items+usuallyMet)
		x = resize(x, w.items)
		copy(x, lo)
		l.intern(i, x)
		for j := range w.variants {
			v := &w.variants[j]
			n := min(w.useful(v), v.most, w.most)
			for item := v.firstItem; item < v.firstItem+v.items; item++ {
				x[item] = max(lo[item], min(n, hi[item]))
				l.intern(i, x)
				x[item] = lo[item]
			}
		}
	}
}
