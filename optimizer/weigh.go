package optimizer

import (
	"maps"
	"math"
)

// weigh makes a plan for all priorities at once, for those that settle one after the other to begin
// with, and for the case that there is no time for them. What the plan so far serves entirely, of the
// priorities from the first on, stays served.
func (s *solver) weigh(at stage, priorities []int) {
	before := s.plan
	at.settled = maps.Clone(at.settled)
	for _, priority := range priorities {
		if s.unmet(before, priority) > 0 {
			break
		}
		at.settled[priority] = 0
	}
	roots := map[int]outcome{}
	if len(s.canonical.workloads) > s.options.limits.fixedPrices && !s.grouped {
		at = s.priceUnmet(at, priorities, roots)
	}
	at.kind = weighedStage
	s.run(at, false)
	s.plan = s.better(before, s.plan, priorities)
	for _, priority := range sortedKeys(roots) {
		root := roots[priority]
		s.bounds[priority] = proven(root.boundFor(s.unmetOfPlan))
	}
}

// better is the plan that leaves less of the first priority in which the two differ, or else the second.
func (s *solver) better(a, b *plan, priorities []int) *plan {
	for _, priority := range priorities {
		if of, is := s.unmet(a, priority), s.unmet(b, priority); of != is {
			if of < is {
				return a
			}
			return b
		}
	}
	return b
}

// priceUnmet is the stage at with prices of unmet demand at which a plan of least cost is about as good as
// can be for each priority: the multipliers of limits on the unmet demand of each that are
// somewhat above its bound, given the limits of those before. A plan that is the very best for one
// priority would leave next to nothing to choose from for those after it. But where by its bound a priority may be served entirely, it
// should be: its price is higher. Where the plan so far is within the limits, it is they. What bounds the priorities on the way goes to
// roots, and what bounds the cost to s.money: there is a bound of everything from then on.
func (s *solver) priceUnmet(at stage, priorities []int, roots map[int]outcome) stage {
	limited := at
	limited.settled, limited.bounding = maps.Clone(at.settled), true
	units, servable, known := map[int]float64{}, map[int]bool{}, true
	for _, priority := range priorities {
		if _, served := at.settled[priority]; served {
			continue
		}
		limited.kind, limited.priority = unmetStage, priority
		s.run(limited, false)
		if math.IsInf(s.last.bound, 1) {
			return at
		}
		roots[priority] = s.last.forBounds()
		units[priority] = limited.unit(s.canonical.from)
		servable[priority] = s.last.bound <= tolerance*units[priority]
		limit := s.last.bound + sparedGap*max(s.options.searchGap(), leastSpared)*units[priority]
		if unmet := s.unmet(s.plan, priority); known && unmet <= limit {
			limit, at.settled[priority] = unmet, unmet
		} else {
			known = false
		}
		limited.settled[priority] = limit
	}
	limited.kind, limited.priority = moneyStage, 0
	s.run(limited, false)
	if math.IsInf(s.last.bound, 1) {
		return at
	}
	s.money = s.last
	at.worth, at.weighed = map[int]float64{}, weighedGap*s.last.bound
	for r, row := range s.last.program.rows {
		if row.kind != unmetRow {
			continue
		}
		worth := max(leastWorth, s.last.prices[r])
		if servable[row.index] {
			worth *= servedWorth
		}
		at.worth[row.index] = worth
		at.weighed = min(at.weighed, weighedGap*worth*units[row.index])
	}
	return at
}

// sparedGap is the share of the gap of a priority that is left to those after it, of the one asked for
// but at least leastSpared. weighedGap is the share of the smallest gap of all priorities and the cost, at these prices, up to which the
// plan for all is searched for. leastWorth is the least price of unmet demand, and servedWorth how many times as high it is of a
// priority that may be served entirely. hastyEffort, or hastyShare for each workload, limits the search for the plan for all, and for
// one of a level in haste.
const (
	sparedGap   = 0.25
	weighedGap  = 0.5
	leastSpared = 1e-4
	leastWorth  = 1e-6
	servedWorth = 10
	hastyEffort = 200_000
	hastyShare  = 50
)
