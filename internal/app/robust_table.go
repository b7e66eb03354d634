package app

import poolwrightv1 "github.com/poolwright/poolwright/proto/poolwright/v1"

// robustness prints what becomes of the demands that may come.
func (t *table) robustness(m *poolwrightv1.RobustnessPlan) {
	header := []string{"SCENARIO", "DEMAND/S", "UNMET/S"}
	if m.PointCostPerHour != nil {
		header = append(header, "UNMET/S WITHOUT ROBUSTNESS")
	}
	t.line(header...)
	for _, s := range m.GetScenarios() {
		cells := []string{s.GetName(), number(s.GetDemandRps()), unmet(s.GetUnmetRps())}
		if s.PointUnmetRps != nil {
			cells = append(cells, unmet(s.GetPointUnmetRps()))
		}
		t.line(cells...)
	}
	t.section()
	t.line("PLAN", "COST/H", "P(ALL SERVED)", "WORST UNMET/S", "MEAN UNMET/S", "WORST PENALTY/H")
	t.exposure("this", m.GetCostPerHour(), m.GetExposure())
	if m.PointCostPerHour != nil {
		t.exposure("without robustness", m.GetPointCostPerHour(), m.GetPointExposure())
	}
}

func (t *table) exposure(plan string, cost float64, m *poolwrightv1.Exposure) {
	probability := "–"
	if m.ServedProbability != nil {
		probability = number(m.GetServedProbability())
	}
	t.line(plan, number(cost), probability, unmet(m.GetWorstUnmetRps()), unmet(m.GetExpectedUnmetRps()), unmet(m.GetWorstPenaltyPerHour()))
}

// unmet is empty where nothing is.
func unmet(v float64) string {
	if v == 0 {
		return ""
	}
	return number(v)
}
