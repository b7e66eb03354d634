package lp

import (
	"math"
	"testing"
)

// decoder reads a problem from fuzzing input.
type decoder struct {
	data []byte
	// extreme takes magnitudes up to the limits instead of small integers.
	extreme bool
}

func (d *decoder) next() int {
	if len(d.data) == 0 {
		return 0
	}
	b := d.data[0]
	d.data = d.data[1:]
	return int(b)
}

func (d *decoder) number() float64 {
	b := d.next()
	if !d.extreme {
		return float64(b%15 - 7)
	}
	return float64(b%15-7) * math.Pow(10, float64(b%38)-19)
}

func (d *decoder) bounds() (lower, upper float64) {
	lower = d.number()
	upper = lower + math.Abs(d.number())
	switch d.next() % 4 {
	case 0:
		lower = math.Inf(-1)
	case 1:
		upper = math.Inf(1)
	case 2:
		upper = lower
	}
	return lower, upper
}

func (d *decoder) column(rows int) Column {
	c := Column{Cost: d.number()}
	c.Lower, c.Upper = d.bounds()
	for i := range rows {
		if value := d.number(); value != 0 {
			c.Rows = append(c.Rows, int32(i))
			c.Values = append(c.Values, value)
		}
	}
	return c
}

// FuzzSolve solves, changes and solves again. On small integers every engine must
// come to an answer, the same as from scratch and as every other engine's; on
// extreme magnitudes it must return.
func FuzzSolve(f *testing.F) {
	f.Add([]byte{})
	f.Add([]byte{0, 2, 3, 8, 9, 1, 8, 7, 2, 9, 9, 9, 1, 8, 8, 10, 9, 7, 1, 9, 9})
	f.Add([]byte{1, 3, 4, 200, 100, 50, 25, 12, 6, 3, 1, 250, 125, 60, 30, 15, 7, 77, 88, 99})
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, engine := range available() {
			d := &decoder{data: data}
			d.extreme = d.next()%2 == 1
			rows, columns := d.next()%6, d.next()%7
			p := &Problem{}
			for range rows {
				lower, upper := d.bounds()
				p.RowLower, p.RowUpper = append(p.RowLower, lower), append(p.RowUpper, upper)
			}
			for range columns {
				p.Columns = append(p.Columns, d.column(rows))
			}
			solver, err := engine.New(p)
			if err != nil {
				if !d.extreme {
					t.Fatal(err)
				}
				return
			}
			t.Cleanup(solver.Close)
			fuzzCompare(t, d, p, solver.Solve(0))
			added := []Column{d.column(rows)}
			p.Columns = append(p.Columns, added...)
			solver.AddColumns(added)
			j := d.next() % len(p.Columns)
			p.Columns[j].Lower, p.Columns[j].Upper = d.bounds()
			solver.SetBounds(j, p.Columns[j].Lower, p.Columns[j].Upper)
			fuzzCompare(t, d, p, solver.Solve(0))
		}
	})
}

func fuzzCompare(t *testing.T, d *decoder, p *Problem, s Solution) {
	if d.extreme {
		return
	}
	if s.Status == Optimal {
		checkOptimal(t, p, s)
	}
	if s.Status == IterationLimit {
		t.Fatal("no answer")
	}
	for _, engine := range available() {
		cold := solveOnce(t, engine, p)
		if cold.Status != s.Status {
			t.Fatalf("status %v, from scratch by %s %v", s.Status, engine.Name(), cold.Status)
		}
		if s.Status == Optimal {
			requireClose(t, "objective", s.Objective, cold.Objective)
		}
	}
}
