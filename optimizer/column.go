package optimizer

import "math"

// column is one configuration of a workload.
type column struct {
	// x are the replicas of the workload's items.
	x []int32
	entries
	rest
}

// entries of a column are its cost, in the units of the stage and without multipliers, and then its use of workload.rows.
type entries []float64

func (e entries) cost() float64  { return e[0] }
func (e entries) use() []float64 { return e[1:] }

// rest is what a configuration leaves.
type rest struct {
	// unmet demand, and replicas missing to the declared minimums.
	unmet   float64
	missing int32
}

// columnStore has room for columns until it is reset.
type columnStore struct {
	replicas slab[int32] // of those that are kept
	entries  slab[float64]
	counts   []int32 // scratch
}

// reset takes all columns back.
func (s *columnStore) reset() {
	s.replicas.reset()
	s.entries.reset()
}

// newColumn works out cost and use of a configuration, and says whether it is
// allowed at all.
func (s *columnStore) newColumn(w *workload, x []int32) (column, bool) {
	c := column{x: x, entries: s.entries.take(1 + len(w.rows))}
	if w.tenant != nil {
		allowed := w.tenant.configure(&c)
		return c, allowed
	}
	s.counts = resize(s.counts, len(w.variants))
	counts, use := s.counts, c.use()
	clear(counts)
	total, missing, used := int32(0), int32(0), 0
	for j := range w.variants {
		v := &w.variants[j]
		for item := v.firstItem; item < v.firstItem+v.items; item++ {
			n, at := x[item], &w.places[item]
			if n == 0 {
				continue
			}
			counts[j] += n
			for _, u := range w.usesOf(at) {
				use[w.local(u.row)] += u.amount * float64(n)
			}
		}
		if counts[j] > 0 {
			used++
		}
		if total += counts[j]; counts[j] > v.most || total > w.most || w.single && used > 1 {
			return c, false
		}
		missing += max(0, v.least-counts[j])
	}
	c.unmet = w.unmet(counts)
	c.missing = max(missing, w.least-total)
	if !w.charge(&c) {
		return c, false
	}
	c.entries[0] = w.costOf(c.x, c.rest)
	return c, true
}

// charge adds what unmet demand and missing replicas use, and says whether they are allowed.
func (w *workload) charge(c *column) bool {
	if c.unmet > 0 {
		if math.IsInf(w.unmetCost, 1) {
			return false
		}
		if w.unmetRow != none {
			c.use()[w.local(w.unmetRow)] += c.unmet
		}
	}
	if c.missing > 0 {
		if math.IsInf(w.shortfallCost, 1) {
			return false
		}
		if w.shortfallRow != none {
			c.use()[w.local(w.shortfallRow)] += float64(c.missing)
		}
	}
	return true
}

// costOf is the cost of an allowed configuration.
func (w *workload) costOf(x []int32, left rest) float64 {
	cost := 0.0
	for j := range w.variants {
		v, n := &w.variants[j], int32(0)
		for item := v.firstItem; item < v.firstItem+v.items; item++ {
			n += x[item]
			cost += w.places[item].price * float64(x[item])
		}
		cost += v.switching(n)
	}
	if left.unmet > 0 {
		cost += w.unmetCost * left.unmet
	}
	if left.missing > 0 {
		cost += w.shortfallCost * float64(left.missing)
	}
	return cost
}

// local is the index of a row in w.rows.
func (w *workload) local(row int32) int {
	for i, r := range w.rows {
		if r == row {
			return i
		}
	}
	panic("optimizer: row of another workload")
}

func (v *variant) switching(n int32) float64 {
	if n > v.current {
		return v.up * float64(n-v.current)
	}
	return v.down * float64(v.current-n)
}

// unmet is the demand left over when the redundant replicas fail.
func (w *workload) unmet(counts []int32) float64 {
	need := w.demand
	switch {
	case w.routing != nil:
		need = w.routing.unmetAfter(counts, w.redundancy)
	case w.redundancy == 0:
		for j, n := range counts {
			need -= w.variants[j].capacity * float64(n)
		}
	default:
		need -= w.servedRedundantly(counts)
	}
	if need <= w.epsilon() {
		return 0
	}
	return need
}

func (w *workload) servedRedundantly(counts []int32) float64 {
	served := 0.0
	failing := w.redundancy
	below := math.Inf(1)
	for {
		highest := math.Inf(-1)
		for j := range counts {
			if c := w.variants[j].capacity; c < below && c > highest {
				highest = c
			}
		}
		if math.IsInf(highest, -1) {
			return served
		}
		for j, n := range counts {
			if w.variants[j].capacity == highest {
				failed := min(failing, n)
				failing -= failed
				served += highest * float64(n-failed)
			}
		}
		below = highest
	}
}

// epsilon is the demand that counts as served; half of what Evaluate allows, which
// sums in another order.
func (w *workload) epsilon() float64 { return tolerance / 2 * w.demand }

// reduced is the cost of a column with its uses priced.
func (w *workload) reduced(of entries, prices []float64) float64 {
	value := of.cost()
	for n, use := range of.use() {
		value += prices[w.rows[n]] * use
	}
	return value
}
