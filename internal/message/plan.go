package message

import (
	"math"
	"time"

	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/poolwright/poolwright/optimizer"
	"github.com/poolwright/poolwright/planner"
	poolwrightv1 "github.com/poolwright/poolwright/proto/poolwright/v1"
	"github.com/poolwright/poolwright/queueing"
)

// Plan translates a decision on a request.
func Plan(d *planner.Decision) *poolwrightv1.Plan { return plan(d, false) }

// plan translates a decision; one of the loop has more to say of replicas.
func plan(d *planner.Decision, loop bool) *poolwrightv1.Plan {
	m := &poolwrightv1.Plan{
		Proof:        poolwrightv1.Plan_NONE,
		Demand:       demand(d.Demand),
		Objective:    d.Objective,
		PricePerHour: d.PricePerHour,
		Notes:        d.Notes,
		Robustness:   robustPlan(d),
	}
	if s := d.Solution; s != nil {
		proof(m, s)
	}
	m.Workloads = make([]*poolwrightv1.WorkloadPlan, 0, len(d.Plans))
	for i := range d.Plans {
		w := &d.Fleet.Workloads[i]
		m.Allocations = append(m.Allocations, allocations(d, w, &d.Plans[i])...)
		workload := workload(w, &d.Plans[i], d.Solution != nil)
		if loop {
			for j, v := range workload.GetVariants() {
				v.Replicas = variantReplicas(&w.Variants[j], &d.Plans[i].Variants[j])
			}
		}
		m.Workloads = append(m.Workloads, workload)
	}
	for i, use := range d.Pools {
		p := &d.Fleet.Pools[i]
		pool := &poolwrightv1.PoolPlan{
			Name: p.Name, Accelerator: p.Accelerator,
			Used: count(use.Used), ShadowPricePerHour: use.ShadowPrice,
		}
		if p.Capacity.Limited {
			capacity := count(p.Capacity.Value)
			pool.Capacity = &capacity
		}
		m.Pools = append(m.Pools, pool)
	}
	for _, q := range d.Quotas {
		m.Quotas = append(m.Quotas, &poolwrightv1.QuotaPlan{
			Namespace: q.Namespace, Pool: d.Fleet.Pools[q.Pool].Name,
			Used: count(q.Used), Capacity: count(q.Devices),
			ShadowPricePerHour: q.ShadowPrice,
		})
	}
	return m
}

// count saturates at what a message can hold.
func count(n int) int32 { return int32(max(math.MinInt32, min(math.MaxInt32, n))) }

// firstPool is the index of that pool of a variant whose name comes first.
func firstPool(f *planner.Fleet, v *planner.Variant) int {
	first := 0
	for k, p := range v.Pools {
		if f.Pools[p].Name < f.Pools[v.Pools[first]].Name {
			first = k
		}
	}
	return first
}

func demand(d optimizer.Demand) poolwrightv1.Plan_Demand {
	switch d {
	case optimizer.Partial:
		return poolwrightv1.Plan_PARTIAL
	case optimizer.Infeasible:
		return poolwrightv1.Plan_INFEASIBLE
	case optimizer.Served:
	}
	return poolwrightv1.Plan_SERVED
}

func proofOf(p optimizer.Proof) poolwrightv1.Plan_Proof {
	switch p {
	case optimizer.Optimal:
		return poolwrightv1.Plan_OPTIMAL
	case optimizer.Feasible:
		return poolwrightv1.Plan_FEASIBLE
	case optimizer.Unproven:
	}
	return poolwrightv1.Plan_NONE
}

func proof(m *poolwrightv1.Plan, s *optimizer.Solution) {
	if m.Proof = proofOf(s.Proof); s.Proof == optimizer.Unproven {
		return
	}
	m.Bound, m.Gap = s.Bound, s.Gap
	m.BudgetShadowPrice = s.BudgetShadowPrice
	for _, l := range s.Levels {
		m.Levels = append(m.Levels, &poolwrightv1.PriorityLevel{
			Priority: count(l.Priority), Unmet: l.Unmet, Bound: l.Bound, Gap: l.Gap,
		})
	}
}

