package optimizer

import (
	"cmp"
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

// move is an exchange with its effect on the cost and on the use of the rows of its workload.
type move struct {
	workload int
	to       int32
	change   float64
	use      []float64
}

// moveLists keep the memory of moves for the next ones.
type moveLists struct {
	all    []move
	uses   slab[float64]
	saving []*move
	relief [][]*move
	// relieving are those of repairs.
	relieving relievings
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

// pairLimit is the number of pairs of exchanges that one round looks at.
const pairLimit = 1_000_000

// chargeEvery is the number of pairs after which their effort is charged.
const chargeEvery = 20_000

// pairsPerEffort pairs are about as much work as one pricing problem.
const pairsPerEffort = 100

// improveTwo makes all pairs of exchanges that save cost: one that saves and needs
// more than there is, with one that makes room for less.
func (p *primal) improveTwo(a *assignment) bool {
	saving, relief := p.moves(a)
	improved, looked, charged := false, len(saving), 0
	done := make([]bool, len(p.l.workloads))
	sorted := make([]bool, len(p.l.rows))
	for _, m := range saving {
		if looked-charged > chargeEvery {
			if !p.l.budget.spend((looked - charged) / pairsPerEffort) {
				return improved
			}
			charged = looked
		}
		if done[m.workload] {
			continue
		}
		row := p.mostExceeded(a, m)
		if row < 0 {
			continue
		}
		if !sorted[row] {
			slices.SortFunc(relief[row], byChange)
			sorted[row] = true
		}
		for _, other := range relief[row] {
			if m.change+other.change >= -1e-12*math.Abs(a.cost) || looked > pairLimit {
				break
			}
			looked++
			if a.use[row]+p.change(m, row)+p.change(other, row) > p.l.rows[row].limit || other.workload == m.workload || done[other.workload] {
				continue
			}
			if p.fitsTogether(a, m, other) {
				p.exchange(a, m.workload, m.to)
				p.exchange(a, other.workload, other.to)
				done[m.workload], done[other.workload] = true, true
				improved = true
				break
			}
		}
	}
	p.l.budget.spend((looked - charged) / pairsPerEffort)
	return improved
}

// mostExceeded is the row that a move exceeds the most, −1 if it fits.
func (p *primal) mostExceeded(a *assignment, m *move) int {
	row, most := -1, 0.0
	for n, r := range p.l.workloads[m.workload].rows {
		if over := p.over(int(r), a.use[r]+m.use[n]); over > most {
			row, most = int(r), over
		}
	}
	return row
}

func (p *primal) fitsTogether(a *assignment, m, other *move) bool {
	rows, others := p.l.workloads[m.workload].rows, p.l.workloads[other.workload].rows
	for n, k := 0, 0; n < len(rows) || k < len(others); {
		var (
			r      int32
			change float64
		)
		switch {
		case k == len(others) || n < len(rows) && rows[n] < others[k]:
			r, change = rows[n], m.use[n]
			n++
		case n == len(rows) || others[k] < rows[n]:
			r, change = others[k], other.use[k]
			k++
		default:
			r, change = rows[n], m.use[n]+other.use[k]
			n, k = n+1, k+1
		}
		if change > 0 && a.use[r]+change > p.l.rows[r].limit {
			return false
		}
	}
	return true
}

// change is the effect of a move on the use of a row.
func (p *primal) change(m *move, row int) float64 {
	for n, r := range p.l.workloads[m.workload].rows {
		if int(r) == row {
			return m.use[n]
		}
	}
	return 0
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

// moves lists all exchanges that save cost, most first, and for every row those
// that lower its use, in no order. Configurations whose reduced cost exceeds
// the least of their workload by more than what the assignment is above the bound
// can't be in a better one. There are none if the search has to end. The lists are valid until the next call.
func (p *primal) moves(a *assignment) (saving []*move, relief [][]*move) {
	lists := &p.l.moves
	lists.uses.reset()
	all, saving := lists.all[:0], lists.saving[:0]
	relief = resize(lists.relief, len(p.l.rows))
	for r := range relief {
		relief[r] = relief[r][:0]
	}
	for i, columns := range p.l.columns {
		if !p.l.budget.goOn(p.choices(i)/pairsPerEffort + 1) {
			return nil, nil
		}
		w := &p.l.workloads[i]
		from := p.column(i, a.picks[i])
		for n := range p.choices(i) {
			k := p.choice(i, n)
			to := &columns[k]
			if int32(k) == a.picks[i] || w.reduced(to, p.prices)-p.least[i] > a.cost-p.bound || !p.allowed(i, k) {
				continue
			}
			if to.cost >= from.cost && !to.spares(from) {
				continue
			}
			m := move{workload: i, to: int32(k), change: to.cost - from.cost, use: lists.uses.take(len(w.rows))}
			for n := range m.use {
				m.use[n] = to.use[n] - from.use[n]
			}
			all = append(all, m)
		}
	}
	for k := range all {
		if all[k].change < 0 {
			saving = append(saving, &all[k])
		}
		for n, r := range p.l.workloads[all[k].workload].rows {
			if all[k].use[n] < 0 {
				relief[r] = append(relief[r], &all[k])
			}
		}
	}
	slices.SortFunc(saving, byChange)
	lists.all, lists.saving, lists.relief = all, saving, relief
	return saving, relief
}

// byChange orders moves, those that save most first.
func byChange(a, b *move) int {
	return cmp.Or(cmp.Compare(a.change, b.change), cmp.Compare(a.workload, b.workload), cmp.Compare(a.to, b.to))
}
