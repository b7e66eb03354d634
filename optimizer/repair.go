package optimizer

import (
	"cmp"
	"container/heap"
	"math"
)

// relieving is the exchange of a workload that costs least per unit of what it relieves rows that
// are exceeded of.
type relieving struct {
	workload int
	to       int32
	rate     float64
}

// relievings is a heap, the least rate first.
type relievings []relieving

func (h relievings) Len() int { return len(h) }
func (h relievings) Less(i, j int) bool {
	return cmp.Or(cmp.Compare(h[i].rate, h[j].rate), cmp.Compare(h[i].workload, h[j].workload)) < 0
}
func (h relievings) Swap(i, j int) { h[i], h[j] = h[j], h[i] }
func (h *relievings) Push(x any)   { *h = append(*h, x.(relieving)) }
func (h *relievings) Pop() any {
	old := *h
	last := old[len(old)-1]
	*h = old[:len(old)-1]
	return last
}

// repair exchanges columns, the cheapest in reduced cost per unit of excess first,
// until the assignment fits. It returns false where no exchange helps, or the effort
// is spent.
func (p *primal) repair(a *assignment) bool {
	for progress := true; progress && !p.l.feasible(a.use) && !p.l.budget.halted(); {
		progress = p.relieve(a)
	}
	return p.l.feasible(a.use)
}

// relieve makes exchanges until the assignment fits or none is left, and says whether it made any.
// Rates change with every exchange, mostly for the worse: that of the best one is worked out again
// before it is made (Minoux, Accelerated greedy algorithms, 1978).
func (p *primal) relieve(a *assignment) bool {
	open := &p.l.moves.relieving
	*open = (*open)[:0]
	for i := range p.l.workloads {
		if r, ok := p.cheapestRelief(a, i); ok {
			*open = append(*open, r)
		}
	}
	heap.Init(open)
	progress := false
	for made := 0; len(*open) > 0 && !p.l.feasible(a.use); {
		first := &(*open)[0]
		i := first.workload
		r, ok := p.cheapestRelief(a, i)
		if ok && r.rate <= first.rate {
			p.exchange(a, i, r.to)
			progress = true
			if made++; made > 4*len(p.l.workloads)+20 {
				return false
			}
			r, ok = p.cheapestRelief(a, i)
		}
		if ok {
			*first = r
			heap.Fix(open, 0)
		} else {
			heap.Pop(open)
		}
		if !p.l.budget.spend(p.choices(i)/pairsPerEffort + 1) {
			return false
		}
	}
	return progress
}

// cheapestRelief finds the exchange of workload i of the least rate.
func (p *primal) cheapestRelief(a *assignment, i int) (best relieving, ok bool) {
	if !p.relieves(a, i) {
		return best, false
	}
	best = relieving{workload: i, rate: math.Inf(1)}
	slight := 1e-9 * (math.Abs(a.cost) + 1)
	w, from := &p.l.workloads[i], p.entries(i, a.picks[i])
	reduced := w.reduced(from, p.prices)
	for n := range p.choices(i) {
		k := p.choice(i, n)
		to := p.entries(i, k)
		relief, waste := p.relief(a, i, from, to)
		if relief <= slight {
			continue
		}
		rate := (max(slight, w.reduced(to, p.prices)-reduced) + wasteShare*waste) / relief
		if rate < best.rate && p.allowed(i, k) {
			best.to, best.rate, ok = k, rate, true
		}
	}
	return best, ok
}

// wasteShare is the share of its price that use left over counts for: some of it serves others.
const wasteShare = 0.3

// relieves says whether workload i uses a row that is exceeded.
func (p *primal) relieves(a *assignment, i int) bool {
	use := p.entries(i, a.picks[i]).use()
	for n, r := range p.l.workloads[i].rows {
		if use[n] > 0 && a.use[r] > p.l.rows[r].limit {
			return true
		}
	}
	return false
}

// relief is by how much an exchange lowers what exceeds rows, and waste what it leaves unused of
// them, both priced.
func (p *primal) relief(a *assignment, i int, from, to entries) (relief, waste float64) {
	for n, r := range p.l.workloads[i].rows {
		if d := to.use()[n] - from.use()[n]; d != 0 {
			over := a.use[r] - p.l.rows[r].limit
			relief += (max(0, over) - max(0, over+d)) * p.unit[r]
			waste += (max(0, -over-d) - max(0, -over)) * p.unit[r]
		}
	}
	return relief, max(0, waste)
}
