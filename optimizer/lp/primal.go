package lp

import "math"

const (
	// smallestPivot is the magnitude from which a scaled element may be a pivot,
	// safePivot that from which it may be one without a fresh inverse.
	smallestPivot = 1e-9
	safePivot     = 1e-6
)

// runPrimal makes a primal feasible basis optimal. It chooses columns by Devex
// pricing (P. Harris, Pivot selection methods of the Devex LP code, 1973) and, if
// it makes no headway, by Bland's rule, which cannot cycle.
func (s *simplex) runPrimal() outcome {
	for v := range s.devex {
		s.devex[v] = 1
	}
	stalled := 0
	for {
		bland := stalled > s.patience
		entering := s.attractive(bland)
		if entering < 0 {
			return done
		}
		if s.iterations >= s.limit {
			return exhausted
		}
		if s.updates >= s.refactorAfter {
			s.recompute()
			continue
		}
		gain, result := s.iteratePrimal(entering, bland)
		switch {
		case result == inaccurate && s.updates > 0:
			s.recompute()
		case result != done:
			return result
		case gain > s.slack[entering]*s.tolerance:
			stalled = 0
		default:
			stalled++
		}
	}
}

// iteratePrimal lets a variable enter and returns what the objective gains. It is
// inaccurate, and changes nothing, where a fresh inverse should decide.
func (s *simplex) iteratePrimal(entering int, bland bool) (gain float64, result outcome) {
	if !s.enter(entering) {
		return 0, inaccurate
	}
	direction := 1.0
	if s.reduced[entering] > 0 {
		direction = -1
	}
	position, step := s.primalRatio(direction, bland)
	own := s.upper[entering] - s.lower[entering]
	switch {
	case own <= step && !math.IsInf(own, 1):
		gain = math.Abs(s.reduced[entering]) * own
		s.flip(entering, direction*own)
	case s.updates > 0 && (position < 0 || math.Abs(s.column[position]) < safePivot):
		return 0, inaccurate
	case math.IsInf(step, 1):
		return 0, blocked
	case position < 0:
		return 0, inaccurate
	default:
		gain = math.Abs(s.reduced[entering]) * step
		s.primalStep(position, entering, direction, step)
	}
	return gain, done
}

// recompute refreshes the inverse and all that depends on it.
func (s *simplex) recompute() {
	s.refactor()
	s.computeValues()
	s.computeReduced()
}

// attractive returns the variable that should enter, or −1 at an optimum.
func (s *simplex) attractive(bland bool) int {
	best, merit := -1, 0.0
	for v := range s.place {
		d := s.attraction(v)
		if d == 0 {
			continue
		}
		if bland {
			return v
		}
		if m := d * d / s.devex[v]; m > merit {
			best, merit = v, m
		}
	}
	return best
}

// primalRatio returns the position of the basic variable that blocks the entering
// one first, and the step until then: −1 and +Inf if there is none. Harris's test
// lets bounds give by the tolerance and then takes the largest pivot; Bland's rule
// takes the first variable among those that block first.
func (s *simplex) primalRatio(direction float64, bland bool) (int, float64) {
	reach := math.Inf(1)
	for i, a := range s.column {
		room, rate, blocks := s.room(i, direction*a)
		if !blocks {
			continue
		}
		give := s.tolerance
		if bland {
			room, give = max(room, 0), 0
		}
		reach = min(reach, (room+give)/rate)
	}
	if math.IsInf(reach, 1) {
		return -1, reach
	}
	best, step, merit := -1, 0.0, 0.0
	for i, a := range s.column {
		room, rate, blocks := s.room(i, direction*a)
		if !blocks || max(room, 0)/rate > max(reach, 0) {
			continue
		}
		better := rate > merit || rate == merit && s.head[i] < s.head[best]
		if bland {
			better = best < 0 || s.head[i] < s.head[best]
		}
		if better {
			best, merit, step = i, rate, max(room, 0)/rate
		}
	}
	return best, step
}

// room returns how far a basic variable is from the bound it moves to at the given
// rate of decrease, and whether it can block.
func (s *simplex) room(position int, rate float64) (room, speed float64, blocks bool) {
	v := s.head[position]
	switch {
	case rate > smallestPivot && !math.IsInf(s.lower[v], -1):
		return s.value[v] - s.lower[v], rate, true
	case rate < -smallestPivot && !math.IsInf(s.upper[v], 1):
		return s.upper[v] - s.value[v], -rate, true
	}
	return 0, 0, false
}

// flip moves a variable to its other bound without a change of basis.
func (s *simplex) flip(v int, step float64) {
	s.move(v, step)
	if s.place[v] == atLower {
		s.place[v], s.value[v] = atUpper, s.upper[v]
	} else {
		s.place[v], s.value[v] = atLower, s.lower[v]
	}
	s.iterations++
}

// primalStep moves the entering variable and exchanges it for the one that blocks.
func (s *simplex) primalStep(position, entering int, direction, step float64) {
	leaving := int(s.head[position])
	to := atLower
	if direction*s.column[position] < 0 {
		to = atUpper
	}
	s.move(entering, direction*step)
	s.computePivotRow(position)
	s.updateDevex(entering, leaving, s.column[position])
	s.pivot(position, entering, to)
}

// updateDevex updates the reference weights for an exchange.
func (s *simplex) updateDevex(entering, leaving int, pivot float64) {
	weight := s.devex[entering]
	for _, v := range s.pivotRow.touched {
		if s.place[v] != basic {
			ratio := s.pivotRow.value[v] / pivot
			s.devex[v] = max(s.devex[v], ratio*ratio*weight)
		}
	}
	s.devex[leaving] = max(weight/(pivot*pivot), 1)
}
