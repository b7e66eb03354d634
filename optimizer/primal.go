package optimizer

import (
	"math"
	"slices"
)

// assignment is one column per workload.
type assignment struct {
	picks []int32
	use   []float64
	cost  float64
}

// primal improves assignments by exchanging the columns of one or two workloads.
type primal struct {
	l      *lagrangian
	prices []float64
	// bound and least are L at the prices, and its terms by workload.
	bound float64
	least []float64
	// unit is the price of a row for comparing uses; none is 0.
	unit []float64
	// among: only columns that this program has are exchanged for; nil: all.
	among *master
}

func newPrimal(b *bundle) *primal {
	return &primal{l: b.l, prices: b.prices, bound: b.value.bound, least: b.value.values, unit: b.units()}
}

// choices is the number of columns of workload i that are tried, and choice the index of one of them.
func (p *primal) choices(i int) int {
	if p.among != nil {
		return len(p.among.picks[i])
	}
	return len(p.l.columns[i])
}

func (p *primal) choice(i, n int) int {
	if p.among != nil {
		return int(p.among.picks[i][n])
	}
	return n
}

// allowed says whether column k of workload i is within the bounds of the node.
func (p *primal) allowed(i, k int) bool {
	return p.l.narrowed[i] == 0 || p.l.fits(i, &p.l.columns[i][k])
}

func (p *primal) start(picks []int32) *assignment {
	c := cut{picks: slices.Clone(picks)}
	p.l.sumCut(&c)
	return &assignment{picks: c.picks, use: c.use, cost: c.cost}
}

func (p *primal) column(i int, k int32) *column { return &p.l.columns[i][k] }

// exchange gives workload i column k.
func (p *primal) exchange(a *assignment, i int, k int32) {
	from, to := p.column(i, a.picks[i]), p.column(i, k)
	a.cost += to.cost - from.cost
	for n, r := range p.l.workloads[i].rows {
		a.use[r] += to.use[n] - from.use[n]
	}
	a.picks[i] = k
}

// over is the price of what a use exceeds a row by.
func (p *primal) over(r int, use float64) float64 {
	if over := use - p.l.rows[r].limit; over > 0 {
		return over * p.unit[r]
	}
	return 0
}

// improve exchanges columns of one workload, then of two, while that saves cost and
// still fits.
func (p *primal) improve(a *assignment) {
	for range 50 {
		for p.improveOne(a) {
		}
		if !p.improveTwo(a) || p.l.budget.exhausted() {
			return
		}
	}
}

// pairsPerEffort configurations or pairs of them are about as much work to look at as one pricing problem.
const pairsPerEffort = 100

func (p *primal) improveOne(a *assignment) bool {
	improved, looked := false, 0
	for i, columns := range p.l.columns {
		choices := p.choices(i)
		looked += choices
		best, bestChange := int32(-1), -1e-12*(math.Abs(a.cost)+1e-300)
		from := p.column(i, a.picks[i])
		for n := range choices {
			k := p.choice(i, n)
			to := &columns[k]
			if change := to.cost - from.cost; change < bestChange && p.fitsAfter(a, i, from, to) && p.allowed(i, k) {
				best, bestChange = int32(k), change
			}
		}
		if best >= 0 {
			p.exchange(a, i, best)
			improved = true
		}
	}
	improved = p.topUp(a) || improved
	return p.l.budget.spend(looked/pairsPerEffort) && improved
}

// topUp adds replicas of workloads with a single item while they fit and serve demand for less than it costs.
func (p *primal) topUp(a *assignment) (improved bool) {
	for i := range p.l.workloads {
		w, from := &p.l.workloads[i], p.column(i, a.picks[i])
		if !w.divisible() || from.unmet == 0 {
			continue
		}
		n := math.Ceil(from.unmet / w.variants[0].capacity)
		for _, u := range w.usesOf(&w.places[0]) {
			n = min(n, math.Floor((p.l.rows[u.row].limit-a.use[u.row])/u.amount))
		}
		_, hi := p.l.bounds(w)
		if n = min(n, float64(hi[0]-from.x[0])); n < 1 {
			continue
		}
		cost := from.cost
		if k, ok := p.l.intern(i, []int32{from.x[0] + int32(n)}); ok && p.column(i, k).cost < cost && p.allowed(i, int(k)) {
			p.exchange(a, i, k)
			improved = true
		}
	}
	return improved
}

// divisible says whether a workload has a single item, and demand that need not be served.
func (w *workload) divisible() bool {
	return w.items == 1 && w.tenant == nil && w.redundancy == 0 && w.routing == nil && w.demand > 0 && !math.IsInf(w.unmetCost, 1) && (w.unmetRow == none || w.charged) && w.variants[0].capacity > 0
}

func (p *primal) fitsAfter(a *assignment, i int, from, to *column) bool {
	for n, r := range p.l.workloads[i].rows {
		if d := to.use[n] - from.use[n]; d > 0 && a.use[r]+d > p.l.rows[r].limit {
			return false
		}
	}
	return true
}

// spares says whether a column uses less of some row than another of its workload.
func (c *column) spares(other *column) bool {
	for n := range c.use {
		if c.use[n] < other.use[n] {
			return true
		}
	}
	return false
}
