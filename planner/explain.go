package planner

import (
	"fmt"
	"strings"

	"github.com/poolwright/poolwright/optimizer"
)

// explain is the stage that says in words why the plan is as it is.
func explain(c *cycle) error {
	for i := range c.decision.Plans {
		w, plan := &c.fleet.Workloads[i], &c.decision.Plans[i]
		if c.held[i] {
			plan.Binding = "observation"
			plan.Reason = "replicas held: no fresh arrival rate"
			continue
		}
		reference := plan.cheapestUsed()
		for j := range plan.Variants {
			plan.Variants[j].Reason = variantReason(w, plan, j, reference)
		}
		plan.Binding = c.binding(i)
		plan.Reason = c.workloadReason(i)
	}
	return nil
}

// cheapestUsed is the used variant with the lowest marginal price, or -1.
func (p *WorkloadPlan) cheapestUsed() int {
	best := -1
	for j := range p.Variants {
		v := &p.Variants[j]
		if v.Total() > 0 && v.Size.Capacity > 0 && (best < 0 || v.MarginalPrice < p.Variants[best].MarginalPrice) {
			best = j
		}
	}
	return best
}

func variantReason(w *Workload, plan *WorkloadPlan, j, reference int) string {
	v, declared := &plan.Variants[j], &w.Variants[j]
	price := fmt.Sprintf("one more request/s costs %.4g per hour", v.MarginalPrice)
	switch {
	case v.Size.Reason != "" && v.Total() > 0:
		return v.Size.Reason + "; kept at its minimum"
	case v.Size.Reason != "":
		return v.Size.Reason
	case v.Total() > 0 && v.Total() == declared.MinReplicas:
		return price + "; at its minimum"
	case v.Total() > 0 && declared.MaxReplicas.Limited && v.Total() == declared.MaxReplicas.Value:
		return price + "; at its maximum"
	case v.Total() > 0 || reference < 0 || w.ArrivalRate == 0:
		return price
	}
	return fmt.Sprintf("%s, against %.4g on %s", price, plan.Variants[reference].MarginalPrice, w.Variants[reference].Name)
}

// binding names what keeps the workload from being served more cheaply, or at all.
func (c *cycle) binding(i int) string {
	w, plan := &c.fleet.Workloads[i], &c.decision.Plans[i]
	total := 0
	for j := range plan.Variants {
		total += plan.Variants[j].Total()
	}
	if plan.Unmet > 0 {
		return c.shortage(w, plan, total)
	}
	if total == 0 {
		return ""
	}
	if c.onlyMinimums(w, plan, total) {
		return "minReplicas"
	}
	return plan.Variants[plan.busiest()].Size.Binding
}

// shortage names what keeps demand from being served.
func (c *cycle) shortage(w *Workload, plan *WorkloadPlan, total int) string {
	able := -1
	for j := range plan.Variants {
		if plan.Variants[j].Size.Capacity > 0 {
			able = j
			break
		}
	}
	if able < 0 {
		return plan.Variants[0].Size.Binding
	}
	if w.MaxReplicas.Limited && total >= w.MaxReplicas.Value {
		return "maxReplicas"
	}
	for _, q := range c.decision.Quotas {
		if q.Namespace == w.Namespace && w.uses(q.Pool) && c.full(w, q.Pool, q.Devices-q.Used) {
			return "quota/" + q.Namespace + "/" + c.fleet.Pools[q.Pool].Name
		}
	}
	for p, use := range c.decision.Pools {
		capacity := c.fleet.Pools[p].Capacity
		if capacity.Limited && w.uses(p) && c.full(w, p, capacity.Value-use.Used) {
			return "pool/" + c.fleet.Pools[p].Name
		}
	}
	if c.decision.Solution.BudgetShadowPrice > 0 {
		return "budget"
	}
	if w.Penalized {
		return "unmetPenaltyPerRps"
	}
	return "maxReplicas"
}

// uses tells whether a variant of w may run in pool p.
func (w *Workload) uses(p int) bool {
	for j := range w.Variants {
		for _, q := range w.Variants[j].Pools {
			if q == p {
				return true
			}
		}
	}
	return false
}

// full tells whether no replica of w fits into the devices left in pool p.
func (c *cycle) full(w *Workload, p, left int) bool {
	for j := range w.Variants {
		for _, q := range w.Variants[j].Pools {
			if q == p && w.Variants[j].DevicesPerReplica <= left {
				return false
			}
		}
	}
	return true
}

