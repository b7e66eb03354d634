package optimizer

import (
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"github.com/poolwright/poolwright/internal/short"
)

// robustCases calls check with random problems of some size and scenarios.
func robustCases(t *testing.T, n int, check func(r *rand.Rand, p *Problem, scenarios []Scenario)) {
	for seed := range short.Of(uint64(n)) {
		r := rand.New(rand.NewPCG(seed, 3))
		p := randomSmall(r)
		check(r, p, randomScenarios(r, p))
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
}

// outcomeOf is the rank of a solution: levels over all priorities, then objective.
func outcomeOf(p *Problem, s *Solution) []float64 {
	return newOrdering(p, leastGap).values(s)
}

// notBetter fails if a solution is better than another that it can't be better than.
func notBetter(t *testing.T, p *Problem, s, than *Solution, why string) {
	t.Helper()
	a, b := outcomeOf(p, s), outcomeOf(p, than)
	for k := range a {
		if math.Abs(a[k]-b[k]) > 1e-8*(1+math.Abs(b[k])) {
			if a[k] < b[k] {
				t.Errorf("%s: %v is better than %v", why, a, b)
			}
			return
		}
	}
}

func TestMoreRobustIsNeverCheaper(t *testing.T) {
	robustCases(t, 300, func(r *rand.Rand, p *Problem, scenarios []Scenario) {
		moreRobustIsNeverCheaper(t, r, p, scenarios)
	})
}

func FuzzMoreRobustIsNeverCheaper(f *testing.F) {
	for seed := range uint64(20) {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, seed uint64) {
		r := rand.New(rand.NewPCG(seed, 15))
		p := randomSmall(r)
		moreRobustIsNeverCheaper(t, r, p, randomScenarios(r, p))
	})
}

func moreRobustIsNeverCheaper(t *testing.T, r *rand.Rand, p *Problem, scenarios []Scenario) {
	t.Helper()
	probability := 0.2 + 0.8*r.Float64()
	all := solveRobust(t, p, &Robustness{Scenarios: scenarios, Service: All})
	each := solveRobust(t, p, &Robustness{Scenarios: scenarios, Service: Each, Probability: probability})
	joint := solveRobust(t, p, &Robustness{Scenarios: scenarios, Service: Joint, Probability: probability})
	less := solveRobust(t, p, &Robustness{Scenarios: scenarios, Service: Joint, Probability: 0.7 * probability})
	fewer := solveRobust(t, p, &Robustness{Scenarios: withoutLast(scenarios), Service: All})
	notBetter(t, p, all.Plan, joint.Plan, "all against joint")
	notBetter(t, p, joint.Plan, each.Plan, "joint against each")
	notBetter(t, p, joint.Plan, less.Plan, "a higher probability")
	notBetter(t, p, all.Plan, fewer.Plan, "one more scenario")
}

func withoutLast(scenarios []Scenario) []Scenario {
	fewer := slices.Clone(scenarios[:max(1, len(scenarios)-1)])
	for s := range fewer {
		fewer[s].Probability = 0
	}
	return fewer
}

func TestProbabilityOneIsAll(t *testing.T) {
	robustCases(t, 200, func(_ *rand.Rand, p *Problem, scenarios []Scenario) {
		all := solveRobust(t, p, &Robustness{Scenarios: scenarios, Service: All})
		for _, service := range []Service{Each, Joint} {
			got := solveRobust(t, p, &Robustness{Scenarios: scenarios, Service: service, Probability: 1})
			if !slices.Equal(got.Demand, all.Demand) || got.Plan.Objective != all.Plan.Objective {
				t.Errorf("service %d: %v for %v, all: %v for %v", service, got.Plan.Objective, got.Demand, all.Plan.Objective, all.Demand)
			}
		}
	})
}

