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
	if reached(w.MaxReplicas, plan.total()) {
		return "maxReplicas"
	}
	cause := ""
	for j := range plan.Variants {
		if plan.Variants[j].Size.Served == 0 {
			continue
		}
		stop := c.stops(w, plan, j)
		if stop == "" {
			return c.unstopped(w)
		}
		if j == best {
			cause = stop
		}
	}
	return cause
}

func reached(most optimizer.Bound, n int) bool { return most.Limited && n >= most.Value }

// total is the number of replicas of all variants.
func (p *WorkloadPlan) total() int {
	n := 0
	for j := range p.Variants {
		n += p.Variants[j].Total()
	}
	return n
}

// stops names what stops one more replica of a variant, or is empty.
func (c *cycle) stops(w *Workload, plan *WorkloadPlan, j int) string {
	v := &w.Variants[j]
	if reached(v.MaxReplicas, plan.Variants[j].Total()) {
		return "maxReplicas of " + v.Name
	}
	if w.Mixing == optimizer.Single && plan.total() > plan.Variants[j].Total() {
		return "mixing"
	}
	stop := ""
	for _, p := range v.Pools {
		by := c.stopsIn(w, v, p)
		if by == "" {
			return ""
		}
		if stop == "" {
			stop = by
		}
	}
	return stop
}

// stopsIn names what stops one more replica of a variant in a pool, or is empty.
func (c *cycle) stopsIn(w *Workload, v *Variant, p int) string {
	pool := &c.fleet.Pools[p]
	if pool.Capacity.Limited && pool.Capacity.Value-c.decision.Pools[p].Used < v.DevicesPerReplica {
		return "pool/" + pool.Name
	}
	for _, q := range c.decision.Quotas {
		if q.Pool == p && q.Namespace == w.Namespace && q.Devices-q.Used < v.DevicesPerReplica {
			return "quota/" + q.Namespace + "/" + pool.Name
		}
	}
	budget := c.fleet.Objective.BudgetPerHour
	if budget > 0 && budget-c.decision.PricePerHour < c.fleet.Price(v, p) {
		return "budget"
	}
	if n := pool.DevicesPerNode; n > 0 && pool.Capacity.Limited {
		return "nodes of pool/" + pool.Name
	}
	return ""
}

// unstopped names the cause when one more replica could run: it is not worth its
// price, or of no use alone.
func (c *cycle) unstopped(w *Workload) string {
	switch {
	case c.fleet.Objective.Strategy != Optimal:
		return "strategy"
	case w.Penalized:
		return "unmetPenaltyPerRps"
	case w.Redundancy > 0:
		return "redundancy"
	}
	return "the search limit"
}
