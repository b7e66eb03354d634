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
	l *lagrangian
	// choices are the columns by workload that are tried.
	choices [][]int32
	prices  []float64
	// unit is what makes the use of rows comparable: 1/limit.
	unit []float64
}

func newPrimal(l *lagrangian, prices []float64) *primal {
	p := &primal{l: l, prices: prices, unit: make([]float64, len(l.rows)), choices: make([][]int32, len(l.workloads))}
	for r := range l.rows {
		p.unit[r] = 1 / max(1e-9, l.rows[r].limit)
	}
	for i := range l.workloads {
		for k := range l.columns[i] {
			if l.fits(i, &l.columns[i][k]) {
				p.choices[i] = append(p.choices[i], int32(k))
			}
		}
	}
	return p
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

// excess is by how much an assignment exceeds the rows.
func (p *primal) excess(a *assignment) float64 {
	total := 0.0
	for r := range p.l.rows {
		total += p.over(r, a.use[r])
	}
	return total
}

func (p *primal) over(r int, use float64) float64 {
	if over := use - p.l.rows[r].limit; over > 0 {
		return over * p.unit[r]
	}
	return 0
}

// repair exchanges columns, the cheapest in reduced cost per unit of excess first,
// until the assignment fits. It returns false where no exchange helps.
func (p *primal) repair(a *assignment) bool {
	slight := 1e-9 * (math.Abs(a.cost) + 1)
	for range 4*len(p.l.workloads) + 20 {
		if p.l.feasible(a.use) {
			return true
		}
		bestI, bestK, bestRate := -1, int32(0), math.Inf(1)
		for i := range p.choices {
			if !p.relieves(a, i) {
				continue
			}
			from := p.column(i, a.picks[i])
			reduced := p.l.workloads[i].reduced(from, p.prices)
			for _, k := range p.choices[i] {
				to := p.column(i, k)
				change := p.excessChange(a, i, from, to)
				if change >= -1e-12 {
					continue
				}
				rate := max(slight, p.l.workloads[i].reduced(to, p.prices)-reduced) / -change
				if rate < bestRate {
					bestI, bestK, bestRate = i, k, rate
				}
			}
		}
		if bestI < 0 {
			return false
		}
		p.exchange(a, bestI, bestK)
	}
	return p.l.feasible(a.use)
}

// relieves says whether workload i uses a row that is exceeded.
func (p *primal) relieves(a *assignment, i int) bool {
	c := p.column(i, a.picks[i])
	for n, r := range p.l.workloads[i].rows {
		if c.use[n] > 0 && a.use[r] > p.l.rows[r].limit {
			return true
		}
	}
	return false
}

func (p *primal) excessChange(a *assignment, i int, from, to *column) float64 {
	change := 0.0
	for n, r := range p.l.workloads[i].rows {
		if d := to.use[n] - from.use[n]; d != 0 {
			change += p.over(int(r), a.use[r]+d) - p.over(int(r), a.use[r])
		}
	}
	return change
}

// move is an exchange with its effect on the cost.
type move struct {
	workload int
	to       int32
	change   float64
}

// improve exchanges columns of one workload, then of two, while that saves cost and
// still fits.
func (p *primal) improve(a *assignment) {
	for range 50 {
		for p.improveOne(a) {
		}
		if !p.improveTwo(a) {
			return
		}
	}
}

func (p *primal) improveOne(a *assignment) bool {
	improved := false
	for i := range p.choices {
		best, bestChange := int32(-1), -1e-12*(math.Abs(a.cost)+1e-300)
		from := p.column(i, a.picks[i])
		for _, k := range p.choices[i] {
			to := p.column(i, k)
			if change := to.cost - from.cost; change < bestChange && p.fitsAfter(a, i, from, to) {
				best, bestChange = k, change
			}
		}
		if best >= 0 {
			p.exchange(a, i, best)
			improved = true
		}
	}
	return improved
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

// pairsPerEffort pairs are about as much work as one pricing problem.
const pairsPerEffort = 50

// improveTwo makes all pairs of exchanges that save cost: one that saves and needs
// more than there is, with one that makes room for less.
func (p *primal) improveTwo(a *assignment) bool {
	saving, relief := p.moves(a)
	improved, looked := false, 0
	defer func() { p.l.budget.left -= (looked + len(saving) + len(relief)) / pairsPerEffort }()
	done := make([]bool, len(p.choices))
	for _, m := range saving {
		if done[m.workload] {
			continue
		}
		was := a.picks[m.workload]
		from, to := p.column(m.workload, was), p.column(m.workload, m.to)
		for _, other := range relief {
			if m.change+other.change >= -1e-12*math.Abs(a.cost) || looked > pairLimit {
				break
			}
			looked++
			if other.workload == m.workload || done[other.workload] {
				continue
			}
			p.exchange(a, m.workload, m.to)
			back, next := p.column(other.workload, a.picks[other.workload]), p.column(other.workload, other.to)
			if p.fitsTogether(a, m.workload, from, to, other.workload, back, next) {
				p.exchange(a, other.workload, other.to)
				done[m.workload], done[other.workload] = true, true
				improved = true
				break
			}
			p.exchange(a, m.workload, was)
		}
	}
	return improved
}

// fitsTogether says whether the rows hold once workload j changes too; i has changed.
func (p *primal) fitsTogether(a *assignment, i int, from, to *column, j int, back, next *column) bool {
	for n, r := range p.l.workloads[j].rows {
		if a.use[r]+next.use[n]-back.use[n] > p.l.rows[r].limit {
			return false
		}
	}
	for n, r := range p.l.workloads[i].rows {
		if to.use[n] <= from.use[n] || a.use[r] <= p.l.rows[r].limit {
			continue
		}
		eased := 0.0
		for m, s := range p.l.workloads[j].rows {
			if s == r {
				eased = next.use[m] - back.use[m]
			}
		}
		if a.use[r]+eased > p.l.rows[r].limit {
			return false
		}
	}
	return true
}

// moves lists all exchanges that save cost, most first, and all exchanges that
// lower the use of some row, the cheapest first.
func (p *primal) moves(a *assignment) (saving, relief []move) {
	for i := range p.choices {
		from := p.column(i, a.picks[i])
		for _, k := range p.choices[i] {
			if k == a.picks[i] {
				continue
			}
			to := p.column(i, k)
			m := move{i, k, to.cost - from.cost}
			if m.change < 0 {
				saving = append(saving, m)
			}
			for n := range to.use {
				if to.use[n] < from.use[n] {
					relief = append(relief, m)
					break
				}
			}
		}
	}
	byChange := func(a, b move) int {
		return cmp.Or(cmp.Compare(a.change, b.change), cmp.Compare(a.workload, b.workload), cmp.Compare(a.to, b.to))
	}
	slices.SortFunc(saving, byChange)
	slices.SortFunc(relief, byChange)
	return saving, relief
}
