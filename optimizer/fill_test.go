package optimizer

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"github.com/poolwright/poolwright/internal/short"
)

// A workload of less than the gap is served where that takes nothing from another one.
func TestSmallDemandIsServed(t *testing.T) {
	p := &Problem{
		Pools: []Pool{{Name: "H100", Limited: true, Capacity: 10}, {Name: "A100"}},
		Workloads: []Workload{
			{Name: "big", Priority: 1, Demand: 1010, Variants: []Variant{
				{Name: "v", Capacity: 100, DevicesPerReplica: 1, Placements: []Placement{{Pool: 0, PricePerHour: 4}}},
			}},
			{Name: "small", Priority: 1, Demand: 0.9, Variants: []Variant{
				{Name: "v", Capacity: 1, DevicesPerReplica: 1, Placements: []Placement{{Pool: 1, PricePerHour: 2}}},
			}},
		},
	}
	s := solve(t, p, Options{RelativeGap: 1e-3})
	if s.Proof != Optimal || s.Allocations[0].Unmet != 10 || s.Allocations[1].Unmet != 0 {
		t.Errorf("proof %v, unmet %v and %v; want 10 and 0", s.Proof, s.Allocations[0].Unmet, s.Allocations[1].Unmet)
	}
}

// A greedy plan adds what costs least for what it serves of what is left, among what has room.
func TestGreedyStepsAreTheCheapest(t *testing.T) {
	in := func(price float64) []Placement { return []Placement{{Pool: 0, PricePerHour: price}} }
	for name, test := range map[string]struct {
		workload Workload
		quota    int
		want     []int32
	}{
		"the best rate, then what serves the rest": {Workload{Demand: 25, Variants: []Variant{
			{Name: "large", Capacity: 10, DevicesPerReplica: 1, Placements: in(10)}, {Name: "small", Capacity: 5, DevicesPerReplica: 1, Placements: in(6)},
		}}, 9, []int32{2, 1}},
		"the next best where a quota has no room": {Workload{Demand: 8, Variants: []Variant{
			{Name: "large", Capacity: 10, DevicesPerReplica: 2, Placements: in(1)}, {Name: "small", Capacity: 4, DevicesPerReplica: 1, Placements: in(2)},
		}}, 1, []int32{0, 1}},
		"the next best after a maximum": {Workload{Demand: 18, Variants: []Variant{
			{Name: "few", Capacity: 6, DevicesPerReplica: 1, MaxReplicas: Bound{Limited: true, Value: 1}, Placements: in(1)}, {Name: "many", Capacity: 6, DevicesPerReplica: 1, Placements: in(2)},
		}}, 9, []int32{1, 2}},
		"one variant where only one may be": {Workload{Demand: 15, Mixing: Single, Variants: []Variant{
			{Name: "large", Capacity: 10, DevicesPerReplica: 1, Placements: in(9)}, {Name: "small", Capacity: 5, DevicesPerReplica: 1, Placements: in(5)},
		}}, 9, []int32{2, 0}},
		"what saves most by staying": {Workload{Demand: 20, MaxReplicas: Bound{Limited: true, Value: 1}, Variants: []Variant{
			{Name: "saves 1", Capacity: 10, DevicesPerReplica: 1, CurrentReplicas: 1, SwitchDown: 3, Placements: in(2)},
			{Name: "saves 2", Capacity: 10, DevicesPerReplica: 1, CurrentReplicas: 1, SwitchDown: 4, Placements: in(2)},
		}}, 9, []int32{0, 1}},
		"nothing that isn't worth it": {Workload{Demand: 10, Penalized: true, UnmetPenalty: 0.5, Variants: []Variant{
			{Name: "dear", Capacity: 10, DevicesPerReplica: 1, Placements: in(6)}, {Name: "nothing", MinReplicas: 1, DevicesPerReplica: 1, Placements: in(0)},
		}}, 9, []int32{0, 1}},
	} {
		t.Run(name, func(t *testing.T) {
			w := test.workload
			w.Name, w.Namespace, w.Priority = "w", "n", 1
			p := &Problem{Pools: []Pool{{Name: "H100", Limited: true, Capacity: 9}}, Quotas: []Quota{{Namespace: "n", Pool: 0, Capacity: test.quota}}, Workloads: []Workload{w}}
			if err := p.Validate(); err != nil {
				t.Fatal(err)
			}
			if got := fill(asGiven(p, nil), packPools(p), nil, nil).replicas; !slices.Equal(got, test.want) {
				t.Errorf("replicas %v, want %v", got, test.want)
			}
		})
	}
}

