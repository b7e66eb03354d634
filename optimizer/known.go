package optimizer

import (
	"math"

	"github.com/poolwright/poolwright/internal/parallel"
)

// knownColumns has the configurations of a workload for quick passes: cost and use of each in a row.
// The passes themselves add those met since the one before.
type knownColumns struct {
	rows   []int32
	values []float64
}

// evaluateKnown is the Lagrangian over the configurations met so far, in place of its bound: never
// below L, and some twenty times quicker.
func (l *lagrangian) evaluateKnown(prices []float64) lagrangianValue {
	v := lagrangianValue{ok: true, values: make([]float64, len(l.workloads))}
	v.cut = cut{picks: make([]int32, len(l.workloads)), use: make([]float64, len(l.rows))}
	l.prepareKnown()
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

func (l *lagrangian) prepareKnown() {
	if l.known != nil {
		return
	}
	l.known = make([]knownColumns, len(l.workloads))
	for i := range l.known {
		l.known[i].rows = l.workloads[i].rows
	}
}

// knownPart sums up a block of workloads.
type knownPart struct {
	value, scale, cost float64
	use                []float64
	none               bool // some workload has no configuration
}

func (p *knownPart) add(l *lagrangian, i int, prices []float64) (least float64, pick int32) {
	least, pick = l.cheapestKnown(i, prices)
	if pick < 0 {
		p.none = true
		return least, pick
	}
	p.value += least
	p.scale += math.Abs(least)
	known := &l.known[i]
	column := known.column(pick)
	p.cost += column[0]
	for n, r := range known.rows {
		p.use[r] += column[1+n]
	}
	return least, pick
}

// learn adds the columns that are new.
func (k *knownColumns) learn(columns []column) {
	stride := 1 + len(k.rows)
	if len(k.values) == stride*len(columns) {
		return
	}
	for _, c := range columns[len(k.values)/stride:] {
		k.values = append(append(k.values, c.cost), c.use...)
	}
}

func (k *knownColumns) column(pick int32) []float64 {
	stride := 1 + len(k.rows)
	return k.values[int(pick)*stride:][:stride]
}

// cheapestKnown finds the known configuration of workload i of least reduced cost.
func (l *lagrangian) cheapestKnown(i int, prices []float64) (least float64, pick int32) {
	known := &l.known[i]
	known.learn(l.columns[i])
	least, pick = math.Inf(1), -1
	from, to := int32(0), int32(len(l.columns[i]))
	if len(l.fixed) > 0 && l.fixed[i] >= 0 {
		from, to = l.fixed[i], l.fixed[i]+1
	}
	for k := from; k < to; k++ {
		column := known.column(k)
		reduced := column[0]
		for n, r := range known.rows {
			reduced += column[1+n] * prices[r]
		}
		if reduced < least && (l.narrowed[i] == 0 || l.fits(i, &l.columns[i][k])) {
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
		x       []int32
		columns slab[column]
		hashes  slab[uint64]
		values  slab[float64]
	)
	l.prepareKnown()
	for i := range l.workloads {
		if l.halted(i) {
			return
		}
		w := &l.workloads[i]
		lo, hi := l.bounds(w)
		room := len(l.columns[i]) + w.items + usuallyMet
		l.columns[i] = append(columns.take(room)[:0], l.columns[i]...)
		l.hashes[i] = append(hashes.take(room)[:0], l.hashes[i]...)
		known := &l.known[i]
		known.values = append(values.take(room * (1 + len(w.rows)))[:0], known.values...)
		if w.tenant != nil {
			continue
		}
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
