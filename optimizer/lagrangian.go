package optimizer

import (
	"math"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/poolwright/poolwright/internal/parallel"
)

// lagrangian is the relaxation of a program that prices the coupling rows:
//
//	L(λ) = Σ_w min_x (cost + λ·use) − λ·limit ≤ optimum, for any λ ≥ 0.
//
// It keeps all configurations that pricing has come across.
type lagrangian struct {
	*program
	pricer pricer
	budget *effort
	// columns are by workload; an index into them stays valid.
	columns []metColumns
	workers []worker // by block of workloads
	block   int      // the number of workloads in a block
	// tenants: some workloads are tenants, whose configurations are too many to be listed.
	tenants bool
	// seeded: there are the configurations that quick passes begin with.
	seeded bool
	// narrowed counts the bounds of the node by workload that are not those of the root.
	narrowed []int32
	// fixed has the configuration that a dive has chosen by workload, or −1; nil outside of dives.
	fixed []int32
	// lo and hi bound the items at the node being worked on.
	lo, hi []int32
	// tightened are the workloads with bounds that follow from single rows.
	tightened []int
	// moves are scratch of searches for plans.
	moves moveLists
}

// worker prices the workloads of a block. Each block has one of its own, so that what is found does
// not depend on how many of them work at the same time.
type worker struct {
	pricer pricer
	store  columnStore
	spent  int // effort not yet charged
}

// blockSize is the number of workloads in a block. Where there are tenants among them it is some share of them.
const (
	blockSize   = 256
	blockShare  = 32
	tenantBlock = 4
)

func (l *lagrangian) worker(i int) *worker { return &l.workers[i/l.block] }

// effort is what a solve may still spend.
type effort struct {
	left  int // pricing problems
	given int // left at the beginning
	kept  int // for stages to follow
	stop  *stopper
	// unasked is what has been spent since the caller was asked whether to stop.
	unasked int
	// grace is what may still be spent on a plan though nothing is left or the caller has stopped.
	grace int
}

// spend takes n pricing problems from the effort and says whether to go on.
func (e *effort) spend(n int) bool {
	e.left -= n
	e.grace = max(0, e.grace-n)
	e.goOn(n)
	return !e.exhausted()
}

// goOn says whether the caller lets the search go on after work that takes as long as n pricing problems. It is not charged here.
func (e *effort) goOn(n int) bool {
	if e.unasked += n; e.unasked >= askEvery {
		e.stop.asked()
		e.unasked = 0
	}
	return !e.halted()
}

// share is the effort for one stage: half of what is left if others follow.
func (e *effort) share(half bool) *effort {
	part := *e
	part.kept = 0
	if half {
		part.kept = part.left - part.left/2
		part.left /= 2
	}
	part.given = part.left
	return &part
}

// takeKept takes what was kept for stages to follow.
func (e *effort) takeKept() {
	e.left, e.given, e.kept = e.left+e.kept, e.given+e.kept, 0
}

// limit takes away what is beyond a limit.
func (e *effort) limit(most int) {
	e.left = min(e.left, most)
	e.given = e.left
}

// settle takes what a stage has spent of its share.
func (e *effort) settle(part *effort) { e.left -= part.spent() }

// spent is what a stage has spent of its share so far.
func (e *effort) spent() int { return e.given - e.left }

func (e *effort) exhausted() bool { return e.left <= 0 && e.grace == 0 || e.halted() }

// halted says whether the caller has stopped the search, and there is no grace left.
func (e *effort) halted() bool { return e.stop.stopped() && e.grace == 0 }

// stopper asks the caller whether to stop, one goroutine at a time, and not again after a yes. The
// zero value and nil never stop.
type stopper struct {
	ask   func() bool
	mutex sync.Mutex
	fired atomic.Bool
}

func (s *stopper) asked() bool {
	if s == nil || s.ask == nil || s.fired.Load() {
		return s.stopped()
	}
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if !s.fired.Load() && s.ask() {
		s.fired.Store(true)
	}
	return s.fired.Load()
}

func (s *stopper) stopped() bool { return s != nil && s.fired.Load() }

// firstMet is the number of configurations that most workloads meet in a solve from an earlier plan.
const firstMet = 2

