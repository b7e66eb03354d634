//go:build cgo && clp

package lp

/*
#cgo pkg-config: clp
#include <Clp_C_Interface.h>
*/
import "C"

import (
	"errors"
	"math"
	"runtime"
	"unsafe"
)

// Clp returns the COIN-OR Clp engine, named "clp", and false in a build without
// it.
//
// The binding calls Clp's dual and primal methods directly. Clp_initialSolve would
// install a C signal handler for interrupts, which a Go process must not have.
func Clp() (Engine, bool) { return clpEngine{}, true }

type clpEngine struct{}

func (clpEngine) Name() string { return "clp" }

func (clpEngine) New(p *Problem) (Solver, error) {
	if err := p.check(); err != nil {
		return nil, err
	}
	s := &clpSolver{given: newProgram(p), model: C.Clp_newModel()}
	if s.model == nil {
		return nil, errors.New("lp: Clp could not make a model")
	}
	s.cleanup = runtime.AddCleanup(s, func(model unsafe.Pointer) { C.Clp_deleteModel(model) }, s.model)
	C.Clp_setLogLevel(s.model, 0)
	s.dual = make([]float64, s.given.rows())
	s.loadAll()
	return s, nil
}

// clpSolver is a problem held by Clp. Changes are kept in Go; Solve hands them
// over, so that only New, Solve and Close call C.
type clpSolver struct {
	given program
	// model is a Clp_Simplex, nil after Close. A solver that is forgotten unclosed is freed by
	// the cleanup, hence the KeepAlive after the last use of model.
	model   unsafe.Pointer
	cleanup runtime.Cleanup

	// loaded counts the columns that Clp has.
	loaded                             int
	boundsMoved, costsMoved, rowsMoved bool
	iterations, limit                  int
	x, reduced, dual                   []float64
	// low and high are bounds in Clp's form, starts that of added columns.
	low, high []float64
	starts    []int32
}

// SetBounds implements Solver.
func (s *clpSolver) SetBounds(column int, lower, upper float64) {
	s.boundsMoved = s.given.setBounds(column, lower, upper) || s.boundsMoved
}

// SetCost implements Solver.
func (s *clpSolver) SetCost(column int, cost float64) {
	s.costsMoved = s.given.setCost(column, cost) || s.costsMoved
}

// SetRow implements Solver.
func (s *clpSolver) SetRow(row int, lower, upper float64) {
	s.rowsMoved = s.given.setRow(row, lower, upper) || s.rowsMoved
}

// AddColumns implements Solver.
func (s *clpSolver) AddColumns(columns []Column) { s.given.add(columns) }

// Err implements Solver.
func (s *clpSolver) Err() error { return s.given.refused }

// Close implements Solver.
func (s *clpSolver) Close() {
	if s.model == nil {
		return
	}
	s.cleanup.Stop()
	C.Clp_deleteModel(s.model)
	s.model = nil
	s.given.refuse(errors.New("lp: the solver is closed"))
}

// Solve implements Solver.
func (s *clpSolver) Solve(limit int) Solution {
	defer runtime.KeepAlive(s)
	s.iterations = 0
	if status, settled := s.given.settled(); settled {
		return s.solution(status, 0)
	}
	if limit <= 0 {
		limit = 10000 + 50*(s.given.rows()+s.given.columns())
	}
	s.limit = limit
	method := s.handOver()
	attempts := []attempt{
		{method: method, scaling: automaticScaling, tolerance: 1e-9},
		{method: primalMethod, cold: true, scaling: noScaling, tolerance: 1e-9},
		{method: dualMethod, cold: true, scaling: automaticScaling, tolerance: 1e-7},
	}
	for _, a := range attempts {
		switch status := s.run(a); {
		case status == Optimal:
			if objective, ok := s.certified(); ok {
				return s.solution(Optimal, objective)
			}
		case status == Unbounded && a.method == primalMethod:
			return s.solution(Unbounded, 0)
		case s.iterations >= s.limit:
			return s.solution(IterationLimit, 0)
		case status != Unbounded && s.infeasible():
			return s.solution(Infeasible, 0)
		}
	}
	return s.solution(IterationLimit, 0)
}

func (s *clpSolver) solution(status Status, objective float64) Solution {
	return Solution{
		Status: status, Objective: objective, Iterations: s.iterations,
		X: s.x, Reduced: s.reduced, Dual: s.dual,
	}
}

// Clp's names for its scalings, and ours for its methods.
const (
	noScaling        = 0
	automaticScaling = 3
)

type clpMethod bool

const (
	primalMethod clpMethod = false
	dualMethod   clpMethod = true
)

// attempt is a way to solve.
type attempt struct {
	method    clpMethod
	cold      bool
	scaling   C.int
	tolerance C.double
}

