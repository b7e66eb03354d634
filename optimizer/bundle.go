package optimizer

import (
	"math"
	"slices"
)

// bundle maximises L(λ) by a proximal bundle method (Lemaréchal 1978; Kiwiel,
// Proximity Control in Bundle Methods, 1990): the cuts so far model L from above,
// and each step maximises the model less a quadratic in the distance from the best
// prices so far. Prices are scaled so that a unit of every row costs alike.
type bundle struct {
	l     *lagrangian
	scale []float64
	// prices are the best multipliers found, with their L in value.
	prices []float64
	value  lagrangianValue
	// fresh: value is known for the prices, so that an ascent may begin with it.
	fresh bool
	cuts  []cut
	// weights are by cut; Σ weights·cut is the fractional solution behind the model.
	weights []float64
	// zeros are the weights of rows whose price is 0.
	zeros   []float64
	step    float64
	program quadratic
	active  []int
	// visit sees every cut, as a start for plans.
	visit func(*cut)
	// quick: the ascent is that over known configurations.
	quick bool
}

// goal says when an ascent may end.
type goal struct {
	// target is a bound that suffices.
	target float64
	// hopeless is a bound above any cost: reaching it proves that no plan exists.
	hopeless float64
	passes   int
	// precision is the predicted increase of the bound, relative to what is missing
	// to target, that is not worth another pass.
	precision float64
}

// ascent is the outcome of an ascent.
type ascent int

const (
	// converged: the bound can't be raised further, or reached the target.
	converged ascent = iota
	// infeasible: some workload has no configuration, or the bound is hopeless.
	infeasible
	// interrupted: passes or effort ran out.
	interrupted
)

const bundleSize = 50

// ascend raises the bound, starting from prices and cuts.
func (b *bundle) ascend(g goal) ascent {
	if !b.fresh {
		v, spent := b.evaluate(b.prices)
		if !spent {
			return interrupted
		}
		if !v.ok {
			return failed(v.bound)
		}
		b.value = v
	}
	b.fresh = false
	b.add(b.value.cut)
	nulls := 0
	for range g.passes {
		if b.value.bound >= g.target {
			return converged
		}
		if b.value.bound > g.hopeless {
			return infeasible
		}
		next, predicted, ok := b.proposeKnown(g)
		if !ok {
			return converged
		}
		if enough := b.enough(g); predicted <= enough {
			if b.lengthen(predicted, enough) {
				continue
			}
			return converged
		}
		v, spent := b.evaluate(next)
		if !spent {
			return interrupted
		}
		if !v.ok {
			return failed(v.bound)
		}
		nulls = b.move(next, v, predicted, nulls)
		b.add(v.cut)
	}
	return interrupted
}

// lengthen takes longer steps where the bound may gain more than enough within them: a
// short step predicts little whatever is missing. It says whether it did.
func (b *bundle) lengthen(predicted, enough float64) bool {
	missing, longer := b.missing(predicted)
	if missing <= 3*enough || longer <= 2*b.step {
		return false
	}
	if b.quick {
		longer = min(longer, 20*b.step)
	}
	b.step = longer
	return true
}

// move goes to the next prices where they gain enough of what was predicted, and
// adapts the step. nulls are the passes without gain before and, returned, after it.
func (b *bundle) move(next []float64, v lagrangianValue, predicted float64, nulls int) int {
	gain := v.bound - b.value.bound
	if gain >= 0.1*predicted {
		if gain >= 0.4*predicted && b.held(predicted) {
			b.step *= 5
		}
		b.prices, b.value = next, v
		return 0
	}
	nulls++
	switch {
	case gain < -predicted:
		// Far off: the longest step that a parabola through both ends would take.
		b.step *= max(0.1, predicted/(2*(predicted-gain)))
	case nulls > max(2, len(b.active)/nullShare):
		b.step *= 0.5
	}
	return nulls
}

// evaluate returns false where the effort is spent.
func (b *bundle) evaluate(prices []float64) (lagrangianValue, bool) {
	if b.quick {
		ok := b.l.budget.spend(len(b.l.workloads) / quickShare)
		return b.l.evaluateKnown(prices), ok
	}
	if !b.l.budget.spend(len(b.l.workloads)) {
		return lagrangianValue{}, false
	}
	return b.l.evaluate(prices), true
}

// held says whether the quadratic term kept the prices from moving on.
func (b *bundle) held(predicted float64) bool {
	return dot(b.program.d, b.program.d) > 0.1*b.step*predicted
}

// multiplications are about as much work as one pricing problem.
const multiplications = 2000

// nullShare is the share of the active rows that may pass without gain before the
// steps get shorter: the model needs about a cut per row.
const nullShare = 3

// missing is what the bound may gain, by the model, within a distance that the
// prices could plausibly move, and the step that goes that far.
func (b *bundle) missing(predicted float64) (gain, step float64) {
	length, size := 0.0, 0.0
	for k, r := range b.active {
		length += b.program.d[k] * b.program.d[k]
		size += b.prices[r] / b.scale[r] * b.prices[r] / b.scale[r]
	}
	length = math.Sqrt(length)
	distance := 0.3*math.Sqrt(size) + 0.02
	if length == 0 {
		return 0, b.step
	}
	// The aggregate gradient is d/step.
	return predicted + length/b.step*max(0, distance-length), b.step * distance / length
}

