package optimizer

import (
	"math"
	"slices"
)

// mixture is a linear program that mixes columns, in total one of each group, within rows that may
// be exceeded at a cost:
//
//	minimise Σ cost·z + Σ surplus·t  subject to  Σ_group z = 1,  Σ use·z − t ≤ limit,  z, t ≥ 0.
//
// It is solved again and again as columns are added and closed, by the simplex method with
// generalised upper bounds (G. B. Dantzig, R. M. Van Slyke, Generalized upper bounding techniques,
// 1967): a key column of every group takes what the others leave of 1, so that the basis is as large
// as the number of rows, which is few. The dual method takes closed columns out of the basis, and the
// primal one takes up what was added.
//
// Prices and value are for guidance; nothing is proven by them.
type mixture struct {
	groups         []mixtureGroup
	limit, surplus []float64
	// dearest is the largest cost of a column.
	dearest float64

	basic   []mixed   // by row
	level   []float64 // values of basic
	inverse []float64 // of the basis, row by row
	stale   int       // exchanges since the inverse was set up

	// prices are those of the rows, ≥ 0, value is the objective, and largest the largest term of a price: prices are
	// as exact as it is.
	prices         []float64
	value, largest float64
	// candidates are the columns of negative reduced cost, one of each group, when all were looked at.
	candidates []mixed
	// work counts multiplications, until the caller takes account of them.
	work int
	// stop ends a solve; nil: nothing does.
	stop *stopper

	direction, rates, scratch, functional []float64
}

// mixtureGroup has the columns of a group: cost and closed by column, and use of rows, one column
// after the other.
type mixtureGroup struct {
	rows      []int32
	cost, use []float64
	closed    []bool
	key       int32
	level     float64 // value of the key column
}

// mixed is a variable: a column of a group, or the slack or surplus of a row.
type mixed struct {
	group, column int32 // group is slackOf or surplusOf; column is the row then
}

const (
	slackOf   = int32(-1)
	surplusOf = int32(-2)
)

// mixtureBasis is a basis of a mixture to come back to.
type mixtureBasis struct {
	of    *mixture
	keys  []int32
	basic []mixed
}

// reset makes a new mixture of it, in the same memory: groups without columns; rows of a group are those that its columns may use. What is
// known of a basis is that of the mixture before, until restart takes one up.
func (m *mixture) reset(rows [][]int32, limit, surplus []float64) {
	m.limit, m.surplus, m.dearest = limit, surplus, 0
	m.groups = resize(m.groups, len(rows))
	var (
		amounts slab[float64]
		closed  slab[bool]
	)
	for g := range m.groups {
		old := &m.groups[g]
		if old.cost == nil {
			old.cost, old.use, old.closed = amounts.take(mixtureRoom), amounts.take(mixtureRoom*len(rows[g])), closed.take(mixtureRoom)
		}
		m.groups[g] = mixtureGroup{rows: rows[g], cost: old.cost[:0], use: old.use[:0], closed: old.closed[:0]}
	}
	m.basic, m.inverse = resize(m.basic, len(limit)), resize(m.inverse, len(limit)*len(limit))
	m.level, m.prices, m.direction = resize(m.level, len(limit)), resize(m.prices, len(limit)), resize(m.direction, len(limit))
	m.rates, m.functional = resize(m.rates, len(rows)), resize(m.functional, len(limit))
	m.candidates, m.work = m.candidates[:0], 0
}

// mixtureRoom is the number of columns that most groups have.
const mixtureRoom = 16

// add appends a column to a group, open or closed; use is by row of the group.
func (m *mixture) add(group int, cost float64, use []float64, closed bool) {
	g := &m.groups[group]
	g.cost, g.use, g.closed = append(g.cost, cost), append(g.use, use...), append(g.closed, closed)
	m.dearest = max(m.dearest, math.Abs(cost))
}

