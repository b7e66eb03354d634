package oracle_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/poolwright/poolwright/benchmarks/solver/internal/oracle"
	"github.com/poolwright/poolwright/benchmarks/solver/internal/peer"
	"github.com/poolwright/poolwright/optimizer"
)

// short has two devices for demand of three, without penalty: one request/s can't
// be served.
func short() *optimizer.Problem {
	return &optimizer.Problem{
		Pools: []optimizer.Pool{{Name: "a", Limited: true, Capacity: 2}},
		Workloads: []optimizer.Workload{{
			Name: "w", Priority: 1, Demand: 3,
			Variants: []optimizer.Variant{{Name: "v", Capacity: 1, DevicesPerReplica: 1, Placements: []optimizer.Placement{{PricePerHour: 5}}}},
		}},
	}
}

func TestContradictions(t *testing.T) {
	problem := short()
	right := peer.Answer{Status: peer.Optimal, Levels: []peer.Level{{Priority: 1, Unmet: 1}}, Objective: 10}
	for name, test := range map[string]struct {
		want  string
		wrong func(s *optimizer.Solution, a *peer.Answer)
	}{
		"none":                {"", func(*optimizer.Solution, *peer.Answer) {}},
		"feasible problem":    {"demand 2", func(s *optimizer.Solution, _ *peer.Answer) { s.Demand = optimizer.Infeasible }},
		"infeasible problem":  {"infeasible", func(_ *optimizer.Solution, a *peer.Answer) { a.Status = peer.Infeasible }},
		"nothing to compare":  {"", func(s *optimizer.Solution, a *peer.Answer) { s.Objective, a.Status = 1, peer.Nothing }},
		"wrong objective":     {"judged 10", func(s *optimizer.Solution, _ *peer.Answer) { s.Objective = 9 }},
		"limit broken":        {"column", func(s *optimizer.Solution, _ *peer.Answer) { s.Allocations[0].Replicas = [][]int{{4}} }},
		"bound of level":      {"priority 1: bound", func(_ *optimizer.Solution, a *peer.Answer) { a.Levels[0].Unmet = 0.5 }},
		"level below optimum": {"priority 1: value", func(_ *optimizer.Solution, a *peer.Answer) { a.Levels[0].Unmet = 1.5 }},
		"no proof, no claim":  {"", func(_ *optimizer.Solution, a *peer.Answer) { a.Status, a.Levels[0].Unmet = peer.Feasible, 1.5 }},
		"false bound":         {"bound", func(_ *optimizer.Solution, a *peer.Answer) { a.Objective = 9 }},
		"below the optimum":   {"proven optimum", func(s *optimizer.Solution, a *peer.Answer) { s.Bound, a.Objective = 0, 11 }},
		"not optimal":         {"called optimal", func(s *optimizer.Solution, a *peer.Answer) { s.Bound, a.Objective = 0, 9 }},
		"bound above value":   {"own value", func(s *optimizer.Solution, a *peer.Answer) { s.Bound, a.Objective = 10.5, 11 }},
	} {
		t.Run(name, func(t *testing.T) {
			s, err := optimizer.Solve(problem, optimizer.Options{})
			require.NoError(t, err)
			a := right
			a.Levels = []peer.Level{right.Levels[0]}
			test.wrong(s, &a)
			if err := oracle.Contradiction(problem, s, 1e-3, a); test.want == "" {
				assert.NoError(t, err)
			} else {
				assert.ErrorContains(t, err, test.want)
			}
		})
	}
}
