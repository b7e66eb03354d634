package optimizer

import (
	"container/heap"
	"math"
	"slices"

	"github.com/poolwright/poolwright/optimizer/lp"
)

// tree solves a program by branch and bound: the bound of a node is the maximum of
// the Lagrangian within the node's bounds on replicas, warm from its parent.
type tree struct {
	l      *lagrangian
	bundle bundle
	gap    float64
	engine lp.Engine

	best *assignment
	// floor is the least bound of the nodes given up because nothing better than
	// the target can be in them.
	floor float64
	scale float64
	open  nodeHeap
	made  int
	// rootPrices are the multipliers at the root, for shadow prices.
	rootPrices []float64
}

// treeNode is an open node.
type treeNode struct {
	bound   float64
	prices  []float64
	cuts    []cut
	step    float64
	changes []boundChange
	serial  int
}

// boundChange narrows the bounds of an item of a workload.
type boundChange struct {
	workload, item int
	lo, hi         int32
}

type nodeHeap []*treeNode

func (h nodeHeap) Len() int { return len(h) }
func (h nodeHeap) Less(i, j int) bool {
	if h[i].bound != h[j].bound {
		return h[i].bound < h[j].bound
	}
	return h[i].serial < h[j].serial
}
func (h nodeHeap) Swap(i, j int) { h[i], h[j] = h[j], h[i] }
func (h *nodeHeap) Push(x any)   { *h = append(*h, x.(*treeNode)) }
func (h *nodeHeap) Pop() any {
	old := *h
	last := old[len(old)-1]
	*h = old[:len(old)-1]
	return last
}

// result is what solving a program gave.
type result struct {
	// best is nil if no plan was found.
	best *assignment
	// bound is a lower bound on the cost of any plan, +Inf if there is none.
	bound  float64
	prices []float64
}

// newTree prepares to solve the program.
func newTree(l *lagrangian, gap float64, engine lp.Engine) *tree {
	t := &tree{l: l, gap: gap, engine: engine, floor: math.Inf(1)}
	t.bundle = bundle{l: l, prices: make([]float64, len(l.rows))}
	t.bundle.visit = t.offerCut
	return t
}

// offerCut takes the configurations of a cut as a plan if they fit.
func (t *tree) offerCut(c *cut) {
	if (t.best == nil || c.cost < t.best.cost) && t.l.feasible(c.use) {
		t.best = &assignment{picks: slices.Clone(c.picks), use: slices.Clone(c.use), cost: c.cost}
	}
}

// offer takes a plan if it is the best so far.
func (t *tree) offer(a *assignment) {
	if (t.best == nil || a.cost < t.best.cost) && t.l.feasible(a.use) {
		// Sums anew, without the rounding errors of exchanges.
		c := cut{picks: slices.Clone(a.picks)}
		t.l.sumCut(&c)
		if t.l.feasible(c.use) && (t.best == nil || c.cost < t.best.cost) {
			t.best = &assignment{picks: c.picks, use: c.use, cost: c.cost}
		}
	}
}

// target is the bound that proves the best plan good enough.
func (t *tree) target() float64 {
	if t.best == nil {
		return math.Inf(1)
	}
	cost := math.Abs(t.best.cost)
	return t.best.cost - max(t.gap*cost, tolerance/5*cost, 1e-12*t.scale)
}

// bound is the lower bound proven so far.
func (t *tree) bound() float64 {
	bound := t.floor
	if len(t.open) > 0 {
		bound = min(bound, t.open[0].bound)
	}
	if t.best != nil {
		bound = min(bound, t.best.cost)
	}
	return bound
}

// rootPasses limits the ascent at the root, nodePasses that at other nodes.
const (
	rootPasses = 200
	nodePasses = 40
)

