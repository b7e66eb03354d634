package lp

import "math"

// certified is the relative error that a certificate of optimality may show: in
// rows to the sum of the magnitudes of their terms, in reduced costs likewise, and
// in the duality gap. It is above the engines' own tolerances because these apply
// to scaled rows and columns.
const (
	certified = 1e-7
	// rounding is what remains of the largest cost where reduced costs cancel.
	rounding = 1e-11
)

// certify moves x onto the bounds it exceeds by rounding, computes the reduced
// costs of the multipliers y and the objective, and reports whether x and y prove
// each other optimal for the problem as given: weak duality bounds the objective
// from below by
//
//	Σ y⁺L − y⁻U + Σ d⁺l − d⁻u
//
// (Chvátal, Linear Programming, 1983, chapters 5 and 8).
func (g *program) certify(x, y, reduced []float64) (objective float64, ok bool) {
	var bound, scale, largest float64
	for _, c := range g.cost {
		largest = max(largest, math.Abs(c))
	}
	clear(g.activity)
	clear(g.magnitude)
	ok = true
	for j := range x {
		value, clamped := x[j], min(max(x[j], g.lower[j]), g.upper[j])
		ok = ok && math.Abs(value-clamped) <= certified*(1+math.Abs(clamped))
		x[j] = clamped
		d, terms := g.cost[j], math.Abs(g.cost[j])
		rows, coefficients := g.entries(j)
		for k, i := range rows {
			term := coefficients[k] * clamped
			g.activity[i] += term
			g.magnitude[i] += math.Abs(term)
			term = coefficients[k] * y[i]
			d -= term
			terms += math.Abs(term)
		}
		reduced[j] = d
		part, fits := dualTerm(d, certified*terms+rounding*largest, g.lower[j], g.upper[j])
		ok = ok && fits
		bound += part
		objective += g.cost[j] * clamped
		scale += math.Abs(part) + math.Abs(g.cost[j]*clamped)
	}
	scale += largest
	allowed := certified * scale
	for i := range y {
		slack := certified * (1 + g.magnitude[i])
		ok = ok && g.activity[i] >= g.rowLower[i]-slack && g.activity[i] <= g.rowUpper[i]+slack
		part, fits := dualTerm(y[i], allowed/(1+g.magnitude[i]), g.rowLower[i], g.rowUpper[i])
		ok = ok && fits
		bound += part
		scale += math.Abs(part)
	}
	return objective, ok && math.Abs(objective-bound) <= certified*scale
}

// dualTerm is what a multiplier adds to the dual objective, and whether it may
// have its sign: the bound that it multiplies must exist, unless the multiplier is
// zero within the tolerance given.
func dualTerm(multiplier, tolerance, lower, upper float64) (float64, bool) {
	bound := lower
	if multiplier < 0 {
		bound = upper
	}
	if math.IsInf(bound, 0) {
		return 0, math.Abs(multiplier) <= tolerance
	}
	return multiplier * bound, !math.IsNaN(multiplier)
}

// provesInfeasible reports whether the combination y of the rows, in either sign,
// proves that there is no solution: the least that y·A·x can be within the columns'
// bounds is above the most that it may be within the rows' (Farkas's lemma).
func (g *program) provesInfeasible(y []float64) bool {
	columns, rows := interval{}, interval{}
	for j := range g.cost {
		combined, terms := 0.0, 0.0
		indices, coefficients := g.entries(j)
		for k, i := range indices {
			combined += coefficients[k] * y[i]
			terms += math.Abs(coefficients[k] * y[i])
		}
		if math.Abs(combined) > rounding*terms {
			columns.add(combined, g.lower[j], g.upper[j])
		}
	}
	for i, multiplier := range y {
		if multiplier != 0 {
			rows.add(multiplier, g.rowLower[i], g.rowUpper[i])
		}
	}
	margin := rounding * (columns.magnitude + rows.magnitude)
	return columns.low-rows.high > margin || rows.low-columns.high > margin
}

// dropRounding sets the multipliers to zero that are nothing but rounding errors;
// what remains proves no less.
func dropRounding(y []float64) {
	largest := 0.0
	for _, multiplier := range y {
		largest = max(largest, math.Abs(multiplier))
	}
	for i, multiplier := range y {
		if math.Abs(multiplier) <= rounding*largest {
			y[i] = 0
		}
	}
}

// interval is the range of a sum.
type interval struct {
	low, high float64
	// magnitude is the sum of the magnitudes of the finite terms.
	magnitude float64
}

// add adds a multiple, not zero, of a number between bounds.
func (r *interval) add(factor, lower, upper float64) {
	low, high := factor*lower, factor*upper
	if factor < 0 {
		low, high = high, low
	}
	r.low += low
	r.high += high
	for _, end := range []float64{low, high} {
		if !math.IsInf(end, 0) {
			r.magnitude += math.Abs(end)
		}
	}
}
