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
	solver lp.Solver
	// first is the index of each group's first column in the linear program.
	first  []int
	closed []bool // columns excluded at the current node
	nodes  int
	limit  int
}

// solveProgram solves at most limit linear programs. It returns false if that or the engine's numerics end it early.
func (c *core) solveProgram(limit int) bool {
	p := &coreProgram{core: c, limit: limit}
	solver, err := c.t.engine.New(p.linear())
	if err != nil {
		// The engine refuses coefficients that are out of its range.
		return false
	}
	defer solver.Close()
	p.solver = solver
	return p.descend()
}

// diveColumns and divePrograms limit the search for plans over near columns.
const (
	diveColumns  = 8000
	divePrograms = 100
)

// dive looks for plans among the near columns of every workload and those of the
// best plan, by the same search as for a core but without a claim to be complete.
func (t *tree) dive() {
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
	if c.columns <= diveColumns && len(c.groups) > 0 {
		c.solveProgram(divePrograms)
	}
}

// linear builds the program: a convexity row per group, then the coupling rows with
// what the other workloads leave.
func (p *coreProgram) linear() *lp.Problem {
	l := p.t.l
	problem := &lp.Problem{}
	for range p.groups {
		problem.RowLower = append(problem.RowLower, 1)
		problem.RowUpper = append(problem.RowUpper, 1)
	}
	for r, row := range l.rows {
		problem.RowLower = append(problem.RowLower, math.Inf(-1))
		problem.RowUpper = append(problem.RowUpper, (row.limit-p.used[r])*p.t.l.unit(r))
	}
	for g := range p.groups {
		p.first = append(p.first, len(problem.Columns))
		w := &l.workloads[p.groups[g].workload]
		for k := range p.groups[g].columns {
			from := p.column(g, k)
			column := lp.Column{Cost: from.cost, Upper: 1, Rows: []int32{int32(g)}, Values: []float64{1}}
			for n, r := range w.rows {
				if from.use[n] != 0 {
					column.Rows = append(column.Rows, int32(len(p.groups))+r)
					column.Values = append(column.Values, from.use[n]*l.unit(int(r)))
				}
			}
			problem.Columns = append(problem.Columns, column)
		}
	}
	p.first = append(p.first, len(problem.Columns))
	p.closed = make([]bool, len(problem.Columns))
	return problem
}

func (p *coreProgram) column(g, k int) *column {
	group := &p.groups[g]
	return &p.t.l.columns[group.workload][group.columns[k].index]
}

// descend solves the current node and its descendants.
func (p *coreProgram) descend() bool {
	p.nodes++
	if p.nodes > p.limit || !p.t.l.budget.spend(len(p.closed)/4+1) {
		return false
	}
	s := p.solver.Solve(0)
	if s.Status == lp.Infeasible {
		return true
	}
	if s.Status != lp.Optimal {
		return false
	}
	bound, x := p.boundAt(s.Dual), slices.Clone(s.X)
	p.offerRounded(x)
	if bound >= p.t.target() {
		return true
	}
	choice := p.chooseSplit(x)
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

// boundAt is the Lagrangian of the core's open columns at the multipliers of the
// coupling rows.
func (p *coreProgram) boundAt(dual []float64) float64 {
	l := p.t.l
	prices := make([]float64, len(l.rows))
	var bound runningSum
	bound.add(p.cost)
	for r, row := range l.rows {
		prices[r] = max(0, -dual[len(p.groups)+r]*p.t.l.unit(r))
		bound.add(prices[r] * (p.used[r] - row.limit))
	}
	for g := range p.groups {
		w := &l.workloads[p.groups[g].workload]
		least := math.Inf(1)
		for k := range p.groups[g].columns {
			if !p.closed[p.first[g]+k] {
				least = min(least, w.reduced(p.column(g, k), prices))
			}
		}
		bound.add(least)
	}
	return bound.total()
}

// offerRounded offers the plan of the largest value per group.
func (p *coreProgram) offerRounded(x []float64) {
	picks := slices.Clone(p.picks)
	for g := range p.groups {
		best := 0
		for k := range p.groups[g].columns {
			if x[p.first[g]+k] > x[p.first[g]+best] {
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
	// below: the side x ≤ at is nearer to the relaxation.
	below bool
}

// chooseSplit finds the item whose replicas vary the most in the relaxation. group
// is −1 if all columns are integral.
func (p *coreProgram) chooseSplit(x []float64) coreSplit {
	best, bestSpread := coreSplit{group: -1}, 0.0
	for g := range p.groups {
		if !p.fractional(g, x) {
			continue
		}
		w := &p.t.l.workloads[p.groups[g].workload]
		for item := range w.items {
			mean, square := 0.0, 0.0
			least, most := int32(math.MaxInt32), int32(0)
			for k := range p.groups[g].columns {
				if z := x[p.first[g]+k]; z > 1e-7 {
					n := p.column(g, k).x[item]
					mean += z * float64(n)
					square += z * float64(n) * float64(n)
					least, most = min(least, n), max(most, n)
				}
			}
			if spread := square - mean*mean; most > least && (best.group < 0 || spread > bestSpread) {
				at := min(max(int32(math.Floor(mean+1e-9)), least), most-1)
				best, bestSpread = coreSplit{group: g, item: item, at: at, below: mean-float64(at) < 0.5}, spread
			}
		}
	}
	return best
}

func (p *coreProgram) fractional(g int, x []float64) bool {
	for k := range p.groups[g].columns {
		if z := x[p.first[g]+k]; z > 1e-7 && z < 1-1e-7 {
			return true
		}
	}
	return false
}

// exclude closes the columns of the other side and returns their indices.
func (p *coreProgram) exclude(s coreSplit, below bool) []int {
	var changed []int
	for k := range p.groups[s.group].columns {
		i := p.first[s.group] + k
		if inside := p.column(s.group, k).x[s.item] <= s.at == below; !inside && !p.closed[i] {
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
		p.solver.SetBounds(i, 0, 1)
	}
}
