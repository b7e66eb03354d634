package optimizer

import (
	"math"
	"slices"
)

// coreCut is an inequality Σ coefficients·z ≥ least that all plans of a core program satisfy, but not
// its relaxation; coefficients are by column.
type coreCut struct {
	coefficients []float64
	least        float64
}

// Limits of cuts: the fractions of right sides that are rounded, the least violation, and the margin
// by which every cut is weaker than arithmetic without errors would make it, per group and relative
// to the largest coefficient. Combinations of magnitudes that could use the margin up are left out.
const (
	leastFraction  = 0.02
	leastViolation = 1e-3
	cutMargin      = 1e-8
	cutMagnitude   = 1e4
	tinyMultiplier = 1e-9
	tinyPart       = 1e-6
)

// gomoryCuts derives Gomory's mixed-integer cuts (An algorithm for the mixed integer problem, 1960)
// from the rows of the simplex tableau.
func (p *coreProgram) gomoryCuts() []coreCut {
	var cuts []coreCut
	for k, z := range p.x {
		if z < 0.01 || z > 0.99 {
			continue
		}
		if u := p.solver.Multipliers(k); u != nil {
			if cut, ok := p.gomory(p.unscaled(u)); ok && cut.violation(p.x) > leastViolation {
				cuts = append(cuts, cut)
			}
		}
	}
	return cuts
}

// unscaled are multipliers of the rows in their own units.
func (p *coreProgram) unscaled(u []float64) []float64 {
	for r := range p.used {
		u[len(p.groups)+r] *= p.t.l.unit(r)
	}
	for i := range u {
		if math.Abs(u[i]) < tinyMultiplier {
			u[i] = 0
		}
	}
	return u
}

func (c *coreCut) violation(x []float64) float64 {
	v := c.least
	for k, a := range c.coefficients {
		v -= a * x[k]
	}
	return v
}

// gomory rounds the combination u of the rows. With slacks s ≥ 0 it says Σ a·z + Σ u·s = b, where z are
// whole; then Σ γ(a)·z + Σ σ(u)·s ≥ 1, and s is replaced by what the rows say of it.
func (p *coreProgram) gomory(u []float64) (coreCut, bool) {
	a := make([]float64, len(p.x))
	right, magnitude := p.combine(u, a)
	fraction := right - math.Floor(right)
	if fraction < leastFraction || fraction > 1-leastFraction {
		return coreCut{}, false
	}
	whole := func(a float64) float64 {
		part := a - math.Floor(a)
		return min(part/fraction, (1-part)/(1-fraction))
	}
	for k := range a {
		a[k] = whole(a[k])
	}
	rows := len(p.groups) + len(p.used)
	for i, v := range u {
		switch {
		case v == 0:
		case i < len(p.groups):
			u[i] = 0
		case i >= rows:
			// Cuts have a surplus, −s.
			u[i] = max(-v/fraction, v/(1-fraction))
		case p.t.l.rows[i-len(p.groups)].whole():
			u[i] = -whole(v)
		default:
			u[i] = -max(v/fraction, -v/(1-fraction))
		}
	}
	right, more := p.combine(u, a)
	cut := coreCut{coefficients: a, least: 1 + right}
	ok := p.normalise(&cut, max(magnitude, more))
	return cut, ok
}

// whole says whether uses and limit of a row are whole numbers.
func (r *couplingRow) whole() bool { return r.kind == poolRow || r.kind == quotaRow }

// combine adds a combination of the rows to a. It returns the right side, and the largest sum of
// magnitudes that went into any of the numbers.
func (p *coreProgram) combine(u, a []float64) (right, magnitude float64) {
	l := p.t.l
	groups, rows, cuts := u[:len(p.groups)], u[len(p.groups):][:len(l.rows)], u[len(p.groups)+len(l.rows):]
	add := func(sum *float64, size *float64, term float64) {
		*sum += term
		*size += math.Abs(term)
	}
	sizes := make([]float64, len(a))
	for g, v := range groups {
		add(&right, &magnitude, v)
		w := &l.workloads[p.groups[g].workload]
		for k := range p.groups[g].columns {
			i := p.first[g] + k
			add(&a[i], &sizes[i], v)
			for n, use := range p.entries(g, k).use() {
				add(&a[i], &sizes[i], rows[w.rows[n]]*use)
			}
		}
	}
	for r, row := range l.rows {
		add(&right, &magnitude, rows[r]*(row.limit-p.used[r]))
	}
	for c, v := range cuts {
		if v != 0 {
			add(&right, &magnitude, v*p.cuts[c].least)
			for i, coefficient := range p.cuts[c].coefficients {
				add(&a[i], &sizes[i], v*coefficient)
			}
		}
	}
	return right, max(magnitude, slices.Max(sizes))
}

// normalise makes the coefficients of a cut 0 to 1, with a 0 in every group, and weakens it by the margin.
// It returns false where its numbers differ too much.
func (p *coreProgram) normalise(cut *coreCut, magnitude float64) bool {
	most := 0.0
	for g := range p.groups {
		part := cut.coefficients[p.first[g]:p.first[g+1]]
		least := slices.Min(part)
		cut.least -= least
		for k := range part {
			part[k] -= least
			most = max(most, part[k])
		}
	}
	if !(magnitude <= cutMagnitude*most) {
		return false
	}
	cut.least = cut.least/most - cutMargin*float64(len(p.groups))
	for g := range p.groups {
		part := cut.coefficients[p.first[g]:p.first[g+1]]
		dropped := 0.0
		for k := range part {
			if part[k] /= most; part[k] < tinyPart {
				dropped = max(dropped, part[k])
				part[k] = 0
			}
		}
		cut.least -= dropped
	}
	return true
}