// root raises the bound at the root and finds a first plan. It returns false if
// the program has no plan.
func (t *tree) root() bool {
	first := t.l.evaluate(t.bundle.prices)
	if !first.ok {
		t.floor = first.bound
		return !math.IsInf(first.bound, 1)
	}
	t.bundle.scale = t.l.scales(&first.cut)
	hopeless := t.l.hopeless()
	t.scale = first.scale
	outcome := t.ascend(goal{target: t.target(), hopeless: hopeless, passes: rootPasses, precision: 1e-4})
	t.rootPrices = t.bundle.prices
	if outcome == infeasible {
		t.floor = math.Inf(1)
		return false
	}
	if t.bundle.value.bound < t.target() {
		t.heuristic(true)
	}
	t.push(nil)
	return true
}

// ascend runs the bundle and keeps the scale of its terms.
func (t *tree) ascend(g goal) ascent {
	outcome := t.bundle.ascend(g)
	t.scale = max(t.scale, t.bundle.value.scale)
	return outcome
}

// hopeless is above the cost of some best plan, if there is any plan: none needs
// more replicas of a variant than serve the demand alone.
func (l *lagrangian) hopeless() float64 {
	total := 1.0
	for i := range l.workloads {
		w := &l.workloads[i]
		for j := range w.variants {
			v := &w.variants[j]
			n := float64(max(w.least, v.least, v.current))
			if v.capacity > 0 {
				n = max(n, math.Ceil(w.demand/v.capacity)+float64(w.redundancy))
			}
			dearest := 0.0
			for _, at := range v.places {
				dearest = max(dearest, at.price)
			}
			total += n*(dearest+v.up) + float64(v.current)*v.down
		}
		if !math.IsInf(w.unmetCost, 1) {
			total += w.unmetCost * w.demand
		}
		if !math.IsInf(w.shortfallCost, 1) {
			total += w.shortfallCost * float64(w.leastOfVariants+w.least)
		}
	}
	return 1.001 * total
}

// push opens a node with the state of the bundle.
func (t *tree) push(changes []boundChange) {
	n := &treeNode{bound: t.bundle.value.bound, prices: t.bundle.prices, step: t.bundle.step, changes: changes, serial: t.made}
	for i := range t.bundle.cuts {
		if t.bundle.weights[i] > 0 || len(t.bundle.cuts) < 8 {
			n.cuts = append(n.cuts, t.bundle.cuts[i])
		}
	}
	t.made++
	heap.Push(&t.open, n)
}

// run works on open nodes until the bound proves the best plan or the effort ends.
func (t *tree) run() {
	for len(t.open) > 0 && !t.l.budget.exhausted() {
		if t.open[0].bound >= t.target() {
			return
		}
		n := heap.Pop(&t.open).(*treeNode)
		restore := t.enter(n)
		finished := t.visit(n)
		restore()
		if !finished {
			heap.Push(&t.open, n)
			return
		}
	}
}

// enter narrows the bounds to those of the node and returns what undoes it.
func (t *tree) enter(n *treeNode) (restore func()) {
	before := make([]boundChange, len(n.changes))
	for i, c := range n.changes {
		before[i] = boundChange{c.workload, c.item, t.l.lo[c.item], t.l.hi[c.item]}
		t.l.lo[c.item], t.l.hi[c.item] = c.lo, c.hi
	}
	t.bundle.prices, t.bundle.cuts, t.bundle.step = n.prices, slices.Clone(n.cuts), n.step
	t.bundle.weights = make([]float64, len(n.cuts))
	return func() {
		for i := len(before) - 1; i >= 0; i-- {
			t.l.lo[before[i].item], t.l.hi[before[i].item] = before[i].lo, before[i].hi
		}
	}
}

// visit bounds a node, and closes it or branches. It returns false if the effort
// ran out before.
func (t *tree) visit(n *treeNode) bool {
	switch t.ascend(goal{target: t.target(), hopeless: math.Inf(1), passes: nodePasses, precision: 3e-3}) {
	case infeasible:
		return true
	case interrupted:
		if t.l.budget.exhausted() {
			return false
		}
	}
	n.bound = max(n.bound, t.bundle.value.bound)
	if n.bound >= t.target() {
		t.floor = min(t.floor, n.bound)
		return true
	}
	if n.serial > 0 && n.serial%8 == 0 || t.best == nil {
		t.heuristic(false)
	}
	if t.closeByCore() {
		return true
	}
	t.branch(n)
	return true
}

