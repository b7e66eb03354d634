package optimizer

import (
	"cmp"
	"math"
	"slices"
)

// master is the Dantzig–Wolfe master of a small program: a linear program that mixes known
// configurations, in total one of each workload, within the coupling rows. Its multipliers
// maximise the Lagrangian over these configurations; pricing at them bounds the node and adds what
// is cheaper (column generation). Where there are few rows that is quicker than the bundle, and
// the value of the program tells which split is best.
type master struct {
	t       *tree
	mixture *mixture
	// picks are the configurations by column of the mixture, and position the reverse, or −1.
	picks    [][]int32
	position [][]int32
	// mixed are the configurations of every workload in the solution at the node, value is its
	// objective and basis that of the mixture.
	mixed  [][]fraction
	value  float64
	basis  *mixtureBasis
	solved bool // there is such a solution
	// history has what splits have gained.
	history pseudocosts
	scaled  []float64 // scratch
	listed  []split   // scratch: those of splits
}

// newMaster starts from the configurations of the bundle's cuts and of the best plan.
func (t *tree) newMaster() *master {
	l := t.l
	m := &master{t: t, picks: make([][]int32, len(l.workloads)), position: make([][]int32, len(l.workloads)), mixed: make([][]fraction, len(l.workloads)), history: newPseudocosts(l.program.items)}
	rows := make([][]int32, len(l.workloads))
	for i := range rows {
		rows[i] = l.workloads[i].rows
	}
	m.mixture = &mixture{}
	t.resetMixture(m.mixture, rows, make([]float64, len(l.rows)), t.bundle.prices)
	m.add(t.bundle.value.cut.picks)
	for k := range t.bundle.cuts {
		m.add(t.bundle.cuts[k].picks)
	}
	if t.best != nil {
		m.add(t.best.picks)
	}
	m.mixture.restart()
	m.basis = m.mixture.basis()
	return m
}

// resetMixture makes a mixture of groups that may use the given rows, of which so much is used already.
func (t *tree) resetMixture(m *mixture, rows [][]int32, used, prices []float64) {
	limit, surplus := m.limit[:0], m.surplus[:0]
	for r, row := range t.l.rows {
		unit := t.l.unit(r)
		limit = append(limit, (row.limit-used[r])*unit)
		surplus = append(surplus, surplusFactor*max(prices[r], 0.1*t.bundle.scale[r])/unit)
	}
	m.reset(rows, limit, surplus)
	m.stop = t.l.budget.stop
}

// unit scales a row to coefficients around 1.
func (l *lagrangian) unit(r int) float64 { return 1 / max(1, math.Abs(l.rows[r].limit)) }

// scaledUse is what a column of workload i uses of its rows, in their units; buffer may be taken for it.
func (l *lagrangian) scaledUse(i int, of entries, buffer []float64) []float64 {
	buffer = resize(buffer, len(of.use()))
	for n, r := range l.workloads[i].rows {
		buffer[n] = of.use()[n] * l.unit(int(r))
	}
	return buffer
}

// addNearest adds so many known columns of every workload that cost the least at the prices.
func (m *master) addNearest(most int) {
	l, prices := m.t.l, m.t.bundle.prices
	var (
		order   []int32
		reduced []float64
	)
	for i := range l.columns {
		order, reduced = order[:0], reduced[:0]
		for k := range int32(l.columns[i].len()) {
			reduced = append(reduced, l.workloads[i].reduced(l.columns[i].entries(k), prices))
			if l.fits(i, k) {
				order = append(order, k)
			}
		}
		slices.SortFunc(order, func(a, b int32) int { return cmp.Or(cmp.Compare(reduced[a], reduced[b]), int(a-b)) })
		for _, k := range order[:min(len(order), most)] {
			m.addColumn(i, k)
		}
	}
}

// nearestKnown is the number of known columns of each workload that a master begins with, which has met many that are good at
// prices like these, and nearestTiny that where it has not.
const (
	nearestKnown = 10
	nearestTiny  = 2
)

