package message

import (
	"math"

	"github.com/poolwright/poolwright/optimizer"
	"github.com/poolwright/poolwright/planner"
	poolwrightv1 "github.com/poolwright/poolwright/proto/poolwright/v1"
)

// Explanation translates an explanation.
func Explanation(e *planner.Explanation) *poolwrightv1.Explanation {
	f := &e.Decision.Fleet
	m := &poolwrightv1.Explanation{Plan: Plan(&e.Decision), LeftOut: e.LeftOut}
	if e.Shortage != nil {
		m.Shortage = shortage(&e.Decision, e.Shortage)
	}
	for i := range e.Prices {
		r := &e.Prices[i]
		p := &poolwrightv1.PriceRange{
			Accelerator: r.Accelerator, PricePerHour: r.PricePerHour,
			Fall: interval(r.Range.Fall), Rise: interval(r.Range.Rise), Reason: r.Reason,
		}
		if r.Pool != planner.AllPools {
			p.Pool = f.Pools[r.Pool].Name
		}
		m.Prices = append(m.Prices, p)
	}
	for i := range e.Curves {
		m.Curves = append(m.Curves, curve(f, &e.Curves[i]))
	}
	for i := range e.Changes {
		c := &e.Changes[i]
		m.Changes = append(m.Changes, &poolwrightv1.PoolChange{
			Pool: f.Pools[c.Pool].Name, Devices: count(c.Devices), Saving: interval(c.Saving),
			Demand: demand(c.Demand), UnmetRps: float64(c.Unmet), Reason: c.Reason, Proof: proofOf(c.Proof),
			Shortfall: count(c.Shortfall),
		})
	}
	for _, c := range e.Commitments {
		m.Commitments = append(m.Commitments, &poolwrightv1.Commitment{
			Pool: f.Pools[c.Pool].Name, Idle: count(c.Idle), IdlePricePerHour: c.IdlePricePerHour, Reason: c.Reason,
		})
	}
	for i := range e.Unused {
		m.Unused = append(m.Unused, unused(f, &e.Unused[i]))
	}
	return m
}

// interval leaves an infinite end out.
func interval(i optimizer.Interval) *poolwrightv1.Interval {
	m := &poolwrightv1.Interval{Low: i.Low}
	if !math.IsInf(i.High, 1) {
		m.High = &i.High
	}
	return m
}

// oneOrAll is the name of a workload, empty for all of them.
func oneOrAll(f *planner.Fleet, workload int) string {
	if workload == planner.AllWorkloads {
		return ""
	}
	return f.Workloads[workload].QualifiedName()
}

func shortage(d *planner.Decision, s *planner.Shortage) *poolwrightv1.Shortage {
	m := &poolwrightv1.Shortage{}
	for _, h := range s.Hopeless {
		m.Hopeless = append(m.Hopeless, &poolwrightv1.HopelessWorkload{
			Workload: d.Fleet.Workloads[h.Workload].QualifiedName(),
			UnmetRps: float64(h.Unmet), Shortfall: count(h.Shortfall), Reason: h.Reason,
		})
	}
	for i := range s.Increases {
		m.Increases = append(m.Increases, increase(d, &s.Increases[i]))
	}
	for i := range s.Relaxations {
		r := &s.Relaxations[i]
		relaxation := &poolwrightv1.Relaxation{Workload: oneOrAll(&d.Fleet, r.Workload), Reason: r.Reason}
		if r.Possible {
			relaxation.Factor = interval(r.Factor)
		}
		m.Relaxations = append(m.Relaxations, relaxation)
	}
	return m
}

func increase(d *planner.Decision, i *planner.Increase) *poolwrightv1.Increase {
	m := &poolwrightv1.Increase{
		Raise: raise(i.Raise), OthersLifted: i.Lifted, Verdict: verdict(i.Verdict), Reason: i.Reason,
	}
	if i.Verdict != optimizer.Helps {
		return m
	}
	for g, n := range i.Pools {
		if n > 0 {
			m.Pools = append(m.Pools, &poolwrightv1.PoolIncrease{Pool: d.Fleet.Pools[g].Name, Devices: count(n)})
		}
	}
	for q, n := range i.Quotas {
		if n > 0 {
			quota := &d.Quotas[q]
			m.Quotas = append(m.Quotas, &poolwrightv1.QuotaIncrease{
				Namespace: quota.Namespace, Pool: d.Fleet.Pools[quota.Pool].Name, Devices: count(n),
			})
		}
	}
	m.BudgetPerHour, m.Total, m.PricePerHour = i.Budget, interval(i.Total), i.PricePerHour
	return m
}

func raise(r planner.Raise) poolwrightv1.Increase_Raise {
	switch r {
	case planner.RaisePoolsCheaply:
		return poolwrightv1.Increase_POOLS_CHEAPLY
	case planner.RaiseQuotas:
		return poolwrightv1.Increase_QUOTAS
	case planner.RaiseBudget:
		return poolwrightv1.Increase_BUDGET
	case planner.RaisePools:
	}
	return poolwrightv1.Increase_POOLS
}

func verdict(v optimizer.Verdict) poolwrightv1.Increase_Verdict {
	switch v {
	case optimizer.Helps:
		return poolwrightv1.Increase_HELPS
	case optimizer.Insufficient:
		return poolwrightv1.Increase_INSUFFICIENT
	case optimizer.Unknown:
		return poolwrightv1.Increase_UNKNOWN
	case optimizer.Enough:
	}
	return poolwrightv1.Increase_ENOUGH
}

func curve(f *planner.Fleet, c *planner.DemandCurve) *poolwrightv1.DemandCurve {
	m := &poolwrightv1.DemandCurve{Workload: oneOrAll(f, c.Workload)}
	for i := range c.Points {
		p := &c.Points[i]
		m.Points = append(m.Points, &poolwrightv1.DemandPoint{
			Factor: p.Factor, Objective: interval(p.Objective), PricePerHour: p.PricePerHour,
			Demand: demand(p.Demand), UnmetRps: float64(p.Unmet), Proof: proofOf(p.Proof),
		})
	}
	return m
}

func unused(f *planner.Fleet, u *planner.UnusedVariant) *poolwrightv1.UnusedVariant {
	w := &f.Workloads[u.Workload]
	m := &poolwrightv1.UnusedVariant{
		Workload: w.QualifiedName(), Variant: w.Variants[u.Variant].Name,
		PricePerHour: u.PricePerHour, MarginalFall: u.MarginalFall, Reason: u.Reason,
	}
	if u.Fall != nil {
		m.Fall = interval(*u.Fall)
	}
	return m
}
