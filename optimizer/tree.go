package optimizer

import (
	"cmp"
	"container/heap"
	"math"
	"slices"

	"github.com/poolwright/poolwright/optimizer/lp"
)

// tree solves a program by branch and bound: the bound of a node is the maximum of
// the Lagrangian within the node's bounds on replicas, warm from its parent.
type tree struct {
	l        *lagrangian
	bundle   bundle
	gap      float64
	unit     float64  // what the gap is relative to; 0: the objective
	finest   float64  // the least gap, relative to the objective
	whole    bool     // costs are whole numbers
	hasty    bool     // the plans found at the root will do
	bounding bool     // the bound of the root will do
	insisted bool     // tenants have been given an effort and a gap
	onward   bool     // a small program's search goes on from a plan that is good enough
	tenant   bool     // the workloads are the members of a tenant
	tiny     bool     // a linear program bounds the root from the start
	ensured  bool     // a plan has been made of the best configurations, if they could be made to fit
	members  int      // of tenants
	groups   *grouped // whose program it is where there are tenants
	engine   lp.Engine
	limits   *limits
	// master bounds the nodes where there are few rows; nil elsewhere.
	master *master
	// coreMixture is used by one core after the other.
	coreMixture mixture

	best *assignment
	// floor is the least bound of the nodes given up because nothing better than
	// the target can be in them, and closed are these nodes where the search may come
	// back to them.
	floor  float64
	closed []*treeNode
	scale  float64
	open   nodeHeap
	// near are the columns by workload that a search for plans uses.
	near [][]int32
	// coreLimit is the number of columns up to which the next core is tried, and
	// coreReach the reach; both shrink where cores turn out too large, and grow where they are solved.
	coreLimit int
	coreReach float64
	made      int
	// start are prices that were good for the stage before, own those for one that minimised the same, nil if there was none, and warm
	// is an earlier plan and its prices.
	start, own []float64
	warm       *warmStart
	// rootPrices are the multipliers at the root, for shadow prices, and rootValue is the Lagrangian there.
	rootPrices []float64
	rootValue  lagrangianValue
	// roundable: there are rows that follow by rounding. grown: so many nodes have been made that the search is to
	// begin anew with them.
	roundable, grown bool
	// entered is the node being worked on.
	entered *treeNode
}

