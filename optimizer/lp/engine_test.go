package lp

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
)

// forEachEngine runs a test against every engine of the build.
func forEachEngine(t *testing.T, test func(t *testing.T, engine Engine)) {
	for _, engine := range available() {
		t.Run(engine.Name(), func(t *testing.T) { test(t, engine) })
	}
}

// load makes a solver that is closed at the end of the test.
func load(t testing.TB, engine Engine, p *Problem) Solver {
	t.Helper()
	solver, err := engine.New(p)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(solver.Close)
	return solver
}

// solveOnce solves a problem from scratch.
func solveOnce(t testing.TB, engine Engine, p *Problem) Solution {
	t.Helper()
	return load(t, engine, p).Solve(0)
}

// dense makes a problem from a dense matrix.
func dense(cost []float64, a [][]float64, rowLower, rowUpper, lower, upper []float64) *Problem {
	p := &Problem{RowLower: rowLower, RowUpper: rowUpper}
	for j, c := range cost {
		column := Column{Cost: c, Lower: lower[j], Upper: upper[j]}
		for i := range a {
			if a[i][j] != 0 {
				column.Rows = append(column.Rows, int32(i))
				column.Values = append(column.Values, a[i][j])
			}
		}
		p.Columns = append(p.Columns, column)
	}
	return p
}

func fill(n int, value float64) []float64 {
	out := make([]float64, n)
	for i := range out {
		out[i] = value
	}
	return out
}

// checkOptimal proves a solution optimal by duality, independently of the engines'
// own check: x within bounds and rows, every multiplier with the sign that its
// bound allows, complementary slackness, and equal objectives.
func checkOptimal(t testing.TB, p *Problem, s Solution) {
	t.Helper()
	if s.Status != Optimal {
		t.Fatalf("status %v, want optimal", s.Status)
	}
	const tolerance = 1e-7
	m := len(p.RowLower)
	activity, scale := make([]float64, m), fill(m, 1)
	objective, bound, size, largest := 0.0, 0.0, 0.0, 1.0
	complement := func(kind string, index int, multiplier, value, lower, upper, unit float64) {
		t.Helper()
		if value < lower-tolerance*unit || value > upper+tolerance*unit {
			t.Fatalf("%s %d: %v outside [%v, %v]", kind, index, value, lower, upper)
		}
		if math.Abs(multiplier) <= 1e-9*largest {
			return
		}
		at := lower
		if multiplier < 0 {
			at = upper
		}
		if !(math.Abs(value-at) <= 1e-6*(1+math.Abs(at))*unit) {
			t.Fatalf("%s %d: multiplier %v but value %v in [%v, %v]", kind, index, multiplier, value, lower, upper)
		}
		bound += multiplier * at
		size += math.Abs(multiplier * at)
	}
	for _, c := range p.Columns {
		largest = max(largest, math.Abs(c.Cost))
	}
	size = largest
	for j, c := range p.Columns {
		objective += c.Cost * s.X[j]
		d := c.Cost
		for k, i := range c.Rows {
			activity[i] += c.Values[k] * s.X[j]
			scale[i] += math.Abs(c.Values[k] * s.X[j])
			d -= c.Values[k] * s.Dual[i]
		}
		if math.Abs(d-s.Reduced[j]) > tolerance*largest {
			t.Fatalf("column %d: reduced cost %v, from multipliers %v", j, s.Reduced[j], d)
		}
		complement("column", j, d, s.X[j], c.Lower, c.Upper, 1)
	}
	for i := range activity {
		complement("row", i, s.Dual[i], activity[i], p.RowLower[i], p.RowUpper[i], scale[i])
	}
	if math.Abs(objective-s.Objective) > tolerance*size || math.Abs(objective-bound) > tolerance*size {
		t.Fatalf("objective %v, from x %v, dual bound %v", s.Objective, objective, bound)
	}
}

func requireClose(t testing.TB, what string, got, want float64) {
	t.Helper()
	if !(math.Abs(got-want) <= 1e-7*(1+math.Abs(want))) {
		t.Fatalf("%s %v, want %v", what, got, want)
	}
}

func TestEnginesByName(t *testing.T) {
	for _, engine := range available() {
		got, err := ByName(engine.Name())
		if err != nil || got.Name() != engine.Name() {
			t.Errorf("ByName(%q) = %v, %v", engine.Name(), got, err)
		}
	}
	_, err := ByName("cplex")
	if err == nil || !strings.Contains(err.Error(), `"cplex"`) || !strings.Contains(err.Error(), "go") {
		t.Errorf("ByName of an unknown engine: %v", err)
	}
	if got := Names(); got[0] != "go" || len(got) != len(available()) {
		t.Errorf("Names() = %q", got)
	}
}

