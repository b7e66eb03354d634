package optimizer

import "math"

// evaluateKnown is the Lagrangian over the configurations met so far: never below L, and
// some twenty times quicker. It returns false if some workload has none.
func (l *lagrangian) evaluateKnown(prices []float64) (value float64, c cut, ok bool) {
	c.picks = make([]int32, len(l.workloads))
	var total runningSum
	for i := range l.workloads {
		least, pick := l.cheapestKnown(i, prices)
		if pick < 0 {
			return 0, c, false
		}
		c.picks[i] = pick
		total.add(least)
	}
	for r, row := range l.rows {
		total.add(-prices[r] * row.limit)
	}
	l.sumCut(&c)
	return total.total(), c, true
}

// cheapestKnown finds the known configuration of workload i of least reduced cost.
func (l *lagrangian) cheapestKnown(i int, prices []float64) (least float64, pick int32) {
	w := &l.workloads[i]
	known, stride := l.known[i], 1+len(w.rows)
	least, pick = math.Inf(1), -1
	for k := int32(0); len(known) >= stride; k++ {
		reduced := known[0]
		for n, r := range w.rows {
			reduced += known[1+n] * prices[r]
		}
		if reduced < least && (l.narrowed[i] == 0 || l.fits(i, &l.columns[i][k])) {
			least, pick = reduced, k
		}
		known = known[stride:]
	}
	return least, pick
}

// seed adds, for every workload, the configuration without replicas and those of one
// variant alone, so that the first quick passes have something to go by.
func (l *lagrangian) seed() {
	var x []int32
	for i := range l.workloads {
		w := &l.workloads[i]
		lo, hi := l.bounds(w)
		x = resize(x, w.items)
		copy(x, lo)
		l.intern(i, x)
		for j := range w.variants {
			v := &w.variants[j]
			n := min(w.useful(v), v.most, w.most)
			for k := range v.places {
				item := int(v.firstItem) + k
				x[item] = max(lo[item], min(n, hi[item]))
				l.intern(i, x)
				x[item] = lo[item]
			}
		}
	}
}
