package lp

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"gonum.org/v1/gonum/mat"
	gonum "gonum.org/v1/gonum/optimize/convex/lp"
)

// gonum's simplex is the reference on small problems G·x ≤ h, x ≥ 0, which it
// takes as equations with slacks.
func TestAgainstGonum(t *testing.T) {
	inf := math.Inf(1)
	forEachEngine(t, func(t *testing.T, engine Engine) {
		seen := map[Status]int{}
		for seed := range uint64(600) {
			r := rand.New(rand.NewPCG(seed, 4))
			m, n := 1+r.IntN(6), 1+r.IntN(7)
			cost, g, h := make([]float64, n), make([][]float64, m), make([]float64, m)
			a := mat.NewDense(m, n+m, nil)
			for j := range n {
				cost[j] = r.NormFloat64() + 1
			}
			for i := range m {
				g[i] = make([]float64, n)
				for j := range n {
					g[i][j] = r.NormFloat64() + 0.3
					a.Set(i, j, g[i][j])
				}
				a.Set(i, n+i, 1)
				h[i] = 3 * (r.NormFloat64() + 0.3)
			}
			want := Optimal
			objective, _, err := gonum.Simplex(append(slices.Clone(cost), make([]float64, m)...), a, h, 1e-10, nil)
			switch {
			case errors.Is(err, gonum.ErrInfeasible):
				want = Infeasible
			case errors.Is(err, gonum.ErrUnbounded):
				want = Unbounded
			case err != nil:
				t.Fatalf("seed %d: gonum: %v", seed, err)
			}
			s := solveOnce(t, engine, dense(cost, g, fill(m, -inf), h, fill(n, 0), fill(n, inf)))
			if s.Status != want {
				t.Fatalf("seed %d: status %v, gonum says %v", seed, s.Status, want)
			}
			if want == Optimal {
				requireClose(t, "objective", s.Objective, objective)
			}
			seen[want]++
		}
		if min(seen[Optimal], seen[Infeasible], seen[Unbounded]) < 20 {
			t.Fatalf("the problems lack variety: %v", seen)
		}
	})
}

// Assignment problems have a single optimum value and bases that are degenerate in
// half of their rows; with costs of 0 and 1 the dual is degenerate too.
func TestDegenerate(t *testing.T) {
	const size = 40
	forEachEngine(t, func(t *testing.T, engine Engine) {
		for seed := range uint64(6) {
			r := rand.New(rand.NewPCG(seed, 6))
			p := &Problem{RowLower: fill(2*size, 1), RowUpper: fill(2*size, 1)}
			for i := range size {
				for j := range size {
					p.Columns = append(p.Columns, Column{
						Cost: float64(r.IntN(2 + 10*int(seed))), Upper: math.Inf(1),
						Rows: []int32{int32(i), int32(size + j)}, Values: []float64{1, 1},
					})
				}
			}
			checkOptimal(t, p, solveOnce(t, engine, p))
		}
	})
}

// Larger random problems: real coefficients, more rows than the masters have
// coupling rows, all kinds of bounds.
func TestLargerProblems(t *testing.T) {
	forEachEngine(t, func(t *testing.T, engine Engine) {
		for seed := range uint64(4) {
			r := rand.New(rand.NewPCG(seed, 7))
			p := feasibleProblem(r, 120, 900)
			for j := range p.Columns {
				c := &p.Columns[j]
				if math.IsInf(c.Lower, -1) && math.IsInf(c.Upper, 1) {
					c.Lower = -50
				}
				if c.Cost < 0 && math.IsInf(c.Upper, 1) {
					c.Upper = 60
				}
			}
			checkOptimal(t, p, solveOnce(t, engine, p))
		}
	})
}

