//go:build cgo && clp

package lp

/*
#cgo pkg-config: clp
#include <Clp_C_Interface.h>
*/
import "C"

import (
	"errors"
	"runtime"
	"unsafe"
)

// Clp returns the COIN-OR Clp engine, named "clp", and false in a build without
// it.
//
// An assertion that fails inside Clp ends the process, so Clp sees only problems
// that are scaled and tame, by its plain primal and dual methods:
// Clp_initialSolve would also install a C signal handler for interrupts. What Clp
// gives no certified answer to, the pure Go engine solves.
func Clp() (Engine, bool) { return clpEngine{}, true }

type clpEngine struct{}

func (clpEngine) Name() string { return "clp" }

func (clpEngine) New(p *Problem) (Solver, error) {
	if err := p.check(); err != nil {
		return nil, err
	}
	given := newProgram(p)
	s := &clpSolver{given: given, matrix: newMatrix(&given), model: C.Clp_newModel(), unit: 1}
	if s.model == nil {
		return nil, errors.New("lp: Clp could not make a model")
	}
	s.cleanup = runtime.AddCleanup(s, func(model unsafe.Pointer) { C.Clp_deleteModel(model) }, s.model)
	C.Clp_setLogLevel(s.model, 0)
	C.Clp_scaling(s.model, 0)
	C.Clp_setPrimalTolerance(s.model, 1e-9)
	C.Clp_setDualTolerance(s.model, 1e-9)
	s.dual = make([]float64, given.rows())
	s.loadRows()
	return s, nil
}

// clpSolver is a problem held by Clp. Changes are kept in Go; Solve hands them
// over, so that only New, Solve and Close call C.
type clpSolver struct {
	given program
	matrix

	// model is a Clp_Simplex, nil after Close. The cleanup frees that of a solver
	// that is forgotten unclosed, hence the KeepAlive after the last use of model.
	model   unsafe.Pointer
	cleanup runtime.Cleanup

	// loaded counts the columns that Clp has.
	loaded                             int
	boundsMoved, costsMoved, rowsMoved bool
	// wildEntries, wildCosts say that Clp must not see the problem.
	wildEntries, wildCosts bool
	// unit is the factor of all costs in Clp.
	unit float64
	// low, high, costs and starts are what is handed over; places are those of the
	// columns, then of the rows.
	low, high, costs []float64
	starts           []int32
	places           []byte

	iterations, limit int
	x, reduced, dual  []float64

	// other is the pure Go solver of the same problem, nil before it is needed;
	// fallBacks counts the solves that needed it.
	other     *simplex
	fallBacks int
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

// Multipliers implements Solver. Clp's C interface does not tell.
func (s *clpSolver) Multipliers(int) []float64 { return nil }

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

// Solve implements Solver. It tries Clp from the last basis and from a cold one.
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
	if s.wildEntries || s.wildCosts {
		return s.fallBack()
	}
	for _, cold := range []bool{false, true} {
		if cold {
			method = primalMethod
		}
		switch s.run(method, cold) {
		case Optimal:
			if objective, ok := s.certified(); ok {
				return s.solution(Optimal, objective)
			}
		case Infeasible:
			if s.rayProves() {
				return s.solution(Infeasible, 0)
			}
			return s.fallBack()
		case Unbounded:
			return s.fallBack()
		}
		if s.iterations >= s.limit {
			return s.solution(IterationLimit, 0)
		}
	}
	return s.fallBack()
}

func (s *clpSolver) solution(status Status, objective float64) Solution {
	return Solution{
		Status: status, Objective: objective, Iterations: s.iterations,
		X: s.x, Reduced: s.reduced, Dual: s.dual,
	}
}

type clpMethod bool

const (
	primalMethod clpMethod = false
	dualMethod   clpMethod = true
)

// run solves by one method, within what is left of the limit.
func (s *clpSolver) run(method clpMethod, cold bool) Status {
	hasFree := s.settleBasis(cold)
	C.Clp_setNumberIterations(s.model, 0)
	C.Clp_setMaximumIterations(s.model, C.int(min(s.limit-s.iterations, 1<<30)))
	if method == dualMethod && !hasFree {
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

// certified copies the solution out of Clp, unscales and certifies it.
func (s *clpSolver) certified() (objective float64, ok bool) {
	copyOut(s.x, C.Clp_primalColumnSolution(s.model))
	for j, scale := range s.columnScale {
		s.x[j] *= scale
	}
	s.copyMultipliers(C.Clp_dualRowSolution(s.model))
	return s.given.certify(s.x, s.dual, s.reduced)
}

// rayProves checks the infeasibility ray of the last run.
func (s *clpSolver) rayProves() bool {
	ray := C.Clp_infeasibilityRay(s.model)
	if ray == nil {
		return false
	}
	s.copyMultipliers(ray)
	C.Clp_freeRay(s.model, ray)
	dropRounding(s.dual)
	return s.given.provesInfeasible(s.dual)
}

// copyMultipliers copies multipliers of the rows and unscales them.
func (s *clpSolver) copyMultipliers(from *C.double) {
	copyOut(s.dual, from)
	for i, scale := range s.rowScale {
		s.dual[i] *= scale / s.unit
	}
}

func copyOut(to []float64, from *C.double) {
	if from != nil {
		copy(to, unsafe.Slice((*float64)(unsafe.Pointer(from)), len(to)))
	}
}