func newLagrangian(p *program, budget *effort) *lagrangian {
	l := &lagrangian{program: p, budget: budget, block: blockSize}
	if l.tenants = slices.ContainsFunc(p.workloads, func(w workload) bool { return w.tenant != nil }); l.tenants {
		l.block = min(blockSize, max(tenantBlock, len(p.workloads)/blockShare))
	}
	l.columns = make([]metColumns, len(p.workloads))
	l.workers = make([]worker, parallel.Count(len(p.workloads), l.block))
	l.narrowed = make([]int32, len(p.workloads))
	l.lo = make([]int32, p.items)
	l.hi = make([]int32, p.items)
	var slabs columnSlabs
	for i := range p.workloads {
		w := &p.workloads[i]
		slabs.grow(&l.columns[i], w, firstMet)
		if l.limitItems(w) {
			l.tightened = append(l.tightened, i)
		}
	}
	return l
}

// limitItems sets the bounds on the items of a workload, and says whether any follows from a single row.
func (l *lagrangian) limitItems(w *workload) (tightened bool) {
	_, hi := l.bounds(w)
	if w.tenant != nil {
		copy(hi, w.tenant.most)
		return false
	}
	for j := range w.variants {
		v := &w.variants[j]
		useful := w.useful(v)
		for item := v.firstItem; item < v.firstItem+v.items; item++ {
			most := useful
			for _, u := range w.usesOf(&w.places[item]) {
				if fit := math.Floor(l.rows[u.row].limit / u.amount); fit < float64(most) {
					most, tightened = int32(fit), true
				}
			}
			hi[item] = most
		}
	}
	return tightened
}

// widen drops the bounds that follow from single rows, and returns the workloads that had any.
func (l *lagrangian) widen() []int {
	for _, i := range l.tightened {
		w := &l.workloads[i]
		_, hi := l.bounds(w)
		for j := range w.variants {
			v := &w.variants[j]
			useful := w.useful(v)
			for item := v.firstItem; item < v.firstItem+v.items; item++ {
				hi[item] = useful
			}
		}
	}
	return l.tightened
}

// useful is a number of replicas of a variant that some best plan does not exceed:
// beyond it the variant alone serves everything and one replica less costs no more.
func (w *workload) useful(v *variant) int32 {
	n := max(w.least, v.least, v.current)
	if v.capacity > 0 && w.demand > 0 {
		alone := math.Ceil(w.demand/v.capacity) + float64(w.redundancy)
		n = max(n, int32(min(alone, float64(unlimited))))
	}
	return n
}

func (l *lagrangian) bounds(w *workload) (lo, hi []int32) {
	return l.lo[w.firstItem : w.firstItem+w.items], l.hi[w.firstItem : w.firstItem+w.items]
}

// stepsPerEffort is the number of search steps that a pricing problem usually stays
// below.
const stepsPerEffort = 50

// price solves the pricing problem of workload i. index is none if it has no
// configuration; bound is then +Inf or, if the search was cut off, still valid.
func (l *lagrangian) price(i int, prices []float64) (bound float64, index int32) {
	bound, index = l.priceWithin(i, prices)
	l.charge(l.worker(i))
	return bound, index
}

func (l *lagrangian) charge(w *worker) {
	l.budget.spend(w.spent)
	w.spent = 0
}

func (l *lagrangian) priceWithin(i int, prices []float64) (bound float64, index int32) {
	answer, x := l.cheapest(i, prices)
	if !answer.found {
		return answer.bound, none
	}
	index, ok := l.intern(i, x)
	if !ok {
		return answer.bound, none
	}
	return answer.bound, index
}

// cheapest is the cheapest configuration of workload i within the bounds of the node, valid until the next call.
func (l *lagrangian) cheapest(i int, prices []float64) (priced, []int32) {
	w, by := &l.workloads[i], l.worker(i)
	lo, hi := l.bounds(w)
	if w.tenant != nil {
		answer, x, spent := w.tenant.solve(lo, hi, prices, l.budget)
		by.spent += spent
		return answer, x
	}
	answer := by.pricer.solve(w, lo, hi, prices)
	by.spent += by.pricer.steps / stepsPerEffort
	return answer, by.pricer.x
}

// intern returns the index of a configuration among the columns of workload i.
func (l *lagrangian) intern(i int, x []int32) (int32, bool) {
	columns, hash := &l.columns[i], hashOfCounts(x)
	if k := columns.find(x, hash); k != none {
		return k, true
	}
	store := &l.worker(i).store
	defer store.reset()
	c, ok := store.newColumn(&l.workloads[i], x)
	if !ok {
		return none, false
	}
	return columns.add(&c, hash), true
}

