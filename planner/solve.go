package planner

import (
	"fmt"

	"github.com/poolwright/poolwright/optimizer"
	"github.com/poolwright/poolwright/optimizer/lp"
	"github.com/poolwright/poolwright/queueing"
)

// solveStage finds the optimal plan within the pools, for the workloads that are
// not held, with what the held ones leave.
func solveStage(engine lp.Engine) func(*cycle) error {
	return func(c *cycle) error {
		c.problem = c.program()
		held, err := c.holdReplicas(c.problem)
		if err != nil {
			return err
		}
		c.heldUse = held
		c.free = held.rest(c.problem, c.held)
		p, err := c.batched(c.free)
		if err != nil {
			return err
		}
		c.explainBatches(p)
		c.result, err = c.solution(p, engine)
		if err != nil {
			return fmt.Errorf("planner: solve: %w", err)
		}
		if err := c.stay(p); err != nil {
			return err
		}
		c.start = startOf(p, c.result)
		c.explainResult()
		return nil
	}
}

// Problem writes the fleet as an integer program, with what [Planner.Capacities]
// says that replicas sustain.
func (f *Fleet) Problem(sizes [][]Size) *optimizer.Problem {
	p := &optimizer.Problem{BudgetPerHour: f.Objective.BudgetPerHour}
	for i := range f.Pools {
		pool := &f.Pools[i]
		p.Pools = append(p.Pools, optimizer.Pool{
			Name: pool.Name, Capacity: pool.Capacity.Value, Limited: pool.Capacity.Limited,
			DevicesPerNode: pool.DevicesPerNode,
		})
		for _, q := range pool.Quotas {
			p.Quotas = append(p.Quotas, optimizer.Quota{Namespace: q.Namespace, Pool: i, Capacity: q.Devices})
		}
	}
	for i := range f.Workloads {
		p.Workloads = append(p.Workloads, f.programWorkload(&f.Workloads[i], sizes[i]))
	}
	return p
}

func (f *Fleet) programWorkload(w *Workload, sizes []Size) optimizer.Workload {
	pw := optimizer.Workload{
		Name: w.QualifiedName(), Namespace: w.Namespace, Priority: w.Priority,
		Demand: float64(w.ArrivalRate), UnmetPenalty: w.UnmetPenalty, Penalized: w.Penalized,
		Mixing: w.Mixing, Redundancy: w.Redundancy,
		MinReplicas: w.MinReplicas, MaxReplicas: w.MaxReplicas,
	}
	for j := range w.Variants {
		v := &w.Variants[j]
		pv := optimizer.Variant{
			Name: v.Name, Capacity: float64(sizes[j].Served),
			DevicesPerReplica: v.DevicesPerReplica, NodesPerReplica: v.NodesPerReplica,
			MinReplicas: v.MinReplicas, MaxReplicas: v.MaxReplicas, CurrentReplicas: v.CurrentReplicas,
			SwitchUp: v.SwitchUp, SwitchDown: v.SwitchDown,
		}
		for _, p := range v.Pools {
			pv.Placements = append(pv.Placements, optimizer.Placement{Pool: p, PricePerHour: f.Price(v, p)})
		}
		if v.unknown() && w.Mixing != optimizer.Single {
			pv.MinReplicas, pv.MaxReplicas = v.CurrentReplicas, optimizer.Bound{Limited: true, Value: v.CurrentReplicas}
		}
		pw.Variants = append(pw.Variants, pv)
	}
	w.addTraffic(&pw, sizes)
	return pw
}

// adopt is the stage that takes the solution over into the decision.
func adopt(c *cycle) error {
	c.solved = c.result.Plan
	c.planFor(c.result.Demand)
	s := c.heldUse.addTo(c.solved, c.held)
	d := &c.decision
	d.Solution = s
	d.Stopped = s.Stopped
	d.Demand = s.Demand
	d.Objective = s.Objective
	d.PricePerHour = s.PricePerHour
	if by := c.fleet.Objective.madeBy(); by != "" {
		d.Notes = append(d.Notes, "planned by the "+by+"; nothing is proven")
	}
	d.Notes = append(append(d.Notes, c.fleet.notes()...), s.Notes...)
	for _, u := range s.Pools {
		d.Pools = append(d.Pools, PoolUse{Used: u.Used, ShadowPrice: u.ShadowPrice})
	}
	for i, u := range s.Quotas {
		d.Quotas = append(d.Quotas, quotaUse(c.problem.Quotas[i], u))
	}
	d.Plans = make([]WorkloadPlan, len(s.Allocations))
	for i := range s.Allocations {
		d.Plans[i] = c.workloadPlan(i, &s.Allocations[i])
	}
	c.adoptPolicies()
	c.reportSolved(c.result)
	return nil
}

func (c *cycle) workloadPlan(i int, a *optimizer.Allocation) WorkloadPlan {
	plan := WorkloadPlan{
		Unmet:  queueing.Rate(a.Unmet),
		Served: c.fleet.Workloads[i].ArrivalRate - queueing.Rate(a.Unmet),
		Held:   c.held[i],
	}
	plan.Variants = make([]VariantPlan, len(a.Replicas))
	for j, r := range a.Replicas {
		plan.Variants[j] = VariantPlan{Size: c.sizes[i][j], Replicas: r, MarginalPrice: a.MarginalPrice[j], Wanted: sum(r)}
	}
	plan.route(&c.fleet.Workloads[i], a.ShapeShares)
	return plan
}

// adoptPolicies notes what was expected, wanted and permitted.
func (c *cycle) adoptPolicies() {
	if !c.loop() {
		return
	}
	for i := range c.decision.Plans {
		plan := &c.decision.Plans[i]
		plan.Expected = c.expected[i]
		for j := range plan.Variants {
			plan.Variants[j].Permitted = c.permitted[i].variants[j]
		}
	}
	for k, i := range c.planned {
		for j, wanted := range c.wanted.Plan.Allocations[k].Replicas {
			c.decision.Plans[i].Variants[j].Wanted = sum(wanted)
		}
	}
}

func quotaUse(q optimizer.Quota, u optimizer.Usage) QuotaUse {
	return QuotaUse{
		Pool: q.Pool, Quota: Quota{Namespace: q.Namespace, Devices: q.Capacity},
		Used: u.Used, ShadowPrice: u.ShadowPrice,
	}
}
