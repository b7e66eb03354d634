package lp

import "math"

// smallShift is the size of the shifts, in tolerances of the reduced cost: large
// enough that steps along them count as progress.
const smallShift = 1000

// runDual moves the values of all variables into their bounds, for the costs with
// shifts. It chooses rows by dual steepest edge (J. Forrest, D. Goldfarb,
// Steepest-edge simplex algorithms for linear programming, 1992) and columns by
// Harris's ratio test with bound flipping (I. Maros, A generalized dual phase-2
// simplex algorithm, 2003). If it makes no headway it first spreads the reduced
// costs apart and then turns to Bland's rule, which cannot cycle.
func (s *simplex) runDual() outcome {
	s.admit()
	s.weigh()
	stalled, apart := 0, false
	for {
		if stalled > s.patience && !apart {
			s.spreadReduced()
			apart = true
		}
		bland := stalled > 2*s.patience
		position := s.violated(bland)
		if position < 0 {
			return done
		}
		if s.iterations >= s.limit {
			return exhausted
		}
		if s.updates >= s.refactorAfter {
			s.restoreDual()
			continue
		}
		gain, result := s.iterateDual(position, bland)
		switch {
		case result == inaccurate && s.updates > 0:
			s.restoreDual()
		case result != done:
			return result
		case gain:
			stalled = 0
		default:
			stalled++
		}
	}
}

// iterateDual lets the variable at a position leave and returns whether the
// objective gains. It is inaccurate, and changes nothing, where a fresh inverse
// should decide.
func (s *simplex) iterateDual(position int, bland bool) (gain bool, result outcome) {
	s.computePivotRow(position)
	entering := s.dualRatio(position, bland)
	switch fresh := s.updates == 0; {
	case entering < 0 && fresh && s.unreachable(position):
		return false, blocked
	case entering < 0,
		!fresh && math.Abs(s.pivotRow.value[entering]) < safePivot,
		!s.enter(entering):
		return false, inaccurate
	}
	gain = math.Abs(s.reduced[entering]) > s.slack[entering]
	s.dualStep(position, entering)
	return gain, done
}

// restoreDual refreshes the inverse and makes the basis dual feasible again.
func (s *simplex) restoreDual() {
	s.recompute()
	s.admit()
	s.weigh()
}

// admit makes the basis dual feasible: variables with two bounds move to the one
// that suits their reduced cost, the costs of others are shifted.
func (s *simplex) admit() {
	moved := false
	for v := range s.place {
		if s.attraction(v) == 0 {
			continue
		}
		switch {
		case s.place[v] == free:
			s.shiftTo(v, 0)
		case !math.IsInf(s.lower[v], -1) && !math.IsInf(s.upper[v], 1):
			if s.place[v] == atLower {
				s.place[v] = atUpper
			} else {
				s.place[v] = atLower
			}
			moved = true
		default:
			s.shiftTo(v, s.smallReduced(v))
		}
	}
	if moved {
		s.computeValues()
	}
}

// shiftTo changes the cost of a variable outside the basis so that its reduced
// cost is as given.
func (s *simplex) shiftTo(v int, reduced float64) {
	s.shift[v] += reduced - s.reduced[v]
	s.reduced[v] = reduced
}

// smallReduced is a reduced cost that suits a variable's place, differs from
// others and is small.
func (s *simplex) smallReduced(v int) float64 {
	d := smallShift * s.slack[v] * spread(v)
	if s.place[v] == atUpper {
		return -d
	}
	return d
}

// spreadReduced moves reduced costs near zero apart.
func (s *simplex) spreadReduced() {
	for v := range s.place {
		if s.place[v] > atUpper || s.lower[v] == s.upper[v] {
			continue
		}
		if d := s.smallReduced(v); math.Abs(s.reduced[v]) < math.Abs(d) {
			s.shiftTo(v, d)
		}
	}
}

// weigh computes the steepest-edge weights: the squared norms of the rows of the
// inverse.
func (s *simplex) weigh() {
	for i := range s.weight {
		s.weight[i] = s.weightOf(i)
	}
}

func (s *simplex) weightOf(position int) float64 {
	sum := 0.0
	for _, a := range s.inverseRow(position) {
		sum += a * a
	}
	return sum
}

// violated returns the position whose variable should leave, or −1 if all values
// are within their bounds.
func (s *simplex) violated(bland bool) int {
	best, merit := -1, 0.0
	for i, v := range s.head {
		excess := s.violation(int(v))
		if excess == 0 {
			continue
		}
		if bland {
			if best < 0 || v < s.head[best] {
				best = i
			}
			continue
		}
		if m := excess * excess / s.weight[i]; m > merit {
			best, merit = i, m
		}
	}
	return best
}

// dualStep flips the variables that the ratio test passed and exchanges the
// variable at a position for the entering one.
func (s *simplex) dualStep(position, entering int) {
	leaving := int(s.head[position])
	to, bound := atLower, s.lower[leaving]
	if s.violation(leaving) > 0 {
		to, bound = atUpper, s.upper[leaving]
	}
	s.flipPassed()
	s.move(entering, (s.value[leaving]-bound)/s.column[position])
	s.keepSigns(position, entering, to)
	s.pivot(position, entering, to)
	for i, a := range s.column {
		if a != 0 {
			s.weight[i] = s.weightOf(i)
		}
	}
}

// flipPassed moves the variables that the ratio test passed to their other bounds.
func (s *simplex) flipPassed() {
	if len(s.choice.passed) == 0 {
		return
	}
	clear(s.delta)
	for _, v := range s.choice.passed {
		step := s.upper[v] - s.lower[v]
		if s.place[v] == atLower {
			s.place[v], s.value[v] = atUpper, s.upper[v]
		} else {
			s.place[v], s.value[v], step = atLower, s.lower[v], -step
		}
		s.accumulate(int(v), step, s.delta)
	}
	s.solveDense(s.delta, s.multiplier)
	for i, v := range s.head {
		s.value[v] -= s.multiplier[i]
	}
}

// keepSigns shifts costs where the step that Harris's test allows would give a
// reduced cost the wrong sign.
func (s *simplex) keepSigns(position, entering int, to place) {
	step := s.reduced[entering] / s.column[position]
	if step > 0 && to == atLower || step < 0 && to == atUpper {
		s.shiftTo(entering, 0)
		return
	}
	for _, v := range s.pivotRow.touched {
		if s.place[v] == basic || int(v) == entering || s.lower[v] == s.upper[v] {
			continue
		}
		change := step * s.pivotRow.value[v]
		after := s.reduced[v] - change
		wrong := s.place[v] == atLower && after < 0 || s.place[v] == atUpper && after > 0
		if wrong {
			s.shiftTo(int(v), change)
		}
	}
}

// unreachable confirms that the violated bound at a position cannot be met: the
// row of the inverse proves it.
func (s *simplex) unreachable(position int) bool {
	copy(s.dual, s.inverseRow(position))
	dropRounding(s.dual)
	for i, scale := range s.rowScale {
		s.dual[i] *= scale
	}
	return s.given.provesInfeasible(s.dual)
}
