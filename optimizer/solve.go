package optimizer

import (
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/poolwright/poolwright/optimizer/lp"
)

// Solve finds the cheapest plan and proves how good it is.
//
// It returns an error only if the problem or the options are not valid, as
// Validate says. Demand that can't be served, minimums that can't hold and limits
// reached are outcomes in the Solution. Equal arguments give bit-equal solutions
// as long as Options.Stop does not end the search.
func Solve(p *Problem, o Options) (*Solution, error) {
	known, err := p.check()
	if err != nil {
		return nil, err
	}
	if math.IsNaN(o.RelativeGap) || o.RelativeGap < 0 {
		return nil, fmt.Errorf("optimizer: relative gap %g is not a number ≥ 0", o.RelativeGap)
	}
	if err := o.Start.Validate(); err != nil {
		return nil, err
	}
	if o.Effort < 0 {
		return nil, fmt.Errorf("optimizer: effort %d < 0", o.Effort)
	}
	if o.Effort == 0 {
		o.Effort = defaultEffort
	}
	if o.LP == nil {
		o.LP = lp.Simplex()
	}
	if o.limits == nil {
		o.limits = defaultLimits()
	}
	if known.severalPlacements {
		if m := mergePools(p); m != nil {
			return m.solve(o), nil
		}
	}
	return solveAsIs(p, o, known).Solution, nil
}

// solveAsIs solves a valid problem, of which facts may be known.
func solveAsIs(p *Problem, o Options, known *facts) proof {
	s := newSolver(p, o, known)
	s.stages()
	return s.proof(p)
}

func newSolver(p *Problem, o Options, known *facts) *solver {
	stop := &stopper{ask: o.Stop}
	s := &solver{known: known, packed: packPools(p), options: o, bounds: map[int]float64{}, ends: map[minimised]outcome{}, budget: &effort{left: o.Effort, unasked: askEvery, stop: stop}}
	if o.Stop != nil && o.Start == nil {
		s.makeFirst(p)
	}
	if s.canonical = canonicalize(p, stop); s.canonical == nil {
		s.makeFirst(p)
		s.canonical = s.given
	}
	s.packings = s.canonical.packings(s.packed)
	s.grouped = s.groups()
	return s
}

// solver carries a solve through its stages.
type solver struct {
	canonical *canonical
	// known are facts of the problem, nil where they are not known.
	known *facts
	// packed are the packings of pools as given, and packings in canonical order.
	packed, packings []packing
	options          Options
	budget           *effort
	// grouped: workloads are taken together by namespace.
	grouped bool
	// sizes are what replicaSizes has worked out, nil before.
	sizes [][]int

	// first is the plan of a search that is stopped before it has one, and given the order that it is in. It
	// is made before anything else where somebody may stop the search, and no earlier plan makes that short.
	first *plan
	given *canonical
	// plan is the best plan so far, and filled says whether it serves more than the last stage found.
	plan   *plan
	filled bool
	// bounds are proven lower bounds of the levels, by priority; 0 is that of missing replicas.
	bounds map[int]float64
	// last is the outcome of the last stage, and money that of the stage that bounds the cost best, its
	// program nil if there was no time for any.
	last, money outcome
	// ends have the prices at the root of the last stages, by what they minimised, for the next ones to begin with.
	ends map[minimised]outcome
}

// minimised is what a stage minimises.
type minimised struct {
	kind     stageKind
	priority int
}

// outcome is the result of a stage and its program, what was settled for it, and whether its bound is
// that of the root, at the prices. Shadow prices are for people to read.
type outcome struct {
	result
	shadowPrices []float64
	program      *program
	settled      map[int]float64
	root         bool
}

// boundFor is the bound for plans that leave so much of each priority. Where that is more than what was
// settled, a bound of the root holds less the price of what is more (Lagrangian duality), and of others nothing is known.
func (o *outcome) boundFor(unmet func(priority int) float64) float64 {
	bound := o.bound
	for _, priority := range sortedKeys(o.settled) {
		more := unmet(priority) - o.settled[priority]*(1+tolerance)
		if more <= 0 {
			continue
		}
		price, priced := o.priceOf(priority)
		if bound -= price * more; !o.root || !priced || !(bound > 0) {
			return 0
		}
	}
	return bound
}

