package planner

import (
	"errors"
	"fmt"

	"github.com/poolwright/poolwright/optimizer"
	"github.com/poolwright/poolwright/optimizer/lp"
)

// Replan makes a decision once more whose search was stopped: with the answers that
// [Decision.Answers] kept of the solver. Nothing else in a decision depends on when stop
// fired.
//
// The errors are those of Plan, and that the answers are not those of the snapshot.
func (p *Planner) Replan(s Snapshot, m Memory, answers []*optimizer.RobustSolution) (Decision, Memory, error) {
	c := p.newCycle(s, m, nil)
	c.recorded = append([]*optimizer.RobustSolution{}, answers...)
	return c.run(p.stages)
}

// solution is the plan for p: the recorded one, or that of the fleet's strategy.
func (c *cycle) solution(p *optimizer.Problem, engine lp.Engine) (*optimizer.RobustSolution, error) {
	answer := c.solve
	if c.recorded != nil {
		answer = c.recall
	}
	s, err := answer(p, engine)
	c.answers = append(c.answers, s)
	return s, err
}

// recall takes the next of the recorded answers.
func (c *cycle) recall(p *optimizer.Problem, _ lp.Engine) (*optimizer.RobustSolution, error) {
	if len(c.answers) >= len(c.recorded) {
		return nil, errors.New("no recorded answer is left")
	}
	s := c.recorded[len(c.answers)]
	if s == nil {
		return nil, errors.New("a recorded answer is empty")
	}
	start := optimizer.Start{Problem: p, Solution: s.Plan}
	if err := start.Validate(); err != nil {
		return nil, fmt.Errorf("a recorded answer does not fit: %w", err)
	}
	return s, nil
}

// stopping is stop, and notes whether it fired.
func (c *cycle) stopping(stop func() bool) func() bool {
	if stop == nil {
		return nil
	}
	return func() bool {
		fired := stop()
		if fired {
			c.stopped.Store(true)
		}
		return fired
	}
}
