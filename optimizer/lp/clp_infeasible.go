//go:build cgo && clp

package lp

// #include <Clp_C_Interface.h>
import "C"

// infeasible reports whether there is provably no solution. Clp says so of some
// problems without a proof, and the rays that it gives may have costs mixed in
// (https://github.com/coin-or/Clp/issues/79). Rows that prove it alone, and the
// primal method with costs of zero, close these gaps.
func (s *clpSolver) infeasible() bool {
	if s.rayProves() || s.given.hasUnreachableRow() {
		return true
	}
	zero := make([]float64, s.given.columns())
	C.Clp_chgObjCoefficients(s.model, doubles(zero))
	status := s.run(attempt{method: primalMethod, scaling: automaticScaling, tolerance: 1e-9})
	proven := status == Infeasible && s.rayProves()
	C.Clp_chgObjCoefficients(s.model, doubles(s.given.cost))
	return proven
}

// rayProves checks the infeasibility ray of the last run.
func (s *clpSolver) rayProves() bool {
	ray := C.Clp_infeasibilityRay(s.model)
	if ray == nil {
		return false
	}
	copyOut(s.dual, ray)
	C.Clp_freeRay(s.model, ray)
	dropRounding(s.dual)
	return s.given.provesInfeasible(s.dual)
}

// hasUnreachableRow reports whether some row cannot hold, whatever values within
// their bounds the columns have.
func (g *program) hasUnreachableRow() bool {
	activity := make([]interval, g.rows())
	for j := range g.cost {
		indices, coefficients := g.entries(j)
		for k, i := range indices {
			activity[i].add(coefficients[k], g.lower[j], g.upper[j])
		}
	}
	for i, a := range activity {
		margin := rounding * a.magnitude
		if a.low > g.rowUpper[i]+margin || a.high < g.rowLower[i]-margin {
			return true
		}
	}
	return false
}