// forBounds is what boundFor needs of an outcome, without the program's workloads, which are large.
func (o outcome) forBounds() outcome {
	return outcome{result: result{bound: o.bound, prices: o.prices}, program: &program{rows: o.program.rows}, settled: o.settled, root: o.root}
}

// priceOf is the price of unmet demand of a settled priority; there is none where it had to be served entirely.
func (o *outcome) priceOf(priority int) (price float64, priced bool) {
	for r, row := range o.program.rows {
		if row.kind == unmetRow && row.index == priority {
			return o.prices[r], true
		}
	}
	return 0, false
}

// stages first tries to serve everything, which is the usual case. Only if that
// fails are the levels above cost settled one by one.
func (s *solver) stages() {
	all := stage{settled: map[int]float64{}}
	priorities := s.priorities()
	for _, priority := range priorities {
		all.settled[priority] = 0
	}
	if s.budget.spend(0) {
		s.run(all, true)
	}
	if s.plan != nil {
		return
	}
	s.plan = s.fillAll()
	if s.money.program != nil && s.budget.exhausted() && s.settles(all) {
		return // with the bound of what was tried; without any, nothing below does anything
	}
	s.last, s.money = outcome{}, outcome{} // prices at which nothing could be left unserved tell nothing
	settled := stage{kind: shortfallStage, elastic: true, settled: map[int]float64{}}
	if !s.budget.exhausted() {
		s.settleShortfall(&settled)
		if len(priorities) > 0 {
			s.weigh(settled, priorities)
		}
	}
	s.settleLevels(settled, priorities)
}

// makeFirst makes the first plan, a greedy one, once.
func (s *solver) makeFirst(p *Problem) {
	if s.first == nil {
		s.given = asGiven(p, s.known)
		s.first = s.greedy(s.given, s.packed)
	}
}

// greedy is a plan that is made without prices.
func (s *solver) greedy(c *canonical, packings []packing) *plan {
	if s.options.greedy != nil {
		replicas := s.options.greedy()
		return c.planOf(replicas, func(i int) float64 { return c.from.Workloads[i].Unmet(totals(replicas[i])) })
	}
	return fill(c, packings, nil, nil)
}

// fillAll fills a plan without replicas. Where the caller has stopped, the first plan does.
func (s *solver) fillAll() *plan {
	if !s.budget.stop.stopped() {
		return s.greedy(s.canonical, s.packings)
	}
	s.makeFirst(s.canonical.from)
	if s.canonical == s.given {
		return s.first
	}
	return s.canonical.reorder(s.first, s.given)
}

// settleLevels settles the levels and then the cost: first in haste, so that there is an answer to
// everything soon, and then again from the first level on that was not proven so. Levels of which the plan so far is good enough by
// the bounds so far are settled at once, and so is the cost of a large fleet.
func (s *solver) settleLevels(settled stage, priorities []int) {
	if len(priorities) > 0 && !s.costIsKnown() {
		s.boundCost(settled, priorities)
	}
	proven := s.settleEach(settled, priorities, true)
	if proven < len(priorities) {
		s.minimizeCost(settled, priorities, true)
	}
	for _, priority := range priorities[proven:] {
		delete(settled.settled, priority)
	}
	s.settleEach(settled, priorities[proven:], false)
	s.minimizeCost(settled, priorities, false)
}

// settleEach settles one priority after the other and returns how many are proven within the gap
// asked for, up to the first that is not.
func (s *solver) settleEach(settled stage, priorities []int, hasty bool) (proven int) {
	settled.kind, settled.hasty = unmetStage, hasty
	for k, priority := range priorities {
		if s.budget.exhausted() {
			return proven
		}
		settled.priority = priority
		if !s.provenLevel(priority) {
			s.settle(settled)
		}
		settled.settled[priority] = s.unmetOfPlan(priority)
		if proven == k && s.provenLevel(priority) {
			proven++
		}
	}
	return proven
}

