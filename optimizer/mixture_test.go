package optimizer

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/poolwright/poolwright/internal/short"
	"github.com/poolwright/poolwright/optimizer/lp"
)

// newMixture has groups without columns; rows of a group are those that its columns may use.
func newMixture(rows [][]int32, limit, surplus []float64) *mixture {
	m := &mixture{}
	m.reset(rows, limit, surplus)
	return m
}

// The optimum is that of the same linear program with a row for every group, as columns are added and
// closed, rows become dearer, and earlier bases are taken up again.
func TestMixtureEqualsSimplex(t *testing.T) {
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 9))
		m := randomMixture(r)
		first := m.basis()
		for step := range 12 {
			m.change(r)
			if r.IntN(4) == 0 {
				m.enter(first)
			}
			want := m.simplex(t)
			if !m.solve() {
				t.Fatalf("seed %d, step %d: not solved, want %v", seed, step, want)
			}
			if math.Abs(m.value-want) > 1e-7*(1+math.Abs(want)) {
				t.Fatalf("seed %d, step %d: %v, want %v", seed, step, m.value, want)
			}
			m.checkShares(t)
			m.checkPrices(t)
		}
	}
}

// Where rows have become so dear that prices are mostly rounding, the search for an optimum ends all the same.
func TestMixtureOfDearRows(t *testing.T) {
	for seed := range short.Of(uint64(1000)) {
		r := rand.New(rand.NewPCG(seed, 10))
		m := newMixture([][]int32{{0, 1, 2}, {0, 1}, {1, 2}, {0, 2}}, []float64{1, 1, 1}, []float64{1e11, 1e11, 1e11})
		for range 100 {
			g := r.IntN(len(m.groups))
			use := make([]float64, len(m.groups[g].rows))
			for n := range use {
				use[n] = r.Float64()
			}
			m.add(g, 1e5*r.Float64(), use, false)
		}
		for g := range m.groups {
			m.add(g, 3e5, make([]float64, len(m.groups[g].rows)), false)
		}
		m.restart()
		for step := range 10 {
			for g := range m.groups {
				closed := m.groups[g].closed
				for c := range closed[:len(closed)-1] {
					closed[c] = r.IntN(3) == 0
				}
			}
			if !m.solve() {
				t.Fatalf("seed %d, step %d: not solved", seed, step)
			}
			if want := m.simplex(t); math.Abs(m.value-want) > 1e-6*want {
				t.Fatalf("seed %d, step %d: %v, want %v", seed, step, m.value, want)
			}
			m.checkShares(t)
			m.checkPrices(t)
		}
	}
}

// A group whose columns are all closed has no mixture.
func TestMixtureWithoutOpenColumns(t *testing.T) {
	m := newMixture([][]int32{{0}}, []float64{1}, []float64{5})
	m.add(0, 3, []float64{2}, false)
	m.restart()
	m.groups[0].closed[0] = true
	if m.solve() {
		t.Errorf("solved: %v", m.value)
	}
}

// Every group gets cheaper columns than it had, as tenants do at prices that have moved far: that takes several exchanges each.
func TestMixtureOfNewColumns(t *testing.T) {
	const groups, limits = 1000, 5
	r := rand.New(rand.NewPCG(3, 4))
	rows, limit, surplus := make([][]int32, groups), make([]float64, limits), make([]float64, limits)
	for k := range limits {
		limit[k], surplus[k] = groups/2, 1e6
	}
	for g := range rows {
		rows[g] = []int32{0, 1, 2, 3, 4}
	}
	m := newMixture(rows, limit, surplus)
	for _, cost := range []float64{1000, 10} {
		for g := range groups {
			for range 8 {
				use := make([]float64, limits)
				for k := range use {
					use[k] = r.Float64()
				}
				m.add(g, cost*(1+r.Float64()), use, false)
			}
		}
		if cost == 1000 {
			m.restart()
		}
		if !m.solve() {
			t.Fatalf("not solved with columns of %v", cost)
		}
	}
}

// randomMixture has small whole numbers, so that many optima are degenerate.
func randomMixture(r *rand.Rand) *mixture {
	rows := 1 + r.IntN(4)
	groups := make([][]int32, 1+r.IntN(6))
	for g := range groups {
		for row := range int32(rows) {
			if r.IntN(3) > 0 {
				groups[g] = append(groups[g], row)
			}
		}
	}
	limit, surplus := make([]float64, rows), make([]float64, rows)
	for k := range limit {
		limit[k], surplus[k] = float64(r.IntN(8)), float64(1+r.IntN(20))
	}
	m := newMixture(groups, limit, surplus)
	for g := range groups {
		m.addRandom(r, g)
	}
	m.restart()
	return m
}