// The same calls give the same bits.
func TestRepeatability(t *testing.T) {
	forEachEngine(t, func(t *testing.T, engine Engine) {
		run := func() (bits []uint64) {
			p := master(rand.New(rand.NewPCG(3, 2)), 40, 4, 30)
			solver := load(t, engine, p)
			for step := range 8 {
				s := solver.Solve(0)
				for _, values := range [][]float64{{s.Objective, float64(s.Iterations)}, s.X, s.Dual, s.Reduced} {
					for _, value := range values {
						bits = append(bits, math.Float64bits(value))
					}
				}
				solver.SetBounds(max(fractional(s.X), step), 0, 0)
				solver.SetCost(step, float64(step))
			}
			return bits
		}
		first := run()
		for range 5 {
			if !slices.Equal(first, run()) {
				t.Fatal("a repeated run differs")
			}
		}
	})
}

func TestNewRefuses(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	column := func(change func(c *Column)) *Problem {
		p := &Problem{RowLower: []float64{0, 0, 0}, RowUpper: []float64{1, 1, 1}}
		c := Column{Cost: 1, Upper: 1, Rows: []int32{0, 2}, Values: []float64{1, 2}}
		p.Columns = append(p.Columns, c)
		change(&c)
		p.Columns = append(p.Columns, c)
		return p
	}
	row := func(lower, upper float64) *Problem {
		return &Problem{RowLower: []float64{0, lower}, RowUpper: []float64{1, upper}}
	}
	tests := []struct {
		name    string
		problem *Problem
		want    []string
	}{
		{"NaN cost", column(func(c *Column) { c.Cost = nan }), []string{"column 1: cost NaN"}},
		{"infinite cost", column(func(c *Column) { c.Cost = -inf }), []string{"column 1: cost -Inf"}},
		{"NaN coefficient", column(func(c *Column) { c.Values = []float64{1, nan} }), []string{"column 1, row 2: coefficient NaN"}},
		{"infinite coefficient", column(func(c *Column) { c.Values = []float64{inf, 1} }), []string{"column 1, row 0: coefficient +Inf"}},
		{"huge coefficient", column(func(c *Column) { c.Values = []float64{1e20, 1} }), []string{"column 1, row 0: coefficient 1e+20"}},
		{"NaN bound", column(func(c *Column) { c.Lower = nan }), []string{"column 1: lower bound NaN"}},
		{"lower bound at the wrong infinity", column(func(c *Column) { c.Lower = inf }), []string{"column 1: lower bound +Inf"}},
		{"upper bound at the wrong infinity", column(func(c *Column) { c.Upper = -inf }), []string{"column 1: upper bound -Inf"}},
		{"crossed bounds", column(func(c *Column) { c.Lower = 2 }), []string{"column 1: lower bound 2 > upper bound 1"}},
		{"row outside", column(func(c *Column) { c.Rows = []int32{0, 3} }), []string{"column 1: row 3 is outside [0, 3)"}},
		{"negative row", column(func(c *Column) { c.Rows = []int32{-1, 2} }), []string{"column 1: row -1 is outside [0, 3)"}},
		{"row twice", column(func(c *Column) { c.Rows = []int32{2, 2} }), []string{"column 1: row 2 does not follow row 2"}},
		{"value missing", column(func(c *Column) { c.Values = []float64{1} }), []string{"column 1: 2 rows but 1 values"}},
		{"all mistakes at once", column(func(c *Column) { c.Cost, c.Upper = nan, nan }), []string{"column 1: cost", "column 1: upper bound"}},
		{"NaN row bound", row(nan, 1), []string{"row 1: lower bound NaN"}},
		{"crossed row", row(2, 1), []string{"row 1: lower bound 2 > upper bound 1"}},
		{"row bounds missing", &Problem{RowLower: []float64{0}}, []string{"1 lower but 0 upper row bounds"}},
	}
	forEachEngine(t, func(t *testing.T, engine Engine) {
		for _, test := range tests {
			solver, err := engine.New(test.problem)
			if err == nil {
				solver.Close()
				t.Errorf("%s: accepted", test.name)
				continue
			}
			for _, want := range test.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("%s: error %q lacks %q", test.name, err, want)
				}
			}
		}
	})
}