// has says whether the program has column k of workload i.
func (m *master) has(i, k int) bool { return k < len(m.position[i]) && m.position[i][k] >= 0 }

// add takes one configuration of every workload into the program and returns how many are new.
func (m *master) add(picks []int32) (added int) {
	for i, pick := range picks {
		if !m.has(i, int(pick)) {
			m.addColumn(i, pick)
			added++
		}
	}
	return added
}

func (m *master) addColumn(i int, pick int32) {
	if m.has(i, int(pick)) {
		return
	}
	for int(pick) >= len(m.position[i]) {
		m.position[i] = append(m.position[i], -1)
	}
	l := m.t.l
	from := l.columns[i].entries(pick)
	m.scaled = l.scaledUse(i, from, m.scaled)
	m.mixture.add(i, from.cost(), m.scaled, !l.fits(i, pick))
	m.position[i][pick] = int32(len(m.picks[i]))
	m.picks[i] = append(m.picks[i], pick)
}

// narrow closes the columns of a workload that are out of the bounds of the node, and opens the others.
func (m *master) narrow(i int) {
	for k, pick := range m.picks[i] {
		m.mixture.groups[i].closed[k] = !m.t.l.fits(i, pick)
	}
}

// solve returns the prices of the rows at the optimum; ok is false where numerics failed.
func (m *master) solve() (prices []float64, ok bool) {
	l := m.t.l
	ok = m.mixture.solve()
	m.mixture.charge(l.budget)
	if !ok {
		return nil, false
	}
	prices = slices.Clone(m.mixture.prices)
	for r := range prices {
		prices[r] *= l.unit(r)
	}
	return prices, true
}

// raise raises the bound of the node and finds its fractional solution. It ends where the bound
// reaches the target, or where little is left to gain, as a share of what is missing to the target; 0: nothing but rounding.
// ok is false where numerics failed.
func (m *master) raise(little float64) (outcome ascent, ok bool) {
	t, b := m.t, &m.t.bundle
	for i := range m.picks {
		m.narrow(i)
	}
	// A basis of a master that failed means nothing here, as its columns are others.
	if n := t.entered; n != nil && n.basis != nil && n.basis.of == m.mixture {
		m.mixture.enter(n.basis)
	}
	b.value.bound = math.Inf(-1)
	solved, vain := false, 0
	defer func() {
		if solved {
			m.keep()
		}
	}()
	for range nodePasses {
		if !t.l.budget.spend(len(t.l.workloads)) {
			return interrupted, true
		}
		prices, ok := m.solve()
		if solved = ok; !ok {
			return interrupted, false
		}
		if t.l.tenants && m.planned() {
			return converged, true
		}
		v := t.l.evaluate(prices)
		if !v.ok {
			return failed(v.bound), true
		}
		t.offerCut(&v.cut)
		idle := v.bound-b.value.bound < idleGain*(t.target()-b.value.bound)
		if v.bound > b.value.bound {
			b.prices, b.value = prices, v
		}
		if t.l.tenants && !t.insisted && t.best != nil && idle {
			return converged, true
		}
		missing := t.target() - b.value.bound
		left := tolerance * math.Abs(m.mixture.value)
		if little > 0 {
			left = little * missing
		}
		exceeded := missing > 0 && m.mixture.raiseSurplus()
		added := m.add(v.cut.picks)
		if exceeded && added == 0 {
			vain++
		} else {
			vain = 0
		}
		exceeded = exceeded && vain < vainRaises
		if missing <= 0 || !exceeded && (added == 0 || m.mixture.value-b.value.bound < left) {
			m.see(t.entered, m.mixture.value)
			return converged, true
		}
	}
	return interrupted, true
}

