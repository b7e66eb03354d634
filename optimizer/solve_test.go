package optimizer

import (
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/poolwright/poolwright/internal/short"
)

// fleet returns a problem with one pool of the given capacity.
func fleet(capacity int, workloads ...Workload) *Problem {
	for i := range workloads {
		w := &workloads[i]
		w.Name = string(rune('a' + i))
		w.Priority = max(w.Priority, 1)
		for j := range w.Variants {
			v := &w.Variants[j]
			v.Name = string(rune('p' + j))
			if v.Placements == nil {
				v.Placements = []Placement{{PricePerHour: float64(v.DevicesPerReplica)}}
			}
		}
	}
	return &Problem{Pools: []Pool{{Name: "pool", Limited: true, Capacity: capacity}}, Workloads: workloads}
}

// counts are the replicas by workload and variant.
func counts(s *Solution) [][]int {
	var out [][]int
	for _, a := range s.Allocations {
		out = append(out, totals(a.Replicas))
	}
	return out
}

func TestSolveByHand(t *testing.T) {
	for _, c := range []struct {
		name      string
		problem   *Problem
		demand    Demand
		objective float64
		counts    [][]int
	}{
		{"nothing", &Problem{}, Served, 0, nil},
		{"no demand", fleet(4, Workload{Variants: []Variant{{Capacity: 1, DevicesPerReplica: 1}}}), Served, 0, [][]int{{0}}},
		{"no variant", fleet(4, Workload{Demand: 2}), Partial, 0, [][]int{{}}},
		{
			"mix beats either type",
			fleet(100, Workload{Demand: 11, Variants: []Variant{
				{Capacity: 10, DevicesPerReplica: 8},
				{Capacity: 1, DevicesPerReplica: 1},
			}}),
			Served, 9,
			[][]int{{1, 1}},
		},
		{
			"single type",
			fleet(100, Workload{Demand: 11, Mixing: Single, Variants: []Variant{
				{Capacity: 10, DevicesPerReplica: 8},
				{Capacity: 1, DevicesPerReplica: 1},
			}}),
			Served, 11,
			[][]int{{0, 11}},
		},
		{
			"single type cannot hold minimums of two",
			fleet(100, Workload{Demand: 1, Mixing: Single, Variants: []Variant{
				{Capacity: 10, DevicesPerReplica: 8, MinReplicas: 1},
				{Capacity: 1, DevicesPerReplica: 1, MinReplicas: 2},
			}}),
			Infeasible, 2,
			[][]int{{0, 2}},
		},
		{
			"priority decides who is served",
			fleet(2,
				Workload{Demand: 1, Priority: 2, Variants: []Variant{{Capacity: 1, DevicesPerReplica: 1}}},
				Workload{Demand: 2, Priority: 1, Variants: []Variant{{Capacity: 1, DevicesPerReplica: 1}}}),
			Partial, 2,
			[][]int{{0}, {2}},
		},
		{
			"penalty decides whether to serve",
			fleet(2,
				Workload{Demand: 1, Penalized: true, UnmetPenalty: 0.5, Variants: []Variant{{Capacity: 1, DevicesPerReplica: 1}}},
				Workload{Demand: 1, Penalized: true, UnmetPenalty: 2, Variants: []Variant{{Capacity: 1, DevicesPerReplica: 1}}}),
			Partial, 1.5,
			[][]int{{0}, {1}},
		},
		{
			"two of three may fail",
			fleet(100, Workload{Demand: 1, Redundancy: 2, Variants: []Variant{{Capacity: 1, DevicesPerReplica: 1}}}),
			Served, 3,
			[][]int{{3}},
		},
		{
			"the largest replica fails",
			fleet(100, Workload{Demand: 4, Redundancy: 1, Variants: []Variant{
				{Capacity: 4, DevicesPerReplica: 3},
				{Capacity: 1, DevicesPerReplica: 1},
			}}),
			Served, 5,
			[][]int{{0, 5}},
		},
		{
			"switching keeps what runs",
			fleet(100, Workload{Demand: 2, Variants: []Variant{
				{Capacity: 2, DevicesPerReplica: 3, CurrentReplicas: 1, SwitchUp: 1, SwitchDown: 1},
				{Capacity: 2, DevicesPerReplica: 2, SwitchUp: 1, SwitchDown: 1},
			}}),
			Served, 3,
			[][]int{{1, 0}},
		},
		{
			"switching pays off",
			fleet(100, Workload{Demand: 2, Variants: []Variant{
				{Capacity: 2, DevicesPerReplica: 5, CurrentReplicas: 1, SwitchUp: 1, SwitchDown: 1},
				{Capacity: 2, DevicesPerReplica: 2, SwitchUp: 1, SwitchDown: 1},
			}}),
			Served, 4,
			[][]int{{0, 1}},
		},
		{
			"minimum without use",
			fleet(100, Workload{Variants: []Variant{{DevicesPerReplica: 3, MinReplicas: 2}}}),
			Served, 6,
			[][]int{{2}},
		},
		{
			"minimum of the workload by its cheapest variant",
			fleet(100, Workload{Demand: 1, MinReplicas: 3, Variants: []Variant{
				{Capacity: 9, DevicesPerReplica: 3},
				{Capacity: 0.4, DevicesPerReplica: 1},
			}}),
			Served, 3,
			[][]int{{0, 3}},
		},
		{
			"maximum of the workload",
			fleet(100, Workload{Demand: 4, MaxReplicas: Bound{Limited: true, Value: 2}, Variants: []Variant{
				{Capacity: 3, DevicesPerReplica: 5},
				{Capacity: 1, DevicesPerReplica: 1},
			}}),
			Served, 6,
			[][]int{{1, 1}},
		},
		{
			"minimums that do not fit",
			fleet(4, Workload{Variants: []Variant{{Capacity: 1, DevicesPerReplica: 2, MinReplicas: 3}}}),
			Infeasible, 4,
			[][]int{{2}},
		},
		{
			"demand within the tolerance",
			fleet(4, Workload{Demand: 2 * (1 + 1e-10), Variants: []Variant{{Capacity: 1, DevicesPerReplica: 1}}}),
			Served, 2,
			[][]int{{2}},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := solve(t, c.problem, Options{})
			if s.Demand != c.demand || math.Abs(s.Objective-c.objective) > 1e-12 || !reflect.DeepEqual(counts(s), c.counts) {
				t.Errorf("demand %v, objective %v, replicas %v; want %v, %v, %v", s.Demand, s.Objective, counts(s), c.demand, c.objective, c.counts)
			}
			if s.Proof != Optimal {
				t.Errorf("not proven: %+v", s)
			}
			checkSolution(t, c.problem, s)
		})
	}
}

