package lp

import (
	"math"
	"slices"
)

// Simplex returns the pure Go engine, named "go": a bounded-variable revised
// simplex with a dense inverse, for a few hundred rows and tens of thousands of
// sparse columns.
//
// From any basis it first runs the dual method (steepest edge, bound flipping)
// until the rows and bounds hold, with the costs of dual infeasible columns
// shifted, then the primal method (Devex) with the true costs. After changed
// bounds only the dual has work to do, after changed costs and added columns only
// the primal. See A. Koberstein, The dual simplex method, techniques for a fast and
// stable implementation, 2005.
func Simplex() Engine { return simplexEngine{} }

type simplexEngine struct{}

func (simplexEngine) Name() string { return "go" }

func (simplexEngine) New(p *Problem) (Solver, error) {
	if err := p.check(); err != nil {
		return nil, err
	}
	return newSimplex(newProgram(p)), nil
}

// newSimplex takes over a program that has been checked.
func newSimplex(given program) *simplex {
	s := &simplex{patience: 200, refactorAfter: 100, given: given, matrix: newMatrix(&given), basis: newBasis(given.rows())}
	m := given.rows()
	s.column, s.delta, s.multiplier = make([]float64, m), make([]float64, m), make([]float64, m)
	s.weight, s.dual = make([]float64, m), make([]float64, m)
	s.byRow = make([][]element, m)
	for i := range m {
		s.byRow[i] = []element{{int32(i), -1}}
	}
	s.grow(m)
	for i := range m {
		s.loadRow(i)
		s.place[i] = basic
	}
	s.loadColumns(0)
	return s
}

// place says where a variable is.
type place uint8

const (
	atLower place = iota
	atUpper
	// free variables out of the basis are zero.
	free
	basic
)

// outcome is how a method ended.
type outcome int

const (
	// done: the method reached its goal.
	done outcome = iota
	// blocked: there is no solution, or no minimum.
	blocked
	// exhausted: the iteration limit came first.
	exhausted
	// inaccurate: rounding errors stand in the way.
	inaccurate
)

// simplex is the solver. Its variables are the activities of the rows, then the
// columns, as in matrix; arrays per variable are scaled as the matrix is.
type simplex struct {
	given program
	matrix
	basis

	// byRow holds the entries of the matrix row by row.
	byRow [][]element

	lower, upper, cost []float64
	// shift is added to the cost while the dual method runs.
	shift []float64
	place []place
	// value and reduced are the variables' values and reduced costs.
	value, reduced []float64
	// slack is the tolerance of each reduced cost.
	slack []float64
	// tolerance is relative: of values to one and their bounds, of reduced costs
	// to a typical cost and their own.
	tolerance  float64
	costsMoved bool

	pivotRow pivotRow
	devex    []float64
	// weight holds the dual steepest-edge weights by position.
	weight []float64
	// column is the entering column times the inverse; delta and multiplier are
	// scratch of one entry per row.
	column, delta, multiplier []float64
	choice                    dualChoice

	// patience is the number of consecutive steps without gain after which a method
	// turns to rules that cannot cycle.
	patience int
	// refactorAfter bounds the exchanges between two factorisations.
	refactorAfter     int
	iterations, limit int
	x, reportedCosts  []float64
	dual              []float64
}

// element is an entry of a row.
type element struct {
	variable    int32
	coefficient float64
}

// indexRows takes over the entries of the variables from the first on.
func (s *simplex) indexRows(first int) {
	counts := make([]int, s.rows)
	for _, i := range s.row[s.start[first]:] {
		counts[i]++
	}
	for i, count := range counts {
		s.byRow[i] = slices.Grow(s.byRow[i], count)
	}
	for v := first; v < len(s.start)-1; v++ {
		rows, coefficients := s.entries(v)
		for k, i := range rows {
			s.byRow[i] = append(s.byRow[i], element{int32(v), coefficients[k]})
		}
	}
}

// grow lengthens the arrays per variable.
func (s *simplex) grow(variables int) {
	more := variables - len(s.cost)
	for _, array := range []*[]float64{
		&s.lower, &s.upper, &s.cost, &s.shift, &s.value, &s.reduced, &s.slack, &s.devex, &s.pivotRow.value,
	} {
		*array = append(*array, make([]float64, more)...)
	}
	s.place = append(s.place, make([]place, more)...)
	s.pivotRow.seen = append(s.pivotRow.seen, make([]bool, more)...)
	for len(s.position) < variables {
		s.position = append(s.position, -1)
	}
}

