package queueing

import "math"

const (
	// rootTolerance is the width of a bracket, relative to its place, at which it
	// counts as a point.
	rootTolerance = 1e-14
	// bracketTolerance is the same relative to the first bracket, for roots near 0.
	bracketTolerance = 1e-18
)

// findRoot narrows the bracket between an argument where f ≤ 0 and one where
// f > 0 and returns the end where f ≤ 0. It needs no derivative, never leaves the
// bracket and works, slower, where f jumps.
//
// The method is that of T. R. Chandrupatla, "A new hybrid quadratic/bisection
// algorithm for finding the zero of a nonlinear function without using
// derivatives", Advances in Engineering Software 28 (1997).
func findRoot(f func(float64) float64, holds, fails, fHolds, fFails float64) float64 {
	x1, f1 := holds, fHolds
	x2, f2 := fails, fFails
	step, narrow := 0.5, bracketTolerance*math.Abs(fails-holds)
	for f1 != 0 {
		x := x1 + step*(x2-x1)
		fx := f(x)
		x3, f3 := x1, f1
		if (fx <= 0) != (f1 <= 0) {
			x3, f3 = x2, f2
			x2, f2 = x1, f1
		}
		x1, f1 = x, fx

		width := math.Abs(x2 - x1)
		least := (rootTolerance*max(math.Abs(x1), math.Abs(x2)) + narrow) / width
		if !(least < 0.5) {
			break
		}
		step = min(max(interpolate(x1, x2, x3, f1, f2, f3), least), 1-least)
	}
	if f1 <= 0 {
		return x1
	}
	return x2
}

// interpolate returns the next point as a share of the way from x1 to x2: by
// inverse quadratic interpolation where that is safe, else the middle.
func interpolate(x1, x2, x3, f1, f2, f3 float64) float64 {
	xi := (x1 - x2) / (x3 - x2)
	phi := (f1 - f2) / (f3 - f2)
	if phi*phi < xi && (1-phi)*(1-phi) < 1-xi {
		return f1/(f2-f1)*f3/(f2-f3) + (x3-x1)/(x2-x1)*f1/(f3-f1)*f2/(f3-f2)
	}
	return 0.5
}
