package lp

import (
	"fmt"
	"math"
	"slices"
)

// program is the problem as given, after the changes so far. Columns are stored
// one after another: column j has the entries start[j] to start[j+1].
type program struct {
	rowLower, rowUpper  []float64
	cost, lower, upper  []float64
	start, row          []int32
	coefficient         []float64
	crossedColumns      int
	crossedRows         int
	refused             error
	activity, magnitude []float64
}

func newProgram(p *Problem) program {
	g := program{start: []int32{0}}
	for i := range p.RowLower {
		g.rowLower = append(g.rowLower, lowerBound(p.RowLower[i]))
		g.rowUpper = append(g.rowUpper, upperBound(p.RowUpper[i]))
	}
	g.activity = make([]float64, len(g.rowLower))
	g.magnitude = make([]float64, len(g.rowLower))
	g.append(p.Columns)
	return g
}

func (g *program) rows() int    { return len(g.rowLower) }
func (g *program) columns() int { return len(g.cost) }

// append takes over columns that have been checked.
func (g *program) append(columns []Column) {
	entries := 0
	for i := range columns {
		entries += len(columns[i].Rows)
	}
	g.row, g.coefficient = slices.Grow(g.row, entries), slices.Grow(g.coefficient, entries)
	for i := range columns {
		c := &columns[i]
		g.cost = append(g.cost, c.Cost)
		g.lower = append(g.lower, lowerBound(c.Lower))
		g.upper = append(g.upper, upperBound(c.Upper))
		for k, value := range c.Values {
			if math.Abs(value) >= negligible {
				g.row = append(g.row, c.Rows[k])
				g.coefficient = append(g.coefficient, value)
			}
		}
		g.start = append(g.start, int32(len(g.row)))
	}
}

// entries returns the rows and coefficients of a column.
func (g *program) entries(column int) ([]int32, []float64) {
	from, to := g.start[column], g.start[column+1]
	return g.row[from:to], g.coefficient[from:to]
}

// add appends columns and reports whether it did.
func (g *program) add(columns []Column) bool {
	if err := checkColumns(columns, g.columns(), g.rows()); err != nil {
		return g.refuse(err)
	}
	g.append(columns)
	return true
}

// setBounds changes a column's bounds and reports whether it did.
func (g *program) setBounds(column int, lower, upper float64) bool {
	if column < 0 || column >= g.columns() {
		return g.refuse(fmt.Errorf("lp: column %d is outside [0, %d)", column, g.columns()))
	}
	if err := checkBoundValues("column", column, lower, upper); err != nil {
		return g.refuse(err)
	}
	g.crossedColumns += crossing(lower, upper) - crossing(g.lower[column], g.upper[column])
	g.lower[column], g.upper[column] = lowerBound(lower), upperBound(upper)
	return true
}

// setRow changes a row's bounds and reports whether it did.
func (g *program) setRow(row int, lower, upper float64) bool {
	if row < 0 || row >= g.rows() {
		return g.refuse(fmt.Errorf("lp: row %d is outside [0, %d)", row, g.rows()))
	}
	if err := checkBoundValues("row", row, lower, upper); err != nil {
		return g.refuse(err)
	}
	g.crossedRows += crossing(lower, upper) - crossing(g.rowLower[row], g.rowUpper[row])
	g.rowLower[row], g.rowUpper[row] = lowerBound(lower), upperBound(upper)
	return true
}

// setCost changes a column's cost and reports whether it did.
func (g *program) setCost(column int, cost float64) bool {
	if column < 0 || column >= g.columns() {
		return g.refuse(fmt.Errorf("lp: column %d is outside [0, %d)", column, g.columns()))
	}
	if !usable(cost) {
		return g.refuse(fmt.Errorf("lp: column %d: cost %v must be finite and below %g in magnitude", column, cost, float64(infinite)))
	}
	g.cost[column] = cost
	return true
}

func (g *program) refuse(err error) bool {
	if g.refused == nil {
		g.refused = err
	}
	return false
}

// settled reports a status that is known without solving.
func (g *program) settled() (Status, bool) {
	switch {
	case g.refused != nil:
		return IterationLimit, true
	case g.crossedColumns > 0 || g.crossedRows > 0:
		return Infeasible, true
	}
	return Optimal, false
}

func crossing(lower, upper float64) int {
	if lower > upper {
		return 1
	}
	return 0
}

func lowerBound(value float64) float64 {
	if value <= -infinite {
		return math.Inf(-1)
	}
	return value
}

func upperBound(value float64) float64 {
	if value >= infinite {
		return math.Inf(1)
	}
	return value
}