// provenLevel says whether the plan so far is within the gap asked for of what is proven of a level, if anything is.
func (s *solver) provenLevel(priority int) bool {
	unmet, at := s.unmetOfPlan(priority), stage{kind: unmetStage, priority: priority}
	bound, bounded := s.bounds[priority]
	return unmet == 0 || bounded && unmet-bound <= s.options.provenGap()*at.unit(s.canonical.from)
}

// costIsKnown says whether the plan so far of a large fleet is within the gap asked for of what is proven of the cost. Of small ones the best
// plan is wanted.
func (s *solver) costIsKnown() bool {
	if !s.large() || s.money.program == nil {
		return false
	}
	p := s.canonical.from
	e := p.evaluate(s.canonical.spelled(s.plan.replicas), s.packed, func(int, [][]int, evaluated) {})
	return gapOf(e.Objective, proven(s.costBound())) <= s.options.provenGap()
}

// boundCost bounds the cost of all plans that leave no more of any priority than the plan so far: a search that
// is ended before it is about cost says so much at least, as long as no priority loses to a higher one.
func (s *solver) boundCost(at stage, priorities []int) {
	if s.budget.exhausted() {
		return
	}
	at.kind, at.priority, at.bounding = moneyStage, 0, true
	at.settled = s.left(at.settled, priorities)
	before := s.last
	if s.run(at, false); !math.IsInf(s.last.bound, 1) && s.last.boundFor(s.unmetOfPlan) >= s.costBound() {
		s.money = s.last
	}
	s.last = before
}

// minimizeCost finds the cheapest plan that keeps what is settled. Where more is served in the end than
// that plan would have to, it looks for the cheapest that serves as much.
func (s *solver) minimizeCost(at stage, priorities []int, hasty bool) {
	at.kind, at.priority, at.hasty = moneyStage, 0, hasty
	for !s.budget.exhausted() && !s.costIsKnown() {
		s.filled = false
		s.run(at, false)
		left := s.left(at.settled, priorities)
		if !s.filled || hasty || maps.Equal(left, at.settled) {
			return
		}
		at.settled = left
	}
}

// left is what is settled, with what the plan so far leaves of the given priorities.
func (s *solver) left(settled map[int]float64, priorities []int) map[int]float64 {
	settled = maps.Clone(settled)
	for _, priority := range priorities {
		settled[priority] = s.unmetOfPlan(priority)
	}
	return settled
}

// large says whether there are more workloads than a linear program with a row for each finds plans of
// by itself. Tenants are few among them.
func (s *solver) large() bool {
	return len(s.canonical.workloads) > s.options.limits.rootRows && !s.grouped
}

// unmet is the demand of a priority that a plan leaves.
func (s *solver) unmet(p *plan, priority int) float64 {
	var total runningSum
	for i := range s.canonical.workloads {
		if w := s.canonical.given(i); !w.Penalized && w.Priority == priority {
			total.add(p.unmet[i])
		}
	}
	return total.total()
}

func (s *solver) unmetOfPlan(priority int) float64 { return s.unmet(s.plan, priority) }

// shortfall is the number of replicas that the plan so far lacks of declared minimums.
func (s *solver) shortfall() int {
	missing, items := 0, s.plan.replicas
	var counts []int
	for i, from := range s.canonical.workloads {
		w := s.canonical.given(i)
		counts = resize(counts, len(w.Variants))
		clear(counts)
		for k, at := range s.canonical.items[from] {
			counts[at.variant] += int(items[k])
		}
		items = items[len(s.canonical.items[from]):]
		missing += w.shortfall(counts)
	}
	return missing
}

// settles says whether the plan so far keeps to what is settled.
func (s *solver) settles(at stage) bool {
	for _, priority := range s.priorities() {
		if s.unmet(s.plan, priority) > at.settled[priority] {
			return false
		}
	}
	return s.shortfall() == 0
}

// priorities are those of workloads whose unmet demand has no price, increasing.
func (s *solver) priorities() []int {
	var priorities []int
	for i := range s.canonical.from.Workloads {
		if w := &s.canonical.from.Workloads[i]; !w.Penalized && w.Demand > 0 {
			priorities = append(priorities, w.Priority)
		}
	}
	slices.Sort(priorities)
	return slices.Compact(priorities)
}

