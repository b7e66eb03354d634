package optimizer

import (
	"math"
	"strings"
	"testing"
)

func TestRobustnessNamesEveryMistake(t *testing.T) {
	valid := func() (*Problem, *Robustness) {
		return validProblem(), &Robustness{
			Service: Joint, Probability: 0.9,
			Scenarios: []Scenario{{Name: "low", Probability: 0.5, Demand: []float64{1}}, {Name: "high", Probability: 0.5, Demand: []float64{2}}},
		}
	}
	p, r := valid()
	if _, err := SolveRobust(p, r, Options{}); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name string
		edit func(*Problem, *Robustness)
		want []string
	}{
		{"service", func(_ *Problem, r *Robustness) { r.Service = 9 }, []string{"robustness.service: 9"}},
		{"no scenario", func(_ *Problem, r *Robustness) { r.Scenarios = nil }, []string{"robustness.scenarios: no scenario"}},
		{"probability 0", func(_ *Problem, r *Robustness) { r.Probability = 0 }, []string{"robustness.probability: 0 is not in (0, 1]"}},
		{"probability NaN", func(_ *Problem, r *Robustness) { r.Probability = math.NaN() }, []string{"robustness.probability: NaN"}},
		{"name twice", func(_ *Problem, r *Robustness) { r.Scenarios[1].Name = "low" }, []string{`robustness.scenarios[1].name: "low"`}},
		{"negative", func(_ *Problem, r *Robustness) { r.Scenarios[0].Probability = -1 }, []string{"robustness.scenarios[0].probability: -1"}},
		{"sum", func(_ *Problem, r *Robustness) { r.Scenarios[0].Probability = 0.4 }, []string{"probabilities sum to 0.9, not to 1"}},
		{"some", func(_ *Problem, r *Robustness) { r.Scenarios[0].Probability = 0 }, []string{"some have a probability and some do not", "sum to 0.5"}},
		{"workloads", func(_ *Problem, r *Robustness) { r.Scenarios[1].Demand = nil }, []string{"robustness.scenarios[1].demand: of 0 workloads, want 1"}},
		{"demand", func(_ *Problem, r *Robustness) { r.Scenarios[1].Demand[0] = -2 }, []string{"robustness.scenarios[1].demand[0]: -2"}},
		{"problem too", func(p *Problem, r *Robustness) { p.BudgetPerHour, r.Service = -1, -1 }, []string{"budgetPerHour: -1", "robustness.service: -1"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			p, r := valid()
			c.edit(p, r)
			_, err := SolveRobust(p, r, Options{})
			for _, want := range c.want {
				if err == nil || !strings.Contains(err.Error(), want) {
					t.Errorf("%v does not say %q", err, want)
				}
			}
		})
	}
}
