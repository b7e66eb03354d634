package lp

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

// master is a random multiple-choice knapsack: a row per workload, whose columns'
// shares sum to one, and a row per pool, whose devices they share. The last column
// of a workload uses no devices and is dear, as is every other one that uses none,
// so that there is always a solution and never a free one.
func master(r *rand.Rand, workloads, pools, perWorkload int) *Problem {
	rows := workloads + pools
	p := &Problem{RowLower: make([]float64, rows), RowUpper: make([]float64, rows)}
	for w := range workloads {
		p.RowLower[w], p.RowUpper[w] = 1, 1
	}
	used := make([]float64, pools)
	for w := range workloads {
		for k := range perWorkload {
			c := Column{Upper: 1, Rows: []int32{int32(w)}, Values: []float64{1}}
			for g := range pools {
				devices := float64(r.IntN(6) * (1 + g%4))
				if k == perWorkload-1 || devices == 0 {
					continue
				}
				c.Rows = append(c.Rows, int32(workloads+g))
				c.Values = append(c.Values, devices)
				c.Cost += devices * (1 + float64(g)/4) * (0.9 + 0.2*r.Float64())
				used[g] += devices / float64(perWorkload)
			}
			if k == perWorkload-1 {
				c.Cost = 1000
			}
			p.Columns = append(p.Columns, c)
		}
	}
	for g := range pools {
		p.RowLower[workloads+g] = math.Inf(-1)
		p.RowUpper[workloads+g] = math.Floor(used[g] * (0.1 + 0.3*r.Float64()))
	}
	for j := range p.Columns {
		if len(p.Columns[j].Rows) == 1 {
			p.Columns[j].Cost = 1000
		}
	}
	return p
}

func TestMasters(t *testing.T) {
	shapes := []struct{ workloads, pools, perWorkload int }{{46, 4, 109}, {94, 6, 53}, {140, 8, 36}}
	forEachEngine(t, func(t *testing.T, engine Engine) {
		for seed, shape := range shapes {
			p := master(rand.New(rand.NewPCG(uint64(seed), 2)), shape.workloads, shape.pools, shape.perWorkload)
			s := solveOnce(t, engine, p)
			checkOptimal(t, p, s)
			requireClose(t, "objective", s.Objective, solveOnce(t, Simplex(), p).Objective)
			t.Logf("%d rows × %d columns: %d pivots", len(p.RowLower), len(p.Columns), s.Iterations)
		}
	})
}

// Branching on columns and resuming after each change gives what a solve from
// scratch gives.
func TestBranching(t *testing.T) {
	forEachEngine(t, func(t *testing.T, engine Engine) {
		p := master(rand.New(rand.NewPCG(7, 2)), 30, 4, 25)
		solver := load(t, engine, p)
		r := rand.New(rand.NewPCG(8, 2))
		s := solver.Solve(0)
		for range 60 {
			j := fractional(s.X)
			if j < 0 || s.Status != Optimal {
				j = r.IntN(len(p.Columns))
			}
			value := float64(r.IntN(3))
			if value == 2 {
				p.Columns[j].Lower, p.Columns[j].Upper = 0, 1
			} else {
				p.Columns[j].Lower, p.Columns[j].Upper = value, value
			}
			solver.SetBounds(j, p.Columns[j].Lower, p.Columns[j].Upper)
			s = solver.Solve(0)
			requireSame(t, engine, p, s)
		}
	})
}

func fractional(x []float64) int {
	for j, value := range x {
		if value > 1e-6 && value < 1-1e-6 {
			return j
		}
	}
	return -1
}

// requireSame compares a solution with one from scratch.
func requireSame(t *testing.T, engine Engine, p *Problem, s Solution) {
	t.Helper()
	cold := solveOnce(t, engine, p)
	if s.Status != cold.Status {
		t.Fatalf("status %v, from scratch %v", s.Status, cold.Status)
	}
	if s.Status == Optimal {
		checkOptimal(t, p, s)
		requireClose(t, "objective", s.Objective, cold.Objective)
	}
}

// Random changes of every kind, each followed by a solve from the last basis.
func TestChanges(t *testing.T) {
	forEachEngine(t, func(t *testing.T, engine Engine) {
		seen := map[Status]int{}
		for seed := range uint64(40) {
			r := rand.New(rand.NewPCG(seed, 3))
			p := feasibleProblem(r, 1+r.IntN(25), 1+r.IntN(60))
			solver := load(t, engine, p)
			for range 25 {
				for range 1 + r.IntN(4) {
					change(r, p, solver)
				}
				if solver.Err() != nil {
					t.Fatal(solver.Err())
				}
				s := solver.Solve(0)
				requireSame(t, engine, p, s)
				seen[s.Status]++
			}
		}
		if seen[Optimal] < 100 || seen[Infeasible] < 50 || seen[Unbounded] < 50 {
			t.Fatalf("the changes lack variety: %v", seen)
		}
	})
}