// onlyMinimums tells whether no replica runs beyond declared minimums.
func (c *cycle) onlyMinimums(w *Workload, plan *WorkloadPlan, total int) bool {
	if total == w.MinReplicas {
		return true
	}
	for j := range plan.Variants {
		if plan.Variants[j].Total() > w.Variants[j].MinReplicas {
			return false
		}
	}
	return true
}

// busiest is the variant with the largest share of the traffic.
func (p *WorkloadPlan) busiest() int {
	best := 0
	for j := range p.Variants {
		if p.Variants[j].Share > p.Variants[best].Share {
			best = j
		}
	}
	return best
}

func (c *cycle) workloadReason(i int) string {
	w, plan := &c.fleet.Workloads[i], &c.decision.Plans[i]
	used := plan.used(w)
	var b strings.Builder
	switch {
	case w.ArrivalRate == 0 && used == "":
		return "no demand"
	case used == "":
		fmt.Fprintf(&b, "nothing serves %.4g requests/s", float64(w.ArrivalRate))
	default:
		fmt.Fprintf(&b, "%s for %.4g requests/s", used, float64(plan.Served))
	}
	if plan.Unmet > 0 {
		fmt.Fprintf(&b, "; %.4g requests/s unmet because of %s", float64(plan.Unmet), plan.Binding)
		if reason := plan.sizeReason(); reason != "" {
			b.WriteString(": " + reason)
		}
	} else if plan.Binding != "" {
		b.WriteString(", limited by " + plan.Binding)
	}
	if c.decision.Solution.Allocations[i].Shortfall > 0 {
		fmt.Fprintf(&b, "; %d replicas short of the declared minimum", c.decision.Solution.Allocations[i].Shortfall)
	}
	if p := plan.Prediction; p != nil && p.BlockedShare > 0.0005 {
		fmt.Fprintf(&b, "; %.2g %% of arrivals find no place", 100*p.BlockedShare)
	}
	return b.String()
}

// used lists the variants in use, such as "3 × chat-h100 + 1 × chat-a100".
func (p *WorkloadPlan) used(w *Workload) string {
	var parts []string
	for j := range p.Variants {
		if n := p.Variants[j].Total(); n > 0 {
			parts = append(parts, fmt.Sprintf("%d × %s", n, w.Variants[j].Name))
		}
	}
	return strings.Join(parts, " + ")
}

// sizeReason is why no variant can serve, if none can.
func (p *WorkloadPlan) sizeReason() string {
	for j := range p.Variants {
		if p.Variants[j].Size.Capacity > 0 {
			return ""
		}
	}
	return p.Variants[0].Size.Reason
}

// judge is the stage that says whether the fleet as it stands keeps its objectives.
func judge(c *cycle) error {
	for i := range c.decision.Plans {
		w, plan := &c.fleet.Workloads[i], &c.decision.Plans[i]
		plan.judge(w)
		if plan.Binding != "" {
			c.decision.Demand = optimizer.Partial
		}
	}
	return nil
}

// judge sets what is served, and names what fails in Binding.
func (p *WorkloadPlan) judge(w *Workload) {
	sustained := 0.0
	for j := range p.Variants {
		sustained += float64(p.Variants[j].Size.Served) * float64(p.Variants[j].Total())
	}
	p.Served = w.ArrivalRate
	used := p.used(w)
	switch {
	case w.ArrivalRate == 0:
		p.Reason = "no demand"
		return
	case used == "":
		p.Served, p.Unmet = 0, w.ArrivalRate
		p.Binding, p.Reason = "currentReplicas", "no replica runs"
		return
	}
	if limit := min(float64(w.ArrivalRate), p.servable(sustained)); limit < float64(w.ArrivalRate) {
		p.Served = rate(limit)
		p.Unmet = w.ArrivalRate - p.Served
	}
	if float64(w.ArrivalRate) <= sustained*(1+1e-9) {
		p.Reason = fmt.Sprintf("%s for %.4g requests/s, %.0f %% of what the SLO allows",
			used, float64(w.ArrivalRate), 100*float64(w.ArrivalRate)/sustained)
		return
	}
	p.Binding = p.Variants[p.busiest()].Size.Binding
	p.Reason = fmt.Sprintf("%s sustain %.4g of %.4g requests/s within the SLO, limited by %s",
		used, sustained, float64(w.ArrivalRate), p.Binding)
}

// servable is the rate that the replicas complete whatever the latency.
func (p *WorkloadPlan) servable(sustained float64) float64 {
	if p.Prediction == nil {
		return sustained
	}
	return float64(p.Prediction.Saturation)
}
