package optimizer

import (
	"math"
	"slices"
)

// Assess reports a plan that was made elsewhere as a solution: what it costs, serves
// and uses, by [Problem.Evaluate]. Nothing is proven of it, so its bound is 0, and
// marginal prices are those without shadow prices. The problem must be valid. It
// returns the errors of Evaluate; limits that the plan breaks are Evaluate's to
// tell.
func (p *Problem) Assess(replicas [][][]int) (*Solution, error) {
	if err := p.checkShape(replicas); err != nil {
		return nil, err
	}
	return p.assess(asSpelled(replicas), packPools(p), func(i int, a *Allocation) { a.MarginalPrice = p.Workloads[i].prices(nil) }), nil
}

// assess is Assess of a plan in the shape of the problem, but for the marginal prices. It calls visit as evaluate does,
// with the allocation of the workload.
func (p *Problem) assess(plan spelling, packings []packing, visit func(i int, a *Allocation)) *Solution {
	allocations := make([]Allocation, len(p.Workloads))
	e := p.evaluate(plan, packings, func(i int, replicas [][]int, s evaluated) {
		allocations[i] = Allocation{Replicas: replicas, Unmet: s.unmet, Shortfall: s.shortfall, ShapeShares: s.shares}
		visit(i, &allocations[i])
	})
	s := &Solution{
		Proof: Unproven, Objective: e.Objective, PricePerHour: e.PricePerHour, Gap: gapOf(e.Objective, 0),
		Allocations: allocations,
		Pools:       make([]Usage, len(p.Pools)), Quotas: make([]Usage, len(p.Quotas)),
	}
	for g, used := range e.Pools {
		s.Pools[g].Used = used
	}
	s.Notes = packingNotes(p, packings)
	for q, used := range e.Quotas {
		s.Quotas[q].Used = used
	}
	for i := range allocations {
		switch a := &allocations[i]; {
		case a.Shortfall > 0:
			s.Demand = Infeasible
		case a.Unmet > 0 && s.Demand == Served:
			s.Demand = Partial
		}
	}
	return s
}

// prices appends what one request/s costs on each variant at its cheapest placement.
func (w *Workload) prices(prices []float64) []float64 {
	prices = slices.Grow(prices, len(w.Variants))
	for j := range w.Variants {
		v := &w.Variants[j]
		least := math.Inf(1)
		for _, place := range v.Placements {
			least = min(least, place.PricePerHour)
		}
		capacity := w.MixCapacity(j) * w.servable(j)
		if capacity == 0 {
			least = math.Inf(1)
		}
		prices = append(prices, least/capacity)
	}
	return prices
}

// levels are those that a plan does not reach entirely, with bounds by priority.
func (p *Problem) levels(allocations []Allocation, bound func(priority int) float64) []Level {
	type sums struct{ unmet, demand exactSum }
	missing, all := 0, map[int]*sums{}
	for i := range allocations {
		missing += allocations[i].Shortfall
		w := &p.Workloads[i]
		if w.Penalized {
			continue
		}
		if all[w.Priority] == nil {
			all[w.Priority] = &sums{}
		}
		all[w.Priority].unmet.add(allocations[i].Unmet)
		all[w.Priority].demand.add(w.Demand)
	}
	var levels []Level
	add := func(priority int, unmet, unit float64) {
		if unmet > 0 {
			least := min(bound(priority), unmet)
			levels = append(levels, Level{Priority: priority, Unmet: unmet, Bound: least, Gap: (unmet - least) / unit})
		}
	}
	add(0, float64(missing), 1)
	for _, priority := range sortedKeys(all) {
		add(priority, all[priority].unmet.total(), all[priority].demand.total())
	}
	return levels
}