func TestBudgetAndQuotaLimit(t *testing.T) {
	w := Workload{Demand: 5, Namespace: "team", Variants: []Variant{{Capacity: 1, DevicesPerReplica: 1}}}
	p := fleet(10, w)
	p.BudgetPerHour = 3
	if s := solve(t, p, Options{}); s.Objective != 3 || s.Levels[0].Unmet != 2 || s.Levels[0].Priority != 1 {
		t.Errorf("budget: %+v", s)
	}
	p = fleet(10, w)
	p.Quotas = []Quota{{Namespace: "team", Pool: 0, Capacity: 4}, {Namespace: "other", Pool: 0, Capacity: 0}}
	if s := solve(t, p, Options{}); s.Objective != 4 || s.Quotas[0].Used != 4 || s.Quotas[1].Used != 0 {
		t.Errorf("quota: %+v", s)
	}
}

func TestPlacementsShareAVariant(t *testing.T) {
	p := fleet(2, Workload{Demand: 4, Variants: []Variant{{
		Capacity: 1, DevicesPerReplica: 1, CurrentReplicas: 4, SwitchUp: 10, SwitchDown: 10,
		Placements: []Placement{{Pool: 0, PricePerHour: 1}, {Pool: 1, PricePerHour: 2}},
	}}})
	p.Pools = append(p.Pools, Pool{Name: "dearer"})
	s := solve(t, p, Options{})
	if want := [][]int{{2, 2}}; !reflect.DeepEqual(s.Allocations[0].Replicas, want) || s.Objective != 6 {
		t.Errorf("replicas %v, objective %v; want %v, 6", s.Allocations[0].Replicas, s.Objective, want)
	}
}