// basis returns the current one.
func (m *mixture) basis() *mixtureBasis {
	b := &mixtureBasis{of: m, keys: make([]int32, len(m.groups)), basic: slices.Clone(m.basic)}
	for g := range m.groups {
		b.keys[g] = m.groups[g].key
	}
	return b
}

// enter takes up a basis.
func (m *mixture) enter(b *mixtureBasis) {
	for g := range m.groups {
		m.groups[g].key = b.keys[g]
	}
	copy(m.basic, b.basic)
	m.stale = 0
	if !m.factorise() {
		m.restart()
	}
}

// restart takes up the basis of the first open column of each group and what these leave or exceed.
func (m *mixture) restart() {
	for k := range m.groups {
		g := &m.groups[k]
		g.key = int32(max(0, slices.Index(g.closed, false)))
	}
	left := m.left()
	clear(m.inverse)
	for r := range m.limit {
		m.basic[r] = mixed{slackOf, int32(r)}
		m.inverse[r*len(m.limit)+r] = 1
		if left[r] < 0 {
			m.basic[r].group = surplusOf
			m.inverse[r*len(m.limit)+r] = -1
		}
	}
	m.stale = 0
	m.locate()
}

// left is what the key columns leave of the rows.
func (m *mixture) left() []float64 {
	m.scratch = append(m.scratch[:0], m.limit...)
	for g := range m.groups {
		group := &m.groups[g]
		for n, u := range group.column(group.key) {
			m.scratch[group.rows[n]] -= u
		}
	}
	return m.scratch
}

// column is the use of a column.
func (g *mixtureGroup) column(k int32) []float64 {
	return g.use[int(k)*len(g.rows):][:len(g.rows)]
}

// locate works out the values of the basis.
func (m *mixture) locate() {
	left := m.left()
	for g := range m.groups {
		m.groups[g].level = 1
	}
	for i := range m.basic {
		m.level[i] = max(0, dot(m.line(i), left))
		if g := m.basic[i].group; g >= 0 {
			m.groups[g].level -= m.level[i]
		}
	}
	for g := range m.groups {
		m.groups[g].level = max(0, m.groups[g].level)
		m.work += len(m.groups[g].rows)
	}
	m.work += len(m.limit) * len(m.limit)
}

// line is a row of the inverse.
func (m *mixture) line(i int) []float64 {
	return m.inverse[i*len(m.limit):][:len(m.limit)]
}

// solve finds the optimum, from the current basis. It returns false where numerics failed, a
// group has no open column, or the caller has stopped the search.
func (m *mixture) solve() bool {
	if m.stale > len(m.limit)+mixtureUpdates {
		m.enter(m.basis())
	}
	if !m.reoptimise() {
		m.restart()
	}
	m.candidates = m.candidates[:0]
	stalled := 0
	for made := range 200 + 20*len(m.limit) + mixtureTurns*len(m.groups) {
		if made%mixtureAsks == mixtureAsks-1 && m.stop.asked() {
			return false
		}
		m.price()
		entering, ok := m.cheapest(stalled > mixturePatience)
		if !ok {
			return m.finish()
		}
		step, ok := m.exchange(entering)
		if !ok {
			return false
		}
		stalled++
		if step > mixtureSlack {
			stalled = 0
		}
	}
	return false
}

// Limits of the simplex method: exchanges with the same inverse, exchanges after which the caller is asked whether
// to stop, steps without gain before it goes by Bland's rule, exchanges for each group in all, the value that counts as none, the least pivot, the
// least reduced cost in relation to what it is the difference of, and to the terms of the prices, and the share of a
// closed column that shows a failure; and of the dual method: the value out of bounds that counts as none, and the
// least pivot.
const (
	mixtureUpdates  = 50
	mixtureAsks     = 100
	mixturePatience = 30
	mixtureTurns    = 10
	mixtureSlack    = 1e-10
	mixturePivot    = 1e-9
	mixtureReduced  = 1e-11
	mixtureRounding = 1e-14
	mixtureShare    = 1e-7
	mixtureOff      = 1e-9
	dualPivot       = 1e-7
)

