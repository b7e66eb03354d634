package lp

import (
	"math"
	"math/rand/v2"
	"testing"
)

// The rules for stalled methods and frequent refactoring come to the same results
// as the fast ones.
func TestCautiousRules(t *testing.T) {
	tests := []struct {
		name  string
		adapt func(s *simplex)
	}{
		{"Bland's rule", func(s *simplex) { s.patience = -1 }},
		{"spread costs", func(s *simplex) { s.patience = 1 }},
		{"refactoring after each exchange", func(s *simplex) { s.refactorAfter = 1 }},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			for seed := range uint64(150) {
				r := rand.New(rand.NewPCG(seed, 3))
				p := feasibleProblem(r, 1+r.IntN(15), 1+r.IntN(40))
				solver := load(t, Simplex(), p)
				test.adapt(solver.(*simplex))
				requireSame(t, Simplex(), p, solver.Solve(0))
				for range 4 {
					change(r, p, solver)
					requireSame(t, Simplex(), p, solver.Solve(0))
				}
			}
		})
	}
}

// A singular basis is repaired by row activities, and the solve goes on from it.
func TestSingularBasis(t *testing.T) {
	p := dense([]float64{1, 2, 3, 1}, [][]float64{{1, 2, 0, 1}, {2, 4, 1, 0}, {3, 6, 0, 2}},
		[]float64{4, 5, 6}, fill(3, math.Inf(1)), fill(4, 0), fill(4, 10))
	s := newSimplex(newProgram(p))
	for i := range 3 {
		s.position[i], s.place[i] = -1, atLower
		s.head[i], s.position[3+i], s.place[3+i] = int32(3+i), int32(i), basic
	}
	s.refactor()
	activities := 0
	for i, v := range s.head {
		if v < 3 {
			activities++
		}
		if s.position[v] != int32(i) || s.place[v] != basic {
			t.Fatalf("variable %d is at position %d, place %d, want %d, %d", v, s.position[v], s.place[v], i, basic)
		}
	}
	if activities != 1 {
		t.Fatalf("%d row activities in the basis, want one for the dependent column", activities)
	}
	checkOptimal(t, p, s.Solve(0))
}

// The inverse stays the inverse through exchanges.
func TestInverse(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 2))
	p := feasibleProblem(r, 30, 90)
	s := newSimplex(newProgram(p))
	s.refactorAfter = math.MaxInt
	s.Solve(0)
	if s.updates < 10 {
		t.Fatalf("only %d exchanges", s.updates)
	}
	for range 2 {
		for position, v := range s.head {
			rows, coefficients := s.entries(int(v))
			s.solveColumn(rows, coefficients, s.column)
			for i, a := range s.column {
				want := 0.0
				if i == position {
					want = 1
				}
				if math.Abs(a-want) > 1e-9 {
					t.Fatalf("inverse times the column at %d has %v at %d", position, a, i)
				}
			}
		}
		s.refactor()
	}
}

// Rows combined by the multipliers of a basic column have coefficient 1 in it and 0 in the other
// basic columns.
func TestMultipliers(t *testing.T) {
	basic := 0
	for seed := range uint64(200) {
		r := rand.New(rand.NewPCG(seed, 8))
		p := feasibleProblem(r, 1+r.IntN(8), 1+r.IntN(20))
		solver := load(t, Simplex(), p)
		if solver.Solve(0).Status != Optimal {
			continue
		}
		for j := range p.Columns {
			u := solver.Multipliers(j)
			if u == nil {
				continue
			}
			basic++
			for k := range p.Columns {
				sum, want := 0.0, 0.0
				for n, i := range p.Columns[k].Rows {
					sum += u[i] * p.Columns[k].Values[n]
				}
				if j == k {
					want = 1
				} else if solver.Multipliers(k) == nil {
					continue
				}
				requireClose(t, "coefficient", sum, want)
			}
		}
	}
	if basic < 100 {
		t.Fatalf("only %d basic columns", basic)
	}
}

func TestStatusNames(t *testing.T) {
	for status, want := range map[Status]string{
		Optimal: "optimal", Infeasible: "infeasible", Unbounded: "unbounded", IterationLimit: "iteration limit",
	} {
		if got := status.String(); got != want {
			t.Errorf("status %d is %q, want %q", status, got, want)
		}
	}
}
