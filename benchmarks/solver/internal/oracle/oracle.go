package oracle

import (
	"errors"
	"fmt"
	"math"

	"github.com/poolwright/poolwright/benchmarks/solver/internal/compact"
	"github.com/poolwright/poolwright/benchmarks/solver/internal/peer"
	"github.com/poolwright/poolwright/optimizer"
)

// accuracy is that of other solvers, relative: they work to it, not to the last
// digit.
const accuracy = 1e-7

// slack is what a value may be off.
func slack(x float64) float64 { return accuracy*math.Abs(x) + 2e-5 }

// Contradiction returns an error if an answer can't be right as another solver
// proved its own at gap 0: a bound above a plan that exists, a plan below the
// optimum or, where it is called optimal, further above it than the gap; or a plan
// that breaks a limit or costs something else than it says. Levels after one that
// the two left unequal, for want of proof, are not compared.
func Contradiction(problem *optimizer.Problem, s *optimizer.Solution, gap float64, a peer.Answer) error {
	if (a.Status == peer.Infeasible) != (s.Demand == optimizer.Infeasible) && a.Status != peer.Nothing {
		return fmt.Errorf("oracle: demand %d, but the other solver's answer is %v", s.Demand, a.Status)
	}
	if a.Status > peer.Feasible {
		return nil
	}
	if err := plan(problem, s); err != nil {
		return err
	}
	proven := a.Status == peer.Optimal
	for _, priority := range peer.Unpenalized(problem) {
		ours, theirs := levelOf(s, priority), unmetOf(a, priority)
		if err := compare(ours.Unmet, ours.Bound, theirs, proven); err != nil {
			return fmt.Errorf("oracle: priority %d: %w", priority, err)
		}
		if math.Abs(ours.Unmet-theirs) > slack(theirs) {
			return nil
		}
	}
	if err := compare(s.Objective, s.Bound, a.Objective, proven); err != nil {
		return fmt.Errorf("oracle: %w", err)
	}
	if s.Proof == optimizer.Optimal && s.Objective*(1-gap) > a.Objective+slack(a.Objective) {
		return fmt.Errorf("oracle: objective %v is called optimal, other plan %v", s.Objective, a.Objective)
	}
	return nil
}

// plan judges the plan by the rows of the compact program.
func plan(problem *optimizer.Problem, s *optimizer.Solution) error {
	settled := map[int]float64{}
	for _, priority := range peer.Unpenalized(problem) {
		settled[priority] = levelOf(s, priority).Unmet
	}
	program, err := compact.New(problem, compact.Stage{Settled: settled})
	if err != nil {
		return err
	}
	cost, err := program.Judge(s.Replicas())
	if err == nil && math.Abs(cost-s.Objective) > 1e-9*math.Abs(cost) {
		err = fmt.Errorf("objective %v, judged %v", s.Objective, cost)
	}
	if err != nil {
		return fmt.Errorf("oracle: plan: %w", err)
	}
	return nil
}

func compare(value, bound, theirs float64, proven bool) error {
	switch {
	case bound > theirs*(1+1e-9)+1e-9:
		return fmt.Errorf("bound %v > other plan %v", bound, theirs)
	case bound > value:
		return errors.New("bound above the plan's own value")
	case proven && value < theirs-slack(theirs):
		return fmt.Errorf("value %v < proven optimum %v", value, theirs)
	}
	return nil
}

// levelOf is the level of a priority; those that are not reported are 0.
func levelOf(s *optimizer.Solution, priority int) optimizer.Level {
	for _, l := range s.Levels {
		if l.Priority == priority {
			return l
		}
	}
	return optimizer.Level{Priority: priority}
}

func unmetOf(a peer.Answer, priority int) float64 {
	for _, l := range a.Levels {
		if l.Priority == priority {
			return l.Unmet
		}
	}
	return 0
}
