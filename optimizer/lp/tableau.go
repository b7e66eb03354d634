package lp

import (
	"math"
	"slices"
)

// refresh computes values and reduced costs from the basis, without shifts.
func (s *simplex) refresh() {
	clear(s.shift)
	s.computeValues()
	s.computeReduced()
}

// unshift returns to the true costs.
func (s *simplex) unshift() {
	if slices.ContainsFunc(s.shift, func(shift float64) bool { return shift != 0 }) {
		clear(s.shift)
		s.computeReduced()
	}
}

// refactor computes the inverse afresh. Variables that fall out of a singular
// basis come to rest at their nearest bound.
func (s *simplex) refactor() {
	for _, v := range s.factorise(&s.matrix) {
		s.place[v] = atLower
		if s.upper[v]-s.value[v] < s.value[v]-s.lower[v] {
			s.place[v] = atUpper
		}
	}
	for _, v := range s.head {
		s.place[v] = basic
	}
}

// computeValues puts every variable outside the basis on its bound and computes
// the others, with one step of iterative refinement.
func (s *simplex) computeValues() {
	clear(s.delta)
	for v := range s.place {
		if s.place[v] == basic {
			continue
		}
		s.rest(v)
		s.accumulate(v, -s.value[v], s.delta)
	}
	s.solveDense(s.delta, s.column)
	for i, v := range s.head {
		s.value[v] = s.column[i]
		s.accumulate(int(v), -s.column[i], s.delta)
	}
	s.solveDense(s.delta, s.column)
	for i, v := range s.head {
		s.value[v] += s.column[i]
	}
}

// rest puts a variable outside the basis on a bound that exists.
func (s *simplex) rest(v int) {
	hasLower, hasUpper := !math.IsInf(s.lower[v], -1), !math.IsInf(s.upper[v], 1)
	switch {
	case !hasLower && !hasUpper:
		s.place[v], s.value[v] = free, 0
	case hasLower && (s.place[v] != atUpper || !hasUpper):
		s.place[v], s.value[v] = atLower, s.lower[v]
	default:
		s.place[v], s.value[v] = atUpper, s.upper[v]
	}
}

// accumulate adds a multiple of a variable's coefficients to a dense vector.
func (s *simplex) accumulate(v int, factor float64, vector []float64) {
	if factor == 0 {
		return
	}
	rows, coefficients := s.entries(v)
	for k, i := range rows {
		vector[i] += factor * coefficients[k]
	}
}

// computeReduced computes multipliers and reduced costs from the basis, with one
// step of iterative refinement.
func (s *simplex) computeReduced() {
	for i, v := range s.head {
		s.delta[i] = s.cost[v] + s.shift[v]
	}
	clear(s.multiplier)
	s.addTransposed(s.delta, s.multiplier)
	for i, v := range s.head {
		s.delta[i] = s.priceOut(int(v))
	}
	s.addTransposed(s.delta, s.multiplier)
	for v := range s.reduced {
		if s.place[v] == basic {
			s.reduced[v] = 0
		} else {
			s.reduced[v] = s.priceOut(v)
		}
	}
}

// priceOut is a variable's cost less the worth of its coefficients.
func (s *simplex) priceOut(v int) float64 {
	d := s.cost[v] + s.shift[v]
	rows, coefficients := s.entries(v)
	for k, i := range rows {
		d -= coefficients[k] * s.multiplier[i]
	}
	return d
}

// violation is by how much a variable's value lies beyond its lower bound
// (negative) or its upper bound (positive), 0 within the tolerance.
func (s *simplex) violation(v int) float64 {
	if below := s.value[v] - s.lower[v]; below < 0 && -below > s.permitted(v, below) {
		return below
	}
	if above := s.value[v] - s.upper[v]; above > 0 && above > s.permitted(v, above) {
		return above
	}
	return 0
}

// permitted is the tolerance of the bound on the side of an excess.
func (s *simplex) permitted(v int, excess float64) float64 {
	if excess < 0 {
		return s.tolerance * (1 + math.Abs(s.lower[v]))
	}
	return s.tolerance * (1 + math.Abs(s.upper[v]))
}

func (s *simplex) primalFeasible() bool {
	return !slices.ContainsFunc(s.head, func(v int32) bool { return s.violation(int(v)) != 0 })
}

// attraction is by how much a reduced cost invites its variable into the basis, 0
// within the tolerance.
func (s *simplex) attraction(v int) float64 {
	d := s.reduced[v]
	switch s.place[v] {
	case atLower:
		d = -d
	case free:
		d = math.Abs(d)
	case basic:
		return 0
	}
	if d <= s.slack[v] || s.lower[v] == s.upper[v] {
		return 0
	}
	return d
}

func (s *simplex) dualFeasible() bool {
	for v := range s.place {
		if s.attraction(v) > 0 {
			return false
		}
	}
	return true
}

// enter computes the column of a variable and reports whether the inverse is
// accurate for it.
func (s *simplex) enter(v int) bool {
	rows, coefficients := s.entries(v)
	s.solveColumn(rows, coefficients, s.column)
	clear(s.delta)
	s.accumulate(v, 1, s.delta)
	largest := 1.0
	for i, w := range s.head {
		s.accumulate(int(w), -s.column[i], s.delta)
		largest = max(largest, math.Abs(s.column[i]))
	}
	for _, residual := range s.delta {
		if !(math.Abs(residual) <= 1e-9*largest) {
			return false
		}
	}
	return true
}

// move changes the value of the variable that s.column belongs to.
func (s *simplex) move(v int, step float64) {
	s.value[v] += step
	if step == 0 {
		return
	}
	for i, a := range s.column {
		if a != 0 {
			s.value[s.head[i]] -= step * a
		}
	}
}

// pivot exchanges the variable at a position, which comes to rest at a bound, for
// the entering one, and updates the reduced costs.
func (s *simplex) pivot(position, entering int, to place) {
	leaving := int(s.head[position])
	step := s.reduced[entering] / s.column[position]
	for _, v := range s.pivotRow.touched {
		if s.place[v] != basic {
			s.reduced[v] -= step * s.pivotRow.value[v]
		}
	}
	s.reduced[entering], s.reduced[leaving] = 0, -step
	s.place[entering], s.place[leaving] = basic, to
	s.value[leaving] = s.lower[leaving]
	if to == atUpper {
		s.value[leaving] = s.upper[leaving]
	}
	s.exchange(position, entering, s.column)
	s.iterations++
}

// pivotRow is a row of the inverse times the matrix, kept sparse.
type pivotRow struct {
	value   []float64
	seen    []bool
	touched []int32
}

// computePivotRow computes the row at a position. A step in a variable changes
// the basic variable there by −step·value.
func (s *simplex) computePivotRow(position int) {
	r := &s.pivotRow
	for _, v := range r.touched {
		r.value[v], r.seen[v] = 0, false
	}
	r.touched = r.touched[:0]
	for i, factor := range s.inverseRow(position) {
		if factor == 0 {
			continue
		}
		for _, e := range s.byRow[i] {
			if !r.seen[e.variable] {
				r.seen[e.variable] = true
				r.touched = append(r.touched, e.variable)
			}
			r.value[e.variable] += factor * e.coefficient
		}
	}
}

// spread returns a number in [1, 2) that differs from variable to variable, to
// break ties between them: the fractional parts of multiples of the golden ratio.
func spread(v int) float64 {
	_, fraction := math.Modf(float64(v) * (math.Sqrt(5) - 1) / 2)
	return 1 + fraction
}