// Where all pools are full, only what takes no devices is added, and what is left is known of all.
func TestGreedyPlansOfFullPools(t *testing.T) {
	in, other := []Placement{{Pool: 0, PricePerHour: 1}}, []Placement{{Pool: 1, PricePerHour: 1}}
	p := &Problem{Pools: []Pool{{Name: "H100", Limited: true, Capacity: 2}, {Name: "L4", Limited: true, Capacity: 1}}, Workloads: []Workload{
		{Name: "takes all", Priority: 1, Demand: 20, Variants: []Variant{{Name: "a", Capacity: 10, DevicesPerReplica: 1, Placements: in}}},
		{Name: "takes the last", Priority: 2, Demand: 20, Variants: []Variant{{Name: "a", Capacity: 10, DevicesPerReplica: 1, Placements: other}}},
		{Name: "finds none left", Priority: 2, Demand: 3, Variants: []Variant{{Name: "a", Capacity: 10, DevicesPerReplica: 1, Placements: in}}},
		{Name: "wants nothing", Priority: 2, Variants: []Variant{{Name: "a", Capacity: 10, DevicesPerReplica: 1, Placements: in}}},
		{Name: "is left out", Priority: 2, Demand: 7, Variants: []Variant{{Name: "a", Capacity: 10, DevicesPerReplica: 1, Placements: other}}},
		{Name: "takes none", Priority: 3, Demand: 4, Variants: []Variant{
			{Name: "a", Capacity: 10, DevicesPerReplica: 1, Placements: in}, {Name: "b", Capacity: 1, DevicesPerReplica: 0, Placements: in},
		}},
		{Name: "has its minimum", Priority: 4, Demand: 5, MinReplicas: 1, Variants: []Variant{{Name: "a", Capacity: 2, DevicesPerReplica: 1, Placements: in}}},
	}}
	known, err := p.check()
	if err != nil {
		t.Fatal(err)
	}
	for _, known := range []*facts{nil, known} {
		got := fill(asGiven(p, known), packPools(p), nil, nil)
		if want := []int32{1, 1, 0, 0, 0, 0, 4, 1}; !slices.Equal(got.replicas, want) {
			t.Errorf("replicas %v, want %v", got.replicas, want)
		}
		if want := []float64{10, 10, 3, 0, 7, 0, 3}; !slices.Equal(got.unmet, want) {
			t.Errorf("unmet %v, want %v", got.unmet, want)
		}
	}
	p.Pools[1].Capacity, p.Pools[1].Limited = 0, false
	if fill(asGiven(p, nil), packPools(p), nil, nil).unmet[1] != 0 {
		t.Error("a pool without limit is never full")
	}
}

// Workloads that are left out once all pools are full get nothing otherwise either, whatever limits there are: nodes, quotas, merged pools,
// and replicas that count in quotas alone.
func TestWhatFullPoolsLeaveOutGetsNothing(t *testing.T) {
	full := 0
	for seed := range short.Of(uint64(3000)) {
		r := rand.New(rand.NewPCG(seed, 34))
		p := randomSmall(r)
		if seed%3 == 0 {
			p = randomZones(r)
		}
		for g := range p.Pools {
			p.Pools[g].Limited, p.Pools[g].Capacity = true, r.IntN(4)
		}
		if m := mergePools(p); m != nil {
			p = m.to
		}
		several := p.Workloads // are looked at together
		for n := range 5 {
			for _, w := range several {
				w.Name, w.Variants = fmt.Sprint(w.Name, " ", n), slices.Clone(w.Variants)
				p.Workloads = append(p.Workloads, w)
			}
		}
		for i := range p.Workloads {
			if v := &p.Workloads[i].Variants[0]; r.IntN(8) == 0 {
				v.takes = &takes{quotaOnly: true, within: v.within()}
			}
		}
		known, err := p.check()
		if err != nil {
			t.Fatal(err)
		}
		c, packings := asGiven(p, known), packPools(p)
		got := fill(c, packings, nil, nil)
		for i := range c.traits {
			c.traits[i].plain = false
		}
		if want := fill(c, packings, nil, nil); !slices.Equal(got.replicas, want.replicas) || !slices.Equal(got.unmet, want.unmet) {
			t.Errorf("seed %d: %v, want %v", seed, got, want)
		}
		room := newHeadroom(p, packings)
		before := room.exhausted()
		for i, items := range c.items {
			for k, at := range items {
				room.Place(i, int(at.variant), int(at.placement), int(got.replicas[c.first[i]+k]))
			}
		}
		if room.exhausted() && !before {
			full++
		}
	}
	if full == 0 {
		t.Error("pools never become full")
	}
	t.Logf("all pools become full in %d", full)
}

