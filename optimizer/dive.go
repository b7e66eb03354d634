package optimizer

import (
	"math"
	"slices"
)

// Limits of a dive: the workloads fixed one by one, the quick passes after each, and what the
// largest spread left may be, relative to the cost.
const (
	dives        = 12
	divePasses   = 40
	diveShare    = 1e-5
	diveAccuracy = 1e-3
)

// dived is a bundle over known configurations in which the undecided workloads that matter most
// are fixed, one after the other, and the prices after each adapted to what that leaves for the
// others; offShare is that of nearest. A workload of hundreds of replicas rarely fits by itself, but the many small ones around
// it make up for it at little cost.
func (t *tree) dived(offShare float64) *bundle {
	l := t.l
	b := &bundle{l: l, scale: t.bundle.scale, prices: slices.Clone(t.bundle.prices), value: t.bundle.value, step: t.bundle.step, quick: true}
	for k := range t.bundle.cuts {
		if t.bundle.weights[k] > 0 {
			b.cuts, b.weights = append(b.cuts, t.bundle.cuts[k]), append(b.weights, t.bundle.weights[k])
		}
	}
	l.fixed = make([]int32, len(l.workloads))
	for i := range l.fixed {
		l.fixed[i] = -1
	}
	defer func() { l.fixed = nil }()
	hopeless := l.hopeless()
	for range dives {
		if !l.budget.goOn(1) {
			break
		}
		units := b.units()
		open := b.undecided(units)
		if len(open) == 0 || open[0].spread < diveShare*b.value.scale {
			break
		}
		o := &open[0]
		o.choices = b.aroundMean(o.workload, o.fractions)
		b.fix(o.workload, b.nearest(o, make([]float64, len(l.rows)), units, offShare))
		if b.ascend(goal{target: math.Inf(1), hopeless: hopeless, passes: divePasses, precision: diveAccuracy}) == infeasible {
			break
		}
	}
	return b
}

// fix gives workload i a configuration in all cuts.
func (b *bundle) fix(i int, pick int32) {
	b.l.fixed[i] = pick
	for k := range b.cuts {
		b.cuts[k] = b.l.exchanged(&b.cuts[k], i, pick)
	}
}
