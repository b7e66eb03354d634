// Package compact writes allocation problems as one integer program each, the way
// that general solvers take them, and judges plans by its rows.
//
// It is written from the definition in package optimizer and shares no code with
// the solver, so that the two can be held against each other.
package compact
