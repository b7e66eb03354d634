package message

import (
	"github.com/poolwright/poolwright/optimizer"
	"github.com/poolwright/poolwright/planner"
	poolwrightv1 "github.com/poolwright/poolwright/proto/poolwright/v1"
)

func robustPlan(d *planner.Decision) *poolwrightv1.RobustnessPlan {
	r := d.Robust
	if r == nil {
		return nil
	}
	m := &poolwrightv1.RobustnessPlan{CostPerHour: r.Exposure.Cost, Exposure: exposure(&r.Exposure, r.Bands)}
	if r.Point != nil {
		m.PointCostPerHour = &r.Point.Cost
		m.PointExposure = exposure(r.Point, r.Bands)
	}
	for s := range r.Scenarios {
		m.Scenarios = append(m.Scenarios, scenarioPlan(d, s))
	}
	return m
}

func exposure(e *optimizer.Exposure, bands bool) *poolwrightv1.Exposure {
	m := &poolwrightv1.Exposure{WorstUnmetRps: e.WorstUnmet, WorstPenaltyPerHour: e.WorstPenalty}
	if !bands {
		m.ServedProbability, m.ExpectedUnmetRps, m.ExpectedPenaltyPerHour = &e.Served, &e.ExpectedUnmet, &e.ExpectedPenalty
	}
	return m
}

func scenarioPlan(d *planner.Decision, s int) *poolwrightv1.ScenarioPlan {
	scenario, outcome := &d.Robust.Scenarios[s], &d.Robust.Exposure.Outcomes[s]
	m := &poolwrightv1.ScenarioPlan{Name: scenario.Name, DemandRps: outcome.Demand, UnmetRps: outcome.Total}
	if d.Robust.Point != nil {
		m.PointUnmetRps = &d.Robust.Point.Outcomes[s].Total
	}
	for i, unmet := range outcome.Unmet {
		if unmet > 0 {
			m.Shortages = append(m.Shortages, &poolwrightv1.ScenarioShortage{
				Workload: d.Fleet.Workloads[i].QualifiedName(), UnmetRps: unmet,
			})
		}
	}
	return m
}
