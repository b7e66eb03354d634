package optimizer

import "math"

// PriceRange says how far a price may move with the plan still optimal. Fall and Rise
// hold the ends: beyond High a plan is known that is better by more than the relative
// gap asked for; up to Low none is better by more than twice that gap. The two are
// equal where the solves reach their gap. Low is at most what was looked at, and High
// is +Inf where no better plan was found there.
type PriceRange struct{ Fall, Rise Interval }

// Tariff is a price that many replicas share.
type Tariff struct {
	// Units is how often replicas of variant v of workload w in its placement k pay
	// the price, ≥ 0.
	Units func(w, v, k int) float64
	// Fall and Rise are how far to look, ≥ 0. No placement's price may fall below 0.
	Fall, Rise float64
}

// PriceRange finds the range of a price.
//
// The objective of the plan is linear in the price, and that of the best plan
// concave, as the minimum over plans (Eisner and Severance, Mathematical techniques
// for efficient record segmentation in large shared databases, 1976). So the plan is
// optimal on an interval, whose ends are found by Newton steps: solve at a price, and
// go to where the plan found there is as good as this one. The budget, if any, holds
// at the prices as they are, and other plans count if they serve each workload without
// penalty as this one does.
func (s *Study) PriceRange(t Tariff) (PriceRange, error) {
	fall, err := s.priceEnd(t.Units, -1, t.Fall)
	if err != nil {
		return PriceRange{}, err
	}
	rise, err := s.priceEnd(t.Units, 1, t.Rise)
	return PriceRange{Fall: fall, Rise: rise}, err
}

// priceEnd looks at changes of the price by sign·x, 0 ≤ x ≤ reach.
func (s *Study) priceEnd(units func(w, v, k int) float64, sign, reach float64) (Interval, error) {
	gap := s.options.provenGap()
	paid := s.paid(s.plan, units)
	end := Interval{High: math.Inf(1)}
	now := s.plan.Bound - (1-2*gap)*s.plan.Objective
	if now < 0 {
		return end, nil
	}
	if reach == 0 || sign > 0 && paid == 0 {
		return Interval{Low: reach, High: math.Inf(1)}, nil
	}
	for x := reach; ; {
		best, err := s.solveAt(units, sign*x)
		if err != nil {
			return Interval{}, err
		}
		if best.Demand == Infeasible || len(best.Levels) > 0 {
			return end, nil // the plan serves more
		}
		cost := s.plan.Objective + sign*x*paid
		then := best.Bound - (1-2*gap)*cost
		if then >= 0 {
			return Interval{Low: min(x, end.High), High: end.High}, nil
		}
		// The bound is concave: between here and there it is no less than linear.
		end.Low = min(x*now/(now-then), end.High)
		worse := best.Objective - (1-gap)*cost
		if worse >= 0 {
			return end, nil
		}
		better := best.Objective - sign*x*s.paid(best, units) - (1-gap)*s.plan.Objective
		next := max(0, x*better/(better-worse))
		end.Low, end.High = min(end.Low, next), next
		if next == 0 || next >= x {
			return end, nil
		}
		x = next
	}
}

// paid is how often the replicas of a plan pay a price.
func (s *Study) paid(plan *Solution, units func(w, v, k int) float64) float64 {
	var terms []float64
	for i := range plan.Allocations {
		for j, places := range plan.Allocations[i].Replicas {
			for k, n := range places {
				if n > 0 {
					terms = append(terms, float64(n)*units(i, j, k))
				}
			}
		}
	}
	return sum(terms)
}

func (s *Study) solveAt(units func(w, v, k int) float64, change float64) (*Solution, error) {
	changed := s.served()
	changed.reprice(func(w, v, k int) float64 {
		return max(change*units(w, v, k), -changed.Workloads[w].Variants[v].Placements[k].PricePerHour)
	})
	return s.solve(changed)
}
