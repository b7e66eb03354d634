package planner

import (
	"fmt"
	"math"
	"strings"

	"github.com/poolwright/poolwright/optimizer"
	"github.com/poolwright/poolwright/queueing"
)

// keep is the stage that takes the fleet as it stands, and finds what it costs,
// serves within its SLOs, and breaks of what was declared.
func keep(c *cycle) error {
	all := make([]bool, len(c.fleet.Workloads))
	for i := range all {
		all[i] = true
	}
	problem := c.fleet.Problem(c.sizes)
	replicas := c.fleet.placeCurrent(all)
	e, err := problem.Evaluate(replicas)
	if err != nil {
		return fmt.Errorf("planner: keep: %w", err)
	}
	if err := c.reportKept(problem, replicas); err != nil {
		return err
	}
	d := &c.decision
	d.Objective, d.PricePerHour = e.Objective, e.PricePerHour
	d.Notes = c.fleet.notes()
	for g := range e.Pools {
		d.Pools = append(d.Pools, PoolUse{Used: e.Pools[g]})
	}
	for q := range e.Quotas {
		d.Quotas = append(d.Quotas, quotaUse(problem.Quotas[q], optimizer.Usage{Used: e.Quotas[q]}))
	}
	for _, broken := range e.Violations {
		d.Demand = optimizer.Infeasible
		d.Notes = append(d.Notes, strings.TrimPrefix(broken.Error(), "optimizer: "))
	}
	for i := range c.fleet.Workloads {
		w := &c.fleet.Workloads[i]
		plan := WorkloadPlan{Unmet: queueing.Rate(e.Unmet[i]), Served: w.ArrivalRate - queueing.Rate(e.Unmet[i])}
		for j := range w.Variants {
			plan.Variants = append(plan.Variants, VariantPlan{Size: c.sizes[i][j], Replicas: replicas[i][j]})
		}
		plan.share()
		c.judge(w, &plan, e.Shortfall[i])
		d.Plans = append(d.Plans, plan)
	}
	return nil
}

// judge says whether a workload as it stands gets what was declared.
func (c *cycle) judge(w *Workload, plan *WorkloadPlan, shortfall int) {
	used := plan.used(w)
	switch {
	case w.ArrivalRate == 0:
		plan.Reason = "no demand"
	case used == "":
		plan.Binding, plan.Reason = "currentReplicas", "no replica runs"
	case plan.Unmet > 0:
		plan.Binding = plan.Variants[plan.busiest()].Size.Binding
		plan.Reason = fmt.Sprintf("%s sustain %.4g of %.4g requests/s within the SLO%s, limited by %s",
			used, float64(plan.Served), float64(w.ArrivalRate), w.afterFailures(), plan.Binding)
	default:
		plan.Reason = fmt.Sprintf("%s for %.4g requests/s, %.0f %% of what the SLO allows",
			used, float64(w.ArrivalRate), math.Ceil(100*float64(w.ArrivalRate)/plan.sustained()))
	}
	switch {
	case shortfall > 0:
		plan.Binding = "minReplicas"
		plan.Reason += fmt.Sprintf("; %d replicas short of the declared minimum", shortfall)
		c.decision.Demand = optimizer.Infeasible
	case plan.Unmet > 0 && c.decision.Demand == optimizer.Served:
		c.decision.Demand = optimizer.Partial
	}
}

// afterFailures reminds that redundancy counts.
func (w *Workload) afterFailures() string {
	if w.Redundancy == 0 {
		return ""
	}
	return fmt.Sprintf(" with %d of them failed", w.Redundancy)
}

// sustained is what all replicas serve within the SLO.
func (p *WorkloadPlan) sustained() float64 {
	total := 0.0
	for j := range p.Variants {
		total += float64(p.Variants[j].Size.Served) * float64(p.Variants[j].Total())
	}
	return total
}