func TestSmallProblems(t *testing.T) {
	inf := math.Inf(1)
	tests := []struct {
		name    string
		problem *Problem
		status  Status
		want    float64
	}{
		{"no rows, no columns", &Problem{}, Optimal, 0},
		{"no rows", dense([]float64{2, -3}, nil, nil, nil, []float64{1, 0}, []float64{4, 5}), Optimal, -13},
		{"no rows, unbounded", dense([]float64{-1}, nil, nil, nil, []float64{0}, []float64{inf}), Unbounded, 0},
		{"no columns", &Problem{RowLower: []float64{-1}, RowUpper: []float64{1}}, Optimal, 0},
		{"no columns, infeasible", &Problem{RowLower: []float64{1}, RowUpper: []float64{2}}, Infeasible, 0},
		{"one inequality", dense([]float64{1, 1}, [][]float64{{1, 2}}, []float64{4}, []float64{inf}, fill(2, 0), fill(2, inf)), Optimal, 2},
		{"maximise", dense([]float64{-3, -5}, [][]float64{{1, 0}, {0, 2}, {3, 2}}, fill(3, -inf), []float64{4, 12, 18}, fill(2, 0), fill(2, inf)), Optimal, -36},
		{"free variables", dense([]float64{1, 1}, [][]float64{{1, 1}, {1, -1}}, []float64{-3, 1}, []float64{inf, 1}, fill(2, -inf), fill(2, inf)), Optimal, -3},
		{"free variable unused", dense([]float64{0, 1}, [][]float64{{0, 1}}, []float64{2}, []float64{inf}, fill(2, -inf), fill(2, inf)), Optimal, 2},
		{"fixed variable", dense([]float64{1, 4}, [][]float64{{1, 1}}, []float64{5}, []float64{5}, []float64{2, 0}, []float64{2, inf}), Optimal, 14},
		{"upper bounds bind", dense([]float64{-1, -2}, [][]float64{{1, 1}}, []float64{-inf}, []float64{3}, fill(2, 0), fill(2, 2)), Optimal, -5},
		{"range row", dense([]float64{1}, [][]float64{{2}}, []float64{3}, []float64{7}, []float64{-inf}, []float64{inf}), Optimal, 1.5},
		{"free row", dense([]float64{1}, [][]float64{{2}}, []float64{-inf}, []float64{inf}, []float64{-1}, []float64{inf}), Optimal, -1},
		{"redundant equalities", dense([]float64{1, 2}, [][]float64{{1, 1}, {2, 2}, {1, 1}}, []float64{1, 2, 1}, []float64{1, 2, 1}, fill(2, 0), fill(2, inf)), Optimal, 1},
		{"contradicting equalities", dense([]float64{1, 2}, [][]float64{{1, 1}, {2, 2}}, []float64{1, 3}, []float64{1, 3}, fill(2, 0), fill(2, inf)), Infeasible, 0},
		{"infeasible by bounds", dense([]float64{1}, [][]float64{{1}}, []float64{3}, []float64{inf}, []float64{0}, []float64{2}), Infeasible, 0},
		{"infeasible and dual infeasible", dense([]float64{-1, -1}, [][]float64{{1, -1}, {1, -1}}, []float64{1, -inf}, []float64{inf, 0}, fill(2, 0), fill(2, inf)), Infeasible, 0},
		{"unbounded", dense([]float64{-1, 0}, [][]float64{{1, -1}}, []float64{-inf}, []float64{1}, fill(2, 0), fill(2, inf)), Unbounded, 0},
		{"unbounded below", dense([]float64{1, 0}, [][]float64{{1, -1}}, []float64{-inf}, []float64{1}, fill(2, -inf), fill(2, inf)), Unbounded, 0},
		{"empty column", dense([]float64{-1, 1}, [][]float64{{0, 1}}, []float64{1}, []float64{2}, fill(2, 0), []float64{3, 9}), Optimal, -2},
		{"bounds beyond 1e20 are none", dense([]float64{1}, [][]float64{{1}}, []float64{-5}, []float64{1e25}, []float64{-1e30}, []float64{1e22}), Optimal, -5},
	}
	forEachEngine(t, func(t *testing.T, engine Engine) {
		for _, test := range tests {
			t.Run(test.name, func(t *testing.T) {
				s := solveOnce(t, engine, test.problem)
				if s.Status != test.status {
					t.Fatalf("status %v, want %v", s.Status, test.status)
				}
				if test.status == Optimal {
					requireClose(t, "objective", s.Objective, test.want)
					checkOptimal(t, test.problem, s)
				}
			})
		}
	})
}