func TestOrderOfScenariosAndWorkloadsDoesNotMatter(t *testing.T) {
	robustCases(t, 200, func(r *rand.Rand, p *Problem, scenarios []Scenario) {
		robustness := Robustness{Scenarios: scenarios, Service: Joint, Probability: 0.3 + 0.6*r.Float64()}
		want := solveRobust(t, p, &robustness)
		robustness.Scenarios = slices.Clone(scenarios)
		slices.Reverse(robustness.Scenarios)
		got := solveRobust(t, p, &robustness)
		slices.Reverse(got.Exposure.Outcomes)
		slices.Reverse(got.PointExposure.Outcomes)
		if !reflect.DeepEqual(got, want) {
			t.Errorf("scenarios reversed: %+v, want %+v", got, want)
		}
		q := *p
		q.Workloads = slices.Clone(p.Workloads)
		slices.Reverse(q.Workloads)
		for s := range robustness.Scenarios {
			robustness.Scenarios[s].Demand = slices.Clone(robustness.Scenarios[s].Demand)
			slices.Reverse(robustness.Scenarios[s].Demand)
		}
		got = solveRobust(t, &q, &robustness)
		slices.Reverse(got.Demand)
		if !slices.Equal(got.Demand, want.Demand) || got.Plan.Objective != want.Plan.Objective || got.Plan.Bound != want.Plan.Bound {
			t.Errorf("workloads reversed: %+v, want %+v", got, want)
		}
	})
}

// correlated is a fleet of workloads with many scenarios, of which a plan may leave
// out some.
func correlated(r *rand.Rand, workloads, scenarios int) (*Problem, []Scenario) {
	p := &Problem{Pools: []Pool{{Name: "a", Limited: true, Capacity: 12 * workloads}, {Name: "b"}}}
	for i := range workloads {
		p.Workloads = append(p.Workloads, Workload{
			Name: fmt.Sprint("w", i), Priority: 1, Demand: 10 + 20*r.Float64(),
			Variants: []Variant{
				{Name: "a", Capacity: 1 + 3*r.Float64(), DevicesPerReplica: 1 + r.IntN(2), Placements: []Placement{{Pool: 0, PricePerHour: 1 + r.Float64()}}},
				{Name: "b", Capacity: 2 + 6*r.Float64(), DevicesPerReplica: 1, Placements: []Placement{{Pool: 1, PricePerHour: 4 + r.Float64()}}},
			},
		})
	}
	list := make([]Scenario, scenarios)
	for s := range list {
		list[s].Name = fmt.Sprint("s", s)
		together := r.NormFloat64()
		for i := range p.Workloads {
			list[s].Demand = append(list[s].Demand, p.Workloads[i].Demand*math.Exp(0.2*together+0.2*r.NormFloat64()))
		}
	}
	return p, list
}

// Every set of scenarios that is just large enough, each planned for by itself,
// against the search.
func TestJointEqualsEverySet(t *testing.T) {
	branched := 0
	for seed := range uint64(12) {
		r := rand.New(rand.NewPCG(seed, 4))
		p, scenarios := correlated(r, 2+int(seed)%3, 9)
		const keep = 7
		best := math.Inf(1)
		for set := range 1 << len(scenarios) {
			demand, count := make([]float64, len(p.Workloads)), 0
			for s := range scenarios {
				if set>>s&1 == 1 {
					raise(demand, scenarios[s].Demand)
					count++
				}
			}
			if count != keep {
				continue
			}
			s, err := Solve(p.withDemand(demand), Options{})
			if err != nil {
				t.Fatal(err)
			}
			best = min(best, s.Objective)
		}
		robustness := &Robustness{Scenarios: scenarios, Service: Joint, Probability: float64(keep) / 9}
		got := solveRobust(t, p, robustness)
		checkProbability(t, robustness, got)
		if math.Abs(got.Plan.Objective-best) > 1e-8*best || got.Plan.Bound > best*(1+1e-12) || got.Plan.Proof != Optimal {
			t.Errorf("seed %d: objective %v, bound %v, %v; want %v", seed, got.Plan.Objective, got.Plan.Bound, got.Plan.Proof, best)
		}
		if got.Plan.Objective > solveRobust(t, p, &Robustness{Scenarios: scenarios, Service: Each, Probability: robustness.Probability}).Plan.Objective {
			branched++
		}
	}
	if branched < 6 {
		t.Errorf("only %d of 12 searches had anything to choose", branched)
	}
}