// heuristic looks for plans near the fractional solution of the bundle.
func (t *tree) heuristic(thorough bool) {
	if thorough {
		t.addNearColumns()
	}
	p := newPrimal(t.l, t.bundle.prices)
	starts := t.starts()
	if !thorough && len(starts) > 2 {
		starts = starts[:2]
	}
	for _, picks := range starts {
		a := p.start(picks)
		if !p.repair(a) {
			if !thorough || !t.addSparingColumns(a) {
				continue
			}
			p = newPrimal(t.l, t.bundle.prices)
			if !p.repair(a) {
				continue
			}
		}
		p.improve(a)
		t.offer(a)
		if !t.l.budget.spend(len(t.l.workloads)) {
			return
		}
	}
}

// starts are assignments to begin with: the configurations of most weight in the
// bundle, its best evaluation, and its cuts in use.
func (t *tree) starts() [][]int32 {
	rounded := make([]int32, len(t.l.workloads))
	for i := range rounded {
		rounded[i] = t.heaviest(i)
	}
	starts := [][]int32{rounded, t.bundle.value.cut.picks}
	for k := range t.bundle.cuts {
		if t.bundle.weights[k] > 0 && len(starts) < 6 && len(t.l.workloads) <= 200 {
			starts = append(starts, t.bundle.cuts[k].picks)
		}
	}
	if t.best != nil {
		starts = append(starts, t.best.picks)
	}
	return starts
}

// heaviest is the configuration of workload i with the most weight.
func (t *tree) heaviest(i int) int32 {
	best, bestWeight := t.bundle.value.cut.picks[i], 0.0
	for k := range t.bundle.cuts {
		pick, weight := t.bundle.cuts[k].picks[i], 0.0
		if t.bundle.weights[k] == 0 {
			continue
		}
		for other := range t.bundle.cuts {
			if t.bundle.cuts[other].picks[i] == pick {
				weight += t.bundle.weights[other]
			}
		}
		if weight > bestWeight+1e-12 {
			best, bestWeight = pick, weight
		}
	}
	return best
}

// nearColumns is the number of configurations per workload that a thorough search
// for plans adds.
const nearColumns = 60

// addNearColumns adds the configurations of each workload that cost little more
// than the cheapest at the current prices.
func (t *tree) addNearColumns() {
	average := t.bundle.value.scale / float64(max(1, len(t.l.workloads)))
	for i := range t.l.workloads {
		w := &t.l.workloads[i]
		lo, hi := t.l.bounds(w)
		for reach := 0.5 * average; reach > 1e-3*average; reach /= 4 {
			columns, complete := t.l.pricer.enumerate(w, lo, hi, t.bundle.prices, t.bundle.value.values[i]+reach, nearColumns)
			if complete {
				for k := range columns {
					t.l.intern(i, columns[k].x)
				}
				break
			}
		}
	}
}

// addSparingColumns adds configurations that spare the rows exceeded by a.
func (t *tree) addSparingColumns(a *assignment) bool {
	before := 0
	for i := range t.l.columns {
		before += len(t.l.columns[i])
	}
	for _, factor := range []float64{0.3, 3, 30, 1e4} {
		prices := slices.Clone(t.bundle.prices)
		for r := range t.l.rows {
			if a.use[r] > t.l.rows[r].limit {
				prices[r] += factor * t.bundle.scale[r]
			}
		}
		for i := range t.l.workloads {
			t.l.price(i, prices)
		}
		t.l.budget.spend(len(t.l.workloads))
	}
	after := 0
	for i := range t.l.columns {
		after += len(t.l.columns[i])
	}
	return after > before
}
