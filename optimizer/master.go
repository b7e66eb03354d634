package optimizer

import (
	"math"
	"slices"

	"github.com/poolwright/poolwright/optimizer/lp"
)

// master is the Dantzig–Wolfe master of a small program: a linear program that mixes known
// configurations, in total one of each workload, within the coupling rows. Its multipliers
// maximise the Lagrangian over these configurations; pricing at them bounds the node and adds what
// is cheaper (column generation). Where there are few rows that is quicker than the bundle, and
// the value of the program tells which split is best.
type master struct {
	t      *tree
	solver lp.Solver
	// surplus is the cost of exceeding a row by a unit, the first columns of the program.
	surplus []float64
	// columns are the others, and position theirs by workload and index, or −1.
	columns  []masterColumn
	position [][]int32
	// x is the solution at the node, and value its objective.
	x     []float64
	value float64
}

// masterColumn is a configuration in the program; closed are those out of the bounds of the node.
type masterColumn struct {
	workload int
	index    int32
	closed   bool
}

// newMaster starts from the configurations of the bundle's cuts and of the best plan. It returns
// nil if the engine refuses the coefficients.
func (t *tree) newMaster() *master {
	l := t.l
	m := &master{t: t, position: make([][]int32, len(l.workloads))}
	problem := &lp.Problem{}
	for range l.workloads {
		problem.RowLower = append(problem.RowLower, 1)
		problem.RowUpper = append(problem.RowUpper, 1)
	}
	for r, row := range l.rows {
		problem.RowLower = append(problem.RowLower, math.Inf(-1))
		problem.RowUpper = append(problem.RowUpper, row.limit*l.unit(r))
		m.surplus = append(m.surplus, surplusFactor*max(t.bundle.prices[r], 0.1*t.bundle.scale[r]))
		problem.Columns = append(problem.Columns, lp.Column{
			Cost: m.surplus[r] / l.unit(r), Upper: math.Inf(1), Rows: []int32{m.row(r)}, Values: []float64{-1},
		})
	}
	solver, err := t.engine.New(problem)
	if err != nil {
		return nil
	}
	m.solver = solver
	for k := range t.bundle.cuts {
		m.add(t.bundle.cuts[k].picks)
	}
	if t.best != nil {
		m.add(t.best.picks)
	}
	return m
}

// surplusFactor is by how much exceeding a row costs more than its price at first, and each time
// that it turns out to pay.
const surplusFactor = 4

// unit scales a row to coefficients around 1.
func (l *lagrangian) unit(r int) float64 { return 1 / max(1, math.Abs(l.rows[r].limit)) }

// row is that of coupling row r in the program.
func (m *master) row(r int) int32 { return int32(len(m.position) + r) }

// has says whether the program has column k of workload i.
func (m *master) has(i, k int) bool { return k < len(m.position[i]) && m.position[i][k] >= 0 }

// add takes one configuration of every workload into the program and returns how many are new.
func (m *master) add(picks []int32) int {
	before := len(m.columns)
	for i, pick := range picks {
		m.addColumn(i, pick)
	}
	return len(m.columns) - before
}

func (m *master) addColumn(i int, pick int32) {
	if m.has(i, int(pick)) {
		return
	}
	for int(pick) >= len(m.position[i]) {
		m.position[i] = append(m.position[i], -1)
	}
	l := m.t.l
	from := &l.columns[i][pick]
	column := lp.Column{Cost: from.cost, Upper: math.Inf(1), Rows: []int32{int32(i)}, Values: []float64{1}}
	for n, r := range l.workloads[i].rows {
		if from.use[n] != 0 {
			column.Rows = append(column.Rows, m.row(int(r)))
			column.Values = append(column.Values, from.use[n]*l.unit(int(r)))
		}
	}
	m.position[i][pick] = int32(len(m.columns))
	m.columns = append(m.columns, masterColumn{workload: i, index: pick})
	m.solver.AddColumns([]lp.Column{column})
	m.narrowColumn(len(m.columns) - 1)
}

// narrowColumn closes a column if it is out of the bounds of the node, and else opens it.
func (m *master) narrowColumn(k int) {
	c := &m.columns[k]
	if closed := !m.t.l.fits(c.workload, &m.t.l.columns[c.workload][c.index]); closed != c.closed {
		c.closed = closed
		upper := math.Inf(1)
		if closed {
			upper = 0
		}
		m.solver.SetBounds(len(m.surplus)+k, 0, upper)
	}
}

// solve returns the program's solution and the prices of the rows; ok is false where numerics
// failed.
func (m *master) solve() (s lp.Solution, prices []float64, ok bool) {
	l := m.t.l
	s = m.solver.Solve(0)
	l.budget.left -= s.Iterations * (len(l.workloads) + len(l.rows)) / rowsPerEffort
	if s.Status != lp.Optimal {
		return s, nil, false
	}
	prices = make([]float64, len(l.rows))
	for r := range prices {
		prices[r] = max(0, -s.Dual[m.row(r)]*l.unit(r))
	}
	return s, prices, true
}

