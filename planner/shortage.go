package planner

import (
	"math"
	"slices"
	"strings"

	"github.com/poolwright/poolwright/optimizer"
)

// boundByPolicy is the binding where the policy permits no more replicas.
const boundByPolicy = "policy"

// shortage names what keeps demand from being served: the limits that one more replica
// of the variant that would serve most cheaply breaks, or what else keeps a replica
// from being added. Variants of which one more would serve nothing do not count, and
// those that may have no replicas at all only where there are no others.
func (c *cycle) shortage(i int) string {
	w, plan := &c.fleet.Workloads[i], &c.decision.Plans[i]
	serves, best, cause := false, -1, ""
	fits := map[optimizer.Phase]bool{}
	for j := range plan.Variants {
		v := &plan.Variants[j]
		if v.Size.Served == 0 {
			continue
		}
		serves = true
		switch stops := c.stops(i, j); {
		case stops == "" && w.Variants[j].Role == optimizer.Whole && !c.useful(i, j):
		case stops == "":
			fits[w.Variants[j].Role] = true
		case best < 0 || w.Variants[best].barred() && !w.Variants[j].barred() ||
			w.Variants[best].barred() == w.Variants[j].barred() && v.MarginalPrice < plan.Variants[best].MarginalPrice:
			best, cause = j, stops
		}
	}
	switch {
	case !serves:
		return plan.Variants[0].Size.Binding
	case fits[optimizer.Whole], fits[optimizer.Prefill] && fits[optimizer.Decode]:
		return c.unstopped(i)
	case w.Penalized && !c.worthMore(i):
		return "unmetPenaltyPerRps"
	case cause == "":
		return c.useless(i)
	}
	return cause
}

// barred tells whether a variant may have no replicas at all.
func (v *Variant) barred() bool { return v.MaxReplicas.Limited && v.MaxReplicas.Value == 0 }

// useful tells whether one more replica of a variant would serve more.
func (c *cycle) useful(i, j int) bool {
	w := &c.problem.Workloads[i]
	counts := slices.Clone(c.room().Counts(i))
	before := w.Unmet(counts)
	counts[j]++
	return before-w.Unmet(counts) > 1e-9*w.Demand
}

// useless names the cause where one more replica could run and would serve nothing more:
// those that may fail, or a shape that no variant serves.
func (c *cycle) useless(i int) string {
	w, plan := &c.fleet.Workloads[i], &c.decision.Plans[i]
	able := slices.DeleteFunc(slices.Clone(plan.Variants), func(v VariantPlan) bool { return v.Size.Served == 0 })
	for s := range w.Shapes {
		if !slices.ContainsFunc(able, func(v VariantPlan) bool { return v.Size.Shapes[s].Served > 0 }) {
			return able[0].Size.Shapes[s].Binding
		}
	}
	return "redundancy"
}

// stops names what stops one more replica of a variant in the first of its pools, or is
// empty where one fits in some pool.
func (c *cycle) stops(i, j int) string {
	if i < len(c.permitted) && c.permitted[i].stops(j, c.decision.Plans[i].Variants[j].Total()) {
		return boundByPolicy
	}
	first := ""
	for k := range c.fleet.Workloads[i].Variants[j].Pools {
		limits := c.room().Stops(i, j, k)
		if len(limits) == 0 {
			return ""
		}
		if first == "" {
			names := make([]string, len(limits))
			for l := range limits {
				names[l] = c.limitName(i, limits[l])
			}
			first = strings.Join(names, ", ")
		}
	}
	return first
}

// worthMore says whether more replicas of workload i would save more penalty than they
// cost, were there room for them: one of some variant, or one of each phase.
func (c *cycle) worthMore(i int) bool {
	w := &c.problem.Workloads[i]
	for j := range w.Variants {
		if c.saves(i, j) {
			return true
		}
		for other := range w.Variants {
			if w.Variants[j].Phase == optimizer.Prefill && w.Variants[other].Phase == optimizer.Decode && c.saves(i, j, other) {
				return true
			}
		}
	}
	return false
}

// saves says whether one more replica of each of the variants, beside those that may
// fail, saves more penalty than it costs.
func (c *cycle) saves(i int, variants ...int) bool {
	w := c.problem.Workloads[i]
	w.Demand = float64(c.fleet.Workloads[i].ArrivalRate) // which robustness may have raised
	counts := slices.Clone(c.room().Counts(i))
	more := max(1, w.Redundancy+1-c.decision.Plans[i].total())
	saved := w.UnmetPenalty * w.Unmet(counts)
	for _, j := range variants {
		v := &w.Variants[j]
		price := math.Inf(1)
		for _, p := range v.Placements {
			price = min(price, p.PricePerHour)
		}
		saved += v.Switching(counts[j]) - v.Switching(counts[j]+more) - float64(more)*price
		counts[j] += more
	}
	return saved > w.UnmetPenalty*w.Unmet(counts)
}

// room is what the plan leaves of the limits.
func (c *cycle) room() *optimizer.Headroom {
	if c.headroom != nil {
		return c.headroom
	}
	c.headroom = optimizer.NewHeadroom(c.problem)
	for i := range c.decision.Plans {
		for j := range c.decision.Plans[i].Variants {
			for k, n := range c.decision.Plans[i].Variants[j].Replicas {
				c.headroom.Place(i, j, k, n)
			}
		}
	}
	return c.headroom
}

// limitName names a limit of workload i as bindings do.
func (c *cycle) limitName(i int, l optimizer.Limit) string {
	switch l.Kind {
	case optimizer.PoolLimits:
		return "pool/" + c.fleet.Pools[l.Index].Name
	case optimizer.NodeLimits:
		return "nodes of pool/" + c.fleet.Pools[l.Index].Name
	case optimizer.QuotaLimits:
		return c.quotaName(l.Index)
	case optimizer.BudgetLimit:
		return "budget"
	case optimizer.WorkloadMaximum:
		return "maxReplicas"
	case optimizer.VariantMaximum:
		return "maxReplicas of " + c.fleet.Workloads[i].Variants[l.Index].Name
	case optimizer.SingleMixing:
		return "mixing"
	}
	return ""
}

// quotaName names a quota of the problem.
func (c *cycle) quotaName(q int) string {
	quota := &c.problem.Quotas[q]
	return "quota/" + quota.Namespace + "/" + c.problem.Pools[quota.Pool].Name
}

// unstopped names the cause when more replicas could run and would serve more: they are not
// worth their price, the strategy does not look for them, or, of a pair of phases that lack
// each other, there is room for either alone.
func (c *cycle) unstopped(i int) string {
	switch {
	case c.fleet.Objective.Strategy != Optimal && c.solved.Stopped:
		return "timeLimit"
	case c.fleet.Objective.Strategy != Optimal, c.inBatches(i):
		return "strategy"
	case c.fleet.Workloads[i].Penalized:
		return "unmetPenaltyPerRps"
	}
	return "phases"
}
