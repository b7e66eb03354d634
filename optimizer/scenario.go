package optimizer

import (
	"cmp"
	"errors"
	"math"
	"slices"
)

// Scenario is one demand that may come.
type Scenario struct {
	// Name is unique.
	Name string
	// Probability is > 0 and those of all scenarios sum to 1, within 1e-6; or all
	// are 0, which means equally likely.
	Probability float64
	// Demand is in requests/s, ≥ 0, by workload in the order of Problem.Workloads.
	Demand []float64
}

// Service says which scenarios a plan must serve.
type Service int

const (
	// Point: the plan is for the problem's own demand, whatever the scenarios.
	Point Service = iota
	// All: every workload in every scenario.
	All
	// Each: every workload with a probability, whatever becomes of the others.
	Each
	// Joint: all workloads at once with a probability.
	Joint
)

// Robustness is what a plan should withstand.
type Robustness struct {
	Scenarios []Scenario
	Service   Service
	// Probability is in (0, 1]; it counts only with Each and Joint, and holds
	// within 1e-9.
	Probability float64
}

// probabilityTolerance is the accuracy of sums of probabilities.
const probabilityTolerance = 1e-9

// Validate reports all mistakes at once, each with its path, for a problem with so
// many workloads.
func (r *Robustness) Validate(workloads int) error {
	c, robustness := &checker{}, &path{list: "robustness", index: alone}
	if r.Service < Point || r.Service > Joint {
		c.fail(robustness, "service", "%d is none of Point, All, Each and Joint", r.Service)
	}
	if r.Service != Point && len(r.Scenarios) == 0 {
		c.fail(robustness, "scenarios", "no scenario")
	}
	if chance := r.Service == Each || r.Service == Joint; chance && !(r.Probability > 0 && r.Probability <= 1) {
		c.fail(robustness, "probability", "%g is not in (0, 1]", r.Probability)
	}
	names := map[string]int{}
	for i := range r.Scenarios {
		s, at := &r.Scenarios[i], &path{robustness, "scenarios", i}
		c.unique(names, at, s.Name, i)
		c.nonNegative(at, "probability", s.Probability)
		if len(s.Demand) != workloads {
			c.fail(at, "demand", "of %d workloads, want %d", len(s.Demand), workloads)
		}
		for w, demand := range s.Demand {
			c.nonNegative(&path{at, "demand", w}, "", demand)
		}
	}
	c.probabilities(robustness, r.Scenarios)
	return errors.Join(c.mistakes...)
}

func (c *checker) probabilities(at *path, scenarios []Scenario) {
	var all []float64
	for i := range scenarios {
		all = append(all, scenarios[i].Probability)
	}
	total := sum(all)
	if total == 0 || len(all) == 0 {
		return
	}
	if slices.Contains(all, 0) {
		c.fail(at, "scenarios", "some have a probability and some do not")
	}
	if !(math.Abs(total-1) <= 1e-6) {
		c.fail(at, "scenarios", "probabilities sum to %.9g, not to 1", total)
	}
}

// probabilities sum to 1.
func (r *Robustness) probabilities() []float64 {
	out := make([]float64, len(r.Scenarios))
	for i := range out {
		out[i] = r.Scenarios[i].Probability
	}
	if total := sum(out); total > 0 {
		for i := range out {
			out[i] /= total
		}
		return out
	}
	for i := range out {
		out[i] = 1 / float64(len(out))
	}
	return out
}

// most is the highest demand of each workload over all scenarios.
//
// A plan serves every scenario if and only if it serves most: what a workload gets
// does not depend on the others, a plan that serves some demand of a workload
// serves any lower one, and most is one of its demands. So the cheapest plan for
// most is the cheapest that serves all.
func (r *Robustness) most(workloads int) []float64 {
	demand := make([]float64, workloads)
	for i := range r.Scenarios {
		raise(demand, r.Scenarios[i].Demand)
	}
	return demand
}

// raise makes a demand serve another one too.
func raise(demand, other []float64) {
	for w := range demand {
		demand[w] = max(demand[w], other[w])
	}
}

// ladder knows the demands of each workload from the lowest to the highest.
type ladder struct {
	scenarios     []Scenario
	probabilities []float64
	// order[w] are scenarios by their demand of workload w.
	order [][]int
}

func newLadder(scenarios []Scenario, probabilities []float64, workloads int) *ladder {
	l := &ladder{scenarios: scenarios, probabilities: probabilities, order: make([][]int, workloads)}
	for w := range l.order {
		order := make([]int, len(scenarios))
		for s := range order {
			order[s] = s
		}
		slices.SortStableFunc(order, func(a, b int) int {
			return cmp.Compare(scenarios[a].Demand[w], scenarios[b].Demand[w])
		})
		l.order[w] = order
	}
	return l
}

// quantiles are the lowest demands, each by itself, that scenarios of a probability
// do not exceed; those dropped do not count. The others must have the probability.
//
// A plan that serves a workload up to c serves it with the probability of the
// scenarios whose demand is at most c, so the quantile is the least c that will do.
func (l *ladder) quantiles(probability float64, dropped []bool) []float64 {
	demand := make([]float64, len(l.order))
	for w, order := range l.order {
		reached := 0.0
		for _, s := range order {
			if dropped[s] {
				continue
			}
			demand[w] = l.scenarios[s].Demand[w]
			if reached += l.probabilities[s]; reached >= probability-probabilityTolerance {
				break
			}
		}
	}
	return demand
}