// However a search ends, no demand is left that one more replica would serve.
func TestNoServableDemandRemains(t *testing.T) {
	for name, options := range map[string]func() Options{
		"exact":   func() Options { return Options{} },
		"gap":     func() Options { return Options{RelativeGap: 0.05} },
		"effort":  func() Options { return Options{RelativeGap: 1e-3, Effort: 200} },
		"stopped": func() Options { return Options{Stop: func() bool { return true }} },
		"later": func() Options {
			left := 1000
			return Options{Stop: func() bool { left--; return left < 0 }}
		},
	} {
		t.Run(name, func(t *testing.T) {
			for seed := range short.Of(uint64(300)) {
				r := rand.New(rand.NewPCG(seed, 30))
				p := randomSmall(r)
				if seed%3 == 0 {
					for i := range p.Workloads {
						routeAll(r, &p.Workloads[i])
					}
				}
				s := solve(t, p, options())
				checkSolution(t, p, s)
				checkServed(t, p, s, fmt.Sprint("seed ", seed))
			}
			for kind := looseFleet; kind <= nodeFleet; kind++ {
				p := randomFleet(uint64(kind)+50, kind, 30, 4)
				o := options()
				o.Effort = 50_000
				checkServed(t, p, solve(t, p, o), kind.String())
			}
		})
	}
}

// checkServed tells of replicas that would fit and serve what is left, for less than its penalty.
func checkServed(t *testing.T, p *Problem, s *Solution, name string) {
	t.Helper()
	h := NewHeadroom(p)
	for i := range s.Allocations {
		for j := range s.Allocations[i].Replicas {
			for k, n := range s.Allocations[i].Replicas[j] {
				h.Place(i, j, k, n)
			}
		}
	}
	for i, a := range s.Allocations {
		w := &p.Workloads[i]
		for j := range w.Variants {
			counts := slices.Clone(h.Counts(i))
			counts[j]++
			v := &w.Variants[j]
			served := a.Unmet - w.Unmet(counts)
			for k := range v.Placements {
				cost := v.Placements[k].PricePerHour + v.Switching(counts[j]) - v.Switching(counts[j]-1)
				worth := !w.Penalized || cost < w.UnmetPenalty*served*(1-1e-9)
				if served > 2*tolerance*w.Demand && worth && len(h.Stops(i, j, k)) == 0 {
					t.Errorf("%s: workload %q leaves %v unmet, of which another replica of %q would serve %v", name, w.Name, a.Unmet, v.Name, served)
				}
			}
		}
	}
}

// A search stopped before it began plans all the same, and proves what serving costs at least.
func TestStoppedAtOnce(t *testing.T) {
	for kind := looseFleet; kind <= nodeFleet; kind++ {
		p := randomFleet(uint64(kind)+60, kind, 200, 4)
		s := solve(t, p, Options{Stop: func() bool { return true }})
		checkSolution(t, p, s)
		checkServed(t, p, s, kind.String())
		if s.Effort != 0 || !s.Stopped || s.Proof == Optimal {
			t.Errorf("%v: effort %d, stopped %v, proof %v", kind, s.Effort, s.Stopped, s.Proof)
		}
		if kind == looseFleet && (s.Demand != Served || s.Gap > 0.5) {
			t.Errorf("%v: demand %v, gap %v", kind, s.Demand, s.Gap)
		}
	}
}

// A search that is stopped before it has a plan makes the same one, whether it had ordered the problem or not, whether it
// was to begin or building its program, and whether there was an earlier plan to start from.
func TestStoppedBeforeAPlan(t *testing.T) {
	for kind := looseFleet; kind <= nodeFleet; kind++ {
		p := randomFleet(uint64(kind)+60, kind, 200, 4)
		first := solve(t, p, Options{Stop: func() bool { return true }})
		for _, start := range []*Start{nil, {Problem: p, Solution: first}} {
			for calls := range 4 {
				left := calls
				s := solve(t, p, Options{Start: start, Stop: func() bool { left--; return left < 0 }})
				if s.Effort != 0 || left != -1 || !reflect.DeepEqual(s.Allocations, first.Allocations) {
					t.Errorf("%v: stopped by call %d, with a start %v: effort %d, not the same plan", kind, calls, start != nil, s.Effort)
				}
			}
		}
	}
}

