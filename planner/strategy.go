package planner

import (
	"fmt"
	"slices"

	"github.com/poolwright/poolwright/optimizer"
	"github.com/poolwright/poolwright/optimizer/greedy"
	"github.com/poolwright/poolwright/optimizer/lp"
)

// Strategy is how a plan is made.
type Strategy int

const (
	// Optimal: by the solver, with a proven bound.
	Optimal Strategy = iota
	// InfernoGreedy: by [greedy.Inferno].
	InfernoGreedy
	// Kthena: by [greedy.Kthena].
	Kthena
)

// solve plans p by the strategy of the fleet.
func (c *cycle) solve(p *optimizer.Problem, engine lp.Engine) (*optimizer.RobustSolution, error) {
	var s *optimizer.Solution
	var err error
	switch o := &c.fleet.Objective; o.Strategy {
	case InfernoGreedy:
		s, err = greedy.Inferno(p, o.Greedy, c.stop)
	case Kthena:
		s, err = greedy.Kthena(p, o.ExpansionRate, c.stop)
	case Optimal:
		if last := c.solvedBefore(p); last != nil {
			return &optimizer.RobustSolution{Plan: last, Point: last}, nil
		}
		return optimizer.SolveRobust(p, c.freeRobustness(), c.options(engine))
	}
	if err != nil {
		return nil, err
	}
	return c.unrobust(p, s)
}

// solvedBefore is the proven solution of the same problem in the last cycle, or nil.
func (c *cycle) solvedBefore(p *optimizer.Problem) *optimizer.Solution {
	if len(c.robustness.Scenarios) > 0 {
		return nil
	}
	for _, last := range []*optimizer.Start{c.start, c.inside} {
		if last == nil {
			continue
		}
		s := last.Solution
		if s.Proof == optimizer.Optimal && !s.Stopped && s.Gap <= c.fleet.Objective.RelativeGap && last.Problem.Equal(p) {
			return s
		}
	}
	return nil
}

func (c *cycle) options(engine lp.Engine) optimizer.Options {
	return optimizer.Options{RelativeGap: c.fleet.Objective.RelativeGap, Stop: c.stop, LP: engine, Start: c.start}
}

// startOf is where the next cycle's search begins.
func startOf(p *optimizer.Problem, s *optimizer.RobustSolution) *optimizer.Start {
	planned := *p
	planned.Workloads = slices.Clone(p.Workloads)
	for i, demand := range s.Demand {
		planned.Workloads[i].Demand = demand
	}
	return &optimizer.Start{Problem: &planned, Solution: s.Plan}
}

// explainResult says what the plan costs and how it was made.
func (c *cycle) explainResult() {
	s := c.heldUse.addTo(c.result.Plan, c.held)
	if by := c.fleet.Objective.madeBy(); by != "" {
		c.step("", "", fmt.Sprintf("%.6g per hour", s.Objective), by+"; nothing is proven")
		return
	}
	c.step("", "", fmt.Sprintf("%.6g per hour, bound %.6g", s.Objective, s.Bound),
		fmt.Sprintf("proven within %.3g %%", 100*s.Gap))
}

// madeBy names what made the plan, empty for the solver.
func (o *Objective) madeBy() string {
	switch o.Strategy {
	case Optimal:
	case InfernoGreedy:
		by := "greedy of the inferno family, saturation policy " + o.Greedy.Saturation.String()
		if o.Greedy.DelayedBestEffort {
			by += ", delayed best effort"
		}
		return by
	case Kthena:
		return "batches of Kthena"
	}
	return ""
}