// Wherever it is cut off, the search has a plan that serves enough scenarios and a
// bound that holds.
func TestJointCutOff(t *testing.T) {
	p, scenarios := correlated(rand.New(rand.NewPCG(1, 5)), 4, 14)
	robustness := &Robustness{Scenarios: scenarios, Service: Joint, Probability: 0.7}
	want := solveRobust(t, p, robustness)
	if want.Plan.Proof != Optimal {
		t.Fatalf("%+v", want.Plan)
	}
	for name, limited := range map[string]func(limit int) Options{
		"effort": func(limit int) Options { return Options{Effort: limit} },
		"stop": func(limit int) Options {
			asked := 0
			return Options{Stop: func() bool { asked++; return asked > limit }}
		},
	} {
		cut := 0
		for limit := 1; ; limit = limit*3/2 + 1 {
			got, err := SolveRobust(p, robustness, limited(limit))
			if err != nil {
				t.Fatal(err)
			}
			checkSolution(t, p.withDemand(got.Demand), got.Plan)
			checkProbability(t, robustness, got)
			if got.Plan.Bound > want.Plan.Objective*(1+1e-9) {
				t.Errorf("%s %d: bound %v > optimum %v", name, limit, got.Plan.Bound, want.Plan.Objective)
			}
			if got.Plan.Proof == Optimal {
				break
			}
			if got.Plan.Stopped != (name == "stop") {
				t.Errorf("%s %d: %+v", name, limit, got.Plan)
			}
			cut++
		}
		if cut < 3 {
			t.Errorf("%s: cut off %d times only", name, cut)
		}
	}
}

func TestExposure(t *testing.T) {
	p := &Problem{
		Pools: []Pool{{Name: "g"}},
		Workloads: []Workload{
			{
				Name: "chat", Priority: 1, Demand: 9,
				Variants: []Variant{{Name: "v", Capacity: 5, DevicesPerReplica: 1, SwitchUp: 0.5, Placements: []Placement{{Pool: 0, PricePerHour: 2}}}},
			},
			{
				Name: "batch", Priority: 1, Demand: 3, Penalized: true, UnmetPenalty: 4,
				Variants: []Variant{{Name: "v", Capacity: 3, DevicesPerReplica: 1, Placements: []Placement{{Pool: 0, PricePerHour: 1}}}},
			},
		},
	}
	r := &Robustness{Service: All, Scenarios: []Scenario{
		{Name: "calm", Probability: 0.75, Demand: []float64{8, 2}},
		{Name: "busy", Probability: 0.25, Demand: []float64{14, 5}},
	}}
	got := solveRobust(t, p, r)
	if !slices.Equal(got.Demand, []float64{14, 5}) || got.Exposure.Served != 1 || got.Exposure.Cost != 3*2.5+2 {
		t.Errorf("%+v", got)
	}
	want := Exposure{
		Cost: 2*2.5 + 1, Served: 0.75,
		Outcomes: []Outcome{
			{Unmet: []float64{0, 0}, Demand: 10},
			{Unmet: []float64{4, 2}, Demand: 19, Total: 6, Penalty: 8},
		},
		ExpectedUnmet: 1.5, ExpectedPenalty: 2, WorstUnmet: 6, WorstPenalty: 8,
	}
	if !reflect.DeepEqual(got.PointExposure, want) {
		t.Errorf("got %+v, want %+v", got.PointExposure, want)
	}
	point := solveRobust(t, p, &Robustness{Scenarios: r.Scenarios})
	if point.Plan != point.Point || !reflect.DeepEqual(point.Exposure, want) {
		t.Errorf("without robustness: %+v", point)
	}
}