// loadColumns takes over the program's columns from the first on.
func (s *simplex) loadColumns(first int) {
	n := s.given.columns()
	s.matrix.grow(&s.given)
	s.indexRows(s.rows + first)
	s.grow(s.rows + n)
	s.x = append(s.x, make([]float64, n-len(s.x))...)
	s.reportedCosts = append(s.reportedCosts, make([]float64, n-len(s.reportedCosts))...)
	for j := first; j < n; j++ {
		s.loadBounds(j)
		s.cost[s.rows+j] = s.given.cost[j] * s.columnScale[j]
	}
	s.costsMoved = true
}

func (s *simplex) loadBounds(column int) {
	v, scale := s.rows+column, s.columnScale[column]
	s.lower[v], s.upper[v] = s.given.lower[column]/scale, s.given.upper[column]/scale
}

func (s *simplex) loadRow(row int) {
	scale := s.rowScale[row]
	s.lower[row], s.upper[row] = s.given.rowLower[row]*scale, s.given.rowUpper[row]*scale
}

// SetBounds implements Solver.
func (s *simplex) SetBounds(column int, lower, upper float64) {
	if s.given.setBounds(column, lower, upper) {
		s.loadBounds(column)
	}
}

// SetCost implements Solver.
func (s *simplex) SetCost(column int, cost float64) {
	if s.given.setCost(column, cost) {
		s.cost[s.rows+column] = cost * s.columnScale[column]
		s.costsMoved = true
	}
}

// SetRow implements Solver.
func (s *simplex) SetRow(row int, lower, upper float64) {
	if s.given.setRow(row, lower, upper) {
		s.loadRow(row)
	}
}

// AddColumns implements Solver.
func (s *simplex) AddColumns(columns []Column) {
	first := s.given.columns()
	if s.given.add(columns) {
		s.loadColumns(first)
	}
}

// Err implements Solver.
func (s *simplex) Err() error { return s.given.refused }

// Close implements Solver.
func (s *simplex) Close() {}

// Solve implements Solver.
func (s *simplex) Solve(limit int) Solution {
	if status, settled := s.given.settled(); settled {
		return s.solution(status, 0)
	}
	if limit <= 0 {
		limit = 1000 + 10*len(s.cost)
	}
	s.iterations, s.limit = 0, limit
	attempts := []struct {
		cold      bool
		tolerance float64
	}{{false, 1e-9}, {true, 1e-9}, {true, 1e-7}}
	for _, attempt := range attempts {
		if attempt.cold {
			s.restart()
		}
		s.setTolerance(attempt.tolerance)
		switch status := s.optimise(); status {
		case Optimal:
			if objective, ok := s.certified(); ok {
				return s.solution(Optimal, objective)
			}
		case Infeasible, Unbounded:
			return s.solution(status, 0)
		}
		if s.iterations >= s.limit {
			break
		}
	}
	return s.solution(IterationLimit, 0)
}

func (s *simplex) solution(status Status, objective float64) Solution {
	return Solution{
		Status: status, Objective: objective, Iterations: s.iterations,
		X: s.x, Reduced: s.reportedCosts, Dual: s.dual,
	}
}

// certified unscales the solution and certifies it.
func (s *simplex) certified() (objective float64, ok bool) {
	for j, scale := range s.columnScale {
		s.x[j] = s.value[s.rows+j] * scale
	}
	for i, scale := range s.rowScale {
		s.dual[i] = s.reduced[i] * scale
	}
	return s.given.certify(s.x, s.dual, s.reportedCosts)
}

// restart returns to the basis of all row activities.
func (s *simplex) restart() {
	for v := range s.place {
		s.place[v], s.position[v] = atLower, -1
	}
	for i := range s.head {
		s.head[i], s.position[i], s.place[i] = int32(i), int32(i), basic
	}
	s.refactor()
}

// setTolerance sets the tolerance of values and reduced costs.
func (s *simplex) setTolerance(tolerance float64) {
	if tolerance == s.tolerance && !s.costsMoved {
		return
	}
	s.tolerance, s.costsMoved = tolerance, false
	typical := 1 / s.costScale(&s.given)
	for v, c := range s.cost {
		s.slack[v] = tolerance * (typical + math.Abs(c))
	}
}

// rounds bounds how often the two methods take turns.
const rounds = 8

// optimise runs the methods in turn until both find nothing to do.
func (s *simplex) optimise() Status {
	for round := range rounds {
		if round > 1 && s.updates > 0 {
			s.refactor()
		}
		s.refresh()
		if !s.primalFeasible() {
			switch s.runDual() {
			case blocked:
				return Infeasible
			case exhausted:
				return IterationLimit
			case inaccurate:
				continue
			}
			s.unshift()
		} else if s.dualFeasible() {
			return Optimal
		}
		switch s.runPrimal() {
		case blocked:
			return Unbounded
		case exhausted:
			return IterationLimit
		}
	}
	return IterationLimit
}
