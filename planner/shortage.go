package planner

import "github.com/poolwright/poolwright/optimizer"

// shortage names what keeps demand from being served: what stops one more replica
// of the variant that would serve most cheaply.
func (c *cycle) shortage(i int) string {
	w, plan := &c.fleet.Workloads[i], &c.decision.Plans[i]
	best := -1
	for j := range plan.Variants {
		v := &plan.Variants[j]
		if v.Size.Served > 0 && (best < 0 || v.MarginalPrice < plan.Variants[best].MarginalPrice) {
			best = j
		}
	}
	if best < 0 {
		return plan.Variants[0].Size.Binding
	}
	cause := ""
	for j := range plan.Variants {
		if plan.Variants[j].Size.Served == 0 {
			continue
		}
		stop := c.stops(i, j)
		if stop == "" {
			return c.unstopped(w)
		}
		if j == best {
			cause = stop
		}
	}
	return cause
}

// stops names what stops one more replica of a variant in each of its pools, by the
// first of them, or is empty where one fits.
func (c *cycle) stops(i, j int) string {
	stop := ""
	for k := range c.fleet.Workloads[i].Variants[j].Pools {
		limits := c.room().Stops(i, j, k)
		if len(limits) == 0 {
			return ""
		}
		if stop == "" {
			stop = c.limitName(i, limits[0])
		}
	}
	return stop
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

// unstopped names the cause when one more replica could run: it is not worth its
// price, or of no use alone.
func (c *cycle) unstopped(w *Workload) string {
	switch {
	case c.fleet.Objective.Strategy != Optimal && c.solved.Stopped:
		return "timeLimit"
	case c.fleet.Objective.Strategy != Optimal:
		return "strategy"
	case w.Penalized:
		return "unmetPenaltyPerRps"
	case w.Redundancy > 0:
		return "redundancy"
	}
	return "the search limit"
}