// Beale's example makes the textbook simplex cycle (E. Beale, Cycling in the dual
// simplex algorithm, 1955).
func TestBeale(t *testing.T) {
	p := dense([]float64{-0.75, 150, -0.02, 6},
		[][]float64{{0.25, -60, -0.04, 9}, {0.5, -90, -0.02, 3}, {0, 0, 1, 0}},
		fill(3, math.Inf(-1)), []float64{0, 0, 1}, fill(4, 0), fill(4, math.Inf(1)))
	forEachEngine(t, func(t *testing.T, engine Engine) {
		s := solveOnce(t, engine, p)
		checkOptimal(t, p, s)
		requireClose(t, "objective", s.Objective, -0.05)
	})
}

// The cubes of V. Klee, G. Minty, How good is the simplex algorithm?, 1972, make
// largest-coefficient pricing visit all 2ⁿ corners.
func TestKleeMinty(t *testing.T) {
	forEachEngine(t, func(t *testing.T, engine Engine) {
		for n := 1; n <= 12; n++ {
			cost, a, upper := make([]float64, n), make([][]float64, n), make([]float64, n)
			for i := range n {
				cost[i] = -math.Pow(2, float64(n-1-i))
				a[i] = make([]float64, n)
				for j := range i {
					a[i][j] = math.Pow(2, float64(i-j+1))
				}
				a[i][i] = 1
				upper[i] = math.Pow(5, float64(i+1))
			}
			p := dense(cost, a, fill(n, math.Inf(-1)), upper, fill(n, 0), fill(n, math.Inf(1)))
			s := solveOnce(t, engine, p)
			checkOptimal(t, p, s)
			requireClose(t, fmt.Sprintf("n=%d: objective", n), s.Objective, -math.Pow(5, float64(n)))
		}
	})
}

// feasibleProblem is a random problem that has a solution: the rows are set around
// the activities of a random point. Integer data makes it degenerate.
func feasibleProblem(r *rand.Rand, rows, columns int) *Problem {
	inf := math.Inf(1)
	p := &Problem{RowLower: make([]float64, rows), RowUpper: make([]float64, rows)}
	activity := make([]float64, rows)
	for range columns {
		c := Column{Cost: float64(r.IntN(21) - 5), Upper: inf}
		x := float64(r.IntN(4))
		switch r.IntN(6) {
		case 0:
			c.Upper = x + float64(r.IntN(3))
		case 1:
			c.Lower, c.Upper = x, x
		case 2:
			c.Lower, c.Cost = -inf, 0
		case 3:
			c.Lower, c.Upper = -inf, x
			c.Cost = -math.Abs(c.Cost)
		}
		for i := range rows {
			if r.IntN(4) == 0 {
				value := float64(r.IntN(9) - 3)
				if value == 0 {
					continue
				}
				c.Rows = append(c.Rows, int32(i))
				c.Values = append(c.Values, value)
				activity[i] += value * x
			}
		}
		p.Columns = append(p.Columns, c)
	}
	for i, a := range activity {
		p.RowLower[i], p.RowUpper[i] = a, a
		switch r.IntN(4) {
		case 0:
			p.RowLower[i] = -inf
		case 1:
			p.RowUpper[i] = inf
		case 2:
			p.RowLower[i] -= float64(r.IntN(5))
		}
	}
	return p
}

// On random problems the engines' optima prove themselves by duality, and all
// engines agree on the status.
func TestRandomProblems(t *testing.T) {
	optimal := 0
	for seed := range uint64(400) {
		r := rand.New(rand.NewPCG(seed, 1))
		p := feasibleProblem(r, 1+r.IntN(40), 1+r.IntN(120))
		for i := range available() {
			engine := available()[i]
			s := solveOnce(t, engine, p)
			switch s.Status {
			case Optimal:
				checkOptimal(t, p, s)
				optimal++
			case Unbounded:
			default:
				t.Fatalf("seed %d: %s: status %v on a feasible problem", seed, engine.Name(), s.Status)
			}
			if reference := solveOnce(t, Simplex(), p); reference.Status != s.Status {
				t.Fatalf("seed %d: %s says %v, go says %v", seed, engine.Name(), s.Status, reference.Status)
			}
		}
	}
	if optimal < 100 {
		t.Fatalf("only %d optima among the problems", optimal)
	}
}
