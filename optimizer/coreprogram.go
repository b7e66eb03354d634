package optimizer

import (
	"math"
	"slices"

	"github.com/poolwright/poolwright/optimizer/lp"
)

// coreProgram is the core as a multiple-choice program, solved by branch and bound
// over its linear relaxation. The engine only guides: every bound is recomputed as
// the Lagrangian of the core at the engine's multipliers, and every plan is summed
// from its columns.
type coreProgram struct {
	*core
	// groups are those of the core with the columns that are left.
	groups []coreGroup
	cuts   []coreCut
	solver lp.Solver
	// first is the index of each group's first column in the linear program.
	first  []int
	closed []bool // columns excluded at the current node
	// programs is how many linear programs may still be solved, shared with the
	// programs of parts.
	programs *int
	// x is the solution of the relaxation, dual its multipliers and value its objective.
	x, dual []float64
	value   float64
	// bound is what dual proves, and excess by column how far the cost of any plan
	// with it is above, at least.
	bound  float64
	excess []float64
}

// solveProgram solves at most limit linear programs. It returns false if that or the engine's numerics end it early.
func (c *core) solveProgram(limit int) bool {
	p := &coreProgram{core: c, groups: c.groups, programs: &limit}
	defer p.unload()
	if len(c.groups)+len(c.used) <= c.t.limits.rootRows {
		return p.branchAndCut()
	}
	return p.load() && p.descend()
}

// nearCoreColumns and nearCorePrograms limit the search for plans over near columns.
const (
	nearCoreColumns  = 8000
	nearCorePrograms = 100
)

// solveNear looks for plans among the near columns of every workload and those of the
// best plan, by the same search as for a core but without a claim to be complete.
func (t *tree) solveNear() {
	c := &core{t: t, base: t.bundle.value.bound, prices: t.bundle.prices}
	c.picks = make([]int32, len(t.l.workloads))
	c.used = make([]float64, len(t.l.rows))
	for i := range t.near {
		columns := t.near[i]
		if t.best != nil && !slices.Contains(columns, t.best.picks[i]) {
			columns = append(slices.Clone(columns), t.best.picks[i])
		}
		if len(columns) == 0 {
			return
		}
		g := coreGroup{workload: i}
		for _, index := range columns {
			g.columns = append(g.columns, coreColumn{index: index})
		}
		c.columns += c.addGroup(g)
	}
	if c.columns <= nearCoreColumns && len(c.groups) > 0 {
		c.solveProgram(nearCorePrograms)
	}
}

// load hands the relaxation to the engine. It returns false if the engine refuses
// coefficients that are out of its range.
func (p *coreProgram) load() bool {
	p.unload()
	solver, err := p.t.engine.New(p.linear())
	if err != nil {
		return false
	}
	p.solver = solver
	return true
}

func (p *coreProgram) unload() {
	if p.solver != nil {
		p.solver.Close()
		p.solver = nil
	}
}

// linear builds the relaxation: a convexity row per group, then the coupling rows with
// what the other workloads leave, then the cuts.
func (p *coreProgram) linear() *lp.Problem {
	l := p.t.l
	problem := &lp.Problem{}
	addRow := func(lower, upper float64) {
		problem.RowLower, problem.RowUpper = append(problem.RowLower, lower), append(problem.RowUpper, upper)
	}
	for range p.groups {
		addRow(1, 1)
	}
	for r, row := range l.rows {
		addRow(math.Inf(-1), (row.limit-p.used[r])*l.unit(r))
	}
	for c := range p.cuts {
		addRow(p.cuts[c].least, math.Inf(1))
	}
	p.first = p.first[:0]
	for g := range p.groups {
		p.first = append(p.first, len(problem.Columns))
		for k := range p.groups[g].columns {
			problem.Columns = append(problem.Columns, p.linearColumn(g, k))
		}
	}
	p.first = append(p.first, len(problem.Columns))
	p.closed = make([]bool, len(problem.Columns))
	return problem
}

func (p *coreProgram) linearColumn(g, k int) lp.Column {
	l, from := p.t.l, p.entries(g, k)
	column := lp.Column{Cost: from.cost(), Upper: math.Inf(1), Rows: []int32{int32(g)}, Values: []float64{1}}
	add := func(row int, value float64) {
		if value != 0 {
			column.Rows, column.Values = append(column.Rows, int32(row)), append(column.Values, value)
		}
	}
	for n, r := range l.workloads[p.groups[g].workload].rows {
		add(len(p.groups)+int(r), from.use()[n]*l.unit(int(r)))
	}
	for c := range p.cuts {
		add(len(p.groups)+len(l.rows)+c, p.cuts[c].coefficients[p.first[g]+k])
	}
	return column
}

// entries are those of column k of a group.
func (p *coreProgram) entries(g, k int) entries {
	group := &p.groups[g]
	return p.t.l.columns[group.workload].entries(group.columns[k].index)
}

// run solves the linear program as it is, if there is effort left.
func (p *coreProgram) run() (s lp.Solution, ok bool) {
	if *p.programs--; *p.programs < 0 || !p.t.l.budget.spend(len(p.closed)/4+1) {
		return lp.Solution{Status: lp.IterationLimit}, false
	}
	s = p.solver.Solve(0)
	p.t.l.budget.spend(s.Iterations * (len(p.groups) + len(p.used) + len(p.cuts)) / rowsPerEffort)
	return s, s.Status == lp.Optimal || s.Status == lp.Infeasible
}