// run solves in one way, within what is left of the limit.
func (s *clpSolver) run(a attempt) Status {
	if a.cold {
		s.slackBasis()
	}
	C.Clp_scaling(s.model, a.scaling)
	C.Clp_setPrimalTolerance(s.model, a.tolerance)
	C.Clp_setDualTolerance(s.model, a.tolerance)
	C.Clp_setNumberIterations(s.model, 0)
	C.Clp_setMaximumIterations(s.model, C.int(min(s.limit-s.iterations, math.MaxInt32)))
	if a.method == dualMethod {
		C.Clp_dual(s.model, 0)
	} else {
		C.Clp_primal(s.model, 0)
	}
	s.iterations += int(C.Clp_numberIterations(s.model))
	switch C.Clp_status(s.model) {
	case 0:
		return Optimal
	case 1:
		return Infeasible
	case 2:
		return Unbounded
	}
	return IterationLimit
}

// Clp's names for the places of variables.
const (
	clpFree    = 0
	clpBasic   = 1
	clpAtUpper = 2
	clpAtLower = 3
)

// slackBasis returns to the basis of all rows.
func (s *clpSolver) slackBasis() {
	for i := range s.given.rows() {
		C.Clp_setRowStatus(s.model, C.int(i), clpBasic)
	}
	for j := range s.given.columns() {
		place := C.int(clpAtLower)
		if math.IsInf(s.given.lower[j], -1) {
			place = clpAtUpper
			if math.IsInf(s.given.upper[j], 1) {
				place = clpFree
			}
		}
		C.Clp_setColumnStatus(s.model, C.int(j), place)
	}
}

// certified copies the solution out of Clp and certifies it.
func (s *clpSolver) certified() (objective float64, ok bool) {
	copyOut(s.x, C.Clp_primalColumnSolution(s.model))
	copyOut(s.dual, C.Clp_dualRowSolution(s.model))
	return s.given.certify(s.x, s.dual, s.reduced)
}

// copyOut copies an array of Clp's.
func copyOut(to []float64, from *C.double) {
	if from != nil {
		copy(to, unsafe.Slice((*float64)(unsafe.Pointer(from)), len(to)))
	}
}

// loadAll gives Clp the whole problem.
func (s *clpSolver) loadAll() {
	g := &s.given
	rowLow, rowHigh := clpBounds(nil, g.rowLower), clpBounds(nil, g.rowUpper)
	s.low, s.high = clpBounds(s.low, g.lower), clpBounds(s.high, g.upper)
	C.Clp_loadProblem(s.model, C.int(g.columns()), C.int(g.rows()),
		ints(g.start), ints(g.row), doubles(g.coefficient),
		doubles(s.low), doubles(s.high), doubles(g.cost), doubles(rowLow), doubles(rowHigh))
	s.loaded = g.columns()
	s.x, s.reduced = make([]float64, s.loaded), make([]float64, s.loaded)
}

// handOver gives Clp the changes since the last call and returns the method that
// suits them: changed bounds leave a basis dual feasible, changed costs and new
// columns leave it primal feasible.
func (s *clpSolver) handOver() clpMethod {
	g, method := &s.given, dualMethod
	if s.loaded < g.columns() {
		s.addColumns()
		method = primalMethod
	}
	if s.boundsMoved {
		s.low, s.high = clpBounds(s.low, g.lower), clpBounds(s.high, g.upper)
		C.Clp_chgColumnLower(s.model, doubles(s.low))
		C.Clp_chgColumnUpper(s.model, doubles(s.high))
	}
	if s.rowsMoved {
		s.low, s.high = clpBounds(s.low, g.rowLower), clpBounds(s.high, g.rowUpper)
		C.Clp_chgRowLower(s.model, doubles(s.low))
		C.Clp_chgRowUpper(s.model, doubles(s.high))
	}
	if s.costsMoved {
		C.Clp_chgObjCoefficients(s.model, doubles(g.cost))
		method = primalMethod
	}
	s.boundsMoved, s.rowsMoved, s.costsMoved = false, false, false
	return method
}

// addColumns gives Clp the columns that it lacks.
func (s *clpSolver) addColumns() {
	g, first := &s.given, s.loaded
	s.starts = s.starts[:0]
	from := g.start[first]
	for _, start := range g.start[first:] {
		s.starts = append(s.starts, start-from)
	}
	s.low, s.high = clpBounds(s.low, g.lower[first:]), clpBounds(s.high, g.upper[first:])
	more := g.columns() - first
	C.Clp_addColumns(s.model, C.int(more), doubles(s.low), doubles(s.high), doubles(g.cost[first:]),
		ints(s.starts), ints(g.row[from:]), doubles(g.coefficient[from:]))
	s.loaded = g.columns()
	s.x, s.reduced = append(s.x, make([]float64, more)...), append(s.reduced, make([]float64, more)...)
}

// clpBounds copies bounds into an array, with Clp's infinity.
func clpBounds(to, from []float64) []float64 {
	to = to[:0]
	for _, bound := range from {
		to = append(to, min(max(bound, -math.MaxFloat64), math.MaxFloat64))
	}
	return to
}

func doubles(array []float64) *C.double {
	return (*C.double)(unsafe.Pointer(unsafe.SliceData(array)))
}

func ints(array []int32) *C.int { return (*C.int)(unsafe.Pointer(unsafe.SliceData(array))) }
