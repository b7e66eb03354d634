package optimizer

import (
	"math/rand/v2"
	"testing"

	"github.com/poolwright/poolwright/internal/short"
	"github.com/poolwright/poolwright/optimizer/lp"
)

// randomPinned is a fleet in three zones of which some workloads may run in some only, some with quotas, some with a budget.
func randomPinned(seed uint64) *Problem {
	r := rand.New(rand.NewPCG(seed, 34))
	p := inZones(r, randomFleet(seed, []fleetKind{tightFleet, shortFleet, penalizedFleet, veryTightFleet}[seed%4], 12, 3), 3, r.IntN(4))
	for i := range p.Workloads {
		if r.IntN(3) > 0 {
			continue
		}
		first, zones := r.IntN(2), 1+r.IntN(2)
		for j := range p.Workloads[i].Variants {
			v := &p.Workloads[i].Variants[j]
			v.Placements = v.Placements[first:][:zones]
		}
	}
	if r.IntN(2) == 0 {
		for i := range p.Workloads {
			p.Workloads[i].Namespace = []string{"a", "b"}[i%2]
		}
		for g := range p.Pools {
			p.Quotas = append(p.Quotas, Quota{Namespace: "a", Pool: g, Capacity: p.Pools[g].Capacity / 2})
		}
	}
	return p
}

// relaxations calls visit for every relaxation by merged pools that a search could come to.
func relaxations(p *Problem, effort int, visit func(m *merge)) {
	m := mergePools(p)
	if m == nil {
		return
	}
	s := &mergedSearch{order: newOrdering(p, 1e-3), options: Options{RelativeGap: 1e-3, LP: lp.Simplex(), limits: defaultLimits()}}
	for m != nil {
		visit(m)
		s.options.Effort = effort
		s.relax(m)
		for range sharpenings {
			sharper := s.by.sharpen(s.relaxed)
			if sharper == nil {
				break
			}
			visit(sharper)
			s.options.Effort = effort
			s.relax(sharper)
		}
		m = s.by.refine(s.relaxed, s.placed, s.lacking)
	}
}

// Whatever plan fits a problem fits its relaxations, at no higher cost.
func TestRelaxationsAdmitEveryPlan(t *testing.T) {
	t.Parallel()
	checked, sharper, finer, budgets := 0, 0, 0, 0
	for seed := range uint64(short.Of(60)) {
		p := randomPinned(seed)
		if seed%3 == 0 {
			p.BudgetPerHour = 0.9 * solve(t, p, Options{RelativeGap: 1e-3, Effort: 20_000}).PricePerHour
			budgets++
		}
		var plans []*Solution
		for _, effort := range []int{200, 2_000, 20_000} {
			plans = append(plans, solve(t, p, Options{RelativeGap: 1e-3, Effort: effort}))
		}
		pools := 0
		relaxations(p, 20_000, func(m *merge) {
			if len(m.takers) > 0 {
				sharper++
			}
			if pools > 0 && len(m.members) > pools {
				finer++
			}
			pools = len(m.members)
			for _, plan := range plans {
				checked++
				e, err := m.to.Evaluate(m.join(plan.Replicas()))
				if err != nil {
					t.Fatal(err)
				}
				price := e.PricePerHour
				for i := range m.to.Workloads {
					if w := &m.to.Workloads[i]; w.charged {
						price += w.UnmetPenalty * e.Unmet[i]
					}
				}
				switch limit := 1e-9 * (1 + plan.Objective); {
				case len(e.Violations) > 0:
					t.Errorf("seed %d: %v in %v with takers %v", seed, e.Violations, m.members, m.takers)
				case e.Objective > plan.Objective+limit:
					t.Errorf("seed %d: objective %v, %v in %v with takers %v", seed, plan.Objective, e.Objective, m.members, m.takers)
				case p.BudgetPerHour > 0 && price > p.BudgetPerHour+limit:
					t.Errorf("seed %d: price %v of %v in %v with takers %v", seed, price, p.BudgetPerHour, m.members, m.takers)
				}
			}
		})
	}
	if checked == 0 || sharper == 0 || finer == 0 || budgets == 0 {
		t.Errorf("%d plans, %d sharper, %d finer relaxations, %d budgets", checked, sharper, finer, budgets)
	}
	t.Logf("%d plans in relaxations, of which %d are sharper and %d finer; %d budgets", checked, sharper, finer, budgets)
}