func failed(bound float64) ascent {
	if math.IsInf(bound, 1) {
		return infeasible
	}
	return interrupted
}

// enough is the predicted increase that is not worth a pass.
func (b *bundle) enough(g goal) float64 {
	// Beside a plan that is far off every increase would look small.
	missing := 1e-2 * b.value.scale
	if math.IsInf(g.target, 1) {
		missing = 1e-2 * math.Abs(b.value.bound)
	}
	return max(1e-11*b.value.scale, g.precision*min(missing, g.target-b.value.bound))
}

// add appends a cut and drops what has not been in use when there are too many.
func (b *bundle) add(c cut) {
	if b.visit != nil {
		b.visit(&c)
	}
	b.cuts = append(b.cuts, c)
	b.weights = append(b.weights, 0)
	if len(b.cuts) <= bundleSize {
		return
	}
	loosest, slack := -1, math.Inf(-1)
	for i := range b.cuts[:len(b.cuts)-1] {
		if b.weights[i] > 0 {
			continue
		}
		if s := b.l.at(&b.cuts[i], b.prices); s > slack {
			loosest, slack = i, s
		}
	}
	if loosest >= 0 {
		b.cuts = slices.Delete(b.cuts, loosest, loosest+1)
		b.weights = slices.Delete(b.weights, loosest, loosest+1)
	}
}

// quickPasses limits the passes over known configurations between two exact ones.
const quickPasses = 40

// proposeKnown is propose with a model that agrees with the known configurations at the prices
// proposed. Their cuts cost little, and an exact pass then learns only what is new.
func (b *bundle) proposeKnown(g goal) (next []float64, predicted float64, ok bool) {
	for range quickPasses {
		next, predicted, ok = b.propose()
		if !ok {
			return nil, 0, false
		}
		if b.quick || predicted <= b.enough(g) {
			break
		}
		v := b.l.evaluateKnown(next)
		if !b.l.budget.spend(len(b.l.workloads)/quickShare) || !v.ok || v.bound-b.value.bound >= 0.7*predicted {
			break
		}
		b.add(v.cut)
	}
	return next, predicted, ok
}

// quickShare quick passes are about as much work as an exact one.
const quickShare = 20

// propose returns the next prices and the increase that the model predicts there.
func (b *bundle) propose() (next []float64, predicted float64, ok bool) {
	b.chooseActive()
	q := &b.program
	q.values, q.centre = q.values[:0], q.centre[:0]
	for _, r := range b.active {
		q.centre = append(q.centre, b.prices[r]/b.scale[r])
	}
	for len(q.gradients) < len(b.cuts) {
		q.gradients = append(q.gradients, nil)
	}
	q.gradients = q.gradients[:len(b.cuts)]
	steepest := 0.0
	for i := range b.cuts {
		c := &b.cuts[i]
		q.values = append(q.values, max(0, b.l.at(c, b.prices)-b.value.bound))
		q.gradients[i] = q.gradients[i][:0]
		for _, r := range b.active {
			q.gradients[i] = append(q.gradients[i], (c.use[r]-b.l.rows[r].limit)*b.scale[r])
		}
		steepest = max(steepest, dot(q.gradients[i], q.gradients[i]))
	}
	if steepest == 0 {
		return nil, 0, false
	}
	if b.step == 0 {
		b.step = 3 / math.Sqrt(steepest)
	}
	q.step = b.step
	b.warm()
	q.work = len(b.cuts) * len(b.active) * 4
	solved := q.solve()
	b.l.budget.spend(q.work / multiplications)
	if !solved {
		return nil, 0, false
	}
	copy(b.weights, q.weights)
	clear(b.zeros)
	for k, r := range b.active {
		b.zeros[r] = q.bounds[k]
	}
	next = slices.Clone(b.prices)
	for k, r := range b.active {
		next[r] = max(0, b.prices[r]+q.d[k]*b.scale[r])
	}
	return next, q.model, true
}

// warm starts the quadratic program from the weights of the one before.
func (b *bundle) warm() {
	q := &b.program
	q.weights = append(q.weights[:0], b.weights...)
	if b.zeros == nil {
		b.zeros = make([]float64, len(b.l.rows))
	}
	q.bounds = q.bounds[:0]
	for k, r := range b.active {
		weight := 0.0
		if q.centre[k] == 0 {
			weight = b.zeros[r]
		}
		q.bounds = append(q.bounds, weight)
	}
}

// chooseActive leaves out rows that no cut exceeds and that cost nothing; their
// prices stay 0.
func (b *bundle) chooseActive() {
	b.active = b.active[:0]
	for r := range b.l.rows {
		in := b.prices[r] > 0
		for i := 0; i < len(b.cuts) && !in; i++ {
			in = b.cuts[i].use[r] > b.l.rows[r].limit
		}
		if in {
			b.active = append(b.active, r)
		}
	}
}

// scales are prices at which each row alone would cost as much as everything else.
func (l *lagrangian) scales(first *cut) []float64 {
	cost := math.Abs(first.cost)
	if cost == 0 {
		for i := range l.workloads {
			cost += l.workloads[i].idle()
		}
	}
	if cost == 0 {
		cost = 1
	}
	scale := make([]float64, len(l.rows))
	for r := range l.rows {
		units := max(first.use[r], l.rows[r].limit)
		if units <= 0 {
			units = 1
		}
		scale[r] = cost / units
	}
	return scale
}
