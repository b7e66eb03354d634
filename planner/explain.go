package planner

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/poolwright/poolwright/optimizer"
)

// explain is the stage that says in words why the plan is as it is.
func explain(c *cycle) error {
	for i := range c.decision.Plans {
		w, plan := &c.fleet.Workloads[i], &c.decision.Plans[i]
		plan.Conditions = c.conditions[i]
		if plan.Held {
			plan.Binding = plan.Conditions[0].binding()
			plan.Reason = "replicas held: " + plan.Conditions[0].Message
			continue
		}
		reference := plan.cheapestUsed(w)
		for j := range plan.Variants {
			plan.Variants[j].Reason = variantReason(w, plan, j, reference)
		}
		plan.Binding = c.binding(i)
		plan.Reason = c.workloadReason(i)
		if plan.Unmet > 0 {
			plan.Conditions = append(plan.Conditions, plan.unserved(c.unit(i)))
		}
	}
	return nil
}

// binding names what holds replicas.
func (c Condition) binding() string {
	switch c.Type {
	case Paused:
		return "pause"
	case ExternalChange:
		return "externalChange"
	}
	return "observation"
}

// unserved is the condition of a workload with unmet demand.
func (p *WorkloadPlan) unserved(unit string) Condition {
	if reason := p.sizeReason(); reason != "" {
		return Condition{Type: SLOInfeasible, Message: reason}
	}
	message := fmt.Sprintf("%.4g %s because of %s", float64(p.Unmet), unit, p.Binding)
	if reason := p.slowReason(); reason != "" {
		message += ": " + reason
	}
	return Condition{Type: DemandUnmet, Message: message}
}

// slowReason is why the policy permits less than wanted, where that binds.
func (p *WorkloadPlan) slowReason() string {
	for j := range p.Variants {
		if v := &p.Variants[j]; p.Binding == boundByPolicy && v.Permitted.Limited && v.Wanted > v.Permitted.Max {
			return v.Permitted.Reason
		}
	}
	return ""
}

// cheapestUsed is the used variant with the lowest marginal price, or -1. The price of
// one phase alone is none to compare with.
func (p *WorkloadPlan) cheapestUsed(w *Workload) int {
	best := -1
	for j := range p.Variants {
		v := &p.Variants[j]
		if w.Variants[j].Role == optimizer.Whole && v.Total() > 0 && v.Size.Capacity > 0 && (best < 0 || v.MarginalPrice < p.Variants[best].MarginalPrice) {
			best = j
		}
	}
	return best
}

func variantReason(w *Workload, plan *WorkloadPlan, j, reference int) string {
	v, declared := &plan.Variants[j], &w.Variants[j]
	price := fmt.Sprintf("a request/s costs %.4g per hour at the margin", v.MarginalPrice)
	switch {
	case v.Size.Reason != "" && v.Total() > 0:
		return v.Size.Reason + "; kept at its minimum"
	case v.Size.Reason != "":
		return v.Size.Reason
	case v.Total() > 0 && v.Total() == declared.MinReplicas:
		return price + "; at its minimum"
	case v.Total() > 0 && declared.MaxReplicas.Limited && v.Total() == declared.MaxReplicas.Value:
		return price + "; at its maximum"
	case v.Total() > 0 || reference < 0 || declared.Role != optimizer.Whole || w.ArrivalRate == 0:
		return price
	}
	return fmt.Sprintf("%s, against %.4g on %s", price, plan.Variants[reference].MarginalPrice, w.Variants[reference].Name)
}

// binding names what keeps the workload from being served more cheaply, or at all.
func (c *cycle) binding(i int) string {
	w, plan := &c.fleet.Workloads[i], &c.decision.Plans[i]
	switch total := plan.total(); {
	case plan.Unmet > 0:
		return c.shortage(i)
	case total == 0:
		return ""
	case plan.keptByPolicy() != "":
		return "policy"
	case onlyMinimums(w, plan, total):
		return "minReplicas"
	case c.asked(i):
		return "metrics"
	}
	return plan.Variants[plan.busiest(w)].Size.Binding
}

// onlyMinimums tells whether no replica runs beyond declared minimums.
func onlyMinimums(w *Workload, plan *WorkloadPlan, total int) bool {
	if total <= w.MinReplicas {
		return true
	}
	for j := range plan.Variants {
		if plan.Variants[j].Total() > w.Variants[j].MinReplicas {
			return false
		}
	}
	return true
}

// busiest is the variant with the highest load; of those that are as busy but for rounding, the
// one with the largest share of the traffic.
func (p *WorkloadPlan) busiest(w *Workload) int {
	const rounding = 1e-9
	best, highest := 0, p.load(w)
	for j := range p.Variants {
		busy, share := p.loadOf(w, j) >= highest*(1-rounding), p.Variants[j].Share
		if busy && (p.loadOf(w, best) < highest*(1-rounding) || share > p.Variants[best].Share) {
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
	case w.ArrivalRate == 0:
		fmt.Fprintf(&b, "no demand; %s kept", used)
	case used == "":
		fmt.Fprintf(&b, "nothing serves %.4g %s", float64(w.ArrivalRate), c.unit(i))
	default:
		fmt.Fprintf(&b, "%s for %.4g %s", used, float64(plan.Served), c.unit(i))
	}
	if plan.Unmet > 0 {
		fmt.Fprintf(&b, "; %.4g %s unmet because of %s", float64(plan.Unmet), c.unit(i), plan.Binding)
		if reason := cmp.Or(plan.sizeReason(), plan.slowReason()); reason != "" {
			b.WriteString(": " + reason)
		}
	} else if kept := plan.keptByPolicy(); kept != "" {
		b.WriteString(", kept by the policy: " + kept)
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

// keptByPolicy says why there are more replicas than wanted, if a policy is the reason.
func (p *WorkloadPlan) keptByPolicy() string {
	for j := range p.Variants {
		if v := &p.Variants[j]; v.Total() > v.Wanted && v.Total() == v.Permitted.Min {
			return v.Permitted.Reason
		}
	}
	return ""
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
