package optimizer

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/poolwright/poolwright/internal/short"
)

// randomScenarios draws up to four scenarios around a problem.
func randomScenarios(r *rand.Rand, p *Problem) []Scenario {
	scenarios := make([]Scenario, 1+r.IntN(4))
	weights := 0
	for s := range scenarios {
		weight := 1 + r.IntN(4)
		weights += weight
		scenarios[s] = Scenario{Name: fmt.Sprint("s", s), Probability: float64(weight)}
		for range p.Workloads {
			scenarios[s].Demand = append(scenarios[s].Demand, float64(r.IntN(60))/10)
		}
	}
	equal := r.IntN(3) == 0
	for s := range scenarios {
		scenarios[s].Probability /= float64(weights)
		if equal {
			scenarios[s].Probability = 0
		}
	}
	return scenarios
}

// robustBruteForce returns the optimum of every level over all plans. It knows
// nothing of demands to plan for: every plan is evaluated in every scenario, and
// chosen tells from what a workload leaves unmet in each what counts.
func robustBruteForce(p *Problem, scenarios []Scenario, most int, chosen func(unmet []float64) float64) ([]float64, []int, bool) {
	highest := p.withDemand((&Robustness{Scenarios: scenarios}).most(len(p.Workloads)))
	return bruteForceOf(highest, most, func(i int, alone *Problem, replicas [][]int) *Evaluation {
		unmet := make([]float64, len(scenarios))
		for s := range scenarios {
			e, err := alone.withDemand(scenarios[s].Demand[i:]).Evaluate([][][]int{replicas})
			if err != nil {
				panic(err)
			}
			unmet[s] = e.Unmet[0]
		}
		e, err := alone.withDemand([]float64{0}).Evaluate([][][]int{replicas})
		if err != nil {
			panic(err)
		}
		e.Unmet[0] = chosen(unmet)
		if w := &p.Workloads[i]; w.Penalized {
			e.Objective += w.UnmetPenalty * e.Unmet[0]
		}
		return &e
	})
}

// quantile is the least value that those of a probability do not exceed.
func quantile(values, probabilities []float64, probability float64) float64 {
	least := math.Inf(1)
	for _, candidate := range values {
		below := 0.0
		for s, value := range values {
			if value <= candidate {
				below += probabilities[s]
			}
		}
		if below >= probability-1e-9 {
			least = min(least, candidate)
		}
	}
	return least
}

// jointBruteForce tries every set of scenarios.
func jointBruteForce(p *Problem, r *Robustness, most int) (best []float64, priorities []int, ok bool) {
	probabilities := r.probabilities()
	for set := 1; set < 1<<len(r.Scenarios); set++ {
		total := 0.0
		for s := range r.Scenarios {
			if set>>s&1 == 1 {
				total += probabilities[s]
			}
		}
		if total < r.Probability-1e-9 {
			continue
		}
		levels, of, ok := robustBruteForce(p, r.Scenarios, most, func(unmet []float64) float64 {
			worst := 0.0
			for s := range unmet {
				if set>>s&1 == 1 {
					worst = max(worst, unmet[s])
				}
			}
			return worst
		})
		if !ok {
			return nil, nil, false
		}
		if priorities = of; best == nil || lexicographicallyLess(levels, best) {
			best = levels
		}
	}
	return best, priorities, true
}

func TestRobustEqualsBruteForce(t *testing.T) {
	bruteForces := map[Service]func(*Problem, *Robustness, int) ([]float64, []int, bool){
		All: func(p *Problem, r *Robustness, most int) ([]float64, []int, bool) {
			return robustBruteForce(p, r.Scenarios, most, slices.Max[[]float64])
		},
		Each: func(p *Problem, r *Robustness, most int) ([]float64, []int, bool) {
			return robustBruteForce(p, r.Scenarios, most, func(unmet []float64) float64 {
				return quantile(unmet, r.probabilities(), r.Probability)
			})
		},
		Joint: jointBruteForce,
	}
	for service, name := range map[Service]string{All: "all", Each: "each", Joint: "joint"} {
		t.Run(name, func(t *testing.T) {
			for seed, solved := uint64(0), 0; solved < short.Of(100**times); seed++ {
				random := rand.New(rand.NewPCG(seed, 2))
				p := randomSmall(random)
				r := &Robustness{Scenarios: randomScenarios(random, p), Service: service, Probability: 0.3 + 0.7*random.Float64()}
				want, priorities, ok := bruteForces[service](p, r, 20_000)
				if !ok {
					continue
				}
				solved++
				got := solveRobust(t, p, r)
				planned := p.withDemand(got.Demand)
				compareLevels(t, seed, planned, got.Plan, want, priorities)
				checkSolution(t, planned, got.Plan)
				checkProbability(t, r, got)
				if t.Failed() {
					t.Fatalf("seed %d: %+v", seed, r)
				}
			}
		})
	}
}

func solveRobust(t *testing.T, p *Problem, r *Robustness) *RobustSolution {
	t.Helper()
	s, err := SolveRobust(p, r, Options{})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// checkProbability checks that the demand planned for covers what it should.
func checkProbability(t *testing.T, r *Robustness, s *RobustSolution) {
	t.Helper()
	together := 0.0
	each := make([]float64, len(s.Demand))
	for k, probability := range r.probabilities() {
		if covers(s.Demand, r.Scenarios[k].Demand) {
			together += probability
		}
		for w, demand := range r.Scenarios[k].Demand {
			if demand <= s.Demand[w] {
				each[w] += probability
			}
		}
	}
	wanted := r.Probability - 1e-9
	switch {
	case r.Service == All && together < 1-1e-9,
		r.Service == Joint && together < wanted,
		r.Service == Each && slices.Min(each) < wanted:
		t.Errorf("planned for %v: together %v, each %v, want %v", s.Demand, together, each, r.Probability)
	}
}