// With one scarce pool and a dearer way out, a further device saves what the way out
// costs more.
func TestShadowPrices(t *testing.T) {
	p := fleet(3, Workload{Demand: 10, Variants: []Variant{
		{Capacity: 1, DevicesPerReplica: 1},
		{Capacity: 1, DevicesPerReplica: 1, Placements: []Placement{{Pool: 1, PricePerHour: 4}}},
	}})
	p.Pools = append(p.Pools, Pool{Name: "unlimited"})
	s := solve(t, p, Options{})
	if s.Objective != 3+7*4 || math.Abs(s.Pools[0].ShadowPrice-3) > 1e-3 || s.Pools[1].ShadowPrice != 0 {
		t.Errorf("objective %v, pools %+v", s.Objective, s.Pools)
	}
	for j, want := range []float64{4, 4} {
		if got := s.Allocations[0].MarginalPrice[j]; math.Abs(got-want) > 1e-3 {
			t.Errorf("marginal price of variant %d: %v, want %v", j, got, want)
		}
	}
}

func TestNotesDeclareRestrictions(t *testing.T) {
	p := fleet(8, Workload{Demand: 1, Variants: []Variant{{Capacity: 1, DevicesPerReplica: 3}, {Capacity: 1, DevicesPerReplica: 2}}})
	p.Pools[0].DevicesPerNode = 8
	s := solve(t, p, Options{})
	if len(s.Notes) != 1 || !strings.Contains(s.Notes[0], `pool "pool"`) {
		t.Errorf("notes %q", s.Notes)
	}
}

func TestStopReturnsTheBestSoFar(t *testing.T) {
	p := randomFleet(2, shortFleet, 30, 5)
	best := solve(t, p, Options{RelativeGap: 1e-3})
	asked := questions(t, p)
	for _, calls := range []int{0, 1, 2, 5, asked / 10, asked / 3, asked - 1} {
		left := calls
		s := solve(t, p, Options{RelativeGap: 1e-3, Stop: func() bool { left--; return left < 0 }})
		checkSolution(t, p, s)
		if !s.Stopped || left >= 0 {
			t.Errorf("%d calls: stopped %v", calls, s.Stopped)
		}
		if s.Proof == Optimal && s.Objective > best.Objective*1.01 {
			t.Errorf("%d calls: objective %v claimed optimal, want %v", calls, s.Objective, best.Objective)
		}
	}
	if best.Stopped {
		t.Error("stopped without a stop function")
	}
}

func TestEffortEndsTheSearch(t *testing.T) {
	p := randomFleet(2, shortFleet, 30, 5)
	for _, effort := range []int{1, 100, 1000, 10000} {
		s := solve(t, p, Options{Effort: effort})
		checkSolution(t, p, s)
		if s.Stopped {
			t.Errorf("effort %d: stopped", effort)
		}
		if effort <= 100 && s.Proof == Optimal {
			t.Errorf("effort %d: proof %v", effort, s.Proof)
		}
	}
}

func TestEvaluateChecksTheShape(t *testing.T) {
	p := validProblem()
	for _, replicas := range [][][][]int{nil, {{}}, {{{}}}, {{{-1}}}, {{{1 << 27}}}} {
		if _, err := p.Evaluate(replicas); err == nil {
			t.Errorf("%v: no error", replicas)
		}
	}
	e, err := p.Evaluate([][][]int{{{5}}})
	if err != nil {
		t.Fatal(err)
	}
	if e.Objective != 5 || e.Quotas[0] != 5 || len(e.Violations) != 1 {
		t.Errorf("%+v", e)
	}
}

