package lp

import (
	"math"
	"slices"
)

// matrix holds the scaled coefficients of all variables: of the rows first, then
// of the columns. The variable of row i is its activity; its one coefficient −1
// turns every row into A·x − z = 0.
type matrix struct {
	rows        int
	start, row  []int32
	coefficient []float64
	// rowScale and columnScale are powers of two, so that scaling is exact: a
	// scaled coefficient is rowScale·a·columnScale, a scaled column x/columnScale.
	rowScale, columnScale []float64
}

// scalingPasses suffices to bring typical problems within a factor of four of the
// fixed point of geometric scaling.
const scalingPasses = 3

func newMatrix(g *program) matrix {
	m := matrix{rows: g.rows(), start: []int32{0}}
	for i := range m.rows {
		m.row = append(m.row, int32(i))
		m.coefficient = append(m.coefficient, -1)
		m.start = append(m.start, int32(i+1))
	}
	m.scaleRows(g)
	m.grow(g)
	return m
}

// scaleRows finds the row scales by geometric scaling (Tomlin, On scaling linear
// programming problems, 1975): alternately every column and every row is divided
// by the geometric mean of its extreme magnitudes.
func (m *matrix) scaleRows(g *program) {
	m.rowScale = make([]float64, m.rows)
	for i := range m.rowScale {
		m.rowScale[i] = 1
	}
	low, high := make([]float64, m.rows), make([]float64, m.rows)
	for range scalingPasses {
		for i := range low {
			low[i], high[i] = math.Inf(1), 0
		}
		for j := range g.columns() {
			scale := m.scaleOf(g, j)
			rows, coefficients := g.entries(j)
			for k, i := range rows {
				a := math.Abs(coefficients[k]) * scale
				low[i], high[i] = min(low[i], a), max(high[i], a)
			}
		}
		for i := range low {
			if high[i] > 0 {
				m.rowScale[i] = powerOfTwo(1 / math.Sqrt(low[i]*high[i]))
			}
		}
	}
}

// scaleOf returns the scale that centres a column's magnitudes on one.
func (m *matrix) scaleOf(g *program, column int) float64 {
	low, high := math.Inf(1), 0.0
	rows, coefficients := g.entries(column)
	for k, i := range rows {
		a := math.Abs(coefficients[k]) * m.rowScale[i]
		low, high = min(low, a), max(high, a)
	}
	if high == 0 {
		return 1
	}
	return powerOfTwo(1 / math.Sqrt(low*high))
}

// grow takes over the program's columns that the matrix lacks.
func (m *matrix) grow(g *program) {
	more := m.rows + len(g.row) - len(m.row)
	m.row, m.coefficient = slices.Grow(m.row, more), slices.Grow(m.coefficient, more)
	for j := len(m.columnScale); j < g.columns(); j++ {
		scale := m.scaleOf(g, j)
		m.columnScale = append(m.columnScale, scale)
		rows, coefficients := g.entries(j)
		for k, i := range rows {
			a := coefficients[k] * m.rowScale[i] * scale
			m.row = append(m.row, i)
			m.coefficient = append(m.coefficient, a)
		}
		m.start = append(m.start, int32(len(m.row)))
	}
}

// entries returns the rows and coefficients of a variable.
func (m *matrix) entries(variable int) ([]int32, []float64) {
	from, to := m.start[variable], m.start[variable+1]
	return m.row[from:to], m.coefficient[from:to]
}

// costScale returns the power of two that brings a typical scaled cost, by the
// geometric mean, near one; the largest stays below 2e4 times that, because
// reduced costs carry its rounding errors.
func (m *matrix) costScale(g *program) float64 {
	exponents, count, largest := 0, 0, 0.0
	for j, c := range g.cost {
		if c == 0 {
			continue
		}
		c *= m.columnScale[j]
		exponents += math.Ilogb(c)
		count++
		largest = max(largest, math.Abs(c))
	}
	if count == 0 {
		return 1
	}
	return powerOfTwo(1 / max(math.Ldexp(1, exponents/count), 1e-4*largest))
}

// powerOfTwo rounds a positive number to a power of two near it.
func powerOfTwo(value float64) float64 {
	_, exponent := math.Frexp(value * math.Sqrt2 / 2)
	return math.Ldexp(1, exponent)
}
