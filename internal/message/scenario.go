package message

import (
	"fmt"
	"math"
	"sort"

	"github.com/poolwright/poolwright/optimizer"
	"github.com/poolwright/poolwright/planner"
	poolwrightv1 "github.com/poolwright/poolwright/proto/poolwright/v1"
	"github.com/poolwright/poolwright/queueing"
)

// services are those of robustness by their names in messages.
var services = map[poolwrightv1.Robustness_Service]optimizer.Service{
	poolwrightv1.Robustness_POINT: optimizer.Point,
	poolwrightv1.Robustness_ALL:   optimizer.All,
	poolwrightv1.Robustness_EACH:  optimizer.Each,
	poolwrightv1.Robustness_JOINT: optimizer.Joint,
}

func robustness(m *poolwrightv1.Robustness) planner.Robustness {
	return planner.Robustness{Service: services[m.GetService()], Probability: m.GetProbability()}
}

// scenarios translates the demands that may come.
func (t *translation) scenarios(m *poolwrightv1.Fleet, workloads []planner.Workload) []planner.Scenario {
	if len(m.GetScenarios()) == 0 {
		return nil
	}
	names := make(map[string]int, len(m.GetScenarios()))
	index := make(map[string]int, len(workloads))
	for i := range workloads {
		index[workloads[i].QualifiedName()] = i
	}
	out := make([]planner.Scenario, 0, len(m.GetScenarios()))
	for i, s := range m.GetScenarios() {
		path := element("scenarios", i)
		t.printable(path, "name", s.GetName())
		if first, ok := names[s.GetName()]; ok && s.GetName() != "" {
			t.violations.add(path+".name", "%q is the name of scenarios[%d] too", s.GetName(), first)
		} else {
			names[s.GetName()] = i
		}
		out = append(out, planner.Scenario{
			Name: s.GetName(), Probability: s.GetProbability(), Factor: orOne(s.Factor),
			Rates: t.rates(s, index, path),
		})
	}
	t.probabilities(m.GetScenarios())
	return out
}

// rates are in the order of the workloads.
func (t *translation) rates(m *poolwrightv1.Scenario, index map[string]int, path string) []planner.ScenarioRate {
	rates := make([]planner.ScenarioRate, 0, len(m.GetArrivalRates()))
	for name, rate := range m.GetArrivalRates() {
		i, ok := index[name]
		if !ok {
			t.violations.add(fmt.Sprintf("%s.arrivalRates[%q]", path, name), "there is no such workload")
			continue
		}
		rates = append(rates, planner.ScenarioRate{Workload: i, ArrivalRate: queueing.Rate(rate)})
	}
	sort.Slice(rates, func(a, b int) bool { return rates[a].Workload < rates[b].Workload })
	return rates
}

// probabilities must be those of all scenarios or of none.
func (t *translation) probabilities(scenarios []*poolwrightv1.Scenario) {
	given, total := 0, 0.0
	for _, s := range scenarios {
		if s.Probability != nil {
			given++
			total += s.GetProbability()
		}
	}
	switch {
	case given == 0:
	case given < len(scenarios):
		t.violations.add("scenarios", "%d of %d have a probability: give it for all or for none", given, len(scenarios))
	case math.Abs(total-1) > 1e-6:
		t.violations.add("scenarios", "the probabilities sum to %.9g, not to 1", total)
	}
}

// robustness checks that it can be had from what is known of the demand.
func (t *translation) robustness(m *poolwrightv1.Fleet, f *planner.Fleet) {
	bands := t.bands(m)
	r, path := m.GetObjective().GetRobustness(), "objective.robustness"
	if s := m.GetObjective().GetStrategy(); s != poolwrightv1.Objective_OPTIMAL && r.GetService() != poolwrightv1.Robustness_POINT {
		t.violations.add(path+".service", "%s is for POINT only", s)
	}
	switch service := f.Objective.Robustness.Service; service {
	case optimizer.Point, optimizer.All:
		if r != nil && r.Probability != nil {
			t.violations.add(path+".probability", "only EACH and JOINT take a probability")
		}
		if service == optimizer.All && len(f.Scenarios) == 0 && !bands {
			t.violations.add(path+".service", "ALL needs scenarios, or the arrivalRateUpper of a load")
		}
	case optimizer.Each, optimizer.Joint:
		if r.Probability == nil {
			t.violations.add(path+".probability", "%s needs a probability", r.GetService())
		}
		if len(f.Scenarios) == 0 {
			t.violations.add(path+".service", "%s needs scenarios", r.GetService())
		}
	}
}

// bands tells whether the rate of any load has one.
func (t *translation) bands(m *poolwrightv1.Fleet) bool {
	given := false
	for i, w := range m.GetWorkloads() {
		load := w.GetLoad()
		if load == nil || load.ArrivalRateUpper == nil {
			continue
		}
		given = true
		path := element("workloads", i) + ".load.arrivalRateUpper"
		if load.GetArrivalRateUpper() < load.GetArrivalRate() {
			t.violations.add(path, "%g is less than the arrivalRate of %g", load.GetArrivalRateUpper(), load.GetArrivalRate())
		}
		if len(m.GetScenarios()) > 0 {
			t.violations.add(path, "give either scenarios or bands")
		}
	}
	return given
}
