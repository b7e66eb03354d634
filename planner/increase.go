package planner

import (
	"slices"

	"github.com/poolwright/poolwright/optimizer"
	"github.com/poolwright/poolwright/queueing"
)

// increases finds what limits to raise where something is not served.
func (e *explainer) increases() error {
	if e.cycle.solved.Demand == optimizer.Served {
		return nil
	}
	e.Shortage = &Shortage{}
	unservable, err := e.study.Unservable()
	if err != nil {
		return err
	}
	for _, u := range unservable {
		i := e.free[u.Workload]
		e.Shortage.Hopeless = append(e.Shortage.Hopeless, Hopeless{
			Workload: i, Unmet: queueing.Rate(u.Unmet), Shortfall: u.Shortfall,
			Reason: e.cycle.hopelessReason(i, u),
		})
	}
	lifted, err := e.raisePools()
	if err != nil {
		return err
	}
	if len(e.cycle.free.Quotas) > 0 {
		if _, err := e.raise(RaiseQuotas, lifted, nil); err != nil {
			return err
		}
	}
	if e.cycle.free.BudgetPerHour > 0 {
		_, err = e.raise(RaiseBudget, lifted, nil)
	}
	return err
}

// raisePools raises pools by the fewest devices and by the cheapest, and says whether
// quotas and budget had to be lifted for that.
func (e *explainer) raisePools() (lifted bool, err error) {
	fewest, err := e.raise(RaisePools, false, nil)
	if err != nil || fewest.Verdict != optimizer.Helps || !e.pricesDiffer() {
		return err == nil && fewest.Lifted, err
	}
	weights := make([]float64, len(e.cycle.fleet.Pools))
	for g := range weights {
		weights[g] = e.cycle.fleet.Pools[g].PricePerHour
	}
	cheapest, err := e.raise(RaisePoolsCheaply, fewest.Lifted, weights)
	if err == nil && slices.Equal(cheapest.Pools, fewest.Pools) {
		all := e.Shortage.Increases
		e.Shortage.Increases = all[:len(all)-1]
	}
	return fewest.Lifted, err
}

// pricesDiffer tells whether the fewest devices need not be the cheapest.
func (e *explainer) pricesDiffer() bool {
	var prices []float64
	for g := range e.cycle.fleet.Pools {
		if p := &e.cycle.fleet.Pools[g]; p.Capacity.Limited {
			prices = append(prices, p.PricePerHour)
		}
	}
	slices.Sort(prices)
	return len(slices.Compact(prices)) > 1
}

// raise finds the smallest increase with all other limits held or, where that does
// not do, with them lifted.
func (e *explainer) raise(r Raise, lift bool, weights []float64) (*Increase, error) {
	relief := optimizer.Relief{Raise: r.kind(), Weights: weights, Lift: lift}
	found, err := e.study.Increase(relief)
	if err != nil {
		return nil, err
	}
	if found.Verdict >= optimizer.Insufficient && !lift && e.othersLimit(r) {
		relief.Lift = true
		if found, err = e.study.Increase(relief); err != nil {
			return nil, err
		}
	}
	increase := Increase{
		Raise: r, Lifted: relief.Lift, Verdict: found.Verdict, Pools: found.Pools, Quotas: found.Quotas,
		Budget: found.Budget, Total: found.Total,
	}
	if found.Plan != nil {
		increase.PricePerHour = found.Plan.PricePerHour + e.heldCost()
	}
	increase.Reason = e.increaseReason(&increase)
	e.Shortage.Increases = append(e.Shortage.Increases, increase)
	return &increase, nil
}

func (r Raise) kind() optimizer.LimitKind {
	switch r {
	case RaiseQuotas:
		return optimizer.QuotaLimits
	case RaiseBudget:
		return optimizer.BudgetLimit
	case RaisePools, RaisePoolsCheaply:
	}
	return optimizer.PoolLimits
}

// othersLimit tells whether there are limits of kinds that are not raised.
func (e *explainer) othersLimit(r Raise) bool {
	p := e.cycle.free
	pools := slices.ContainsFunc(p.Pools, func(g optimizer.Pool) bool { return g.Limited })
	switch r.kind() {
	case optimizer.PoolLimits:
		return len(p.Quotas) > 0 || p.BudgetPerHour > 0
	case optimizer.QuotaLimits:
		return pools || p.BudgetPerHour > 0
	}
	return pools || len(p.Quotas) > 0
}
