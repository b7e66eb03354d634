package optimizer

import "math"

// sum is the correctly rounded sum of finite terms, so that their order does not
// matter.
func sum(terms []float64) float64 {
	switch len(terms) { // rounded once as it is
	case 0:
		return 0
	case 1:
		return terms[0]
	case 2:
		return terms[0] + terms[1]
	}
	var s exactSum
	for _, x := range terms {
		s.add(x)
	}
	return s.total()
}

// exactSum is a sum of finite terms without rounding (Shewchuk, Adaptive Precision Floating-Point
// Arithmetic, 1997): that of the first n parts, of increasing magnitude, which do not overlap. So there are
// never more than all exponents have room for.
type exactSum struct {
	parts [(1024+1074)/53 + 3]float64
	n     int
}

func (s *exactSum) add(x float64) {
	kept := 0
	for _, y := range s.parts[:s.n] {
		if math.Abs(x) < math.Abs(y) {
			x, y = y, x
		}
		high := x + y
		if low := y - (high - x); low != 0 {
			s.parts[kept] = low
			kept++
		}
		x = high
	}
	s.parts[kept] = x
	s.n = kept + 1
}

func (s *exactSum) addSum(other *exactSum) {
	for _, x := range other.parts[:other.n] {
		s.add(x)
	}
}

// total is correctly rounded.
func (s *exactSum) total() float64 { return roundParts(s.parts[:s.n]) }

// roundParts adds parts of increasing magnitude that do not overlap, rounding once.
func roundParts(parts []float64) float64 {
	if len(parts) == 0 {
		return 0
	}
	i := len(parts) - 1
	high, low := parts[i], 0.0
	for i > 0 {
		i--
		x, y := high, parts[i]
		high = x + y
		if low = y - (high - x); low != 0 {
			break
		}
	}
	// A tie is broken by the sign of what follows.
	if i > 0 && (low < 0) == (parts[i-1] < 0) && low != 0 {
		if twice := 2 * low; high+twice-high == twice {
			high += twice
		}
	}
	return high
}

// runningSum is a compensated sum (Neumaier 1974): its error does not grow with
// the number of terms.
type runningSum struct {
	value, rest float64
}

func (s *runningSum) add(x float64) {
	t := s.value + x
	if math.Abs(s.value) >= math.Abs(x) {
		s.rest += (s.value - t) + x
	} else {
		s.rest += (x - t) + s.value
	}
	s.value = t
}

func (s *runningSum) total() float64 { return s.value + s.rest }

// boundSum is a running sum that bounds the exact one from below, and the size of its terms.
type boundSum struct {
	sum  runningSum
	size float64
}

func (s *boundSum) add(x float64) {
	s.sum.add(x)
	s.size += math.Abs(x)
}

// bound takes off the rounding of the terms: compensated summation leaves little more.
func (s *boundSum) bound() float64 { return s.sum.total() - 1e-14*s.size }
