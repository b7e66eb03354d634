package planner

import (
	"fmt"

	"github.com/poolwright/poolwright/optimizer"
)

// switchingShare is the cost per hour of a change of a replica in the loop where none is
// declared, as a share of its price: plans that differ by less are the same.
const switchingShare = 0.01

// program is the fleet as an integer program, in which the loop changes nothing for next
// to nothing.
func (c *cycle) program() *optimizer.Problem {
	p := c.fleet.Problem(c.sizes)
	if !c.loop() {
		return p
	}
	for i := range p.Workloads {
		for j := range p.Workloads[i].Variants {
			v, declared := &p.Workloads[i].Variants[j], &c.fleet.Workloads[i].Variants[j]
			cost := switchingShare * c.fleet.cheapest(declared)
			if v.SwitchUp == 0 && v.SwitchDown == 0 {
				v.SwitchUp, v.SwitchDown = cost, cost
			}
			// Within what counts as the same, the less preferred cost more.
			v.SwitchUp += cost * float64(declared.Preference) / MaxPreference
		}
	}
	return p
}

// stay keeps the replicas of workloads, of which p is the problem, where the plan is as
// good with them.
func (c *cycle) stay(p *optimizer.Problem) error {
	if !c.loop() || c.fleet.Objective.Strategy != Optimal || len(c.robustness.Scenarios) > 0 {
		return nil
	}
	if !c.moves(p, c.result.Plan) {
		return nil
	}
	plan, err := p.Stay(c.result.Plan, c.currentOfFree(), c.fleet.Objective.RelativeGap)
	if err != nil {
		return fmt.Errorf("planner: stay: %w", err)
	}
	c.result = &optimizer.RobustSolution{Plan: plan, Point: plan}
	return nil
}

// moves tells whether a plan may move replicas of p: to another variant, or another pool.
func (c *cycle) moves(p *optimizer.Problem, plan *optimizer.Solution) bool {
	for i := range p.Workloads {
		for j, replicas := range plan.Allocations[i].Replicas {
			if sum(replicas) != p.Workloads[i].Variants[j].CurrentReplicas || len(replicas) > 1 {
				return true
			}
		}
	}
	return false
}

// currentOfFree are the replicas now of the workloads that are not held.
func (c *cycle) currentOfFree() [][][]int {
	current := c.placed(c.problem).current()
	free := make([][][]int, len(c.planned))
	for k, i := range c.planned {
		free[k] = current[i]
	}
	return free
}
