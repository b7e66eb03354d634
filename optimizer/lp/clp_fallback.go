//go:build cgo && clp

package lp

// fallBack solves by the pure Go simplex what Clp gave no certified answer to: it
// declares some infeasible problems without a proof, or with a ray that has costs
// mixed in and proves nothing (https://github.com/coin-or/Clp/issues/79).
func (s *clpSolver) fallBack() Solution {
	g := &s.given
	if s.other == nil {
		s.other = newSimplex(newProgram(&Problem{RowLower: g.rowLower, RowUpper: g.rowUpper}))
	}
	for i := range g.rows() {
		s.other.SetRow(i, g.rowLower[i], g.rowUpper[i])
	}
	for j := range s.other.given.columns() {
		s.other.SetBounds(j, g.lower[j], g.upper[j])
		s.other.SetCost(j, g.cost[j])
	}
	var more []Column
	for j := s.other.given.columns(); j < g.columns(); j++ {
		rows, coefficients := g.entries(j)
		more = append(more, Column{
			Cost: g.cost[j], Lower: g.lower[j], Upper: g.upper[j], Rows: rows, Values: coefficients,
		})
	}
	s.other.AddColumns(more)
	solution := s.other.Solve(max(s.limit-s.iterations, 1))
	solution.Iterations += s.iterations
	s.fallBacks++
	return solution
}