// cost is that of a variable.
func (m *mixture) cost(v mixed) float64 {
	switch v.group {
	case slackOf:
		return 0
	case surplusOf:
		return m.surplus[v.column]
	}
	return m.groups[v.group].cost[v.column]
}

// shut says whether a variable is a closed column.
func (m *mixture) shut(v mixed) bool { return v.group >= 0 && m.groups[v.group].closed[v.column] }

// price works out the prices of the rows.
func (m *mixture) price() {
	clear(m.prices)
	m.largest = 0
	for i, v := range m.basic {
		cost := m.cost(v)
		if v.group >= 0 {
			g := &m.groups[v.group]
			cost -= g.cost[g.key]
		}
		if cost != 0 {
			for r, a := range m.line(i) {
				m.prices[r] -= cost * a
				m.largest = max(m.largest, math.Abs(cost*a))
			}
		}
	}
	m.work += len(m.limit) * len(m.limit)
}

// cheapest is a variable of negative reduced cost: the least of those that were so in each group when
// all were looked at, as long as there is any (multiple pricing), and then the least of all. first: the
// first one of all, which ends in any case (R. G. Bland, New finite pivoting rules for the simplex method,
// 1977). ok is false if there is none.
func (m *mixture) cheapest(first bool) (best mixed, ok bool) {
	least := 0.0
	see := func(v mixed, reduced, size float64) bool {
		negative := reduced < -mixtureReduced*size-mixtureRounding*m.largest
		if negative && (reduced < least && !first || !ok) {
			best, least, ok = v, reduced, true
		}
		return negative
	}
	if !first {
		for _, v := range m.candidates {
			key := m.priced(mixed{v.group, m.groups[v.group].key})
			see(v, m.priced(v)-key, math.Abs(key)+m.dearest)
		}
	}
	if ok {
		return best, ok
	}
	for r, price := range m.prices {
		see(mixed{slackOf, int32(r)}, price, m.surplus[r])
		see(mixed{surplusOf, int32(r)}, m.surplus[r]-price, m.surplus[r])
	}
	m.candidates = m.candidates[:0]
	for k := range m.groups {
		v, lowest := m.lowest(int32(k))
		if v.column < 0 {
			continue
		}
		key := m.priced(mixed{v.group, m.groups[k].key})
		if see(v, lowest-key, math.Abs(key)+m.dearest) {
			m.candidates = append(m.candidates, v)
		}
	}
	return best, ok
}

// priced is the cost of a column with its use priced.
func (m *mixture) priced(v mixed) float64 {
	g := &m.groups[v.group]
	cost := g.cost[v.column]
	for n, u := range g.column(v.column) {
		cost += m.prices[g.rows[n]] * u
	}
	m.work += len(g.rows)
	return cost
}

// lowest is the open column of a group that costs least with its use priced, column −1 if there is none.
func (m *mixture) lowest(group int32) (best mixed, least float64) {
	g := &m.groups[group]
	m.scratch = m.scratch[:0]
	for _, r := range g.rows {
		m.scratch = append(m.scratch, m.prices[r])
	}
	best, least = mixed{group, -1}, math.Inf(1)
	prices, use := m.scratch, g.use
	for c, cost := range g.cost {
		if !g.closed[c] {
			for n, u := range use[:len(prices)] {
				cost += prices[n] * u
			}
			if cost < least {
				best.column, least = int32(c), cost
			}
		}
		use = use[len(prices):]
	}
	m.work += len(g.use)
	return best, least
}

// exchange lets a variable enter in place of the one that first falls to 0.
func (m *mixture) exchange(entering mixed) (step float64, ok bool) {
	m.direct(entering)
	leaving, key, step := m.ratio(entering)
	if leaving < 0 && key < 0 || !m.replace(entering, leaving, key, step) {
		return 0, false
	}
	m.clamp()
	return step, true
}