// The bound of a search that is stopped anywhere holds for the best plan, and for all that leave no more
// of any priority than its own.
func TestStoppedBoundsHold(t *testing.T) {
	t.Parallel()
	priced, large := defaultLimits(), defaultLimits()
	priced.fixedPrices = 0
	large.fixedPrices, large.rootRows = 0, 20
	for _, limits := range []*limits{defaultLimits(), priced, large} {
		for _, kind := range []fleetKind{tightFleet, shortFleet, penalizedFleet, budgetFleet} {
			p := randomFleet(7, kind, 40, 4)
			o := Options{RelativeGap: 1e-3, Effort: 200_000, limits: limits}
			found := []*Solution{solve(t, p, o)}
			for k := range short.Of(50) {
				left := k * k / 2
				o.Stop = func() bool { left--; return left < 0 }
				found = append(found, solve(t, p, o))
			}
			for _, s := range found {
				for _, other := range found {
					checkBounds(t, s, other)
				}
			}
			if last := found[len(found)-1]; last.Bound == 0 && !testing.Short() {
				t.Errorf("%v: no bound", kind)
			}
		}
	}
}

// checkBounds compares what bounds a solution with another one, as far as that reaches its levels.
func checkBounds(t *testing.T, s, other *Solution) {
	t.Helper()
	for _, l := range s.Levels {
		if slices.ContainsFunc(other.Levels, func(o Level) bool { return o.Priority < l.Priority && o.Unmet > s.leaves(o.Priority) }) {
			return
		}
		if left := other.leaves(l.Priority); left < l.Bound*(1-1e-9) {
			t.Fatalf("level %d: bound %v, a plan leaves %v", l.Priority, l.Bound, left)
		}
	}
	if leavesNoMore(other, s) && s.Bound > other.Objective*(1+1e-9) {
		t.Fatalf("bound %v, a plan costs %v", s.Bound, other.Objective)
	}
}

// A search that ends while it looks for a plan for all priorities at once has bounds of each of them and of the cost.
func TestWeighedPlansAreBounded(t *testing.T) {
	left := 1000
	s := solve(t, randomFleet(7, shortFleet, 300, 4), Options{RelativeGap: 1e-3, Stop: func() bool { left--; return left < 0 }})
	if !s.Stopped || s.Proof == Optimal || s.Gap > 0.05 || slices.ContainsFunc(s.Levels, func(l Level) bool { return l.Gap > 0.05 }) {
		t.Errorf("stopped %v, proof %v, gap %v, levels %v", s.Stopped, s.Proof, s.Gap, s.Levels)
	}
}

// A search that is ended while it still settles a priority has looked for a cheap plan before.
func TestCostDoesNotWaitForPriorities(t *testing.T) {
	p := randomFleet(6, shortFleet, 60, 4)
	left := questions(t, p) * 9 / 10 // the last ones are asked at the last priority
	s := solve(t, p, Options{RelativeGap: 1e-3, Stop: func() bool { left--; return left < 0 }})
	if !s.Stopped || s.Proof == Optimal || s.Gap > 1e-3 {
		t.Errorf("stopped %v, proof %v, gap %v, levels %v", s.Stopped, s.Proof, s.Gap, s.Levels)
	}
}

// questions is how often the caller is asked whether to stop a search that goes on until it has proven its plan.
func questions(t *testing.T, p *Problem) (asked int) {
	t.Helper()
	solve(t, p, Options{RelativeGap: 1e-3, Stop: func() bool { asked++; return false }})
	return asked
}

// leaves is what a solution leaves of a level.
func (s *Solution) leaves(priority int) float64 {
	for _, l := range s.Levels {
		if l.Priority == priority {
			return l.Unmet
		}
	}
	return 0
}

// leavesNoMore says whether a solution reaches all levels of another one.
func leavesNoMore(s, than *Solution) bool {
	return !slices.ContainsFunc(s.Levels, func(l Level) bool { return l.Unmet > than.leaves(l.Priority) })
}
