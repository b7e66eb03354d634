package planner

import (
	"cmp"
	"math"
	"slices"

	"github.com/poolwright/poolwright/optimizer"
)

// unusedSolved is the number of unused variants that are solved for, and resolution
// the share of their price that the gap of the plan may be worth.
const (
	unusedSolved = 10
	resolution   = 0.1
)

// unused estimates what the prices of unused variants would have to fall to.
func (e *Explanation) unused(c *cycle) {
	for i := range c.decision.Plans {
		w, plan := &c.fleet.Workloads[i], &c.decision.Plans[i]
		reference := plan.cheapestUsed(w)
		if plan.Held || reference < 0 {
			continue
		}
		for j := range plan.Variants {
			v := &plan.Variants[j]
			if v.Total() > 0 || v.Size.Served == 0 || w.Variants[j].Role != optimizer.Whole {
				continue // one phase alone has no price to compare
			}
			u := UnusedVariant{
				Workload: i, Variant: j, PricePerHour: c.fleet.leastPrice(&w.Variants[j]),
				MarginalFall: max(0, v.MarginalPrice-plan.Variants[reference].MarginalPrice) * float64(v.Size.Served),
			}
			u.Reason = c.unusedReason(&u)
			e.Unused = append(e.Unused, u)
		}
	}
	slices.SortFunc(e.Unused, func(a, b UnusedVariant) int {
		v, w := &c.fleet.Workloads[a.Workload], &c.fleet.Workloads[b.Workload]
		return cmp.Or(cmp.Compare(a.MarginalFall*b.PricePerHour, b.MarginalFall*a.PricePerHour),
			cmp.Compare(v.QualifiedName(), w.QualifiedName()),
			cmp.Compare(v.Variants[a.Variant].Name, w.Variants[b.Variant].Name))
	})
}

// leastPrice is that of a replica at its cheapest placement.
func (f *Fleet) leastPrice(v *Variant) float64 {
	least := math.Inf(1)
	for _, g := range v.Pools {
		least = min(least, f.Price(v, g))
	}
	return least
}

// solveUnused solves for the unused variants nearest to being used, where the gap
// allows to tell.
func (e *explainer) solveUnused() error {
	blur := 2 * e.cycle.fleet.Objective.RelativeGap * e.cycle.solved.Objective
	for n := range e.Unused[:min(len(e.Unused), unusedSolved)] {
		u := &e.Unused[n]
		if blur > resolution*u.PricePerHour {
			continue
		}
		free := slices.Index(e.free, u.Workload)
		found, err := e.study.PriceRange(optimizer.Tariff{
			Units: func(w, v, _ int) float64 {
				if w == free && v == u.Variant {
					return 1
				}
				return 0
			},
			Fall: u.PricePerHour,
		})
		if err != nil {
			return err
		}
		u.Fall = &found.Fall
		u.Reason = e.cycle.unusedReason(u)
	}
	return nil
}