// clamp takes values below 0, which are rounding, for 0.
func (m *mixture) clamp() {
	for i := range m.level {
		m.level[i] = max(0, m.level[i])
	}
	for g := range m.groups {
		m.groups[g].level = max(0, m.groups[g].level)
	}
}

// replace lets a variable enter by a step, with which the basic variable, or else the key column of a group,
// comes to 0 and leaves. The direction is set.
func (m *mixture) replace(entering mixed, leaving, key int, step float64) bool {
	if leaving < 0 {
		if leaving = m.successor(key); leaving < 0 {
			// The group has no other column: the entering one takes its place.
			m.advance(entering, step)
			m.groups[key].key, m.groups[key].level = entering.column, step
			return true
		}
		m.crown(leaving)
		m.direct(entering)
	}
	pivot := m.direction[leaving]
	if math.Abs(pivot) < mixturePivot {
		return false
	}
	m.advance(entering, step)
	m.basic[leaving], m.level[leaving] = entering, step
	m.eliminate(leaving, pivot)
	m.stale++
	return true
}

// direct sets the direction: by how much the basic variables fall as the entering one rises.
func (m *mixture) direct(entering mixed) {
	clear(m.direction)
	add := func(r int32, amount float64) {
		if amount != 0 {
			for i := range m.direction {
				m.direction[i] += amount * m.inverse[i*len(m.limit)+int(r)]
			}
		}
	}
	switch entering.group {
	case slackOf:
		add(entering.column, 1)
	case surplusOf:
		add(entering.column, -1)
	default:
		g := &m.groups[entering.group]
		key := g.column(g.key)
		for n, u := range g.column(entering.column) {
			add(g.rows[n], u-key[n])
		}
	}
	clear(m.rates)
	if entering.group >= 0 {
		m.rates[entering.group] = 1
	}
	for i, v := range m.basic {
		if v.group >= 0 {
			m.rates[v.group] -= m.direction[i]
		}
	}
	m.work += len(m.limit)*len(m.limit) + len(m.rates)
}

// ratio is the basic variable, or else the group whose key column, that falls to 0 first, of those
// that do together the one that falls the fastest. Closed columns are at 0 and may not rise either.
func (m *mixture) ratio(entering mixed) (leaving, key int, step float64) {
	leaving, key, step = -1, -1, math.Inf(1)
	fastest := 0.0
	see := func(i, g int, level, rate float64, shut bool) {
		if shut {
			rate = math.Abs(rate)
		}
		if rate < mixturePivot {
			return
		}
		if at := level / rate; at < step-mixtureSlack || at <= step+mixtureSlack && rate > fastest {
			leaving, key, fastest = i, g, rate
			step = min(step, at)
		}
	}
	for i, v := range m.basic {
		see(i, -1, m.level[i], m.direction[i], m.shut(v))
		if v.group >= 0 {
			m.seeKey(v.group, see)
		}
	}
	if entering.group >= 0 {
		m.seeKey(entering.group, see)
	}
	return leaving, key, step
}

func (m *mixture) seeKey(group int32, see func(i, g int, level, rate float64, shut bool)) {
	g := &m.groups[group]
	see(-1, int(group), g.level, m.rates[group], g.closed[g.key])
}

// advance changes the values by a step of the entering variable.
func (m *mixture) advance(entering mixed, step float64) {
	for i, v := range m.basic {
		m.level[i] -= step * m.direction[i]
		if v.group >= 0 {
			m.groups[v.group].level -= step * m.rates[v.group]
			m.rates[v.group] = 0 // once per group
		}
	}
	if g := entering.group; g >= 0 {
		m.groups[g].level -= step * m.rates[g]
	}
}