func (m *mixture) addRandom(r *rand.Rand, group int) {
	use := make([]float64, len(m.groups[group].rows))
	for n := range use {
		use[n] = float64(r.IntN(4))
	}
	m.add(group, float64(r.IntN(12)), use, false)
}

// change adds columns, closes and opens others but for one of each group, and makes a row dearer.
func (m *mixture) change(r *rand.Rand) {
	for range r.IntN(6) {
		m.addRandom(r, r.IntN(len(m.groups)))
	}
	for k := range m.groups {
		g := &m.groups[k]
		for c := range g.closed {
			g.closed[c] = r.IntN(3) == 0
		}
		g.closed[r.IntN(len(g.closed))] = false
	}
	m.surplus[r.IntN(len(m.surplus))] *= 1 + r.Float64()
}

// simplex is the objective by the general method.
func (m *mixture) simplex(t *testing.T) float64 {
	t.Helper()
	p := &lp.Problem{}
	for range m.groups {
		p.RowLower, p.RowUpper = append(p.RowLower, 1), append(p.RowUpper, 1)
	}
	for r, limit := range m.limit {
		p.RowLower, p.RowUpper = append(p.RowLower, math.Inf(-1)), append(p.RowUpper, limit)
		p.Columns = append(p.Columns, lp.Column{Cost: m.surplus[r], Upper: math.Inf(1), Rows: []int32{int32(len(m.groups) + r)}, Values: []float64{-1}})
	}
	for k := range m.groups {
		g := &m.groups[k]
		for c, cost := range g.cost {
			if g.closed[c] {
				continue
			}
			column := lp.Column{Cost: cost, Upper: math.Inf(1), Rows: []int32{int32(k)}, Values: []float64{1}}
			for n, u := range g.column(int32(c)) {
				column.Rows, column.Values = append(column.Rows, int32(len(m.groups))+g.rows[n]), append(column.Values, u)
			}
			p.Columns = append(p.Columns, column)
		}
	}
	solver, err := lp.Simplex().New(p)
	if err != nil {
		t.Fatal(err)
	}
	defer solver.Close()
	s := solver.Solve(0)
	if s.Status != lp.Optimal {
		t.Fatalf("simplex: %v", s.Status)
	}
	return s.Objective
}

// checkShares checks that the shares of every group are those of open columns, sum to 1, and exceed
// the rows by what the mixture says.
func (m *mixture) checkShares(t *testing.T) {
	t.Helper()
	total, use := make([]float64, len(m.groups)), make([]float64, len(m.limit))
	m.shares(func(group, column int, share float64) {
		g := &m.groups[group]
		if share < 0 || share > 1e-7 && g.closed[column] {
			t.Errorf("group %d: share %v of column %d", group, share, column)
		}
		total[group] += share
		for n, u := range g.column(int32(column)) {
			use[g.rows[n]] += share * u
		}
	})
	for g, sum := range total {
		if math.Abs(sum-1) > 1e-9 {
			t.Errorf("group %d: shares sum to %v", g, sum)
		}
	}
	for r, limit := range m.limit {
		if over := max(0, use[r]-limit); math.Abs(over-m.excess(r)) > 1e-8 {
			t.Errorf("row %d: exceeded by %v, says %v", r, over, m.excess(r))
		}
	}
}

// checkPrices checks the value by duality.
func (m *mixture) checkPrices(t *testing.T) {
	t.Helper()
	dual := 0.0
	for r, price := range m.prices {
		if price < 0 || price > m.surplus[r]*(1+1e-9) {
			t.Errorf("row %d: price %v of at most %v", r, price, m.surplus[r])
		}
		dual -= price * m.limit[r]
	}
	for k := range m.groups {
		g := &m.groups[k]
		least := math.Inf(1)
		for c, cost := range g.cost {
			if g.closed[c] {
				continue
			}
			for n, u := range g.column(int32(c)) {
				cost += u * m.prices[g.rows[n]]
			}
			least = min(least, cost)
		}
		dual += least
	}
	if math.Abs(dual-m.value) > 1e-7*(1+math.Abs(dual)) {
		t.Errorf("prices are worth %v, value %v", dual, m.value)
	}
}

// A search that the caller stops ends soon, also where a linear program over many workloads takes long.
func TestMixtureStops(t *testing.T) {
	const groups = 2000
	rows := make([][]int32, groups)
	for g := range rows {
		rows[g] = []int32{0}
	}
	m := newMixture(rows, []float64{groups}, []float64{5})
	for g := range rows {
		m.add(g, 2, []float64{0}, false)
		m.add(g, 1+float64(g)/groups, []float64{1}, false)
	}
	m.restart()
	asked := 0
	m.stop = &stopper{ask: func() bool { asked++; return asked == 3 }}
	if m.solve() || asked != 3 {
		t.Errorf("solved, or asked %d times", asked)
	}
	m.stop = nil
	if !m.solve() {
		t.Error("not solved")
	}
}
