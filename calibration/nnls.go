package calibration

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"
)

// leastSquares is a linear least-squares problem ‖A·x − b‖² with few unknowns,
// reduced to a square one by A = Q·R: ‖R·x − Qᵀb‖² differs by a constant. Columns of
// A are divided by their norms, so that the units of the unknowns do not matter.
type leastSquares struct {
	// scale holds the norms of the columns; 0 for a column of zeros.
	scale []float64
	// r is R, qb is Qᵀb.
	r  *mat.Dense
	qb []float64
}

// newLeastSquares reduces a problem with at least one row.
func newLeastSquares(rows [][]float64, b []float64) leastSquares {
	unknowns := len(rows[0])
	p := leastSquares{
		scale: make([]float64, unknowns),
		qb:    make([]float64, unknowns),
	}
	for j := range unknowns {
		for _, row := range rows {
			p.scale[j] = math.Hypot(p.scale[j], row[j])
		}
	}
	// Rows of zeros make a short problem square and change nothing.
	joined := mat.NewDense(max(len(rows), unknowns+1), unknowns+1, nil)
	for i, row := range rows {
		for j, x := range row {
			if p.scale[j] > 0 {
				joined.Set(i, j, x/p.scale[j])
			}
		}
		joined.Set(i, unknowns, b[i])
	}
	var qr mat.QR
	qr.Factorize(joined)
	var r mat.Dense
	qr.RTo(&r)
	p.r = mat.DenseCopyOf(r.Slice(0, unknowns, 0, unknowns))
	for i := range unknowns {
		p.qb[i] = r.At(i, unknowns)
	}
	return p
}

// columns returns some columns of R.
func (p leastSquares) columns(which []int) *mat.Dense {
	some := mat.NewDense(len(p.qb), len(which), nil)
	for k, j := range which {
		for i := range p.qb {
			some.Set(i, k, p.r.At(i, j))
		}
	}
	return some
}

// gradient returns Rᵀ(Qᵀb − R·x), for x in scaled units: half the negative gradient.
func (p leastSquares) gradient(x []float64) []float64 {
	unknowns := len(p.qb)
	rest := slices.Clone(p.qb)
	for i := range unknowns {
		for j := i; j < unknowns; j++ {
			rest[i] -= p.r.At(i, j) * x[j]
		}
	}
	g := make([]float64, unknowns)
	for j := range unknowns {
		for i := 0; i <= j; i++ {
			g[j] += p.r.At(i, j) * rest[i]
		}
	}
	return g
}

// unconstrained solves for the unknowns in which; the others are 0.
func (p leastSquares) unconstrained(which []int) []float64 {
	x := make([]float64, len(p.qb))
	if len(which) == 0 {
		return x
	}
	var qr mat.QR
	qr.Factorize(p.columns(which))
	var solution mat.VecDense
	// An error only warns of a bad condition; what is free has been made
	// identifiable, and what remains is finite.
	if err := qr.SolveVecTo(&solution, false, mat.NewVecDense(len(p.qb), slices.Clone(p.qb))); err != nil && solution.Len() == 0 {
		return x
	}
	for k, j := range which {
		if v := solution.AtVec(k); !math.IsNaN(v) && !math.IsInf(v, 0) {
			x[j] = v
		}
	}
	return x
}

// nonNegative returns the x ≥ 0 that minimizes ‖A·x − b‖, by the active-set method
// NNLS of C. L. Lawson and R. J. Hanson, "Solving Least Squares Problems" (1974),
// chapter 23. Columns of zeros get 0.
func (p leastSquares) nonNegative() []float64 {
	unknowns := len(p.qb)
	x := make([]float64, unknowns)
	var passive []int
	tolerance := 1e-13 * max(norm(p.qb), math.SmallestNonzeroFloat64)
	// The method ends by itself; the limit guards against cycles by rounding.
	for range 10 * unknowns {
		enter := p.entering(x, passive, tolerance)
		if enter < 0 {
			break
		}
		passive = append(passive, enter)
		slices.Sort(passive)
		x, passive = p.descend(x, passive)
	}
	for j, scale := range p.scale {
		if scale > 0 {
			x[j] /= scale
		}
	}
	return x
}

// entering returns the unknown at 0 that most wants to grow, or -1.
func (p leastSquares) entering(x []float64, passive []int, tolerance float64) int {
	best, steepest := -1, tolerance
	for j, g := range p.gradient(x) {
		if p.scale[j] > 0 && g > steepest && !slices.Contains(passive, j) {
			best, steepest = j, g
		}
	}
	return best
}

// descend solves for the passive unknowns, dropping those that would be negative.
func (p leastSquares) descend(x []float64, passive []int) (solved []float64, stillPassive []int) {
	for len(passive) > 0 {
		z := p.unconstrained(passive)
		step, blocking := 1.0, -1
		for _, j := range passive {
			if z[j] <= 0 {
				if s := x[j] / (x[j] - z[j]); blocking < 0 || s < step {
					step, blocking = s, j
				}
			}
		}
		if blocking < 0 {
			return z, passive
		}
		for _, j := range passive {
			x[j] += step * (z[j] - x[j])
		}
		x[blocking] = 0
		passive = slices.DeleteFunc(passive, func(j int) bool {
			gone := x[j] <= 0
			if gone {
				x[j] = 0
			}
			return gone
		})
	}
	return x, passive
}

func norm(x []float64) float64 {
	sum := 0.0
	for _, v := range x {
		sum = math.Hypot(sum, v)
	}
	return sum
}