// change makes a random change to the problem and the solver alike.
func change(r *rand.Rand, p *Problem, solver Solver) {
	j, i := r.IntN(len(p.Columns)), r.IntN(len(p.RowLower))
	switch c := &p.Columns[j]; r.IntN(5) {
	case 0:
		c.Cost = float64(r.IntN(21) - 5)
		solver.SetCost(j, c.Cost)
	case 1:
		c.Lower = float64(r.IntN(3))
		c.Upper = c.Lower + float64(r.IntN(6))
		solver.SetBounds(j, c.Lower, c.Upper)
	case 2:
		c.Lower, c.Upper = 0, math.Inf(1)
		solver.SetBounds(j, c.Lower, c.Upper)
	case 3:
		p.RowLower[i] = float64(r.IntN(20) - 10)
		p.RowUpper[i] = p.RowLower[i] + float64(r.IntN(30))
		if r.IntN(2) == 0 {
			p.RowLower[i] = math.Inf(-1)
		}
		solver.SetRow(i, p.RowLower[i], p.RowUpper[i])
	case 4:
		more := feasibleProblem(r, len(p.RowLower), 1+r.IntN(3)).Columns
		p.Columns = append(p.Columns, more...)
		solver.AddColumns(more)
	}
}

// A master built column by column, from the dual prices of the last, ends at the
// optimum of the whole.
func TestColumnGeneration(t *testing.T) {
	forEachEngine(t, func(t *testing.T, engine Engine) {
		const workloads, pools, perWorkload = 20, 3, 40
		whole := master(rand.New(rand.NewPCG(11, 2)), workloads, pools, perWorkload)
		for j := range whole.Columns {
			whole.Columns[j].Upper = math.Inf(1)
		}
		part := &Problem{RowLower: whole.RowLower, RowUpper: whole.RowUpper}
		for w := range workloads {
			part.Columns = append(part.Columns, whole.Columns[(w+1)*perWorkload-1])
		}
		solver := load(t, engine, part)
		for range 200 {
			s := solver.Solve(0)
			var attractive []Column
			for w := range workloads {
				if c, ok := cheapest(whole.Columns[w*perWorkload:(w+1)*perWorkload], s.Dual); ok {
					attractive = append(attractive, c)
				}
			}
			if len(attractive) == 0 {
				requireClose(t, "objective", s.Objective, solveOnce(t, engine, whole).Objective)
				return
			}
			part.Columns = append(part.Columns, attractive...)
			solver.AddColumns(attractive)
		}
		t.Fatal("no end of attractive columns")
	})
}

// cheapest returns the column with the least reduced cost, if it is negative.
func cheapest(columns []Column, dual []float64) (best Column, ok bool) {
	least := -1e-7
	for _, c := range columns {
		d := c.Cost
		for k, i := range c.Rows {
			d -= c.Values[k] * dual[i]
		}
		if d < least {
			best, least, ok = c, d, true
		}
	}
	return best, ok
}

// Scaling rows, columns and costs over many orders of magnitude changes the
// optimum only as it must.
func TestBadScales(t *testing.T) {
	forEachEngine(t, func(t *testing.T, engine Engine) {
		for seed := range uint64(20) {
			r := rand.New(rand.NewPCG(seed, 5))
			p := master(r, 12, 3, 15)
			want := solveOnce(t, engine, p).Objective
			rows := make([]float64, len(p.RowLower))
			for i := range rows {
				rows[i] = math.Pow(10, float64(r.IntN(9)-4))
				p.RowLower[i] *= rows[i]
				p.RowUpper[i] *= rows[i]
			}
			unit := math.Pow(10, float64(r.IntN(9)-4))
			for j := range p.Columns {
				c := &p.Columns[j]
				scale := math.Pow(10, float64(r.IntN(5)-2))
				c.Cost *= scale * unit
				c.Upper /= scale
				for k, i := range c.Rows {
					c.Values[k] *= rows[i] * scale
				}
			}
			s := solveOnce(t, engine, p)
			if s.Status != Optimal {
				t.Fatalf("seed %d: status %v", seed, s.Status)
			}
			requireClose(t, fmt.Sprintf("seed %d: objective", seed), s.Objective/unit, want)
		}
	})
}

func BenchmarkMaster(b *testing.B) {
	shapes := []struct{ workloads, pools, perWorkload int }{{46, 4, 109}, {94, 6, 53}, {142, 8, 140}}
	for _, shape := range shapes {
		p := master(rand.New(rand.NewPCG(1, 2)), shape.workloads, shape.pools, shape.perWorkload)
		name := fmt.Sprintf("%dx%d/", len(p.RowLower), len(p.Columns))
		for _, engine := range available() {
			b.Run(name+"cold/"+engine.Name(), func(b *testing.B) { benchmarkCold(b, engine, p) })
			b.Run(name+"branch/"+engine.Name(), func(b *testing.B) { benchmarkBranch(b, engine, p) })
		}
	}
}

// benchmarkCold loads and solves the problem.
func benchmarkCold(b *testing.B, engine Engine, p *Problem) {
	pivots := 0
	for b.Loop() {
		solver, err := engine.New(p)
		if err != nil {
			b.Fatal(err)
		}
		pivots += solver.Solve(0).Iterations
		solver.Close()
	}
	b.ReportMetric(float64(pivots)/float64(b.N), "pivots/op")
}

// benchmarkBranch closes the first fractional column and opens it again.
func benchmarkBranch(b *testing.B, engine Engine, p *Problem) {
	solver := load(b, engine, p)
	j := fractional(solver.Solve(0).X)
	if j < 0 {
		b.Fatal("the relaxation has no fractional column")
	}
	pivots := 0
	for b.Loop() {
		solver.SetBounds(j, 0, 0)
		pivots += solver.Solve(0).Iterations
		solver.SetBounds(j, 0, 1)
		pivots += solver.Solve(0).Iterations
	}
	b.ReportMetric(float64(pivots)/float64(b.N), "pivots/op")
}
