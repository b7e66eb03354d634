package queueing

import "math"

const (
	// rootTolerance is the distance from a root, relative to its place, that counts
	// as none.
	rootTolerance = 1e-13
	// bracketTolerance is the same relative to the first bracket, for roots near 0.
	bracketTolerance = 1e-18
	// patience is the number of evaluations in which the bracket has to halve or the best
	// value to fall to a quarter; else the next point is the middle.
	patience = 2
	// farStep is the longest step by the secant, as a share of the bracket.
	farStep = 0.8
)

// findRoot narrows the bracket between an argument where f ≤ 0 and one where
// f > 0 and returns a point close to the root where f ≤ 0. It needs no derivative,
// never leaves the bracket and works, slower, where f jumps.
//
// The first point is by the secant through both ends, but not close to either. The next is by
// inverse quadratic interpolation where that is safe by the rule of T. R. Chandrupatla, "A new
// hybrid quadratic/bisection algorithm for finding the zero of a nonlinear function without using
// derivatives", Advances in Engineering Software 28 (1997); else by the secant through the last
// two points where that points into the bracket; else, and where these make no progress, the
// middle.
func findRoot(f func(float64) float64, holds, fails, fHolds, fFails float64) float64 {
	// Point 1 is the latest, 2 the other end of the bracket, 3 another one, and last is
	// the one before point 1.
	x1, f1 := holds, fHolds
	x2, f2 := fails, fFails
	narrow := bracketTolerance * math.Abs(fails-holds)
	step := min(max(fHolds/(fHolds-fFails), 1-farStep), farStep)
	goal, left := math.Abs(fails-holds)/2, patience
	closest := math.Abs(fFails)
	for {
		x := x1 + step*(x2-x1)
		if !(min(x1, x2) < x && x < max(x1, x2)) {
			break // no number is between them, or a value was none
		}
		fx := f(x)
		last, fLast := x1, f1
		x3, f3 := x1, f1
		if (fx <= 0) != (f1 <= 0) {
			x3, f3 = x2, f2
			x2, f2 = x1, f1
		}
		x1, f1 = x, fx

		width := math.Abs(x2 - x1)
		// Next to 0 numbers are further apart than the tolerance.
		near := max(rootTolerance*max(math.Abs(x1), math.Abs(x2))+narrow, math.SmallestNonzeroFloat64)
		secant := f1 / (f1 - fLast) * ((last - x1) / (x2 - x1))
		if width <= 2*near || f1 <= 0 && math.Abs(secant)*width < near {
			break
		}
		if left--; width <= goal || math.Abs(f1) <= closest/4 {
			goal, left = width/2, patience
		}
		closest = min(closest, math.Abs(f1))
		switch quadratic, safe := inverseQuadratic(x1, x2, x3, f1, f2, f3); {
		case left == 0:
			step, left = 0.5, patience
		case safe:
			step = quadratic
		case secant > 0:
			step = min(secant, farStep)
		default:
			step = 0.5
		}
		// Half the tolerance to the side where f ≤ 0 makes it likely to end there.
		least := near / width
		if f1 <= 0 {
			step -= least / 2
		} else {
			step += least / 2
		}
		step = min(max(step, least), 1-least)
	}
	if f1 <= 0 {
		return x1
	}
	return x2
}

// inverseQuadratic interpolates the root, as a share of the way from x1 to x2, and
// tells whether that is safe.
func inverseQuadratic(x1, x2, x3, f1, f2, f3 float64) (step float64, safe bool) {
	xi := (x1 - x2) / (x3 - x2)
	phi := (f1 - f2) / (f3 - f2)
	if phi*phi < xi && (1-phi)*(1-phi) < 1-xi {
		return f1/(f2-f1)*f3/(f2-f3) + (x3-x1)/(x2-x1)*f1/(f3-f1)*f2/(f3-f2), true
	}
	return 0, false
}