func (s *solver) settleShortfall(next *stage) {
	missing := float64(s.shortfall())
	if missing > 0 {
		s.run(*next, false)
		missing = float64(s.shortfall())
		s.bounds[0] = min(math.Ceil(proven(s.last.bound)-1e-3), missing)
	}
	next.shortfall, next.shortfallSettled = missing, true
	next.elastic = missing > 0
}

// settle minimises the unmet demand of one priority, starting from the plan so far. The later levels
// must keep what the plan then leaves, to the last unit that is known to be servable.
func (s *solver) settle(at stage) {
	s.run(at, false)
	s.bounds[at.priority] = min(max(s.bounds[at.priority], proven(s.last.bound)), s.unmetOfPlan(at.priority))
}

// proven is a bound less the tolerance of the arithmetic behind it.
func proven(bound float64) float64 { return max(0, bound-tolerance*math.Abs(bound)) }

func gapOf(objective, bound float64) float64 {
	if objective == bound {
		return 0
	}
	return (objective - bound) / math.Abs(objective)
}

// run solves the program of a stage from the plan so far and keeps what it finds.
// A tentative run gives up where a first plan isn't found at the root, and before its program
// is complete where the caller stops.
func (s *solver) run(at stage, tentative bool) {
	before := s.last
	var stop *stopper
	if tentative {
		stop = s.budget.stop
	}
	program := newProgram(s.canonical, s.packings, rounding{}, at, stop)
	if program == nil {
		return
	}
	s.last.program, s.last.settled, s.last.root = program, maps.Clone(at.settled), at.bounding
	budget := s.budget.share(at.kind != moneyStage || tentative || at.hasty || at.bounding)
	if at.worth != nil || at.hasty && !s.large() {
		budget.limit(max(hastyEffort, hastyShare*len(s.canonical.workloads)))
	}
	t := s.newTree(at, program, before, budget)
	if own, ok := s.ends[at.minimises()]; ok {
		t.own = program.carryOver(own, 0)
	}
	if s.plan != nil {
		t.offerPlan(s.plan.replicas)
	}
	if tentative {
		t.warm = s.warmStart()
	}
	t.roundable = t.quick() && s.roundable()
	l := t.l
	if s.grouped {
		s.last.result = s.searchGrouped(at, t, tentative)
	} else if s.last.result = t.solve(tentative); t.grown {
		l = s.searchRounded(at, t, tentative)
	}
	if t.rootPrices != nil && !tentative && !math.IsInf(s.last.bound, 1) {
		end := s.last.forBounds()
		end.bound, end.prices, end.root = t.rootValue.bound, t.rootPrices, true
		s.ends[at.minimises()] = end
	}
	s.last.shadowPrices = s.last.prices
	if at.kind == moneyStage && (t.best != nil && !at.bounding || at.bounding && s.large()) && t.rootPrices != nil && !budget.exhausted() {
		s.last.shadowPrices = t.shadowPrices()
	}
	// Without a plan other stages follow, unless there is no effort left to look at every workload.
	ends := s.last.best != nil || s.budget.left-budget.spent() < len(s.canonical.workloads)
	if tentative && ends && s.last.poor() && s.offerGreedy(t) {
		l = t.l
	}
	s.budget.settle(budget)
	if s.last.best != nil && !at.bounding {
		s.keep(l, s.last.best)
	}
	if at.kind == moneyStage && !at.bounding && s.last.bound >= s.costBound() {
		s.money = s.last
	}
}

// poor says whether no plan was found though there may be one, or the best is so far above the bound that a greedy one may be better.
func (r *result) poor() bool {
	if r.best == nil {
		return !math.IsInf(r.bound, 1)
	}
	return r.best.cost-r.bound > poorGap*math.Abs(r.best.cost)
}

// poorGap is the gap, in relation to its cost, from which on a plan is compared with a greedy one.
const poorGap = 0.1

