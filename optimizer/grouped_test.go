package optimizer

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/poolwright/poolwright/internal/short"
)

// tenantFleet is a random fleet whose namespaces have quotas for every pool, more than are priced one by one.
func tenantFleet(seed uint64, kind fleetKind, workloads, namespaces int) *Problem {
	p := randomFleet(seed, kind, workloads, 5)
	for i := range p.Workloads {
		p.Workloads[i].Namespace = fmt.Sprint("team", i%namespaces)
	}
	p.Quotas = nil
	for g := range p.Pools {
		for k := range namespaces {
			p.Quotas = append(p.Quotas, Quota{Namespace: fmt.Sprint("team", k), Pool: g, Capacity: p.Pools[g].Capacity/namespaces + 8})
		}
	}
	return p
}

// With tenants and without, bounds and plans agree.
func TestTenantsAgreeWithPricedQuotas(t *testing.T) {
	t.Parallel()
	for _, kind := range []fleetKind{looseFleet, tightFleet, veryTightFleet, penalizedFleet, budgetFleet, singleFleet, nodeFleet} {
		p := tenantFleet(3, kind, 24, 6)
		for i := range p.Workloads {
			p.Workloads[i].MaxReplicas = Bound{Limited: true, Value: 6}
		}
		without := *defaultLimits()
		without.priced = math.MaxInt
		grouped, priced := solve(t, p, Options{RelativeGap: 1e-3}), solve(t, p, Options{RelativeGap: 1e-3, limits: &without})
		checkSolution(t, p, grouped)
		if grouped.Proof != Optimal || len(grouped.Levels) != len(priced.Levels) {
			t.Errorf("%v: proof %v, levels %+v; %+v without tenants", kind, grouped.Proof, grouped.Levels, priced.Levels)
		}
		if len(grouped.Levels) == 0 && (grouped.Bound > priced.Objective || priced.Bound > grouped.Objective) {
			t.Errorf("%v: [%v, %v], [%v, %v] without tenants", kind, grouped.Bound, grouped.Objective, priced.Bound, priced.Objective)
		}
	}
}

// As with one scarce pool and a dearer way out: a further device of a quota saves what the way out costs more.
func TestShadowPricesOfManyQuotas(t *testing.T) {
	p := fleet(1000)
	p.Pools = append(p.Pools, Pool{Name: "unlimited"}, Pool{Name: "small", Limited: true, Capacity: 3})
	add := func(namespace string, scarce int) {
		p.Workloads = append(p.Workloads, Workload{Name: namespace, Namespace: namespace, Priority: 1, Demand: 10, Variants: []Variant{
			{Name: "scarce", Capacity: 1, DevicesPerReplica: 1, Placements: []Placement{{Pool: scarce, PricePerHour: 1}}},
			{Name: "dearer", Capacity: 1, DevicesPerReplica: 1, Placements: []Placement{{Pool: 1, PricePerHour: 4}}},
		}})
	}
	for k := range 30 {
		p.Quotas = append(p.Quotas, Quota{Namespace: fmt.Sprint("team", k), Pool: 0, Capacity: 3})
		add(p.Quotas[k].Namespace, 0)
	}
	add("without quotas", 2)
	s := solve(t, p, Options{})
	if s.Objective != 31*(3+7*4) || math.Abs(s.Pools[2].ShadowPrice-3) > 1e-3 {
		t.Errorf("objective %v, shadow price of the small pool %v", s.Objective, s.Pools[2].ShadowPrice)
	}
	for k := range s.Allocations {
		if k < len(s.Quotas) && math.Abs(s.Quotas[k].ShadowPrice-3) > 1e-3 {
			t.Errorf("shadow price of quota %d: %v, want 3", k, s.Quotas[k].ShadowPrice)
		}
		for j, got := range s.Allocations[k].MarginalPrice {
			if math.Abs(got-4) > 1e-3 {
				t.Errorf("marginal price of variant %d of workload %d: %v, want 4", j, k, got)
			}
		}
	}
}

// However early the search ends, there is a plan that fits.
func TestStoppedWithTenants(t *testing.T) {
	t.Parallel()
	p := tenantFleet(2, shortFleet, 60, 10)
	asked := questions(t, p)
	for _, calls := range []int{0, 1, 2, 5, asked / 10, asked / 3, asked - 1} {
		left := calls
		s := solve(t, p, Options{RelativeGap: 1e-3, Stop: func() bool { left--; return left < 0 }})
		checkSolution(t, p, s)
		if !s.Stopped {
			t.Errorf("%d calls: not stopped", calls)
		}
	}
}

// Within the bounds of a branch no configuration turns up that a workload may not have: of two variants where it may use
// one, or of more replicas than its maximum.
func TestTenantsKeepToMixingAndMaximums(t *testing.T) {
	for seed := range short.Of(uint64(12)) {
		p := tenantFleet(seed, singleFleet, 24, 6)
		for i := range p.Workloads {
			if w := &p.Workloads[i]; i%2 == 0 {
				w.Mixing, w.MaxReplicas = Allowed, Bound{Limited: true, Value: 6}
			}
		}
		checkSolution(t, p, solve(t, p, Options{RelativeGap: 1e-6, Effort: 300_000}))
	}
}

// What some tenants leave less than their share of the gap is for the others.
func TestMostOpen(t *testing.T) {
	for _, c := range []struct {
		open []float64
		want float64
	}{
		{[]float64{8, 8, 8, 8}, 3},
		{[]float64{0, 1, 8, 9}, 5.5},
		{[]float64{math.Inf(1), 0, 2, 0}, 10},
		{[]float64{0, 0, 5, 0}, 12}, // none has to go on
	} {
		var tenants []*tenant
		for _, open := range c.open {
			tenants = append(tenants, &tenant{open: open})
		}
		if got := mostOpen(tenants, 12); got != c.want {
			t.Errorf("%v: %v, want %v", c.open, got, c.want)
		}
	}
}

// Tenants are worth it where most of what their workloads use is shared out by quotas, among namespaces that are not large.
func TestWhichNamespacesAreTenants(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(p *Problem)
		want   bool
	}{
		{"quotas of all pools", func(*Problem) {}, true},
		{"a quota each", func(p *Problem) {
			p.Quotas = slices.DeleteFunc(p.Quotas, func(q Quota) bool { return q.Pool != 1 })
		}, false},
		{"quotas of most pools", func(p *Problem) {
			p.Quotas = slices.DeleteFunc(p.Quotas, func(q Quota) bool { return q.Pool < 2 })
		}, true},
		{"as much as there is", func(p *Problem) {
			for k := range p.Quotas {
				p.Quotas[k].Capacity = p.Pools[p.Quotas[k].Pool].Capacity
			}
		}, false},
		{"most in one namespace", func(p *Problem) {
			for i := range p.Workloads {
				if i%4 > 0 {
					p.Workloads[i].Namespace = "team0"
				}
			}
		}, false},
		{"three namespaces", func(p *Problem) {
			p.Quotas = slices.DeleteFunc(p.Quotas, func(q Quota) bool { return q.Namespace > "team2" })
		}, false},
	} {
		p := tenantFleet(3, looseFleet, 400, 6)
		c.change(p)
		if got := newSolver(p, Options{limits: defaultLimits()}, nil).grouped; got != c.want {
			t.Errorf("%s: tenants %v, want %v", c.name, got, c.want)
		}
	}
}
