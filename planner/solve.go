package planner

import (
	"fmt"
	"sort"

	"github.com/poolwright/poolwright/optimizer"
	"github.com/poolwright/poolwright/optimizer/lp"
	"github.com/poolwright/poolwright/queueing"
)

func rate(v float64) queueing.Rate { return queueing.Rate(v) }

// solveStage finds the optimal plan within the pools.
func solveStage(engine lp.Engine) func(*cycle) error {
	return func(c *cycle) error {
		problem := c.problem()
		solution, err := optimizer.Solve(problem, optimizer.Options{
			RelativeGap: c.fleet.Objective.RelativeGap,
			Stop:        c.stop,
			LP:          engine,
		})
		if err != nil {
			return fmt.Errorf("planner: solve: %w", err)
		}
		c.adopt(problem, solution)
		c.step("", "", fmt.Sprintf("%.6g per hour, bound %.6g", solution.Objective, solution.Bound),
			fmt.Sprintf("proven within %.3g %%", 100*solution.Gap))
		return nil
	}
}

// problem writes the fleet as an integer program.
func (c *cycle) problem() *optimizer.Problem {
	f := &c.fleet
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
		w := f.programWorkload(&f.Workloads[i], c.sizes[i])
		if c.held[i] {
			hold(&w)
		}
		p.Workloads = append(p.Workloads, w)
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
		pw.Variants = append(pw.Variants, pv)
	}
	return pw
}

// adopt takes the solution over into the decision.
func (c *cycle) adopt(p *optimizer.Problem, s *optimizer.Solution) {
	d := &c.decision
	d.Solution = s
	d.Demand = s.Demand
	d.PricePerHour = s.PricePerHour
	d.Notes = append(c.fleet.notes(), s.Notes...)
	for _, u := range s.Pools {
		d.Pools = append(d.Pools, PoolUse{Used: u.Used, ShadowPrice: u.ShadowPrice})
	}
	for i, u := range s.Quotas {
		q := p.Quotas[i]
		d.Quotas = append(d.Quotas, QuotaUse{
			Pool: q.Pool, Quota: Quota{Namespace: q.Namespace, Devices: q.Capacity},
			Used: u.Used, ShadowPrice: u.ShadowPrice,
		})
	}
	for i, a := range s.Allocations {
		plan := WorkloadPlan{Unmet: rate(a.Unmet), Served: c.fleet.Workloads[i].ArrivalRate - rate(a.Unmet)}
		for j, r := range a.Replicas {
			plan.Variants = append(plan.Variants, VariantPlan{
				Size: c.sizes[i][j], Replicas: r, MarginalPrice: a.MarginalPrice[j],
			})
		}
		if c.held[i] {
			plan.Served = c.fleet.Workloads[i].ArrivalRate
		}
		plan.share()
		d.Plans = append(d.Plans, plan)
	}
}

// keep is the stage that takes the fleet as it stands.
func keep(c *cycle) error {
	d := &c.decision
	d.Pools = make([]PoolUse, len(c.fleet.Pools))
	for i := range c.fleet.Workloads {
		w := &c.fleet.Workloads[i]
		plan := WorkloadPlan{}
		for j := range w.Variants {
			v := &w.Variants[j]
			vp := VariantPlan{Size: c.sizes[i][j], Replicas: c.fleet.place(v, d.Pools)}
			for k, n := range vp.Replicas {
				d.PricePerHour += float64(n) * c.fleet.Price(v, v.Pools[k])
			}
			plan.Variants = append(plan.Variants, vp)
		}
		plan.share()
		d.Plans = append(d.Plans, plan)
	}
	c.keepQuotas()
	return nil
}

// place assumes in which of its pools a variant's current replicas run: the
// cheapest first, as long as devices are left there.
func (f *Fleet) place(v *Variant, use []PoolUse) []int {
	order := make([]int, len(v.Pools))
	for k := range order {
		order[k] = k
	}
	sort.SliceStable(order, func(a, b int) bool {
		return f.Price(v, v.Pools[order[a]]) < f.Price(v, v.Pools[order[b]])
	})
	replicas := make([]int, len(v.Pools))
	left := v.CurrentReplicas
	for i, k := range order {
		p := v.Pools[k]
		n := left
		if c := f.Pools[p].Capacity; c.Limited && i < len(order)-1 {
			n = min(left, max(0, c.Value-use[p].Used)/v.DevicesPerReplica)
		}
		replicas[k] = n
		use[p].Used += n * v.DevicesPerReplica
		left -= n
	}
	return replicas
}

func (c *cycle) keepQuotas() {
	for p := range c.fleet.Pools {
		for _, q := range c.fleet.Pools[p].Quotas {
			use := QuotaUse{Pool: p, Quota: q}
			for i := range c.fleet.Workloads {
				w := &c.fleet.Workloads[i]
				if w.Namespace != q.Namespace {
					continue
				}
				for j, v := range w.Variants {
					for k, pool := range v.Pools {
						if pool == p {
							use.Used += c.decision.Plans[i].Variants[j].Replicas[k] * v.DevicesPerReplica
						}
					}
				}
			}
			c.decision.Quotas = append(c.decision.Quotas, use)
		}
	}
}

// share gives each variant traffic in proportion to what it serves within the SLO, or, where no
// variant holds the SLO, in proportion to its saturation rate.
func (p *WorkloadPlan) share() {
	weight := func(v *VariantPlan) float64 { return float64(v.Size.Served) * float64(v.Total()) }
	total := 0.0
	for j := range p.Variants {
		total += weight(&p.Variants[j])
	}
	if total == 0 {
		weight = func(v *VariantPlan) float64 { return float64(v.Size.Saturation) * float64(v.Total()) }
		for j := range p.Variants {
			total += weight(&p.Variants[j])
		}
	}
	if total == 0 {
		return
	}
	for j := range p.Variants {
		p.Variants[j].Share = weight(&p.Variants[j]) / total
	}
}
