package lp

// Problem is a linear program in column form:
//
//	minimise c·x  subject to  RowLower ≤ A·x ≤ RowUpper,  Lower ≤ x ≤ Upper.
//
// Bounds may be ±math.Inf; coefficients are finite.
type Problem struct {
	RowLower, RowUpper []float64
	Columns            []Column
}

// Column is a variable with its coefficients.
type Column struct {
	Cost         float64
	Lower, Upper float64
	// Rows are distinct row indices in increasing order, Values their coefficients.
	Rows   []int32
	Values []float64
}

// Status is the outcome of a solve.
type Status int

const (
	// Optimal: the solution is optimal within the engine's tolerances.
	Optimal Status = iota
	// Infeasible: no x satisfies the rows and bounds.
	Infeasible
	// Unbounded: the objective has no minimum.
	Unbounded
	// IterationLimit: the limit was reached first, or numerics failed.
	IterationLimit
)

// String returns the status in words.
func (s Status) String() string {
	switch s {
	case Optimal:
		return "optimal"
	case Infeasible:
		return "infeasible"
	case Unbounded:
		return "unbounded"
	default:
		return "iteration limit"
	}
}

// Solution is what Solve found. Its slices belong to the solver and hold until
// its next call. Objective, X, Reduced and Dual mean something only when Status
// is Optimal.
type Solution struct {
	Status    Status
	Objective float64
	// X are the columns' values and Reduced their reduced costs.
	X, Reduced []float64
	// Dual has a multiplier for every row: the change of the optimum per unit of
	// the bound that binds.
	Dual []float64
	// Iterations counts pivots, for limits and reports.
	Iterations int
}

// Solver holds one problem and re-solves it from the last basis after changes.
// It is for one goroutine.
//
// A change that New would refuse (NaN, an infinite cost, an index out of range)
// leaves the problem as it was and is kept for Err. The exception is lower > upper,
// which branching produces: then there is no solution, and Solve says Infeasible.
type Solver interface {
	// SetBounds changes the bounds of a column.
	SetBounds(column int, lower, upper float64)
	// SetCost changes the cost of a column.
	SetCost(column int, cost float64)
	// SetRow changes the bounds of a row.
	SetRow(row int, lower, upper float64)
	// AddColumns appends columns.
	AddColumns(columns []Column)
	// Err returns the first change that was refused, or nil. After it Solve only
	// reports IterationLimit.
	Err() error
	// Solve runs at most limit pivots; 0 = the engine's own limit.
	Solve(limit int) Solution
	// Multipliers returns, for a basic column of an optimal solution, those of the rows
	// whose sum has coefficient 1 in the column and 0 in the other basic ones: a row of
	// the simplex tableau. It returns nil for other columns, or if the engine does not
	// tell.
	Multipliers(column int) []float64
	// Close frees what the solver holds outside Go. Closing twice is harmless; no
	// other call may follow.
	Close()
}

// Engine makes solvers.
type Engine interface {
	// Name is what users choose the engine by: "go" or "clp".
	Name() string
	// New checks the problem (dimensions, order of rows, finite coefficients,
	// lower ≤ upper) and loads it. The problem is copied.
	New(p *Problem) (Solver, error)
}