func allocations(d *planner.Decision, w *planner.Workload, plan *planner.WorkloadPlan) []*poolwrightv1.Allocation {
	var out []*poolwrightv1.Allocation
	for j := range plan.Variants {
		v, vp := &w.Variants[j], &plan.Variants[j]
		total := vp.Total()
		change := count(total - v.CurrentReplicas)
		for k, n := range vp.Replicas {
			if n == 0 && (total > 0 || change == 0 || k != firstPool(&d.Fleet, v)) {
				continue
			}
			pool := &d.Fleet.Pools[v.Pools[k]]
			a := &poolwrightv1.Allocation{
				Workload: w.QualifiedName(), Variant: v.Name,
				Accelerator: pool.Accelerator, Pool: pool.Name,
				Replicas: count(n), Change: change,
			}
			if total > 0 {
				a.Share = vp.Share * float64(n) / float64(total)
			}
			for _, share := range vp.ShapeShares {
				a.ShapeShares = append(a.ShapeShares, share*float64(n)/float64(max(1, total)))
			}
			a.PricePerHour = float64(n) * d.Fleet.Price(v, v.Pools[k])
			out = append(out, a)
		}
	}
	return out
}

func workload(w *planner.Workload, plan *planner.WorkloadPlan, solved bool) *poolwrightv1.WorkloadPlan {
	m := &poolwrightv1.WorkloadPlan{
		Name: w.QualifiedName(), ServedRps: float64(plan.Served), UnmetRps: float64(plan.Unmet),
		Predicted: prediction(plan.Prediction), Binding: plan.Binding, Reason: plan.Reason,
		Expected: expectation(plan.Expected),
	}
	for _, c := range plan.Conditions {
		m.Conditions = append(m.Conditions, &poolwrightv1.Condition{Type: string(c.Type), Message: c.InWords()})
	}
	variants := make([]poolwrightv1.VariantPlan, len(plan.Variants))
	m.Variants = make([]*poolwrightv1.VariantPlan, len(variants))
	for j := range plan.Variants {
		v, vm := &plan.Variants[j], &variants[j]
		vm.Name, vm.CapacityRps, vm.ServedRps = w.Variants[j].Name, float64(v.Size.Capacity), float64(v.Size.Served)
		vm.Binding, vm.Reason = v.Size.Binding, v.Reason
		if solved && !plan.Held && v.Size.Served > 0 {
			vm.MarginalPricePerRps = &v.MarginalPrice
		}
		m.Variants[j] = vm
	}
	return m
}

func prediction(p *planner.Prediction) *poolwrightv1.Prediction {
	if p == nil {
		return nil
	}
	m := &poolwrightv1.Prediction{
		Utilization: p.Utilization, SaturationRps: float64(p.Saturation),
		BlockedShare: p.BlockedShare, Saturated: p.Saturated,
	}
	if !p.Saturated {
		m.Ttft, m.Itl, m.E2E = quantiles(p.TTFT), quantiles(p.ITL), quantiles(p.E2E)
	}
	return m
}

func quantiles(q planner.Quantiles) *poolwrightv1.LatencyPrediction {
	d := new([5]durationpb.Duration) // at once: a plan has many
	for i, s := range [len(d)]queueing.Seconds{q.Mean, q.P50, q.P90, q.P95, q.P99} {
		whole := s.Duration().Truncate(time.Second)
		d[i].Seconds, d[i].Nanos = int64(whole/time.Second), int32(s.Duration()-whole) //nolint:gosec // less than a second
	}
	return &poolwrightv1.LatencyPrediction{Mean: &d[0], P50: &d[1], P90: &d[2], P95: &d[3], P99: &d[4]}
}

// Capacities translates the sizes of a fleet's variants.
func Capacities(f *planner.Fleet, sizes [][]planner.Size) *poolwrightv1.Capacities {
	m := &poolwrightv1.Capacities{}
	for i := range f.Workloads {
		for j, s := range sizes[i] {
			c := &poolwrightv1.VariantCapacity{
				Workload: f.Workloads[i].QualifiedName(), Variant: f.Workloads[i].Variants[j].Name,
				CapacityRps: float64(s.Capacity), ServedRps: float64(s.Served), Binding: s.Binding, Reason: s.Reason,
			}
			if s.Saturation > 0 {
				saturation := float64(s.Saturation)
				c.SaturationRps = &saturation
			}
			for _, shape := range s.Shapes {
				c.ShapeServedRps = append(c.ShapeServedRps, float64(shape.Served))
			}
			m.Variants = append(m.Variants, c)
		}
	}
	return m
}