// offerGreedy takes a greedy plan for the result of a stage where it is better, and says whether it is.
func (s *solver) offerGreedy(t *tree) bool {
	t.offerPlan(s.fillAll().replicas)
	if t.best == nil || s.last.best != nil && t.best.cost >= s.last.best.cost {
		return false
	}
	t.improveBest()
	s.last.best = t.best
	return true
}

// newTree prepares to solve the program of a stage, from the prices of the stage before.
func (s *solver) newTree(at stage, p *program, before outcome, budget *effort) *tree {
	t := newTree(newLagrangian(p, budget), s.options)
	t.hasty = at.bounding || at.kind == weighedStage && !(at.worth != nil && t.quick()) || at.hasty && !t.quick()
	t.bounding, t.onward = at.bounding, at.kind == moneyStage && !at.hasty
	t.unit, t.whole = at.unit(s.canonical.from), at.kind == shortfallStage
	if before.program != nil {
		t.start = p.carryOver(before, 1)
	}
	return t
}

// roundable says whether rows of pools and quotas have others that follow by rounding.
func (s *solver) roundable() bool {
	sizes := s.replicaSizes()
	for g := range sizes {
		if k := &s.packings[g]; s.canonical.Pools[g].Limited && len(k.roundedLimits(sizes[g])) > len(k.limits()) {
			return true
		}
	}
	return slices.ContainsFunc(s.canonical.Quotas, func(q Quota) bool { return len(q.limits(sizes[q.Pool])) > len(q.limits(nil)) })
}

// replicaSizes are those of the canonical pools, worked out once.
func (s *solver) replicaSizes() [][]int {
	if s.sizes == nil {
		sizes := replicaSizes(s.canonical.from)
		for _, g := range s.canonical.pools {
			s.sizes = append(s.sizes, sizes[g])
		}
	}
	return s.sizes
}

// searchRounded searches anew, from the best plan so far, with rows that follow by rounding, and returns what the
// best plan is in the terms of now. Prices remain those of the rows without.
func (s *solver) searchRounded(at stage, from *tree, tentative bool) *lagrangian {
	by := rounding{pools: s.replicaSizes(), quotas: s.replicaSizes()}
	t := s.newTree(at, newProgram(s.canonical, s.packings, by, at, nil), s.last, from.l.budget)
	if from.best != nil {
		t.offerPlan(from.l.plan(from.best).replicas)
	}
	found := t.solve(tentative)
	s.last.bound = max(s.last.bound, found.bound)
	if found.best == nil {
		return from.l
	}
	s.last.best = found.best
	return t.l
}

// costBound is that of the stage that bounds the cost best, for what the plan so far leaves: a higher
// priority may have gained at the expense of a later one since.
func (s *solver) costBound() float64 {
	if s.money.program == nil || s.plan == nil {
		return 0
	}
	return s.money.boundFor(s.unmetOfPlan)
}

// keep takes the plan of a stage, unless it is the one that the stage began with.
func (s *solver) keep(l *lagrangian, best *assignment) {
	p := l.plan(best)
	if s.plan != nil && slices.Equal(s.plan.replicas, p.replicas) {
		return
	}
	if slices.ContainsFunc(p.unmet, func(unmet float64) bool { return unmet != 0 }) {
		full := s.fillUp(l, best, p)
		s.filled = !slices.Equal(full.replicas, p.replicas)
		p = full
	}
	s.plan = p
}

// fillUp fills the plan of an assignment. Devices that are left free are there for demand that no penalty pays for: of the workloads that
// stand for them, those have replicas again for which there is room when such demand has been served.
func (s *solver) fillUp(l *lagrangian, a *assignment, p *plan) *plan {
	c, room := s.canonical, func(use []float64) func(i, item int) bool {
		return func(i, item int) bool { return l.hasRoom(use, i, item) }
	}
	if without, use := s.withoutLeftFree(l, a, p); without != nil {
		open := c.mayGain(without, room(use))
		for i := range open {
			open[i] = open[i] && !c.given(i).Penalized
		}
		if full := fill(c, s.packings, without, open); !slices.Equal(full.replicas, without.replicas) {
			for i := range open {
				open[i] = c.given(i).leftFree
			}
			p = fill(c, s.packings, full, open)
			return fill(c, s.packings, p, c.mayGain(p, anywhere))
		}
	}
	return fill(c, s.packings, p, c.mayGain(p, room(a.use)))
}