// A search that nothing ends before proves what it is asked for, also where one more replica was added in the
// end. A level may take half of the effort only, so that its bound may be too low before all is spent.
func TestFinishedSearchesProve(t *testing.T) {
	t.Parallel()
	o := Options{RelativeGap: 1e-3, Effort: 200_000}
	for kind := looseFleet; kind <= nodeFleet; kind++ {
		for seed := range short.Of(uint64(60)) {
			s := solve(t, randomFleet(seed+200, kind, 30, 4), o)
			ended := s.Effort >= o.Effort || slices.ContainsFunc(s.Levels, func(l Level) bool { return l.Gap > o.RelativeGap })
			if !ended && s.Proof != Optimal {
				t.Errorf("%v, seed %d: proof %v, gap %v, levels %v", kind, seed, s.Proof, s.Gap, s.Levels)
			}
		}
	}
}

// The search for the cheapest plan of a small fleet goes on from one that is good enough, for some times the effort:
// most plans are the cheapest then, and few are dearer: plans that leave demand unmet are filled up after the search.
func TestSmallFleetsEndAtTheOptimum(t *testing.T) {
	t.Parallel()
	o := Options{RelativeGap: 1e-3}
	enough := o
	enough.limits = defaultLimits()
	enough.limits.exactRows = 0
	fleets, least, leastEnough, cheaper, dearer := 0, 0, 0, 0, 0
	for kind := looseFleet; kind <= nodeFleet; kind++ {
		for seed := range short.Of(uint64(20)) {
			p := randomFleet(seed+300, kind, 20, 4)
			s, e, exact := solve(t, p, o), solve(t, p, enough), solve(t, p, Options{})
			if len(exact.Levels) > 0 {
				continue // Plans may serve differently within the gaps of their levels.
			}
			if s.Bound > exact.Objective || s.Gap > o.RelativeGap {
				t.Errorf("%v, seed %d: %v, bound %v; good enough is %v, the optimum %v", kind, seed, s.Objective, s.Bound, e.Objective, exact.Objective)
			}
			if s.Effort > 2*onwardEffort*e.Effort {
				t.Errorf("%v, seed %d: effort %d, good enough %d", kind, seed, s.Effort, e.Effort)
			}
			fleets++
			if s.Objective > e.Objective*(1+tolerance) {
				dearer++
			}
			if s.Objective < e.Objective*(1-tolerance) {
				cheaper++
			}
			if s.Gap <= leastGap {
				least++
			}
			if e.Gap <= leastGap {
				leastEnough++
			}
		}
	}
	if cheaper == 0 && !testing.Short() || dearer > cheaper/10 {
		t.Errorf("%d plans are cheaper, %d dearer", cheaper, dearer)
	}
	if share, before := float64(least)/float64(fleets), float64(leastEnough)/float64(fleets); share < 0.8 || share < before+0.2 {
		t.Errorf("%v of the plans are proven to be the cheapest, %v without", share, before)
	}
}

// A bound of the cost counts for plans that reach the levels that it was worked out for, and no others.
func TestCostBoundIsThatOfItsLevels(t *testing.T) {
	p := fleet(1, Workload{Priority: 1, Demand: 9}, Workload{Priority: 2, Demand: 9})
	s := &solver{canonical: canonicalize(p, nil), money: outcome{result: result{bound: 7}, program: &program{}, settled: map[int]float64{1: 5, 2: 1}}}
	for _, c := range []struct{ first, second, want float64 }{{5, 1, 7}, {4, 0, 7}, {4, 2, 0}, {6, 1, 0}, {4, math.NaN(), 0}} {
		s.plan = &plan{unmet: make([]float64, 2)}
		s.plan.unmet[s.canonical.place[0]], s.plan.unmet[s.canonical.place[1]] = c.first, c.second
		if got := s.costBound(); got != c.want {
			t.Errorf("%v and %v left: bound %v, want %v", c.first, c.second, got, c.want)
		}
	}
}
