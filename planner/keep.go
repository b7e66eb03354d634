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
	problem := c.fleet.Problem(c.sizes)
	replicas := c.placed(problem).current()
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
		plan.route(w, e.ShapeShares[i])
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
	case plan.lacking(w) != "":
		plan.Binding, plan.Reason = "currentReplicas", fmt.Sprintf("%s serve nothing: no replica %s", used, plan.lacking(w))
	case plan.Unmet > 0:
		plan.Binding = plan.Variants[plan.busiest(w)].Size.Binding
		plan.Reason = fmt.Sprintf("%s sustain %.4g of %.4g requests/s within the SLO%s, limited by %s",
			used, float64(plan.Served), float64(w.ArrivalRate), w.afterFailures(), plan.Binding)
	default:
		plan.Reason = fmt.Sprintf("%s for %.4g requests/s, %.0f %% of what the SLO allows",
			used, float64(w.ArrivalRate), math.Ceil(100*plan.load(w)))
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

// lacking says what no replica does where all there are do the other half of the work; empty
// where something could serve.
func (p *WorkloadPlan) lacking(w *Workload) string {
	runs := map[optimizer.Phase]bool{}
	for j := range p.Variants {
		runs[w.Variants[j].Role] = runs[w.Variants[j].Role] || p.Variants[j].Total() > 0
	}
	switch {
	case runs[optimizer.Whole], runs[optimizer.Prefill] == runs[optimizer.Decode]:
		return ""
	case runs[optimizer.Prefill]:
		return "decodes"
	}
	return "prefills"
}

// load is that of the busiest variant. Without shapes and phases all variants are as busy.
func (p *WorkloadPlan) load(w *Workload) float64 {
	busiest := 0.0
	for j := range p.Variants {
		busiest = max(busiest, p.loadOf(w, j))
	}
	return busiest
}

// loadOf is the part of what the SLO allows that the traffic takes of a variant.
func (p *WorkloadPlan) loadOf(w *Workload, j int) float64 {
	v := &p.Variants[j]
	needed := 0.0
	if len(w.Shapes) == 0 && v.Share > 0 {
		needed = float64(w.ArrivalRate) * v.Share / float64(v.Size.Served)
	}
	for s, share := range v.ShapeShares {
		if share > 0 {
			needed += float64(w.ArrivalRate) * w.Shapes[s].Share * share / float64(v.Size.Shapes[s].Served)
		}
	}
	if needed == 0 {
		return 0
	}
	return needed / float64(v.Total())
}