// withoutLeftFree is the plan of an assignment, and what it uses, without the workloads that stand for devices that are left free, nil
// where there are none.
func (s *solver) withoutLeftFree(l *lagrangian, a *assignment, p *plan) (without *plan, use []float64) {
	for given, i := range s.canonical.place {
		if !s.canonical.from.Workloads[given].leftFree {
			continue
		}
		if without == nil {
			without, use = &plan{replicas: slices.Clone(p.replicas), unmet: slices.Clone(p.unmet)}, slices.Clone(a.use)
		}
		w, of := &l.workloads[i], l.columns[i].entries(a.picks[i])
		for n, r := range w.rows {
			use[r] -= of.use()[n]
		}
		clear(without.replicas[w.firstItem:][:w.items])
		without.unmet[i] = s.canonical.from.Workloads[given].Demand
	}
	return without, use
}

// hasRoom says whether one more replica of an item of workload i may fit beside what is in use, but for rounding.
func (l *lagrangian) hasRoom(use []float64, i, item int) bool {
	w := &l.workloads[i]
	for _, u := range w.usesOf(&w.places[item]) {
		if use[u.row]+u.amount > l.rows[u.row].limit*(1+tolerance) {
			return false
		}
	}
	return true
}

// carryOver translates the prices of a stage before, with a price for the unmet demand that it did not limit: a unit of the level
// that it settled was worth 1 there.
func (p *program) carryOver(before outcome, settled float64) []float64 {
	prices := make([]float64, len(p.rows))
	for r, row := range p.rows {
		found := false
		for k, old := range before.program.rows {
			if old.kind == row.kind && old.index == row.index && old.size == row.size {
				prices[r], found = before.prices[k], true
				break
			}
		}
		if !found && row.kind >= unmetRow {
			prices[r] = settled
		}
	}
	return prices
}

// plan spells an assignment out. Unmet demand is not known where it is free in the stage.
func (l *lagrangian) plan(a *assignment) *plan {
	p := &plan{replicas: make([]int32, l.program.items), unmet: make([]float64, len(l.workloads))}
	for i, pick := range a.picks {
		w, columns := &l.workloads[i], &l.columns[i]
		copy(p.replicas[w.firstItem:], columns.x(pick))
		p.unmet[i] = columns.rest(pick).unmet
		if w.unmetFree {
			p.unmet[i] = math.NaN()
		}
	}
	return p
}

// offerPlan takes a plan of an earlier stage.
func (t *tree) offerPlan(x []int32) {
	c := cut{picks: make([]int32, len(t.l.workloads))}
	for i := range t.l.workloads {
		w := &t.l.workloads[i]
		pick, ok := t.l.intern(i, x[w.firstItem:w.firstItem+w.items])
		if !ok {
			return
		}
		c.picks[i] = pick
	}
	t.l.sumCut(&c)
	t.offerCut(&c)
}

// solve runs the tree. Costs are never negative, so a plan without cost needs no
// search.
func (t *tree) solve(tentative bool) result {
	if t.best != nil && t.best.cost == 0 {
		return result{best: t.best, prices: t.bundle.prices}
	}
	t.floor = math.Inf(1)
	if t.root() && !t.hasty && (t.best != nil || !tentative) {
		if tentative {
			t.l.budget.takeKept() // with a plan nothing follows
		}
		if t.run(); !t.grown {
			t.runOn()
			t.improveBest()
		}
	}
	prices := t.rootPrices
	if prices == nil {
		prices = t.bundle.prices
	}
	return result{best: t.best, bound: max(0, t.bound()), prices: prices}
}