// treeNode is an open node.
type treeNode struct {
	bound   float64
	prices  []float64
	cuts    []cut
	step    float64
	changes []boundChange
	// basis is that which a probe of the node left, or else that of the parent; nil if there was no master.
	basis  *mixtureBasis
	serial int
	// side of a split and what it moved have made the node where there was a master, and value is that of the
	// parent's program.
	side         int
	moved, value float64
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
func newTree(l *lagrangian, o Options) *tree {
	t := &tree{l: l, gap: o.searchGap(), engine: o.LP, limits: o.limits, coreLimit: o.limits.columns, coreReach: math.Inf(1), floor: math.Inf(1), finest: tolerance / 5}
	t.bundle = bundle{l: l, prices: make([]float64, len(l.rows))}
	t.bundle.visit = t.offerCut
	for _, w := range t.tenants() {
		t.members += len(w.members)
	}
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

// width is the gap asked for, as a difference of costs, of a plan of some cost.
func (t *tree) width(cost float64) float64 {
	unit := t.unit
	if unit == 0 {
		unit = math.Abs(cost)
	}
	return max(t.gap*unit, t.finest*math.Abs(cost))
}

// target is the bound that proves the best plan good enough.
func (t *tree) target() float64 {
	if t.best == nil {
		return math.Inf(1)
	}
	target := t.best.cost - t.width(t.best.cost)
	if t.whole {
		return min(target, t.best.cost-1+1e-2)
	}
	return target
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
	first, ok := t.firstEvaluation()
	if !ok {
		t.floor = 0
		return false
	}
	if !first.ok {
		t.floor = first.bound
		return !math.IsInf(first.bound, 1)
	}
	t.bundle.scale = t.l.scales(&first.cut)
	t.bundle.value, t.bundle.fresh = first, true
	t.scale = first.scale
	if t.warm != nil {
		t.adopt(t.warm)
	}
	if t.best == nil || t.bundle.value.bound < t.target() {
		t.l.seed()
		t.chooseStart()
	}
	t.tiny = t.isTiny()
	g := goal{target: t.target(), hopeless: math.Inf(1), passes: rootPasses, precision: 1e-3}
	if t.bundle.value.bound < g.target {
		g.hopeless = t.l.hopeless()
	}
	ascend := t.ascend
	switch {
	case t.l.tenants:
		ascend = t.ascendTenants
	case t.tenant && t.small() || t.tiny && t.bundle.value.bound < g.target:
		ascend = t.ascendMaster
	}
	outcome := ascend(g)
	t.rootPrices, t.rootValue = t.bundle.prices, t.bundle.value
	if outcome == infeasible {
		t.floor = math.Inf(1)
		return false
	}
	if t.bounding {
		t.push(nil)
		return true
	}
	t.ensurePlan()
	if t.small() && t.master == nil {
		t.master = t.newMaster()
	}
	t.findPlans()
	t.ensurePlan()
	if t.l.budget.exhausted() || !t.finishExactly() {
		t.push(nil)
	}
	return true
}

// quick says whether the program has so few rows, one for each workload and limit, that a linear
// program bounds its nodes, and small whether that looks for plans at the root, too.
func (t *tree) quick() bool { return t.rows() <= t.limits.rows }
func (t *tree) small() bool { return t.rows() <= t.limits.rootRows }

// isTiny says whether the linear program bounds the root from the start, too. It is slow to find out that demand which must be
// served can't be.
func (t *tree) isTiny() bool {
	return t.rows() <= t.limits.tinyRows && !t.tenant && !t.l.tenants &&
		!slices.ContainsFunc(t.l.workloads, func(w workload) bool { return math.IsInf(w.unmetCost, 1) })
}

// exact says whether the search goes on from a plan that is good enough.
func (t *tree) exact() bool {
	return t.onward && t.gap > 0 && t.rows()+t.members <= t.limits.exactRows && t.l.budget.spent() <= onwardMost
}

func (t *tree) rows() int { return len(t.l.workloads) + len(t.l.rows) }

// findPlans looks for plans at the root until one is good enough. Where nodes are quick, more than a
// first one is left to them.
func (t *tree) findPlans() {
	if t.master != nil && t.best == nil {
		t.master.firstPlan()
	}
	for k, search := range []func(){t.round, t.roundNear, t.solveNear} {
		enough := t.best != nil && (t.master != nil || k > 0 && t.quick())
		if enough || t.bundle.value.bound >= t.target() || t.l.budget.exhausted() {
			return
		}
		search()
	}
}

// firstEvaluation is that at the prices to start from; ok is false if the effort is spent.
func (t *tree) firstEvaluation() (first lagrangianValue, ok bool) {
	if t.warm != nil {
		copy(t.bundle.prices, t.warm.prices)
	}
	if !t.l.budget.spend(len(t.l.workloads)) {
		return first, false
	}
	first = t.l.evaluate(t.bundle.prices)
	if t.warm != nil && first.bound < 0 {
		// Prices of another kind of problem: without any the bound is at least 0.
		t.warm, t.bundle.prices = nil, make([]float64, len(t.l.rows))
		return t.firstEvaluation()
	}
	return first, true
}

// graceShare is what a plan may still cost once the effort is spent or the caller has stopped, in pricing problems for each workload.
const graceShare = 2

// grace allows for that until what it returns is called.
func (t *tree) grace() (end func()) {
	t.l.budget.grace = graceShare * len(t.l.workloads)
	return func() { t.l.budget.grace = 0 }
}

// ensurePlan makes the best configurations so far fit, whatever they then cost, where the effort is spent, or the caller has
// stopped the search, before there was a plan. The members of a tenant are looked at again and again with little effort each.
func (t *tree) ensurePlan() {
	if t.best != nil || t.tenant || t.ensured || !t.l.budget.exhausted() {
		return
	}
	t.ensured = true
	defer t.grace()()
	p := newPrimal(&t.bundle)
	if a := p.start(t.bundle.value.cut.picks); p.repair(a) {
		p.improveOne(a)
		t.offer(a)
	}
}

// adopt makes a plan of an earlier one: workloads that are the same keep what they had, the others
// take what is cheapest at the prices, and exchanges make it fit.
func (t *tree) adopt(from *warmStart) {
	picks := slices.Clone(t.bundle.value.cut.picks)
	for i, kept := range from.kept {
		w := &t.l.workloads[i]
		if !kept {
			continue
		}
		if pick, ok := t.l.intern(i, from.x[w.firstItem:w.firstItem+w.items]); ok && t.l.fits(i, pick) {
			picks[i] = pick
		}
	}
	t.polish(&t.bundle, picks)
}

// chooseStart starts the ascent from the prices of a stage that minimised the same, if there was one and they bound better than 0, or else from
// a multiple of those of the stage before, if that does. What a unit of the settled levels is worth in terms of this stage
// is not known; the multiples span the plausible range.
func (t *tree) chooseStart() {
	if t.own != nil && t.startAt(t.own) {
		return
	}
	norm := 0.0
	for r, price := range t.start {
		norm = max(norm, price/t.bundle.scale[r])
	}
	if norm == 0 {
		return
	}
	var best []float64
	known := t.bundle.value.bound
	for multiple := 1e-3; multiple < 200; multiple *= math.Sqrt(10) {
		prices := make([]float64, len(t.start))
		for r, price := range t.start {
			prices[r] = price * multiple / norm
		}
		v := t.l.evaluateKnown(prices)
		t.l.budget.spend(len(t.l.workloads) / quickShare)
		if !v.ok {
			return
		}
		t.bundle.add(v.cut)
		if v.bound > known {
			best, known = prices, v.bound
		}
	}
	if best != nil {
		t.startAt(best)
	}
}

// startAt starts the ascent at prices if they bound better, and says whether they do.
func (t *tree) startAt(prices []float64) bool {
	if !t.l.budget.spend(len(t.l.workloads)) {
		return false
	}
	v := t.l.evaluate(prices)
	if !v.ok || v.bound <= t.bundle.value.bound {
		return false
	}
	t.bundle.prices, t.bundle.value = prices, v
	return true
}

// finishExactly closes the root to the last digit where that is easy, whatever the
// gap asked for, so that most plans are optimal and do not change without reason.
func (t *tree) finishExactly() bool {
	if t.best == nil || t.limits.columns == 0 || t.l.tenants {
		return false
	}
	gap, limit := t.gap, t.coreLimit
	t.gap, t.coreLimit = 0, min(limit, easyColumns)
	closed := (t.master == nil || t.master.few()) && t.newCore().closes()
	if closed {
		t.floor = min(t.floor, t.target())
	}
	t.gap, t.coreLimit = gap, limit
	return closed
}

// easyColumns is the size of a core that is worth solving without need.
const easyColumns = 300

// ascend runs the bundle and keeps the scale of its terms.
func (t *tree) ascend(g goal) ascent {
	outcome := t.bundle.ascend(g)
	t.scale = max(t.scale, t.bundle.value.scale)
	return outcome
}

// ascendMaster raises the bound at the root by a master, which begins with known configurations.
func (t *tree) ascendMaster(g goal) ascent {
	t.master = t.newMaster()
	most, little := nearestKnown, littleLeft
	if t.tiny {
		most, little = nearestTiny, 0 // its prices are read
	}
	t.master.addNearest(most)
	outcome := t.raiseRoot(g.hopeless, little)
	if t.master == nil {
		return t.ascend(g)
	}
	t.scale = max(t.scale, t.bundle.value.scale)
	return outcome
}

// raiseRoot raises the bound at the root by the master, as raise does, and never lowers it. A bound above hopeless proves that no plan
// exists. The master is gone afterwards where its numerics failed.
func (t *tree) raiseRoot(hopeless, little float64) ascent {
	value, prices := t.bundle.value, t.bundle.prices
	outcome, ok := t.master.raise(little)
	if t.bundle.value.bound < value.bound {
		t.bundle.value, t.bundle.prices = value, prices
	}
	switch {
	case !ok:
		t.master = nil
		return interrupted
	case t.bundle.value.bound > hopeless:
		return infeasible
	}
	return outcome
}

// hopeless is above the cost of some best plan, if there is any plan: none needs
// more replicas of a variant than serve the demand alone.
func (l *lagrangian) hopeless() float64 {
	total := 1.0
	for i := range l.workloads {
		total += l.workloads[i].hopeless()
	}
	return 1.001 * total
}

// hopeless is that of a workload.
func (w *workload) hopeless() (total float64) {
	if w.tenant != nil {
		for _, member := range w.tenant.members {
			total += member.hopeless()
		}
		return total
	}
	for j := range w.variants {
		v := &w.variants[j]
		n := float64(w.useful(v))
		dearest := 0.0
		for _, at := range w.placesOf(v) {
			dearest = max(dearest, at.price)
		}
		total += n*(dearest+v.up) + float64(v.current)*v.down
	}
	return total + w.idle()
}

// idle is the cost of a workload without replicas, where it may be left so.
func (w *workload) idle() (total float64) {
	if w.tenant != nil {
		for _, member := range w.tenant.members {
			total += member.idle()
		}
		return total
	}
	if !math.IsInf(w.unmetCost, 1) {
		total += w.unmetCost * w.demand
	}
	if !math.IsInf(w.shortfallCost, 1) {
		total += w.shortfallCost * float64(max(w.leastOfVariants, w.least))
	}
	return total
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
//
// It takes the node of the least bound. Every so often it plunges from there, child
// after child, because plans are found where little is left open.
func (t *tree) run() {
	for popped := 0; len(t.open) > 0 && !t.l.budget.exhausted(); popped++ {
		if t.open[0].bound >= t.target() {
			return
		}
		if t.roundable && t.made > t.limits.unrounded*t.rows() {
			t.grown = true
			return
		}
		if popped == 0 && t.quick() && t.master == nil {
			t.master = t.newMaster()
		}
		depth := 0
		if popped%plungeEvery == 0 && t.far() {
			depth = plungeDepth
		}
		n := heap.Pop(&t.open).(*treeNode)
		for n != nil {
			restore := t.enter(n)
			children, finished := t.visit(n, depth)
			restore()
			if !finished {
				heap.Push(&t.open, n)
				return
			}
			n = t.openAll(children, depth > 0)
			depth--
		}
	}
}

// The best plan is looked for until onwardEffort times the effort is spent that one took that is good enough, and
// onwardMost at most: some 0.2 s.
const (
	onwardEffort = 8
	onwardMost   = 100_000
)

// runOn looks for the best plan of a small program in what is given up where one that is good enough
// is found.
func (t *tree) runOn() {
	if !t.exact() || t.best == nil || len(t.open)+len(t.closed) == 0 || t.l.budget.exhausted() {
		return
	}
	t.gap, t.floor, t.roundable = 0, math.Inf(1), false
	t.insisted = false // the first node insists on the gap of now
	for _, n := range t.closed {
		heap.Push(&t.open, n)
	}
	t.closed = nil
	t.within(min(onwardEffort*t.l.budget.spent(), onwardMost)-t.l.budget.spent(), t.run)
}

// within searches with an effort of its own.
func (t *tree) within(most int, search func()) {
	whole := t.l.budget
	part := whole.share(false)
	part.limit(most)
	t.l.budget = part
	search()
	whole.settle(part)
	t.l.budget = whole
}

// close gives a node up that has nothing better than the target in it.
func (t *tree) close(n *treeNode) {
	t.floor = min(t.floor, n.bound)
	if !t.exact() {
		t.closed = nil
		return
	}
	t.closed = append(t.closed, n)
}

// improveBest exchanges configurations of the best plan of a small program once more: the search ended
// as soon as the gap was reached, and had met many that no node has tried together.
func (t *tree) improveBest() {
	if !t.small() || t.best == nil || t.rootPrices == nil || t.best.cost-t.bound() <= leastGap*math.Abs(t.best.cost) {
		return
	}
	defer t.grace()()
	p := newPrimal(&bundle{l: t.l, scale: t.bundle.scale, prices: t.rootPrices, value: t.rootValue})
	a := p.start(t.best.picks)
	p.improve(a)
	t.offer(a)
}

// far says whether the best plan is far from what would be good enough.
func (t *tree) far() bool {
	return t.best == nil || t.target()-t.open[0].bound > 2*(t.best.cost-t.target())
}

const (
	plungeEvery = 10
	plungeDepth = 40
)

// openAll puts children on the heap, but for the more promising one if it is to be
// followed at once.
func (t *tree) openAll(children [2]*treeNode, follow bool) *treeNode {
	var next *treeNode
	for _, c := range children {
		switch {
		case c == nil:
		case c.bound >= t.target():
			t.close(c)
		default:
			c.serial = t.made
			t.made++
			if follow && (next == nil || c.bound <= next.bound) {
				c, next = next, c
			}
			if c != nil {
				heap.Push(&t.open, c)
			}
		}
	}
	return next
}

// enter narrows the bounds to those of the node and returns what undoes it.
func (t *tree) enter(n *treeNode) (restore func()) {
	before := make([]boundChange, len(n.changes))
	for i, c := range n.changes {
		before[i] = boundChange{c.workload, c.item, t.l.lo[c.item], t.l.hi[c.item]}
		t.l.narrowed[c.workload]++
		t.l.lo[c.item], t.l.hi[c.item] = c.lo, c.hi
	}
	t.entered = n
	t.bundle.prices, t.bundle.cuts, t.bundle.step, t.bundle.fresh = n.prices, slices.Clone(n.cuts), n.step, false
	t.bundle.weights = make([]float64, len(n.cuts))
	t.bundle.value.bound = math.Inf(-1) // that of another node
	return func() {
		for i := len(before) - 1; i >= 0; i-- {
			t.l.lo[before[i].item], t.l.hi[before[i].item] = before[i].lo, before[i].hi
			t.l.narrowed[before[i].workload]--
		}
	}
}

// visit bounds a node, and closes it or returns its children. It returns false if
// the effort ran out before. depth is that of the plunge still to go.
func (t *tree) visit(n *treeNode, depth int) (children [2]*treeNode, finished bool) {
	if t.l.tenants && !t.insisted && t.best != nil {
		t.insist(tenantRounds[len(tenantRounds)-1])
	}
	switch t.raise() {
	case infeasible:
		return children, true
	case interrupted:
		if t.l.budget.exhausted() {
			return children, false
		}
	}
	n.bound = max(n.bound, t.bundle.value.bound)
	n.prices = t.bundle.prices // where the search begins if it comes back
	if t.master != nil {
		n.basis = t.master.basis
	}
	if n.bound >= t.target() {
		t.close(n)
		return children, true
	}
	switch {
	case t.master != nil:
		t.master.plan()
	case n.serial > 0 && n.serial%8 == 0 || depth > 0 && depth%8 == 0 || t.best == nil:
		t.round()
	}
	if n.bound >= t.target() || t.solveCore() {
		n.bound = max(n.bound, t.target())
		t.close(n)
		return children, true
	}
	return t.branch(n), true
}

// raise raises the bound at a node.
func (t *tree) raise() ascent {
	if t.master != nil {
		if outcome, ok := t.master.raise(littleLeft); ok {
			return outcome
		}
		t.master = nil
	}
	return t.ascend(goal{target: t.target(), hopeless: math.Inf(1), passes: nodePasses, precision: 3e-3})
}

// round looks for plans near the fractional solution of the bundle, by dives that fix workloads with
// more or with less attention to the use of rows.
func (t *tree) round() {
	for _, offShare := range []float64{0.1, 0.5, 0.02} {
		b := t.dived(offShare)
		t.polish(b, b.rounded(0.3))
		if t.best != nil && t.bundle.value.bound >= t.target() || t.l.budget.exhausted() {
			return
		}
	}
}

// roundNear does the same with more configurations to choose from, and from the best plan.
func (t *tree) roundNear() {
	t.addNearColumns()
	t.round()
	if t.best != nil && t.bundle.value.bound < t.target() && !t.l.budget.exhausted() {
		t.polish(&t.bundle, t.best.picks)
	}
}

// polish repairs and improves an assignment at the prices of a bundle. Where the configurations
// met so far do not do, it asks for others that spare what is scarce.
func (t *tree) polish(b *bundle, picks []int32) {
	p := newPrimal(b)
	a := p.start(picks)
	fits := p.repair(a)
	for _, factor := range []float64{0.1, 1, 10, 100, 1e4} {
		if fits || t.l.budget.exhausted() {
			break
		}
		fits = t.addSparingColumns(a, factor) && p.repair(a)
	}
	if !fits {
		return
	}
	if t.small() || a.cost-t.bundle.value.bound > fineShare*t.width(a.cost) {
		p.improve(a)
	}
	t.offer(a)
	t.l.budget.spend(len(t.l.workloads))
}

// fineShare is the share of the gap asked for up to which a plan of a large program is so close to the bound that
// looking for exchanges takes longer than it is worth.
const fineShare = 0.03

// nearColumns is the number of configurations per workload that a thorough search
// for plans adds.
const nearColumns = 40

// addNearColumns adds the configurations of each workload that cost little more
// than the cheapest at the current prices.
func (t *tree) addNearColumns() {
	t.near = make([][]int32, len(t.l.workloads))
	reach := 0.1 * t.bundle.value.scale / float64(max(1, len(t.l.workloads)))
	for i := range t.l.workloads {
		reach = t.nearest(i, reach)
		if i%64 == 63 && !t.l.budget.spend(2*64) {
			return
		}
	}
}

// nearest fills in near for workload i, looking for a reach with about the number
// of columns wanted from the one given, and returns it. Columns met before join in:
// they are cheap at other prices.
func (t *tree) nearest(i int, reach float64) float64 {
	w := &t.l.workloads[i]
	lo, hi := t.l.bounds(w)
	least := t.bundle.value.values[i]
	var near []column
	for try := 0; try < 8 && w.tenant == nil; try++ {
		columns, complete := t.l.pricer.enumerate(w, lo, hi, t.bundle.prices, least+reach, enumerationLimit{4 * nearColumns, enumerationSteps})
		near = columns
		sparse := len(columns) < nearColumns/4 && reach < t.bundle.value.scale
		if complete && !sparse {
			break
		}
		if complete {
			reach *= 2
		} else {
			reach /= 3
		}
	}
	byReduced := func(a, b entries) int {
		return cmp.Compare(w.reduced(a, t.bundle.prices), w.reduced(b, t.bundle.prices))
	}
	slices.SortStableFunc(near, func(a, b column) int { return byReduced(a.entries, b.entries) })
	indices, columns := t.internAll(i, near[:min(len(near), nearColumns)]), &t.l.columns[i]
	for k := range int32(columns.len()) {
		if !slices.Contains(indices, k) && t.l.fits(i, k) {
			indices = append(indices, k)
		}
	}
	slices.SortStableFunc(indices, func(a, b int32) int { return byReduced(columns.entries(a), columns.entries(b)) })
	t.near[i] = indices[:min(len(indices), nearColumns)]
	return reach
}

func (t *tree) internAll(i int, columns []column) []int32 {
	indices := make([]int32, 0, nearColumns)
	for k := range columns {
		if index, ok := t.l.intern(i, columns[k].x); ok {
			indices = append(indices, index)
		}
	}
	return indices
}

// sparingSample is the number of workloads that are asked for configurations that spare rows.
const sparingSample = 2000

// addSparingColumns adds configurations that spare the rows exceeded by a, at prices of these rows
// raised by a factor, for a sample of the workloads. It returns whether there are new ones.
func (t *tree) addSparingColumns(a *assignment, factor float64) bool {
	prices := slices.Clone(t.bundle.prices)
	for r := range t.l.rows {
		if a.use[r] > t.l.rows[r].limit {
			prices[r] += factor * (prices[r] + 0.1*t.bundle.scale[r])
		}
	}
	added := false
	stride := len(t.l.workloads)/sparingSample + 1
	for i := 0; i < len(t.l.workloads); i += stride {
		before := t.l.columns[i].len()
		t.l.price(i, prices)
		added = added || t.l.columns[i].len() > before
		if !t.l.budget.spend(1) {
			break
		}
	}
	return added
}
