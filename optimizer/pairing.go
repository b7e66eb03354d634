package optimizer

import (
	"cmp"
	"math"
	"slices"
)

// move is an exchange of the column of a workload, with its effect on the cost. There may be hundreds of thousands.
type move struct {
	workload, to int32
	change       float64
}

// easing is a move that changes the use of a row by use < 0. Of the row taken it takes most, priced, and take of it;
// that is none where it takes nothing.
type easing struct {
	move
	taken     int32
	use, take float64
}

// easings are those of a row that take most of the same other row, in the order of byChange.
type easings []easing

// moveLists keep the memory of moves for the next ones.
type moveLists struct {
	saving []move
	relief [][]easing
	groups [][]easings
	// relieving are those of repairs.
	relieving relievings
}

// pairLimit is the number of pairs after which a round of exchanges in two workloads ends, once the one at hand is made.
const pairLimit = 200_000

// chargeEvery is the number of pairs after which their effort is charged.
const chargeEvery = 20_000

// pairing finds exchanges of two workloads in one round.
type pairing struct {
	*primal
	*assignment
	// done are the workloads that the round has exchanged: their moves are from what they no longer have.
	done []bool
	// looked is the number of pairs so far, and of groups.
	looked int
}

// improveTwo makes pairs of exchanges that save cost: one that saves and needs
// more than there is, with one that makes room for less.
func (p *primal) improveTwo(a *assignment) bool {
	saving, relief := p.moves(a)
	pairs := pairing{primal: p, assignment: a, done: make([]bool, len(p.l.workloads))}
	groups := resize(p.l.moves.groups, len(p.l.rows))
	for r := range groups {
		groups[r] = groups[r][:0]
	}
	p.l.moves.groups = groups
	// The list of what saves is charged as pairs are, and does not count for the limit.
	improved, charged := false, -len(saving)
	for _, m := range saving {
		if pairs.looked-charged > chargeEvery {
			if !p.l.budget.spend((pairs.looked - charged) / pairsPerEffort) {
				return improved
			}
			charged = pairs.looked
		}
		if pairs.looked > pairLimit {
			break
		}
		if pairs.done[m.workload] {
			continue
		}
		row, excess := pairs.mostExceeded(m)
		if row == none {
			continue
		}
		if len(groups[row]) == 0 {
			groups[row] = appendGroups(groups[row], relief[row])
		}
		if other, found := pairs.partner(m, excess, groups[row]); found {
			pairs.apply(m)
			pairs.apply(other)
			improved = true
		}
	}
	p.l.budget.spend((pairs.looked - charged) / pairsPerEffort)
	return improved
}

// appendGroups sorts the easings of a row by what they take, and appends those that take the same together.
func appendGroups(groups []easings, all []easing) []easings {
	slices.SortFunc(all, byTaken)
	for from, to := 0, 0; from < len(all); from = to {
		for to < len(all) && all[to].taken == all[from].taken {
			to++
		}
		groups = append(groups, all[from:to])
	}
	return groups
}

// partner is the easing of the least change of cost that saves and fits together with m, the first of equal ones, if there is one. Excess is what m
// exceeds the row of the groups by. Groups are passed over of which what they take is full.
func (p *pairing) partner(m move, excess float64, groups []easings) (best move, found bool) {
	worth := -1e-12*math.Abs(p.cost) - m.change
	for _, group := range groups {
		p.looked++
		if group[0].change >= worth {
			continue
		}
		room := p.room(m, group[0].taken)
		if room <= 0 {
			continue
		}
		for n := range group {
			e := &group[n]
			if e.change >= worth {
				break
			}
			p.looked++
			if excess+e.use > 0 || e.take > room || e.workload == m.workload || p.done[e.workload] {
				continue
			}
			if p.fitTogether(m, e.move) {
				best, found, worth = e.move, true, e.change
				break
			}
		}
	}
	return best, found
}

// room is what a move leaves of a row, which may be none.
func (p *pairing) room(m move, row int32) float64 {
	if row == none {
		return math.Inf(1)
	}
	room := p.l.rows[row].limit - p.use[row]
	if n := slices.Index(p.l.workloads[m.workload].rows, row); n >= 0 {
		from, to := p.columns(m)
		room -= to.use()[n] - from.use()[n]
	}
	return room
}

