package optimizer

import (
	"fmt"
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
	if err := p.Validate(); err != nil {
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
	s := &solver{canonical: canonicalize(p), options: o, budget: &effort{left: o.Effort, stop: o.Stop}}
	for g := range s.canonical.Pools {
		s.packings = append(s.packings, packPool(&s.canonical.Problem, g))
	}
	s.stages()
	return s.solution(p)
}

// solver carries a solve through its stages.
type solver struct {
	canonical *canonical
	packings  []packing
	options   Options
	budget    *effort

	// plan is the best plan so far, by item.
	plan   []int32
	levels []Level
	// money is the outcome of the last stage and program its program.
	money   result
	program *program
}

// stages first tries to serve everything, which is the usual case. Only if that
// fails are the levels above cost settled one by one.
func (s *solver) stages() {
	all := stage{settled: map[int]float64{}}
	priorities := s.priorities()
	for _, priority := range priorities {
		all.settled[priority] = 0
	}
	if s.run(all, true); s.plan != nil {
		return
	}
	s.plan = make([]int32, s.program.items)
	settled := stage{kind: shortfallStage, elastic: true, settled: map[int]float64{}}
	s.settleShortfall(&settled)
	weighed := s.weigh(settled)
	settled.kind = unmetStage
	for _, priority := range priorities {
		if s.budget.exhausted() {
			// No time to settle it: what the best plan so far leaves has to do.
			if s.better(weighed, s.plan, priorities) {
				s.plan = weighed
			}
			settled.settled[priority] = s.unmet(s.plan, priority)
			continue
		}
		settled.priority = priority
		level := s.settle(settled)
		settled.settled[priority] = s.allowed(level, settled.unit(&s.canonical.Problem))
		s.addLevel(priority, level)
	}
	settled.kind, settled.priority = moneyStage, 0
	s.run(settled, false)
	if s.budget.stopped && s.better(weighed, s.plan, priorities) {
		s.plan = weighed
	}
}

// weigh makes a plan for all priorities at once, for the case that there is no time to settle one
// after the other.
func (s *solver) weigh(at stage) []int32 {
	before := s.plan
	at.kind = weighedStage
	s.run(at, false)
	weighed := s.plan
	s.plan = before
	return weighed
}

// better says whether plan a leaves less unmet than b, priority by priority, by more than the gap
// asked for.
func (s *solver) better(a, b []int32, priorities []int) bool {
	for _, priority := range priorities {
		at := stage{kind: unmetStage, priority: priority}
		allowed := s.options.searchGap() * at.unit(&s.canonical.Problem)
		unmetA, unmetB := s.unmet(a, priority), s.unmet(b, priority)
		if math.Abs(unmetA-unmetB) > allowed || unmetB == 0 && unmetA > 0 {
			return unmetA < unmetB
		}
	}
	return false
}

// unmet is the demand of a priority that a plan leaves.
func (s *solver) unmet(plan []int32, priority int) float64 {
	var total runningSum
	var counts []int
	item := 0
	for i := range s.canonical.Workloads {
		w := &s.canonical.Workloads[i]
		counts = counts[:0]
		for j := range w.Variants {
			n := 0
			for range w.Variants[j].Placements {
				n += int(plan[item])
				item++
			}
			counts = append(counts, n)
		}
		if !w.Penalized && w.Priority == priority {
			total.add(w.Unmet(counts))
		}
	}
	return total.total()
}

// priorities are those of workloads whose unmet demand has no price, increasing.
func (s *solver) priorities() []int {
	var priorities []int
	for i := range s.canonical.Workloads {
		if w := &s.canonical.Workloads[i]; !w.Penalized && w.Demand > 0 {
			priorities = append(priorities, w.Priority)
		}
	}
	slices.Sort(priorities)
	return slices.Compact(priorities)
}

func (s *solver) settleShortfall(next *stage) {
	level := s.settle(*next)
	s.addLevel(0, level)
	next.shortfall, next.shortfallSettled = math.Round(level.Unmet), true
	next.elastic = next.shortfall > 0
}

// settle minimises one level, starting from the plan so far.
func (s *solver) settle(at stage) Level {
	s.run(at, false)
	bound := proven(s.money.bound)
	if at.kind == shortfallStage {
		bound = math.Ceil(bound - 1e-3)
	}
	level := Level{Unmet: s.money.best.cost, Bound: min(bound, s.money.best.cost)}
	if level.Unmet > level.Bound {
		level.Gap = (level.Unmet - level.Bound) / at.unit(&s.canonical.Problem)
	}
	return level
}

// allowed is the unmet demand of a settled level that the later ones must keep: all that the gap
// asked for leaves. Were it what the plan so far happens to reach, hardly another plan would do.
func (s *solver) allowed(level Level, unit float64) float64 {
	if level.Unmet == 0 {
		return 0
	}
	return max(level.Unmet, level.Bound+s.options.searchGap()*unit)
}

// reachedLevels are the levels as the final plan keeps them.
func (s *solver) reachedLevels(plan []Allocation) []Level {
	var levels []Level
	for _, level := range s.levels {
		if level.Priority == 0 {
			levels = append(levels, level)
		}
	}
	for _, priority := range s.priorities() {
		var unmet, demand runningSum
		for i, from := range s.canonical.workloads {
			if w := &s.canonical.Workloads[i]; !w.Penalized && w.Priority == priority {
				unmet.add(plan[from].Unmet)
				demand.add(w.Demand)
			}
		}
		level := Level{Priority: priority, Unmet: unmet.total()}
		if level.Unmet == 0 {
			continue
		}
		if k := slices.IndexFunc(s.levels, func(l Level) bool { return l.Priority == priority }); k >= 0 {
			level.Bound = min(s.levels[k].Bound, level.Unmet)
		}
		level.Gap = (level.Unmet - level.Bound) / demand.total()
		levels = append(levels, level)
	}
	return levels
}

func (s *solver) addLevel(priority int, level Level) {
	level.Priority = priority
	if level.Unmet > 0 {
		s.levels = append(s.levels, level)
	}
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
// A tentative run gives up where a first plan isn't found at the root.
func (s *solver) run(at stage, tentative bool) {
	before := s.program
	s.program = newProgram(&s.canonical.Problem, s.packings, at)
	budget := s.budget.share(at.kind != moneyStage || tentative)
	l := newLagrangian(s.program, budget)
	t := newTree(l, s.options)
	t.hasty = at.kind == weighedStage
	t.unit, t.whole = at.unit(&s.canonical.Problem), at.kind == shortfallStage
	if before != nil {
		t.start = s.carryOver(before)
	}
	if s.plan != nil {
		t.offerPlan(s.plan)
	}
	if tentative {
		t.warm = s.warmStart()
	}
	s.money = t.solve(tentative)
	if at.kind == moneyStage && t.best != nil && t.rootPrices != nil && !budget.exhausted() {
		s.money.prices = t.shadowPrices()
	}
	s.budget.settle(budget)
	if s.money.best != nil {
		s.plan = l.items(s.money.best)
	}
}

// carryOver translates the prices of the stage before. A unit of the level that it
// settled was worth 1 there.
func (s *solver) carryOver(before *program) []float64 {
	prices := make([]float64, len(s.program.rows))
	for r, row := range s.program.rows {
		found := false
		for k, old := range before.rows {
			if old.kind == row.kind && old.index == row.index {
				prices[r], found = s.money.prices[k], true
				break
			}
		}
		if !found && row.kind >= unmetRow {
			prices[r] = 1
		}
	}
	return prices
}

// items spells an assignment out by item.
func (l *lagrangian) items(a *assignment) []int32 {
	x := make([]int32, l.program.items)
	for i, pick := range a.picks {
		copy(x[l.workloads[i].firstItem:], l.columns[i][pick].x)
	}
	return x
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
	defer t.closeMaster()
	if t.root() && !t.hasty && (t.best != nil || !tentative) {
		t.run()
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
	if !t.l.widen() {
		return t.rootPrices
	}
	b := bundle{l: t.l, scale: t.bundle.scale, prices: t.rootPrices}
	var spent bool
	if b.value, spent = b.evaluate(b.prices); !spent || !b.value.ok {
		return t.rootPrices
	}
	b.fresh = true
	b.ascend(goal{target: t.best.cost - shadowGap*math.Abs(t.best.cost), hopeless: math.Inf(1), passes: shadowPasses, precision: 1e-2})
	return b.prices
}

// shadowGap is the gap up to which a bound is good enough for its prices to be read.
const shadowGap = 1e-3

// shadowPasses limits the ascent for shadow prices.
const shadowPasses = 100

// solution reports the plan in the terms of the original problem.
func (s *solver) solution(p *Problem) (*Solution, error) {
	replicas := s.canonical.restore(s.replicas())
	out, err := p.Assess(replicas)
	if err != nil {
		return nil, fmt.Errorf("optimizer: own plan: %w", err)
	}
	out.Levels, out.Stopped = s.reachedLevels(out.Allocations), s.budget.stopped
	out.Effort = s.options.Effort - s.budget.left
	out.Bound = min(proven(s.money.bound), out.Objective)
	out.Gap = gapOf(out.Objective, out.Bound)
	out.Proof = out.proof(max(s.options.RelativeGap, leastGap))
	s.addPrices(out)
	return out, nil
}

// proof compares the gaps with the one asked for.
func (s *Solution) proof(wanted float64) Proof {
	if s.Gap > wanted || slices.ContainsFunc(s.Levels, func(l Level) bool { return l.Gap > wanted }) {
		return Feasible
	}
	return Optimal
}

// replicas are those of the plan in canonical order.
func (s *solver) replicas() [][][]int {
	out := make([][][]int, len(s.canonical.Workloads))
	item := 0
	for i := range out {
		w := &s.canonical.Workloads[i]
		out[i] = make([][]int, len(w.Variants))
		for j := range w.Variants {
			out[i][j] = make([]int, len(w.Variants[j].Placements))
			for k := range out[i][j] {
				out[i][j][k] = int(s.plan[item])
				item++
			}
		}
	}
	return out
}

// addPrices puts the multipliers at the root to what they price.
func (s *solver) addPrices(out *Solution) {
	for r, row := range s.program.rows {
		price := s.money.prices[r]
		switch row.kind {
		case poolRow:
			out.Pools[s.canonical.pools[row.index]].ShadowPrice += price
		case quotaRow:
			out.Quotas[s.canonical.quotas[row.index]].ShadowPrice += price
		case budgetRow:
			out.BudgetShadowPrice += price
		}
	}
	for i, from := range s.canonical.workloads {
		w := &s.program.workloads[i]
		for j, variant := range s.canonical.variants[i] {
			out.Allocations[from].MarginalPrice[variant] = w.variants[j].marginalPrice(s.money.prices) / s.canonical.Workloads[i].servable(j)
		}
	}
}

// marginalPrice is the cost of one request/s at the cheapest placement.
func (v *variant) marginalPrice(prices []float64) float64 {
	least := math.Inf(1)
	for k := range v.places {
		least = min(least, v.places[k].priced(prices))
	}
	if v.capacity == 0 {
		return math.Inf(1)
	}
	return least / v.capacity
}
