package planner

import (
	"errors"
	"fmt"
	"slices"

	"github.com/poolwright/poolwright/optimizer"
	"github.com/poolwright/poolwright/optimizer/lp"
)

// Explain makes the decision that Plan makes, and answers what a person asks next, by
// solving changed fleets. When stop, which may be nil, returns true, or the work gets
// to that of the longest search for a plan, the questions not yet answered are left
// out; those of most worth come first.
//
// The errors are those of Plan.
func (p *Planner) Explain(s Snapshot, m Memory, stop func() bool) (Explanation, Memory, error) {
	var e Explanation
	stages := append(slices.Clone(p.stages), stage{"study", func(c *cycle) error { return e.answer(c, p.engine) }})
	decision, memory, err := p.newCycle(s, m, stop).run(stages)
	e.Decision = decision
	return e, memory, err
}

// explainer asks the questions of one explanation.
type explainer struct {
	*Explanation
	cycle *cycle
	study *optimizer.Study
	// free are the workloads that are not held, by their index in the fleet.
	free []int
}

// question is one that an explanation answers.
type question struct {
	name string
	ask  func(*explainer) error
}

// questions are in the order of their worth.
func questions() []question {
	return []question{
		{"the smallest increases of limits", (*explainer).increases},
		{"the smallest relaxation of SLOs", (*explainer).relaxations},
		{"fewer and more devices", (*explainer).changes},
		{"cost over demand", (*explainer).curve},
		{"ranges of prices", (*explainer).prices},
		{"exact prices at which unused variants are used", (*explainer).solveUnused},
		{"cost over the demand of single workloads", (*explainer).curves},
	}
}

// answer asks all questions until time or effort ends.
func (e *Explanation) answer(c *cycle, engine lp.Engine) error {
	e.commitments(c)
	e.unused(c)
	if c.fleet.Objective.Strategy != Optimal {
		e.LeftOut = []string{"everything else: a plan of the " + c.fleet.Objective.madeBy() + " is not proven"}
		return nil
	}
	p, err := c.batched(c.free)
	if err != nil {
		return err
	}
	x := &explainer{Explanation: e, cycle: c, study: optimizer.NewStudy(p, c.solved, c.options(engine)), free: c.planned}
	all := questions()
	for i, q := range all {
		err := q.ask(x)
		if errors.Is(err, optimizer.ErrEnded) {
			for _, left := range all[i:] {
				e.LeftOut = append(e.LeftOut, left.name)
			}
			break
		}
		if err != nil {
			return fmt.Errorf("planner: %s: %w", q.name, err)
		}
	}
	c.step("", "", fmt.Sprintf("%d questions answered", len(all)-len(e.LeftOut)), "")
	return nil
}

// commitments need no solve: the plan says what is idle.
func (e *Explanation) commitments(c *cycle) {
	for g := range c.fleet.Pools {
		pool := &c.fleet.Pools[g]
		if pool.Committed == 0 {
			continue
		}
		idle := max(0, pool.Committed-c.decision.Pools[g].Used)
		e.Commitments = append(e.Commitments, Commitment{
			Pool: g, Idle: idle, IdlePricePerHour: float64(idle) * pool.PricePerHour,
			Reason: commitmentReason(pool, idle, c.decision.Pools[g].Used),
		})
	}
}

// heldCost is what the held workloads add to every objective.
func (e *explainer) heldCost() float64 {
	if e.cycle.heldUse == nil {
		return 0
	}
	return e.cycle.heldUse.use.PricePerHour
}

// unmet is over all workloads.
func unmet(s *optimizer.Solution) float64 {
	total := 0.0
	for i := range s.Allocations {
		total += s.Allocations[i].Unmet
	}
	return total
}

// shortfall is the number of replicas missing from minimums, over all workloads.
func shortfall(s *optimizer.Solution) int {
	total := 0
	for i := range s.Allocations {
		total += s.Allocations[i].Shortfall
	}
	return total
}
