package lp

import (
	"math"
	"slices"
)

// singular is the magnitude below which a scaled pivot is taken for zero.
const singular = 1e-9

// basis is a set of variables, one per row, whose columns form a regular matrix,
// with the inverse of that matrix. The inverse is dense: at the sizes of the
// package an update of it costs less than the pass over the columns beside it, and
// its rows give exact steepest-edge weights.
type basis struct {
	size int
	// inverse holds a row per position, one after another.
	inverse []float64
	// head is the variable at each position, position the reverse (−1 = not basic).
	head, position []int32
	// updates counts the exchanges since the inverse was computed afresh.
	updates int
	nonzero []int32
	scratch []float64
}

// newBasis returns the basis of all row activities.
func newBasis(rows int) basis {
	b := basis{
		size:    rows,
		inverse: make([]float64, rows*rows),
		head:    make([]int32, rows),
		scratch: make([]float64, rows),
	}
	for i := range rows {
		b.head[i] = int32(i)
		b.position = append(b.position, int32(i))
		b.inverse[i*rows+i] = -1
	}
	return b
}

// inverseRow is the row of the inverse that belongs to a position.
func (b *basis) inverseRow(position int) []float64 {
	return b.inverse[position*b.size : (position+1)*b.size]
}

// solveColumn sets out to the inverse times a sparse vector.
func (b *basis) solveColumn(rows []int32, values, out []float64) {
	for i := range out {
		line := b.inverseRow(i)
		sum := 0.0
		for k, row := range rows {
			sum += line[row] * values[k]
		}
		out[i] = sum
	}
}

// solveDense sets out to the inverse times a dense vector.
func (b *basis) solveDense(vector, out []float64) {
	for i := range out {
		sum := 0.0
		for k, a := range b.inverseRow(i) {
			sum += a * vector[k]
		}
		out[i] = sum
	}
}

// addTransposed adds to out the transposed inverse times a vector.
func (b *basis) addTransposed(vector, out []float64) {
	for i, factor := range vector {
		if factor == 0 {
			continue
		}
		for k, a := range b.inverseRow(i) {
			out[k] += factor * a
		}
	}
}

// exchange puts a variable at a position; column is the inverse times the
// variable's coefficients.
func (b *basis) exchange(position, variable int, column []float64) {
	b.position[b.head[position]] = -1
	b.head[position] = int32(variable)
	b.position[variable] = int32(position)
	b.updates++
	b.eliminate(position, column)
}

// eliminate updates the inverse for a new column at a position.
func (b *basis) eliminate(position int, column []float64) {
	pivot := b.inverseRow(position)
	b.nonzero = b.nonzero[:0]
	for k, a := range pivot {
		if a != 0 {
			pivot[k] = a / column[position]
			b.nonzero = append(b.nonzero, int32(k))
		}
	}
	for i, factor := range column {
		if factor == 0 || i == position {
			continue
		}
		line := b.inverseRow(i)
		for _, k := range b.nonzero {
			line[k] -= factor * pivot[k]
		}
	}
}

// factorise computes the inverse afresh, by Gauss–Jordan elimination of the
// columns from the sparsest to the densest. Variables that depend on others leave
// the basis for row activities; they are returned.
func (b *basis) factorise(m *matrix) (dropped []int32) {
	columns := b.resetToRows()
	slices.SortFunc(columns, func(v, w int32) int {
		if d := (m.start[v+1] - m.start[v]) - (m.start[w+1] - m.start[w]); d != 0 {
			return int(d)
		}
		return int(v - w)
	})
	for _, v := range columns {
		rows, coefficients := m.entries(int(v))
		b.solveColumn(rows, coefficients, b.scratch)
		best, magnitude := -1, singular
		for i, a := range b.scratch {
			if b.head[i] < 0 && math.Abs(a) > magnitude {
				best, magnitude = i, math.Abs(a)
			}
		}
		if best < 0 {
			dropped = append(dropped, v)
			continue
		}
		b.head[best], b.position[v] = v, int32(best)
		b.eliminate(best, b.scratch)
	}
	for i, v := range b.head {
		if v < 0 {
			b.head[i], b.position[i] = int32(i), int32(i)
		}
	}
	b.updates = 0
	return dropped
}

// resetToRows makes the inverse that of the row activities, keeps those that are
// basic, marks the other positions open by −1 and returns the columns to place.
func (b *basis) resetToRows() (columns []int32) {
	for _, v := range b.head {
		if int(v) >= b.size {
			columns = append(columns, v)
			b.position[v] = -1
		}
	}
	clear(b.inverse)
	for i := range b.size {
		b.inverse[i*b.size+i] = -1
		if b.position[i] >= 0 {
			b.head[i], b.position[i] = int32(i), int32(i)
		} else {
			b.head[i] = -1
		}
	}
	return columns
}
