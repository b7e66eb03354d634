package optimizer

import (
	"math"
	"slices"
	"strings"
)

// joint chooses the scenarios that a plan serves, by branch and bound.
//
// Serving a set of scenarios is serving the highest demands among them, and more
// demand is never cheaper, so the sets differ by a demand and are bounded by
// demands: a node keeps some scenarios and drops others, and every set between
// serves what the kept ones need, and each workload with the probability by itself,
// without the dropped ones. The plan for that demand bounds the node. If it happens
// to serve enough scenarios it is the best of the node; else one that it does not
// serve is kept in one child and dropped in the other.
type joint struct {
	problem *Problem
	// options have the effort that is left of what was given.
	options     Options
	given       int
	probability float64
	ladder      *ladder
	// prices are what a request/s costs at least, by workload.
	prices   []float64
	ordering *ordering

	stopped bool // by Options.Stop
	best    *jointNode
	open    []*jointNode
	// closed are bounds of the nodes that are done.
	closed [][]float64
}

// jointNode is a set of choices.
type jointNode struct {
	kept, dropped []bool
	// demand is what the solution was made for, and what else it serves.
	demand   []float64
	solution *Solution
	bound    []float64
	// left are the scenarios not dropped that the solution does not serve; enough:
	// the others have the probability asked for.
	left   []int
	enough bool
}

// solveJoint solves for Joint. The plan without robustness is found between the
// first robust plan and the search for better ones.
func solveJoint(p *Problem, r *Robustness, o Options) (*RobustSolution, error) {
	j := newJoint(p, r, o)
	if err := j.begin(); err != nil {
		return nil, err
	}
	out := &RobustSolution{Plan: j.best.solution}
	if err := out.addPoint(p, o); err != nil {
		return nil, err
	}
	j.stopped = out.Point == nil || out.Point.Stopped
	if err := j.search(); err != nil {
		return nil, err
	}
	out.Plan, out.Demand = j.solution(), j.best.demand
	return out, nil
}

// newJoint takes the scenarios by name, so that their order does not matter.
func newJoint(p *Problem, r *Robustness, o Options) *joint {
	sorted := *r
	sorted.Scenarios = slices.Clone(r.Scenarios)
	slices.SortFunc(sorted.Scenarios, func(a, b Scenario) int { return strings.Compare(a.Name, b.Name) })
	j := &joint{
		problem: p, options: o, probability: r.Probability,
		ordering: newOrdering(p.withDemand(r.most(len(p.Workloads))), o.provenGap()),
	}
	j.ladder = newLadder(sorted.Scenarios, sorted.probabilities(), len(p.Workloads))
	if o.Effort == 0 {
		j.options.Effort = defaultEffort
	}
	j.given = j.options.Effort
	for i := range p.Workloads {
		j.prices = append(j.prices, p.Workloads[i].leastPrice())
	}
	return j
}

// leastPrice is that of a request/s on the cheapest variant, limits aside; 0 where
// there is none.
func (w *Workload) leastPrice() float64 {
	least := math.Inf(1)
	for _, price := range w.prices(nil) {
		least = min(least, price)
	}
	if math.IsInf(least, 1) {
		return 0
	}
	return least
}

// begin finds a first plan and bounds all plans.
func (j *joint) begin() error {
	nothing := make([]bool, len(j.ladder.scenarios))
	root := &jointNode{kept: nothing, dropped: nothing, demand: j.ladder.quantiles(j.probability, nothing)}
	first := &jointNode{kept: nothing, dropped: nothing, demand: j.enough(root.demand)}
	same := slices.Equal(first.demand, root.demand)
	if err := j.solve(first); err != nil {
		return err
	}
	j.best = first
	switch {
	case same:
		j.settle(first)
		return nil
	case j.ended():
		j.closed = append(j.closed, make([]float64, len(first.bound)))
		return nil
	}
	err := j.solve(root)
	j.settle(root)
	return err
}

// enough raises a demand, scenario by scenario, until it covers enough of them: the
// cheapest for its probability comes first.
func (j *joint) enough(demand []float64) []float64 {
	demand = slices.Clone(demand)
	for {
		covered, next, least := 0.0, -1, math.Inf(1)
		for s := range j.ladder.scenarios {
			probability := j.ladder.probabilities[s]
			if covers(demand, j.ladder.scenarios[s].Demand) {
				covered += probability
			} else if excess := j.excess(s, demand) / probability; next < 0 || excess < least {
				next, least = s, excess
			}
		}
		if covered >= j.probability-probabilityTolerance {
			return demand
		}
		raise(demand, j.ladder.scenarios[next].Demand)
	}
}

// covers says whether serving a demand serves another one.
func covers(demand, other []float64) bool {
	for w := range demand {
		if other[w] > demand[w] {
			return false
		}
	}
	return true
}