// rowsPerEffort rows make a pivot as much work as one pricing problem.
const rowsPerEffort = 10

// raise raises the bound of the node and finds its fractional solution. It ends where the bound
// reaches the target, or where little is left to gain. ok is false where numerics failed.
func (m *master) raise() (outcome ascent, ok bool) {
	t, b := m.t, &m.t.bundle
	for k := range m.columns {
		m.narrowColumn(k)
	}
	b.value.bound = math.Inf(-1)
	for range nodePasses {
		if !t.l.budget.spend(len(t.l.workloads)) {
			return interrupted, true
		}
		s, prices, ok := m.solve()
		if !ok {
			return interrupted, false
		}
		m.x, m.value = append(m.x[:0], s.X...), s.Objective
		v := t.l.evaluate(prices)
		if !v.ok {
			return failed(v.bound), true
		}
		t.offerCut(&v.cut)
		if v.bound > b.value.bound {
			b.prices, b.value = prices, v
		}
		missing := t.target() - b.value.bound
		exceeded := missing > 0 && m.raiseSurplus()
		added := m.add(v.cut.picks)
		if missing <= 0 || !exceeded && (added == 0 || m.value-b.value.bound < littleLeft*missing) {
			return converged, true
		}
	}
	return interrupted, true
}

// littleLeft is the share of what is missing to the target that is not worth another pass: the node
// has to be split anyway.
const littleLeft = 0.1

// raiseSurplus makes the rows dearer that are exceeded, and says whether any is.
func (m *master) raiseSurplus() bool {
	exceeded := false
	for r := range m.surplus {
		if m.x[r] > 1e-9 {
			exceeded = true
			m.surplus[r] *= surplusFactor
			m.solver.SetCost(r, m.surplus[r]/m.t.l.unit(r))
		}
	}
	return exceeded
}

// shares are the configurations of every workload in the solution.
func (m *master) shares() [][]fraction {
	shares := make([][]fraction, len(m.position))
	for k, share := range m.x[len(m.surplus):] {
		if share > leastWeight {
			c := &m.columns[k]
			shares[c.workload] = append(shares[c.workload], fraction{c.index, share})
		}
	}
	return shares
}

// firstPlan looks for a plan at the root and leaves the bundle as it was.
func (m *master) firstPlan() {
	b := &m.t.bundle
	prices, value := b.prices, b.value
	if outcome, ok := m.raise(); ok && outcome == converged {
		m.plan()
	}
	b.prices, b.value = prices, value
}

// plan looks for a plan near the solution, among the configurations of the program.
func (m *master) plan() {
	picks := slices.Clone(m.t.bundle.value.cut.picks)
	for i, fractions := range m.shares() {
		most := 0.0
		for _, f := range fractions {
			if f.share > most {
				picks[i], most = f.pick, f.share
			}
		}
	}
	p := newPrimal(&m.t.bundle)
	p.among = m
	a := p.start(picks)
	if p.repair(a) {
		p.improve(a)
		m.t.offer(a)
	}
}

// splits are those of the workloads with several configurations in the solution.
func (m *master) splits() []split {
	var splits []split
	for i, fractions := range m.shares() {
		if len(fractions) > 1 {
			splits = append(splits, m.t.splitsAt(i, fractions)...)
		}
	}
	return splits
}

// branch returns the children of the split that raises the value of both their programs most, by the
// product (strong branching, Achterberg, Koch and Martin, Branching rules revisited, 2005).
// The first split with a child that need not be looked at is as good as any.
func (m *master) branch(n *treeNode, splits []split) (best [2]*treeNode) {
	bestScore := -1.0
	for _, s := range splits {
		children := [2]*treeNode{m.t.child(n, s, false), m.t.child(n, s, true)}
		score, more := m.score(children)
		for score > bestScore && more {
			score, more = m.score(children)
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
func (m *master) score(children [2]*treeNode) (score float64, more bool) {
	most := m.t.target() - m.value
	if math.IsInf(most, 1) {
		most = m.t.scale
	}
	score = 1
	for _, c := range children {
		gain := most
		if !m.closed(c) {
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

// probe solves the program of a child, raises the child's bound and adds what is cheaper at the
// prices. It returns the value of the program and the number of configurations added.
func (m *master) probe(c *treeNode) (value float64, added int) {
	l, change := m.t.l, &c.changes[len(c.changes)-1]
	lo, hi := l.lo[change.item], l.hi[change.item]
	defer m.bound(change.workload, change.item, lo, hi)
	m.bound(change.workload, change.item, change.lo, change.hi)
	s, prices, ok := m.solve()
	if !ok || !l.budget.spend(len(l.workloads)) {
		return math.Inf(-1), 0
	}
	value = s.Objective
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
	for _, k := range m.position[workload] {
		if k >= 0 {
			m.narrowColumn(int(k))
		}
	}
}