// successor is a basic column of a group, −1 if there is none.
func (m *mixture) successor(group int) int {
	return slices.IndexFunc(m.basic, func(v mixed) bool { return int(v.group) == group })
}

// crown exchanges a basic column with the key column of its group.
func (m *mixture) crown(i int) {
	group := m.basic[i].group
	line := m.line(i)
	for k, v := range m.basic {
		if v.group == group && k != i {
			for r, a := range m.line(k) {
				line[r] += a
			}
		}
	}
	for r := range line {
		line[r] = -line[r]
	}
	g := &m.groups[group]
	g.key, m.basic[i].column = m.basic[i].column, g.key
	g.level, m.level[i] = m.level[i], g.level
}

// eliminate updates the inverse.
func (m *mixture) eliminate(leaving int, pivot float64) {
	line := m.line(leaving)
	for r := range line {
		line[r] /= pivot
	}
	for i, factor := range m.direction {
		if i != leaving && factor != 0 {
			other := m.line(i)
			for r, a := range line {
				other[r] -= factor * a
			}
		}
	}
	m.work += len(m.limit) * len(m.limit)
}

// factorise sets up the inverse of the basis anew, column after column, and the values. It returns
// false where the basis is singular.
func (m *mixture) factorise() bool {
	wanted := slices.Clone(m.basic)
	clear(m.inverse)
	for r := range m.limit {
		m.basic[r] = mixed{slackOf, int32(r)}
		m.inverse[r*len(m.limit)+r] = 1
	}
	placed := make([]bool, len(wanted))
	for _, v := range wanted {
		m.direct(v)
		best, most := -1, mixturePivot
		for i, rate := range m.direction {
			if !placed[i] && math.Abs(rate) > most {
				best, most = i, math.Abs(rate)
			}
		}
		if best < 0 {
			return false
		}
		m.basic[best], placed[best] = v, true
		m.eliminate(best, m.direction[best])
	}
	m.locate()
	return true
}

// finish works out the objective. It returns false if a closed column is in use.
func (m *mixture) finish() bool {
	m.value = 0
	for k := range m.groups {
		g := &m.groups[k]
		if g.level > mixtureShare && g.closed[g.key] {
			return false
		}
		m.value += g.cost[g.key] * g.level
	}
	for i, v := range m.basic {
		if m.level[i] > mixtureShare && m.shut(v) {
			return false
		}
		m.value += m.cost(v) * m.level[i]
	}
	for r := range m.prices {
		m.prices[r] = max(0, m.prices[r])
	}
	return true
}

// charge takes the work so far off the effort.
func (m *mixture) charge(budget *effort) {
	budget.spend(m.work / multiplications)
	m.work %= multiplications
}

// surplusFactor is by how much exceeding a row costs more than its price at first, and each time
// that it turns out to pay, up to mostSurplus: where there is no plan it always does.
const (
	surplusFactor = 4
	mostSurplus   = 1e50
)

// raiseSurplus makes the rows dearer that are exceeded, and says whether any is.
func (m *mixture) raiseSurplus() bool {
	exceeded := false
	for r := range m.surplus {
		if m.excess(r) > 1e-9 {
			exceeded = true
			m.surplus[r] = min(mostSurplus, m.surplus[r]*surplusFactor)
		}
	}
	return exceeded
}

// excess is by how much the solution exceeds a row.
func (m *mixture) excess(r int) float64 {
	for i, v := range m.basic {
		if v.group == surplusOf && int(v.column) == r {
			return m.level[i]
		}
	}
	return 0
}

// shares calls visit for all columns in the solution.
func (m *mixture) shares(visit func(group, column int, share float64)) {
	for k := range m.groups {
		visit(k, int(m.groups[k].key), m.groups[k].level)
	}
	for i, v := range m.basic {
		if v.group >= 0 {
			visit(int(v.group), int(v.column), m.level[i])
		}
	}
}
