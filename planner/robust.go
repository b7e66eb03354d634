package planner

import (
	"fmt"

	"github.com/poolwright/poolwright/optimizer"
	"github.com/poolwright/poolwright/queueing"
)

// Scenario is one demand that may come.
type Scenario struct {
	// Name is unique.
	Name string
	// Probability as in [optimizer.Scenario].
	Probability float64
	// Factor is on the arrival rates of workloads without a rate of their own.
	Factor float64
	Rates  []ScenarioRate
}

// ScenarioRate is the arrival rate of one workload in a scenario.
type ScenarioRate struct {
	// Workload is an index into Fleet.Workloads.
	Workload    int
	ArrivalRate queueing.Rate
}

// Robustness says which of the demands that may come a plan must serve: the
// scenarios of the fleet or, without any, the bands of its workloads. It counts with
// the strategy [Optimal].
type Robustness struct {
	Service optimizer.Service
	// Probability counts with [optimizer.Each] and [optimizer.Joint], in (0, 1].
	Probability float64
}

// RobustPlan says what robustness costs, and what it is good for.
type RobustPlan struct {
	// Scenarios have the demand of every workload of the fleet, 0 for those held.
	Scenarios []optimizer.Scenario
	// Bands: the only scenario is the upper end of the bands, and probabilities
	// mean nothing.
	Bands bool
	// Exposure is what the plan leaves unserved.
	Exposure optimizer.Exposure
	// Point is that of the plan for the arrival rates alone; nil where that is the
	// plan, nothing was optimised, or there was no time for it.
	Point *optimizer.Exposure
}

// upperScenario is the name of the scenario in which every workload is at the upper
// end of its band.
const upperScenario = "upper"

// anticipate is the stage that writes out the demands that may come, from observed
// demand where there is any.
func anticipate(c *cycle) error {
	f := &c.fleet
	c.robustness = optimizer.Robustness{Service: f.Objective.Robustness.Service, Probability: f.Objective.Robustness.Probability}
	for s := range f.Scenarios {
		c.robustness.Scenarios = append(c.robustness.Scenarios, f.scenario(&f.Scenarios[s], c.held))
	}
	if len(f.Scenarios) > 0 {
		return nil
	}
	if upper, ok := f.upper(c.held); ok {
		c.robustness.Scenarios = []optimizer.Scenario{upper}
	}
	return nil
}

// scenario writes out a scenario, without the held workloads.
func (f *Fleet) scenario(s *Scenario, held []bool) optimizer.Scenario {
	out := optimizer.Scenario{Name: s.Name, Probability: s.Probability, Demand: make([]float64, len(f.Workloads))}
	for i := range f.Workloads {
		out.Demand[i] = s.Factor * float64(f.Workloads[i].ArrivalRate)
	}
	for _, r := range s.Rates {
		out.Demand[r.Workload] = float64(r.ArrivalRate)
	}
	for i := range held {
		if held[i] {
			out.Demand[i] = 0
		}
	}
	return out
}

// upper is the upper end of all bands, if there is any.
func (f *Fleet) upper(held []bool) (s optimizer.Scenario, ok bool) {
	s = optimizer.Scenario{Name: upperScenario, Demand: make([]float64, len(f.Workloads))}
	for i := range f.Workloads {
		w := &f.Workloads[i]
		ok = ok || w.ArrivalRateUpper > 0
		if !held[i] {
			s.Demand[i] = float64(max(w.ArrivalRate, w.ArrivalRateUpper))
		}
	}
	return s, ok
}

// highest is the highest arrival rate of a workload that may come.
func (c *cycle) highest(i int) queueing.Rate {
	rate := c.fleet.Workloads[i].ArrivalRate
	for s := range c.robustness.Scenarios {
		rate = max(rate, queueing.Rate(c.robustness.Scenarios[s].Demand[i]))
	}
	return rate
}