// apply makes a move.
func (p *pairing) apply(m move) {
	p.exchange(p.assignment, int(m.workload), m.to)
	p.done[m.workload] = true
}

// columns are those that a move exchanges.
func (p *pairing) columns(m move) (from, to entries) {
	columns := &p.l.columns[m.workload]
	return columns.entries(p.picks[m.workload]), columns.entries(m.to)
}

// mostExceeded is the row that a move exceeds the most, priced, or none, and by how much.
func (p *pairing) mostExceeded(m move) (row int32, excess float64) {
	from, to := p.columns(m)
	row = none
	most := 0.0
	for n, r := range p.l.workloads[m.workload].rows {
		use := p.use[r] + (to.use()[n] - from.use()[n])
		if over := p.over(int(r), use); over > most {
			row, excess, most = r, use-p.l.rows[r].limit, over
		}
	}
	return row, excess
}

// fitTogether says whether two moves of different workloads fit.
func (p *pairing) fitTogether(m, other move) bool {
	from, to := p.columns(m)
	otherFrom, otherTo := p.columns(other)
	rows, others := p.l.workloads[m.workload].rows, p.l.workloads[other.workload].rows
	for n, k := 0, 0; n < len(rows) || k < len(others); {
		var (
			r      int32
			change float64
		)
		switch {
		case k == len(others) || n < len(rows) && rows[n] < others[k]:
			r, change = rows[n], to.use()[n]-from.use()[n]
			n++
		case n == len(rows) || others[k] < rows[n]:
			r, change = others[k], otherTo.use()[k]-otherFrom.use()[k]
			k++
		default:
			r, change = rows[n], (to.use()[n]-from.use()[n])+(otherTo.use()[k]-otherFrom.use()[k])
			n, k = n+1, k+1
		}
		if change > 0 && p.use[r]+change > p.l.rows[r].limit {
			return false
		}
	}
	return true
}

// moves lists all exchanges that save cost, most first, and for every row those
// that lower its use, in no order. Configurations whose reduced cost exceeds
// the least of their workload by more than what the assignment is above the bound
// can't be in a better one. There are none if the search has to end. The lists are valid until the next call.
func (p *primal) moves(a *assignment) (saving []move, relief [][]easing) {
	lists := &p.l.moves
	saving = lists.saving[:0]
	relief = resize(lists.relief, len(p.l.rows))
	for r := range relief {
		relief[r] = relief[r][:0]
	}
	for i := range p.l.columns {
		if !p.l.budget.goOn(p.choices(i)/pairsPerEffort + 1) {
			return nil, nil
		}
		w := &p.l.workloads[i]
		from := p.entries(i, a.picks[i])
		for n := range p.choices(i) {
			k := p.choice(i, n)
			to := p.entries(i, k)
			if k == a.picks[i] || w.reduced(to, p.prices)-p.least[i] > a.cost-p.bound || !p.allowed(i, k) {
				continue
			}
			m := move{workload: int32(i), to: k, change: to.cost() - from.cost()}
			if m.change < 0 {
				saving = append(saving, m)
			}
			if !to.spares(from) {
				continue
			}
			e := easing{move: m}
			e.taken, e.take = p.mostTaken(w, from, to)
			for n, r := range w.rows {
				if e.use = to.use()[n] - from.use()[n]; e.use < 0 {
					relief[r] = append(relief[r], e)
				}
			}
		}
	}
	slices.SortFunc(saving, byChange)
	lists.saving, lists.relief = saving, relief
	return saving, relief
}

// mostTaken is the row of which an exchange takes most, priced, or none, and how much.
func (p *primal) mostTaken(w *workload, from, to entries) (row int32, take float64) {
	row = none
	most := 0.0
	for n, r := range w.rows {
		use := to.use()[n] - from.use()[n]
		if price := use * p.unit[r]; price > most {
			row, take, most = r, use, price
		}
	}
	return row, take
}

// byTaken orders easings by what they take, and then by change.
func byTaken(a, b easing) int { return cmp.Or(cmp.Compare(a.taken, b.taken), byChange(a.move, b.move)) }

// byChange orders moves, those that save most first.
func byChange(a, b move) int {
	return cmp.Or(cmp.Compare(a.change, b.change), cmp.Compare(a.workload, b.workload), cmp.Compare(a.to, b.to))
}