// planned looks for a plan where the solution is so close to the bound that one near it would do, and says whether it does: to
// ask all tenants again takes longer.
func (m *master) planned() bool {
	t := m.t
	if value := m.mixture.value; value-t.bundle.value.bound > t.width(value) {
		return false
	}
	m.keep()
	m.plan()
	return t.bundle.value.bound >= t.target()
}

// see takes note of what the split that made a node has gained.
func (m *master) see(n *treeNode, value float64) {
	if n != nil && len(n.changes) > 0 {
		m.history.see(n.changes[len(n.changes)-1].item, n.side, n.moved, value-n.value)
	}
}

// idleGain is the share of what is missing below which the gain of a pass shows that searches of tenants which end at their
// roots have done what they can.
const idleGain = 0.01

// vainRaises is the number of times in a row that rows exceeded get dearer though no configuration turns up that spares them.
const vainRaises = 10

// littleLeft is the share of what is missing to the target that is not worth another pass: the node
// has to be split anyway.
const littleLeft = 0.1

// keep takes note of the solution.
func (m *master) keep() {
	m.value, m.basis, m.solved = m.mixture.value, m.mixture.basis(), true
	for i := range m.mixed {
		m.mixed[i] = m.mixed[i][:0]
	}
	m.mixture.shares(func(group, column int, share float64) {
		if share > leastWeight {
			m.mixed[group] = append(m.mixed[group], fraction{m.picks[group][column], share})
		}
	})
}

// few says whether so few known configurations may be part of a plan better than the target that there are not
// many others: which these are can be found out.
func (m *master) few() bool {
	l, b := m.t.l, &m.t.bundle
	reach, left := m.t.target()-b.value.bound, len(m.picks)+m.t.limits.known
	if !m.t.young() {
		left += m.t.limits.known
	}
	for i := range m.picks {
		w, closed := &l.workloads[i], m.mixture.groups[i].closed
		for k, pick := range m.picks[i] {
			if !closed[k] && w.reduced(l.columns[i].entries(pick), b.prices) < b.value.values[i]+reach {
				left--
			}
		}
	}
	return left >= 0
}

// firstPlan looks for a plan at the root and leaves the bundle as it was.
func (m *master) firstPlan() {
	if m.t.tiny && m.solved {
		m.plan()
		return
	}
	b := &m.t.bundle
	prices, value := b.prices, b.value
	if outcome, ok := m.raise(littleLeft); ok && outcome == converged {
		m.plan()
	}
	b.prices, b.value = prices, value
}

// plan looks for a plan near the solution, of tenants by their members, too, where that does not do.
func (m *master) plan() {
	m.planAmong()
	if t := m.t; t.groups != nil && t.bundle.value.bound < t.target() {
		t.groups.exchangeMembers(t)
	}
}

// planAmong looks for a plan among the configurations of the program. Of a large program, which knows
// little more than one for each workload, all that were met are tried where these don't do.
func (m *master) planAmong() {
	picks := slices.Clone(m.t.bundle.value.cut.picks)
	for i, fractions := range m.mixed {
		picks[i] = m.t.belowMean(i, fractions, heaviest(fractions, picks[i]))
	}
	if m.t.best == nil {
		m.t.polish(&m.t.bundle, picks)
		return
	}
	p := newPrimal(&m.t.bundle)
	p.among = m
	a := p.start(picks)
	fits := p.repair(a)
	if !fits && !m.t.small() {
		p.among = nil
		fits = p.repair(a)
	}
	if !fits {
		return
	}
	if p.improveOne(a); a.cost < m.t.best.cost {
		p.improve(a)
		m.t.offer(a)
	}
}

// belowMean is the configuration with as many replicas as the mean of fractions, rounded off, of a workload with a single item: what
// is left over is topped up. Otherwise, or where some demand must be served, it is another one.
func (t *tree) belowMean(i int, fractions []fraction, otherwise int32) int32 {
	if w := &t.l.workloads[i]; len(fractions) < 2 || !w.divisible() {
		return otherwise
	}
	mean := 0.0
	for _, f := range fractions {
		mean += f.share * float64(t.l.columns[i].x(f.pick)[0])
	}
	if pick, ok := t.l.intern(i, []int32{int32(mean)}); ok && t.l.fits(i, pick) {
		return pick
	}
	return otherwise
}

