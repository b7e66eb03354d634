package optimizer

import (
	"errors"
	"slices"
)

// RobustSolution is one plan for several scenarios.
type RobustSolution struct {
	// Plan is the cheapest for Demand: its unmet demand, levels and penalties are
	// those of Demand, and its bound holds for every plan as robust as asked for.
	Plan *Solution
	// Demand is what the plan was made for, in requests/s by workload: the lowest
	// that covers the scenarios to be served.
	Demand []float64
	// Exposure is what Plan leaves unserved; nothing is worked out without scenarios.
	Exposure Exposure
	// Point is the solution for the problem's own demand, and PointExposure what it
	// leaves unserved: the price of robustness is Exposure.Cost less
	// PointExposure.Cost. Point is nil if the search was stopped before that.
	Point         *Solution
	PointExposure Exposure
}

// SolveRobust finds the cheapest plan that is as robust as asked for.
//
// All and Each are solved as one problem, at the highest demand of each workload
// over the scenarios or at its quantile; that is exact. Joint has to choose which
// scenarios to leave out, by branch and bound with a problem to solve at every node.
// It is exact too, but the choices multiply with the scenarios: it ends with the best
// plan, its bound and its gap when Options.Effort is spent or Options.Stop fires. The
// plan without robustness has an effort of its own.
//
// A workload that can't be served, or is not worth its penalty, leaves unmet demand
// in Plan like anywhere; it is weighed, level by level or at its penalty, against
// the demand that the plan is made for, not scenario by scenario.
//
// It returns an error only if problem, robustness or options are not valid.
func SolveRobust(p *Problem, r *Robustness, o Options) (*RobustSolution, error) {
	if err := errors.Join(p.Validate(), r.Validate(len(p.Workloads))); err != nil {
		return nil, err
	}
	var out *RobustSolution
	var err error
	switch r.Service {
	case Point:
		out, err = solvePoint(p, o)
	case All:
		out, err = solveFor(p, r.most(len(p.Workloads)), o)
	case Each:
		l := newLadder(r.Scenarios, r.probabilities(), len(p.Workloads))
		out, err = solveFor(p, l.quantiles(r.Probability, make([]bool, len(r.Scenarios))), o)
	case Joint:
		out, err = solveJoint(p, r, o)
	}
	if err != nil {
		return nil, err
	}
	err = out.expose(p, r, o.Stop)
	return out, err
}

func solvePoint(p *Problem, o Options) (*RobustSolution, error) {
	s, err := Solve(p, o)
	out := &RobustSolution{Plan: s, Point: s}
	for i := range p.Workloads {
		out.Demand = append(out.Demand, p.Workloads[i].Demand)
	}
	return out, err
}

func solveFor(p *Problem, demand []float64, o Options) (*RobustSolution, error) {
	robust := p.withDemand(demand)
	s, err := Solve(robust, o)
	if err != nil {
		return nil, err
	}
	out := &RobustSolution{Plan: s, Demand: demand}
	o.Start = &Start{Problem: robust, Solution: s}
	err = out.addPoint(p, o)
	return out, err
}

// withDemand is the problem with another demand.
func (p *Problem) withDemand(demand []float64) *Problem {
	q := *p
	q.Workloads = slices.Clone(p.Workloads)
	for i := range q.Workloads {
		q.Workloads[i].Demand = demand[i]
	}
	return &q
}

// addPoint adds the plan that ignores the scenarios, if there is time left.
func (s *RobustSolution) addPoint(p *Problem, o Options) (err error) {
	if !s.Plan.Stopped {
		s.Point, err = Solve(p, o)
	}
	return err
}

// expose adds what both plans leave unserved. That of the plan is part of the answer however long it
// took; the other plan is left out if the caller has stopped.
func (s *RobustSolution) expose(p *Problem, r *Robustness, stop func() bool) (err error) {
	if len(r.Scenarios) == 0 {
		return nil
	}
	if s.Exposure, err = p.Exposure(s.Plan.Replicas(), r); err != nil {
		return err
	}
	switch {
	case s.Point == s.Plan:
		s.PointExposure = s.Exposure
	case s.Point != nil && stop != nil && stop():
		s.Point = nil
	case s.Point != nil:
		s.PointExposure, err = p.Exposure(s.Point.Replicas(), r)
	}
	return err
}
