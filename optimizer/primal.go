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
	return p.l.columns[i].len()
}

func (p *primal) choice(i, n int) int32 {
	if p.among != nil {
		return p.among.picks[i][n]
	}
	return int32(n)
}

// allowed says whether column k of workload i is within the bounds of the node.
func (p *primal) allowed(i int, k int32) bool { return p.l.narrowed[i] == 0 || p.l.fits(i, k) }

func (p *primal) start(picks []int32) *assignment {
	c := cut{picks: slices.Clone(picks)}
	p.l.sumCut(&c)
	return &assignment{picks: c.picks, use: c.use, cost: c.cost}
}

func (p *primal) entries(i int, k int32) entries { return p.l.columns[i].entries(k) }

// exchange gives workload i column k.
func (p *primal) exchange(a *assignment, i int, k int32) {
	from, to := p.entries(i, a.picks[i]), p.entries(i, k)
	a.cost += to.cost() - from.cost()
	for n, r := range p.l.workloads[i].rows {
		a.use[r] += to.use()[n] - from.use()[n]
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
	for i := range p.l.columns {
		choices := p.choices(i)
		looked += choices
		best, bestChange := none, -1e-12*(math.Abs(a.cost)+1e-300)
		from := p.entries(i, a.picks[i])
		for n := range choices {
			k := p.choice(i, n)
			to := p.entries(i, k)
			if change := to.cost() - from.cost(); change < bestChange && p.fitsAfter(a, i, from, to) && p.allowed(i, k) {
				best, bestChange = k, change
			}
		}
		if best != none {
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
		w, from := &p.l.workloads[i], a.picks[i]
		if !w.divisible() {
			continue
		}
		unmet, replicas := p.l.columns[i].rest(from).unmet, p.l.columns[i].x(from)[0]
		if unmet == 0 {
			continue
		}
		n := math.Ceil(unmet / w.variants[0].capacity)
		for _, u := range w.usesOf(&w.places[0]) {
			n = min(n, math.Floor((p.l.rows[u.row].limit-a.use[u.row])/u.amount))
		}
		_, hi := p.l.bounds(w)
		if n = min(n, float64(hi[0]-replicas)); n < 1 {
			continue
		}
		if k, ok := p.l.intern(i, []int32{replicas + int32(n)}); ok && p.entries(i, k).cost() < p.entries(i, from).cost() && p.allowed(i, k) {
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

func (p *primal) fitsAfter(a *assignment, i int, from, to entries) bool {
	for n, r := range p.l.workloads[i].rows {
		if d := to.use()[n] - from.use()[n]; d > 0 && a.use[r]+d > p.l.rows[r].limit {
			return false
		}
	}
	return true
}

// spares says whether a column uses less of some row than another of its workload.
func (e entries) spares(other entries) bool {
	for n, use := range e.use() {
		if use < other.use()[n] {
			return true
		}
	}
	return false
}