// freeRobustness is that of the workloads not held.
func (c *cycle) freeRobustness() *optimizer.Robustness {
	if c.heldUse == nil {
		return &c.robustness
	}
	r := c.robustness
	r.Scenarios = make([]optimizer.Scenario, len(c.robustness.Scenarios))
	for s, scenario := range c.robustness.Scenarios {
		r.Scenarios[s] = scenario
		r.Scenarios[s].Demand = make([]float64, len(c.planned))
		for k, i := range c.planned {
			r.Scenarios[s].Demand[k] = scenario.Demand[i]
		}
	}
	return &r
}

// unrobust is a plan for the arrival rates alone, and what it leaves unserved.
func (c *cycle) unrobust(p *optimizer.Problem, s *optimizer.Solution) (*optimizer.RobustSolution, error) {
	out := &optimizer.RobustSolution{Plan: s, Point: s}
	if len(c.robustness.Scenarios) == 0 {
		return out, nil
	}
	var err error
	out.Exposure, err = p.Exposure(s.Replicas(), c.freeRobustness())
	return out, err
}

// planFor puts the demand that the plan was made for in the place of arrival rates.
func (c *cycle) planFor(demand []float64) {
	if c.robustness.Service == optimizer.Point || demand == nil {
		return
	}
	c.fleet.Workloads = append([]Workload(nil), c.fleet.Workloads...)
	changed := false
	for k, i := range c.planned {
		w := &c.fleet.Workloads[i]
		if rate := queueing.Rate(demand[k]); rate != w.ArrivalRate {
			c.step(w.QualifiedName(), fmt.Sprintf("%.4g requests/s", float64(w.ArrivalRate)),
				fmt.Sprintf("%.4g requests/s", float64(rate)), c.plannedFor())
			w.ArrivalRate, changed = rate, true
		}
	}
	if changed {
		c.problem = c.program()
		c.free = c.heldUse.rest(c.problem, c.held)
		c.decision.Notes = append(c.decision.Notes, "rates, latencies and reasons are those of the demand planned for, which is not that of the loads")
	}
}

// plannedFor says what a plan serves.
func (c *cycle) plannedFor() string {
	switch r := &c.robustness; r.Service {
	case optimizer.All:
		return "planned for every scenario"
	case optimizer.Each:
		return fmt.Sprintf("planned so that it is served with probability %.4g", r.Probability)
	case optimizer.Joint:
		return fmt.Sprintf("planned so that all workloads are served at once with probability %.4g", r.Probability)
	case optimizer.Point:
	}
	return ""
}

// reportKept reports what a fleet as it stands leaves unserved.
func (c *cycle) reportKept(p *optimizer.Problem, replicas [][][]int) error {
	if len(c.robustness.Scenarios) == 0 {
		return nil
	}
	exposure, err := p.Exposure(replicas, &c.robustness)
	if err != nil {
		return fmt.Errorf("planner: scenarios: %w", err)
	}
	c.report(exposure, nil)
	return nil
}

// reportSolved reports what a plan for the workloads that are not held costs and
// leaves unserved.
func (c *cycle) reportSolved(s *optimizer.RobustSolution) {
	if len(c.robustness.Scenarios) == 0 {
		return
	}
	var point *optimizer.Exposure
	if s.Point != nil && s.Point != s.Plan {
		exposure := c.heldUse.expose(s.PointExposure, c.held)
		point = &exposure
	}
	c.report(c.heldUse.expose(s.Exposure, c.held), point)
}

func (c *cycle) report(plan optimizer.Exposure, point *optimizer.Exposure) {
	c.decision.Robust = &RobustPlan{
		Scenarios: c.robustness.Scenarios, Bands: len(c.fleet.Scenarios) == 0, Exposure: plan, Point: point,
	}
}

// expose completes the exposure of the others to that of the whole fleet.
func (h *heldUse) expose(e optimizer.Exposure, held []bool) optimizer.Exposure {
	if h == nil {
		return e
	}
	e.Cost += h.use.PricePerHour
	for s := range e.Outcomes {
		others := e.Outcomes[s].Unmet
		unmet := make([]float64, len(held))
		for i := range held {
			if !held[i] {
				unmet[i], others = others[0], others[1:]
			}
		}
		e.Outcomes[s].Unmet = unmet
	}
	return e
}