// rowsPerEffort rows make a pivot as much work as one pricing problem.
const rowsPerEffort = 10

// relax solves the relaxation and offers what is near its solution. Closed: no plan of the program
// beats the target.
func (p *coreProgram) relax() (closed, ok bool) {
	s, ok := p.run()
	if !ok || s.Status == lp.Infeasible {
		return ok, ok
	}
	p.x, p.dual, p.value = append(p.x[:0], s.X...), append(p.dual[:0], s.Dual...), s.Objective
	p.prove()
	p.offerRounded()
	return p.bound >= p.t.target(), true
}

// descend solves the current node and its descendants.
func (p *coreProgram) descend() bool {
	closed, ok := p.relax()
	if closed || !ok {
		return closed
	}
	choice := p.chooseSplit()
	if choice.group < 0 {
		// An integral optimum that the rows or the target refuse by a hair.
		return false
	}
	for _, below := range []bool{choice.below, !choice.below} {
		changed := p.exclude(choice, below)
		complete := p.descend()
		p.restore(changed)
		if !complete {
			return false
		}
	}
	return true
}

// prove works out the Lagrangian of the open columns at the multipliers of the relaxation,
// rounding errors considered.
func (p *coreProgram) prove() {
	l := p.t.l
	prices := make([]float64, len(l.rows))
	var bound boundSum
	bound.add(p.cost)
	for r, row := range l.rows {
		prices[r] = max(0, -p.dual[len(p.groups)+r]*l.unit(r))
		bound.add(prices[r] * (p.used[r] - row.limit))
	}
	p.excess = resize(p.excess, len(p.closed))
	clear(p.excess)
	for c := range p.cuts {
		price := max(0, p.dual[len(p.groups)+len(l.rows)+c])
		bound.add(price * p.cuts[c].least)
		for k, a := range p.cuts[c].coefficients {
			p.excess[k] -= price * a
		}
	}
	for g := range p.groups {
		w := &l.workloads[p.groups[g].workload]
		excess := p.excess[p.first[g]:p.first[g+1]]
		for k := range excess {
			excess[k] += w.reduced(p.entries(g, k), prices)
		}
		bound.add(overLeast(excess, p.closed[p.first[g]:p.first[g+1]]))
	}
	p.bound = bound.bound()
}

// offerRounded offers the plan of the largest value per group.
func (p *coreProgram) offerRounded() {
	picks := slices.Clone(p.picks)
	for g := range p.groups {
		best := 0
		for k := range p.groups[g].columns {
			if p.x[p.first[g]+k] > p.x[p.first[g]+best] {
				best = k
			}
		}
		picks[p.groups[g].workload] = p.groups[g].columns[best].index
	}
	plan := cut{picks: picks}
	p.t.l.sumCut(&plan)
	p.t.offerCut(&plan)
}

// coreSplit separates the columns of a group by the replicas of an item.
type coreSplit struct {
	group, item int
	at          int32
	// below: the side x ≤ at is to be looked at first.
	below bool
}

// chooseSplit finds the item whose replicas vary the most in the relaxation. group
// is −1 if all columns are integral.
func (p *coreProgram) chooseSplit() coreSplit {
	best, bestSpread := coreSplit{group: -1}, 0.0
	for g := range p.groups {
		fractions := p.fractions(g)
		if len(fractions) < 2 {
			continue
		}
		w, columns := &p.t.l.workloads[p.groups[g].workload], &p.t.l.columns[p.groups[g].workload]
		for item := range w.items {
			mean, square := 0.0, 0.0
			least, most := int32(math.MaxInt32), int32(0)
			for _, f := range fractions {
				n := columns.x(f.pick)[item]
				mean += f.share * float64(n)
				square += f.share * float64(n) * float64(n)
				least, most = min(least, n), max(most, n)
			}
			if spread := square - mean*mean; most > least && (best.group < 0 || spread > bestSpread) {
				at := min(max(int32(math.Floor(mean+1e-9)), least), most-1)
				best, bestSpread = coreSplit{group: g, item: item, at: at, below: mean-float64(at) < 0.5}, spread
			}
		}
	}
	return best
}

// fractions are the columns of a group in the relaxation.
func (p *coreProgram) fractions(g int) []fraction {
	var fractions []fraction
	for k, c := range p.groups[g].columns {
		if share := p.x[p.first[g]+k]; share > leastShare {
			fractions = append(fractions, fraction{c.index, share})
		}
	}
	return fractions
}

// leastShare of a column in the relaxation is more than an error of the arithmetic.
const leastShare = 1e-7

// inside says whether a column is on a side of a split.
func (p *coreProgram) inside(s coreSplit, below bool, k int) bool {
	group := &p.groups[s.group]
	return p.t.l.columns[group.workload].x(group.columns[k].index)[s.item] <= s.at == below
}

// exclude closes the columns of the other side and returns their indices.
func (p *coreProgram) exclude(s coreSplit, below bool) []int {
	var changed []int
	for k := range p.groups[s.group].columns {
		if i := p.first[s.group] + k; !p.inside(s, below, k) && !p.closed[i] {
			p.closed[i] = true
			p.solver.SetBounds(i, 0, 0)
			changed = append(changed, i)
		}
	}
	return changed
}

func (p *coreProgram) restore(changed []int) {
	for _, i := range changed {
		p.closed[i] = false
		p.solver.SetBounds(i, 0, math.Inf(1))
	}
}