// A change that New would refuse shows in Err and leaves no answer to rely on.
func TestRefusedChanges(t *testing.T) {
	changes := map[string]func(s Solver){
		"column 9 is outside":     func(s Solver) { s.SetBounds(9, 0, 1) },
		"column -1 is outside":    func(s Solver) { s.SetCost(-1, 0) },
		"row 1 is outside":        func(s Solver) { s.SetRow(1, 0, 1) },
		"column 0: cost NaN":      func(s Solver) { s.SetCost(0, math.NaN()) },
		"column 0: upper bound N": func(s Solver) { s.SetBounds(0, 0, math.NaN()) },
		"row 0: lower bound +Inf": func(s Solver) { s.SetRow(0, math.Inf(1), math.Inf(1)) },
		"column 2: row 5":         func(s Solver) { s.AddColumns([]Column{{Rows: []int32{5}, Values: []float64{1}}}) },
	}
	forEachEngine(t, func(t *testing.T, engine Engine) {
		for want, change := range changes {
			p := dense([]float64{1, 2}, [][]float64{{1, 1}}, []float64{1}, []float64{2}, fill(2, 0), fill(2, 1))
			solver := load(t, engine, p)
			checkOptimal(t, p, solver.Solve(0))
			change(solver)
			if err := solver.Err(); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("error %v lacks %q", err, want)
			}
			if s := solver.Solve(0); s.Status != IterationLimit {
				t.Errorf("%s: status %v", want, s.Status)
			}
		}
	})
}

func TestCrossedBounds(t *testing.T) {
	forEachEngine(t, func(t *testing.T, engine Engine) {
		p := dense([]float64{1, 2}, [][]float64{{1, 1}}, []float64{1}, []float64{2}, fill(2, 0), fill(2, 1))
		solver := load(t, engine, p)
		for _, cross := range []func(lower, upper float64){
			func(lower, upper float64) { solver.SetBounds(1, lower, upper) },
			func(lower, upper float64) { solver.SetRow(0, lower, upper) },
		} {
			cross(2, 1)
			if s := solver.Solve(0); s.Status != Infeasible {
				t.Fatalf("crossed: status %v", s.Status)
			}
			cross(0, 1)
			if s := solver.Solve(0); s.Status != Optimal {
				t.Fatalf("uncrossed: status %v", s.Status)
			}
		}
	})
}

func TestIterationLimit(t *testing.T) {
	forEachEngine(t, func(t *testing.T, engine Engine) {
		p := master(rand.New(rand.NewPCG(1, 2)), 40, 4, 30)
		solver := load(t, engine, p)
		s := solver.Solve(5)
		if s.Status != IterationLimit || s.Iterations > 10 {
			t.Fatalf("status %v after %d pivots", s.Status, s.Iterations)
		}
		checkOptimal(t, p, solver.Solve(0))
	})
}

func TestClose(t *testing.T) {
	forEachEngine(t, func(t *testing.T, engine Engine) {
		solver := load(t, engine, &Problem{})
		solver.Close()
		solver.Close()
	})
}

// Solvers are independent of each other.
func TestConcurrentSolvers(t *testing.T) {
	forEachEngine(t, func(t *testing.T, engine Engine) {
		p := master(rand.New(rand.NewPCG(5, 2)), 20, 3, 20)
		want := solveOnce(t, engine, p).Objective
		var group sync.WaitGroup
		objectives := make([]float64, 8)
		for k := range objectives {
			solver := load(t, engine, p)
			group.Go(func() { objectives[k] = solver.Solve(0).Objective })
		}
		group.Wait()
		for _, got := range objectives {
			if got != want {
				t.Errorf("objective %v, alone %v", got, want)
			}
		}
	})
}