// shadowPrices are multipliers at the root for people to read. The bounds on
// replicas that follow from single rows sharpen the search, but they take over from
// the prices of these rows; so the ascent is done again without them.
func (t *tree) shadowPrices() []float64 {
	widened := t.l.widen()
	if len(widened) == 0 || !t.l.budget.spend(len(widened)) {
		return t.rootPrices
	}
	b := bundle{l: t.l, scale: t.bundle.scale, prices: t.rootPrices, value: t.l.repriced(&t.rootValue, t.rootPrices, widened), fresh: true}
	if !b.value.ok {
		return t.rootPrices
	}
	value := t.rootValue.bound
	if t.best != nil {
		value = t.best.cost
	}
	b.ascend(goal{target: value - shadowGap*math.Abs(value), hopeless: math.Inf(1), passes: shadowPasses, precision: shadowPrecision})
	return b.prices
}

// shadowGap is the gap up to which a bound is good enough for its prices to be read.
const shadowGap = 1e-3

// shadowPasses and shadowPrecision limit the ascent for shadow prices.
const (
	shadowPasses    = 100
	shadowPrecision = 1e-2
)

// solution reports the plan in the terms of the original problem.
func (s *solver) solution(p *Problem) *Solution {
	priced, ended := s.money.program != nil, s.budget.exhausted()
	least, prices := make([]float64, len(p.Workloads)), []float64(nil)
	if !priced {
		prices = make([]float64, s.canonical.firstVariant[len(p.Workloads)])
	}
	out := p.assess(s.canonical.spelled(s.plan.replicas), s.packed, func(i int, a *Allocation) {
		if !priced {
			first := s.canonical.firstVariant[s.canonical.place[i]]
			a.MarginalPrice = p.Workloads[i].prices(prices[first : first : first+len(p.Workloads[i].Variants)])
		}
		if ended {
			least[i] = p.Workloads[i].leastCost()
		}
	})
	out.Levels = p.levels(out.Allocations, func(priority int) float64 { return s.bounds[priority] })
	out.Stopped = s.budget.stop.stopped()
	out.Effort = s.options.Effort - s.budget.left
	bound := s.costBound()
	if root, ok := s.ends[minimised{kind: moneyStage}]; ok {
		bound = max(bound, root.boundFor(s.unmetOfPlan))
	}
	if ended {
		bound = max(bound, p.leastCost(out.Levels, func(i int) float64 { return least[i] }))
	}
	out.Bound = min(proven(bound), out.Objective)
	out.Gap = gapOf(out.Objective, out.Bound)
	out.Proof = out.proof(s.options.provenGap())
	if priced {
		s.addPrices(out)
	}
	return out
}

// proof is the plan in the terms of the original problem, with what is known at the roots.
func (s *solver) proof(p *Problem) proof { return proof{s.solution(p), s.ends} }

// proof compares the gaps with the one asked for.
func (s *Solution) proof(wanted float64) Proof {
	if !(s.Gap <= wanted) || slices.ContainsFunc(s.Levels, func(l Level) bool { return !(l.Gap <= wanted) }) {
		return Feasible
	}
	return Optimal
}

// addPrices puts the multipliers at the root to what they price.
func (s *solver) addPrices(out *Solution) {
	for r, row := range s.money.program.rows {
		price := s.money.shadowPrices[r]
		switch row.kind {
		case poolRow:
			out.Pools[s.canonical.pools[row.index]].ShadowPrice += price
		case quotaRow:
			out.Quotas[s.canonical.quotas[row.index]].ShadowPrice += price
		case budgetRow:
			out.BudgetShadowPrice += price
		}
	}
	var prices slab[float64]
	for i, from := range s.canonical.workloads {
		w := &s.money.program.workloads[i]
		marginal := prices.take(len(w.variants))
		for j := range w.variants {
			variant := int(s.canonical.items[from][w.variants[j].firstItem].variant)
			marginal[variant] = w.marginalPrice(&w.variants[j], s.money.shadowPrices) / s.canonical.from.Workloads[from].servable(variant)
		}
		out.Allocations[from].MarginalPrice = marginal
	}
}

// marginalPrice is the cost of one request/s of a variant at the cheapest placement.
func (w *workload) marginalPrice(v *variant, prices []float64) float64 {
	least := math.Inf(1)
	for item := v.firstItem; item < v.firstItem+v.items; item++ {
		least = min(least, w.priced(&w.places[item], prices))
	}
	if v.capacity == 0 {
		return math.Inf(1)
	}
	return least / v.capacity
}