// fits says whether column k of workload i is within the bounds of the node.
func (l *lagrangian) fits(i int, k int32) bool {
	lo, hi := l.bounds(&l.workloads[i])
	for item, n := range l.columns[i].x(k) {
		if n < lo[item] || n > hi[item] {
			return false
		}
	}
	return true
}

// cut is one configuration per workload; cost + Σ λ·(use − limit) is an upper bound
// on L.
type cut struct {
	cost  float64
	use   []float64
	picks []int32
}

// evaluation is L at some prices.
type lagrangianValue struct {
	// bound is a lower bound on L, rounding errors considered; scale is the size of
	// the terms it was summed from.
	bound, scale float64
	cut          cut
	// values are the bounds by workload.
	values []float64
	// ok: every workload has a configuration.
	ok bool
}

// askEvery is the number of pricing problems after which the caller is asked whether to stop; those
// with a routing take longer, and each of them asks.
const askEvery = 64

// evaluate works out L(prices) within the bounds of the node. Where the caller stops it, the
// workloads not priced yet count as 0, which bounds them too: costs and prices are not negative.
func (l *lagrangian) evaluate(prices []float64) lagrangianValue {
	v := lagrangianValue{values: make([]float64, len(l.workloads))}
	v.cut.picks = make([]int32, len(l.workloads))
	parallel.Blocks(len(l.workloads), l.block, func(_, from, to int) {
		for i := from; i < to; i++ {
			v.cut.picks[i] = -1
			if l.halted(i) {
				continue
			}
			v.values[i], v.cut.picks[i] = l.priceWithin(i, prices)
			if math.IsInf(v.values[i], 1) {
				return
			}
		}
	})
	for k := range l.workers {
		l.charge(&l.workers[k])
	}
	l.sumValue(&v, prices)
	return v
}

// repriced is a value at the same prices after the bounds of some workloads have changed.
func (l *lagrangian) repriced(from *lagrangianValue, prices []float64, changed []int) lagrangianValue {
	v := lagrangianValue{values: slices.Clone(from.values), cut: cut{picks: slices.Clone(from.cut.picks)}}
	for _, i := range changed {
		v.values[i], v.cut.picks[i] = l.price(i, prices)
	}
	l.sumValue(&v, prices)
	return v
}

// sumValue sums up the values of the workloads.
func (l *lagrangian) sumValue(v *lagrangianValue, prices []float64) {
	v.ok = true
	var total boundSum
	for i, bound := range v.values {
		if v.cut.picks[i] < 0 {
			v.ok = false
			if math.IsInf(bound, 1) {
				v.bound = bound
				return
			}
		}
		total.add(bound)
	}
	for r, row := range l.rows {
		total.add(-prices[r] * row.limit)
	}
	v.bound, v.scale = total.bound(), total.size
	if v.ok {
		l.sumCut(&v.cut)
	}
}

// halted says whether the caller has stopped the search before workload i; it asks now and then.
func (l *lagrangian) halted(i int) bool {
	if w := &l.workloads[i]; i > 0 && i%askEvery == 0 || w.routing != nil || w.tenant != nil {
		return l.budget.stop.asked()
	}
	return l.budget.stop.stopped()
}

// sumCut fills in cost and use of a cut.
func (l *lagrangian) sumCut(c *cut) {
	var cost runningSum
	c.use = make([]float64, len(l.rows))
	for i, pick := range c.picks {
		of := l.columns[i].entries(pick)
		cost.add(of.cost())
		for n, r := range l.workloads[i].rows {
			c.use[r] += of.use()[n]
		}
	}
	c.cost = cost.total()
}

// exchanged is a cut with another configuration of workload i.
func (l *lagrangian) exchanged(from *cut, i int, pick int32) cut {
	old, to := l.columns[i].entries(from.picks[i]), l.columns[i].entries(pick)
	c := cut{cost: from.cost + to.cost() - old.cost(), use: slices.Clone(from.use), picks: slices.Clone(from.picks)}
	for n, r := range l.workloads[i].rows {
		c.use[r] += to.use()[n] - old.use()[n]
	}
	c.picks[i] = pick
	return c
}

// feasible says whether the configurations of a cut fit together.
func (l *lagrangian) feasible(use []float64) bool {
	for r := range l.rows {
		if use[r] > l.rows[r].limit {
			return false
		}
	}
	return true
}

// at is the value of a cut at some prices.
func (l *lagrangian) at(c *cut, prices []float64) float64 {
	value := c.cost
	for r := range l.rows {
		if prices[r] > 0 {
			value += prices[r] * (c.use[r] - l.rows[r].limit)
		}
	}
	return value
}
