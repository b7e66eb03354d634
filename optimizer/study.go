package optimizer

import (
	"errors"
	"slices"
)

// ErrEnded is the answer to a question that a study could not finish: its effort is
// spent, or Options.Stop has ended it.
var ErrEnded = errors.New("optimizer: the study has ended")

// A Study answers questions about a plan by solving changed problems, one question
// after another. What it answers is proven as far as its solves are: numbers come
// with the interval in which they lie. It is for one goroutine.
type Study struct {
	problem *Problem
	plan    *Solution
	options Options
	left    int
	// alone is the solution without limits between workloads; nil until it is
	// asked for.
	alone *Solution
}

// Interval holds a number that is only known to lie between Low and High.
type Interval struct{ Low, High float64 }

// A solve of a study gets at most a part of the study's effort, and no more than
// some multiples of what the plan took and of the number of workloads: a question that
// is much harder than the plan would leave nothing for the others.
const (
	solvesOfStudy     = 16
	effortOfPlans     = 4
	effortOfWorkloads = 500
	littleEffort      = 100_000
)

// NewStudy returns a study of a valid problem and the plan that [Solve] found for it.
// The options are those of every solve, but Effort is that of the whole study.
func NewStudy(p *Problem, plan *Solution, o Options) *Study {
	if o.Effort == 0 {
		o.Effort = defaultEffort
	}
	return &Study{problem: p, plan: plan, options: o, left: o.Effort}
}

// solve solves a changed problem. It returns ErrEnded for a solve that was stopped,
// since its answer may be far off and differs from run to run.
func (s *Study) solve(p *Problem) (*Solution, error) {
	if s.left <= 0 || s.options.Stop != nil && s.options.Stop() {
		return nil, ErrEnded
	}
	o := s.options
	o.Start = &Start{Problem: s.problem, Solution: s.plan}
	o.Effort = max(1, min(s.left, s.options.Effort/solvesOfStudy, s.most()))
	solution, err := Solve(p, o)
	if err != nil {
		return nil, err
	}
	s.left -= solution.Effort
	if solution.Stopped {
		return nil, ErrEnded
	}
	return solution, nil
}

// most is the effort that no solve needs unless it is much harder than the plan.
func (s *Study) most() int {
	return max(littleEffort, effortOfPlans*s.plan.Effort, effortOfWorkloads*len(s.problem.Workloads))
}

// copied is the problem with pools, quotas, workloads and variants of its own.
// Placements are shared.
func (p *Problem) copied() *Problem {
	c := *p
	c.Pools = slices.Clone(p.Pools)
	c.Quotas = slices.Clone(p.Quotas)
	c.Workloads = slices.Clone(p.Workloads)
	for i := range c.Workloads {
		c.Workloads[i].Variants = slices.Clone(c.Workloads[i].Variants)
	}
	return &c
}

// reprice changes the prices in the objective by what change says of a placement.
// The budget keeps to the prices as they were.
func (p *Problem) reprice(change func(w, v, k int) float64) {
	for i := range p.Workloads {
		for j := range p.Workloads[i].Variants {
			v := &p.Workloads[i].Variants[j]
			v.Placements = slices.Clone(v.Placements)
			for k := range v.Placements {
				v.Placements[k].change = change(i, j, k)
			}
		}
	}
}

// repriced says whether some price in the objective is not that of the budget.
func (p *Problem) repriced() bool {
	return slices.ContainsFunc(p.Workloads, func(w Workload) bool {
		return slices.ContainsFunc(w.Variants, func(v Variant) bool {
			return slices.ContainsFunc(v.Placements, func(at Placement) bool { return at.change != 0 })
		})
	})
}

// costless makes all plans cost nothing but unmet demand.
func (p *Problem) costless() {
	p.reprice(func(w, v, k int) float64 { return -p.Workloads[w].Variants[v].Placements[k].PricePerHour })
	for i := range p.Workloads {
		for j := range p.Workloads[i].Variants {
			p.Workloads[i].Variants[j].SwitchUp, p.Workloads[i].Variants[j].SwitchDown = 0, 0
		}
	}
}

// Pool solves the problem with a pool larger or smaller by a number of devices; it
// keeps at least none. The pool must be limited.
func (s *Study) Pool(pool, devices int) (*Solution, error) {
	changed := *s.problem
	changed.Pools = slices.Clone(changed.Pools)
	changed.Pools[pool].Capacity = min(maxReplicas, max(0, changed.Pools[pool].Capacity+devices))
	return s.solve(&changed)
}

// Demand solves the problem with the demand of some workloads, or of all if none is
// named, multiplied by a factor ≥ 0.
func (s *Study) Demand(factor float64, workloads ...int) (*Solution, error) {
	changed := *s.problem
	changed.Workloads = slices.Clone(changed.Workloads)
	for i := range changed.Workloads {
		if len(workloads) == 0 || slices.Contains(workloads, i) {
			changed.Workloads[i].Demand *= factor
		}
	}
	return s.solve(&changed)
}

// Serves tells whether a plan serves all demand and holds all minimums of a problem
// with the workloads of the study: penalties do not excuse unmet demand. If some
// workloads are named, the others need no more than the study's plan serves of them.
// False says that no such plan was found.
func (s *Study) Serves(p *Problem, workloads ...int) (bool, error) {
	changed := *p
	changed.Workloads = slices.Clone(p.Workloads)
	for i := range changed.Workloads {
		if len(workloads) > 0 && !slices.Contains(workloads, i) {
			changed.Workloads[i].waive(s.plan.Allocations[i].Unmet)
		}
	}
	changed.mustServe()
	solution, err := s.solve(&changed)
	return err == nil && solution.Demand == Served, err
}

// served is the problem of serving no less than the plan does: each workload without
// penalty gets what the plan gives it.
func (s *Study) served() *Problem {
	p := s.problem.copied()
	for i := range p.Workloads {
		w, a := &p.Workloads[i], &s.plan.Allocations[i]
		if !w.Penalized {
			w.waive(a.Unmet)
		}
		if a.Shortfall > 0 {
			w.relaxMinimums(totals(a.Replicas))
		}
	}
	return p
}

// relaxMinimums lowers minimums to what there is.
func (w *Workload) relaxMinimums(counts []int) {
	total := 0
	for j, n := range counts {
		w.Variants[j].MinReplicas = min(w.Variants[j].MinReplicas, n)
		total += n
	}
	w.MinReplicas = min(w.MinReplicas, total)
}

// mustServe puts all demand on one level above cost.
func (p *Problem) mustServe() {
	for i := range p.Workloads {
		p.Workloads[i].Penalized, p.Workloads[i].Priority = false, 1
	}
}

// Saving is by how much the objective of a solution is below that of the plan, as far
// as is proven of both. It is negative where the solution costs more.
func (s *Study) Saving(changed *Solution) Interval {
	return Interval{Low: s.plan.Bound - changed.Objective, High: s.plan.Objective - changed.Bound}
}