// excess is about what scenario s costs beyond a demand.
func (j *joint) excess(s int, demand []float64) float64 {
	terms := make([]float64, len(demand))
	for w, needed := range j.ladder.scenarios[s].Demand {
		terms[w] = j.prices[w] * max(0, needed-demand[w])
	}
	return sum(terms)
}

// search works on the node of the least bound until none can be better than the
// best plan.
func (j *joint) search() error {
	for len(j.open) > 0 && !j.ended() {
		at := 0
		for i := range j.open {
			if j.ordering.compare(j.open[i].bound, j.open[at].bound) < 0 {
				at = i
			}
		}
		n := j.open[at]
		if !j.promising(n) {
			return nil
		}
		if err := j.branch(n); err != nil {
			return err
		}
		if !j.ended() {
			j.open = slices.Delete(j.open, at, at+1)
		}
	}
	return nil
}

// branch settles the children of a node, unless the search ends before.
func (j *joint) branch(n *jointNode) error {
	s := j.dearest(n)
	var children []*jointNode
	for _, drop := range []bool{true, false} {
		child := j.child(n, s, drop)
		if child == nil {
			continue
		}
		if err := j.solve(child); err != nil || j.ended() {
			return err
		}
		children = append(children, child)
	}
	for _, child := range children {
		j.settle(child)
	}
	return nil
}

// ended says whether no more problem may be solved.
func (j *joint) ended() bool { return j.stopped || j.options.Effort <= 0 }

// dearest is the scenario not served by the plan of a node that would cost most.
func (j *joint) dearest(n *jointNode) int {
	next, most := n.left[0], -1.0
	for _, s := range n.left {
		if excess := j.excess(s, n.demand); excess > most {
			next, most = s, excess
		}
	}
	return next
}

// child keeps or drops scenario s. It is nil if too little would be left.
func (j *joint) child(n *jointNode, s int, drop bool) *jointNode {
	c := &jointNode{kept: slices.Clone(n.kept), dropped: slices.Clone(n.dropped)}
	if drop {
		c.dropped[s] = true
	} else {
		c.kept[s] = true
	}
	left := 0.0
	for k, dropped := range c.dropped {
		if !dropped {
			left += j.ladder.probabilities[k]
		}
	}
	if left < j.probability-probabilityTolerance {
		return nil
	}
	c.demand = j.ladder.quantiles(j.probability, c.dropped)
	for k, kept := range c.kept {
		if kept {
			raise(c.demand, j.ladder.scenarios[k].Demand)
		}
	}
	if slices.Equal(c.demand, n.demand) {
		c.solution = n.solution
	}
	return c
}

// solve plans for the demand of a node, and finds which scenarios the plan serves.
func (j *joint) solve(n *jointNode) (err error) {
	if n.solution == nil {
		problem := j.problem.withDemand(n.demand)
		if n.solution, err = Solve(problem, j.options); err != nil {
			return err
		}
		j.options.Start = &Start{Problem: problem, Solution: n.solution}
		j.options.Effort -= n.solution.Effort
		j.stopped = n.solution.Stopped
	}
	n.bound = j.ordering.bounds(n.solution)
	served, demand := 0.0, slices.Clone(n.demand)
	unmet := j.problem.unmetIn(n.solution.Replicas(), j.ladder.scenarios)
	for s := range j.ladder.scenarios {
		switch {
		case n.dropped[s]:
		case j.serves(n, j.ladder.scenarios[s].Demand, unmet[s]):
			served += j.ladder.probabilities[s]
			raise(demand, j.ladder.scenarios[s].Demand)
		default:
			n.left = append(n.left, s)
		}
	}
	n.enough = served >= j.probability-probabilityTolerance
	n.demand = demand
	return nil
}

// serves says whether the plan of a node, without leaving more unmet, serves a
// demand of which it leaves unmet.
func (j *joint) serves(n *jointNode, demand, unmet []float64) bool {
	for i := range demand {
		if demand[i] > n.demand[i] && (n.solution.Allocations[i].Unmet > 0 || unmet[i] > 0) {
			return false
		}
	}
	return true
}

// settle closes a node that its plan solves or that can't be better than the best,
// and opens others.
func (j *joint) settle(n *jointNode) {
	if n.enough && j.ordering.compare(j.ordering.values(n.solution), j.ordering.values(j.best.solution)) < 0 {
		j.best = n
	}
	if n.enough || !j.promising(n) {
		j.closed = append(j.closed, n.bound)
		return
	}
	j.open = append(j.open, n)
}

func (j *joint) promising(n *jointNode) bool {
	return j.ordering.promising(n.bound, j.ordering.values(j.best.solution))
}

// solution is the best plan with what is proven over all nodes.
func (j *joint) solution() *Solution {
	bounds := slices.Clone(j.closed)
	for _, n := range j.open {
		bounds = append(bounds, n.bound)
	}
	s := j.ordering.prove(j.best.solution, bounds)
	s.Stopped, s.Effort = j.stopped, j.given-j.options.Effort
	return s
}
