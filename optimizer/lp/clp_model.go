//go:build cgo && clp

package lp

// #include <Clp_C_Interface.h>
import "C"

import (
	"math"
	"unsafe"
)

// What Clp sees is within these magnitudes, far from those at which it takes
// numbers for infinite or zero.
const (
	// clpLarge bounds costs; variables' bounds from here on are no bounds for Clp.
	// An answer that they would have changed fails its certificate.
	clpLarge = 1e12
	// clpWidest bounds coefficients and, inversely, their smallness.
	clpWidest = 1e9
)

// loadRows gives Clp a problem without columns.
func (s *clpSolver) loadRows() {
	s.scaleRowBounds()
	none := []int32{0}
	C.Clp_loadProblem(s.model, 0, C.int(s.rows), ints(none), nil, nil, nil, nil, nil, doubles(s.low), doubles(s.high))
	s.places = make([]byte, s.rows)
}

// handOver gives Clp the changes since the last call and returns the method that
// suits them: changed bounds leave a basis dual feasible, changed costs and new
// columns leave it primal feasible.
func (s *clpSolver) handOver() clpMethod {
	method := dualMethod
	if s.costsMoved || s.loaded > 0 && s.loaded < s.given.columns() {
		method = primalMethod
	}
	if s.loaded < s.given.columns() {
		s.addColumns()
		s.costsMoved = true
	}
	if s.boundsMoved {
		s.scaleColumnBounds(0)
		C.Clp_chgColumnLower(s.model, doubles(s.low))
		C.Clp_chgColumnUpper(s.model, doubles(s.high))
	}
	if s.rowsMoved {
		s.scaleRowBounds()
		C.Clp_chgRowLower(s.model, doubles(s.low))
		C.Clp_chgRowUpper(s.model, doubles(s.high))
	}
	if s.costsMoved {
		s.scaleCosts()
		C.Clp_chgObjCoefficients(s.model, doubles(s.costs))
	}
	s.boundsMoved, s.rowsMoved, s.costsMoved = false, false, false
	return method
}

// addColumns gives Clp the columns that it lacks, their costs still zero.
func (s *clpSolver) addColumns() {
	first, more := s.loaded, s.given.columns()-s.loaded
	s.matrix.grow(&s.given)
	from := s.start[s.rows+first]
	s.starts = s.starts[:0]
	for _, start := range s.start[s.rows+first:] {
		s.starts = append(s.starts, start-from)
	}
	for _, a := range s.coefficient[from:] {
		a = math.Abs(a)
		s.wildEntries = s.wildEntries || a > clpWidest || a < 1/clpWidest
	}
	s.scaleColumnBounds(first)
	s.costs = append(s.costs[:0], make([]float64, more)...)
	C.Clp_addColumns(s.model, C.int(more), doubles(s.low), doubles(s.high), doubles(s.costs),
		ints(s.starts), ints(s.row[from:]), doubles(s.coefficient[from:]))
	s.loaded = s.given.columns()
	s.x, s.reduced = append(s.x, make([]float64, more)...), append(s.reduced, make([]float64, more)...)
	s.places = append(s.places, make([]byte, more)...)
}

// scaleColumnBounds fills low and high with the bounds of the columns from the
// first on.
func (s *clpSolver) scaleColumnBounds(first int) {
	s.low, s.high = s.low[:0], s.high[:0]
	for j := first; j < s.given.columns(); j++ {
		s.appendBounds(s.given.lower[j]/s.columnScale[j], s.given.upper[j]/s.columnScale[j])
	}
}

// scaleRowBounds fills low and high with the bounds of the rows.
func (s *clpSolver) scaleRowBounds() {
	s.low, s.high = s.low[:0], s.high[:0]
	for i, scale := range s.rowScale {
		s.appendBounds(s.given.rowLower[i]*scale, s.given.rowUpper[i]*scale)
	}
}

func (s *clpSolver) appendBounds(lower, upper float64) {
	if lower <= -clpLarge {
		lower = -math.MaxFloat64
	}
	if upper >= clpLarge {
		upper = math.MaxFloat64
	}
	s.low = append(s.low, min(lower, clpLarge))
	s.high = append(s.high, max(upper, -clpLarge))
}

// scaleCosts fills costs with those of all columns.
func (s *clpSolver) scaleCosts() {
	s.unit = s.costScale(&s.given)
	s.costs = s.costs[:0]
	s.wildCosts = false
	for j, c := range s.given.cost {
		c *= s.columnScale[j] * s.unit
		s.costs = append(s.costs, c)
		s.wildCosts = s.wildCosts || math.Abs(c) > clpLarge
	}
}

// Clp's names for the places of variables.
const (
	clpFree    = 0
	clpBasic   = 1
	clpAtUpper = 2
	clpAtLower = 3
)

// settleBasis gives every variable a place that its bounds allow, from the last
// basis or a cold one, and reports whether one outside the basis has no bounds at
// all: Clp's dual method asserts that there is none.
func (s *clpSolver) settleBasis(cold bool) (hasFree bool) {
	last := unsafe.Slice((*byte)(unsafe.Pointer(C.Clp_statusArray(s.model))), len(s.places))
	n := s.given.columns()
	for k := range s.places {
		var scale, lower, upper float64
		if k < n {
			scale, lower, upper = 1/s.columnScale[k], s.given.lower[k], s.given.upper[k]
		} else {
			row := k - n
			scale, lower, upper = s.rowScale[row], s.given.rowLower[row], s.given.rowUpper[row]
		}
		place := last[k] & 7
		if cold {
			place = clpAtLower
			if k >= n {
				place = clpBasic
			}
		}
		s.places[k] = clpPlace(place, lower*scale > -clpLarge, upper*scale < clpLarge)
		hasFree = hasFree || s.places[k] == clpFree
	}
	if len(s.places) > 0 {
		C.Clp_copyinStatus(s.model, (*C.uchar)(unsafe.Pointer(unsafe.SliceData(s.places))))
	}
	return hasFree
}

// clpPlace returns the place nearest to the one given that the bounds allow.
func clpPlace(place byte, hasLower, hasUpper bool) byte {
	switch {
	case place == clpBasic:
		return clpBasic
	case !hasLower && !hasUpper:
		return clpFree
	case hasLower && (place != clpAtUpper || !hasUpper):
		return clpAtLower
	}
	return clpAtUpper
}

func doubles(array []float64) *C.double {
	return (*C.double)(unsafe.Pointer(unsafe.SliceData(array)))
}

func ints(array []int32) *C.int { return (*C.int)(unsafe.Pointer(unsafe.SliceData(array))) }