// splits are those of the workloads with several configurations in the solution, valid until the next call.
func (m *master) splits() []split {
	splits := m.listed[:0]
	for i, fractions := range m.mixed {
		if len(fractions) > 1 {
			splits = m.t.appendSplits(splits, i, fractions)
		}
	}
	m.listed = splits
	return splits
}

// rate scores splits by what they may gain.
func (m *master) rate(splits []split) {
	for k := range splits {
		s := &splits[k]
		s.score = math.Sqrt(m.history.expected(s.item, below, s.moved[below]) * m.history.expected(s.item, above, s.moved[above]))
	}
}

// branch returns the children of the split that raises the value of both their programs most, by the
// product: what was seen of splits of the same item tells where that is often enough, and else their programs are
// solved (reliability branching, Achterberg, Koch and Martin, Branching rules revisited, 2005).
// The first split with a child that need not be looked at is as good as any.
func (m *master) branch(n *treeNode, splits []split) (best [2]*treeNode) {
	bestScore := -1.0
	for _, s := range splits {
		children := m.t.children(n, s)
		score, more := m.score(s, children)
		for score > bestScore && more {
			score, more = m.score(s, children)
		}
		if score > bestScore {
			best, bestScore = children, score
		}
		if m.closed(children[0]) || m.closed(children[1]) {
			return children
		}
	}
	return best
}

func (m *master) closed(n *treeNode) bool { return n == nil || n.bound >= m.t.target() }

// score is the product of what the values of the children's programs gain. That may shrink where
// more is true: configurations were added.
func (m *master) score(s split, children [2]*treeNode) (score float64, more bool) {
	most := m.t.target() - m.value
	if math.IsInf(most, 1) {
		most = m.t.scale
	}
	score = 1
	reliable := m.history.reliable(s.item, m.t.limits.reliable)
	for side, c := range children {
		gain := most
		switch {
		case m.closed(c):
		case reliable:
			gain = min(gain, m.history.expected(s.item, side, s.moved[side]))
		default:
			value, added := m.probe(c)
			gain = min(gain, value-m.value)
			more = more || added > 0
		}
		score *= max(gain, leastGain*most)
	}
	return score, more
}

// leastGain keeps the product of gains apart where one of them is 0.
const leastGain = 1e-6

// probe solves the program of a child and returns its value. Where that may close the child, it raises
// the child's bound and adds what is cheaper at the prices, and returns how many configurations it added.
func (m *master) probe(c *treeNode) (value float64, added int) {
	l, change := m.t.l, &c.changes[len(c.changes)-1]
	lo, hi := l.lo[change.item], l.hi[change.item]
	defer m.bound(change.workload, change.item, lo, hi)
	m.bound(change.workload, change.item, change.lo, change.hi)
	m.mixture.enter(m.basis)
	prices, ok := m.solve()
	if !ok || !l.budget.spend(1) {
		return math.Inf(-1), 0
	}
	value, c.basis = m.mixture.value, m.mixture.basis()
	m.see(c, value)
	if value < m.t.target() {
		return value, 0
	}
	l.budget.spend(len(l.workloads))
	v := l.evaluate(prices)
	if v.bound > c.bound {
		c.bound, c.prices = v.bound, prices
	}
	if v.ok && !m.closed(c) {
		m.t.offerCut(&v.cut)
		added = m.add(v.cut.picks)
	}
	return value, added
}

// bound narrows or widens the bounds of an item.
func (m *master) bound(workload, item int, lo, hi int32) {
	m.t.l.lo[item], m.t.l.hi[item] = lo, hi
	m.narrow(workload)
}
