package optimizer

import (
	"math"
	"slices"

	"github.com/poolwright/poolwright/optimizer/lp"
)

// grouped is a program with tenants in place of the workloads in namespaces with quotas, and without rows of quotas.
type grouped struct {
	*program
	// from is the program that it was made of, and members are the workloads in it by workload here.
	from    *program
	members [][]int
	// flat is the program of all members, for exchanges, nil before the first, and taken is how many configurations of
	// a master it has by workload.
	flat   *lagrangian
	master *master
	taken  []int
}

// newGrouped groups the workloads of a program by namespace.
func newGrouped(p *program, namespace func(i int) string, o Options) *grouped {
	g := &grouped{program: &program{rows: p.rows[:p.shared], items: p.items, shared: p.shared}, from: p}
	index := map[string]int{}
	for i := range p.workloads {
		if !p.quoted(i) {
			g.members = append(g.members, []int{i})
			continue
		}
		at, known := index[namespace(i)]
		if !known {
			at = len(g.members)
			index[namespace(i)] = at
			g.members = append(g.members, nil)
		}
		g.members[at] = append(g.members[at], i)
	}
	first, share := 0, 1/float64(len(index))
	for _, members := range g.members {
		w := p.workloads[members[0]]
		if p.quoted(members[0]) {
			w = newTenant(p, members, share, o).whole
		}
		w.firstItem = first
		first += w.items
		g.workloads = append(g.workloads, w)
	}
	return g
}

// quoted says whether a workload uses a row of a quota.
func (p *program) quoted(i int) bool {
	rows := p.workloads[i].rows
	return len(rows) > 0 && int(rows[len(rows)-1]) >= p.shared
}

// gather puts replicas by item of the program that this one was made of into the order here, and spread back.
func (g *grouped) gather(x []int32) []int32 {
	out := make([]int32, 0, len(x))
	for _, members := range g.members {
		for _, i := range members {
			w := &g.from.workloads[i]
			out = append(out, x[w.firstItem:][:w.items]...)
		}
	}
	return out
}

func (g *grouped) spread(x []int32) []int32 {
	out := make([]int32, len(x))
	for _, members := range g.members {
		for _, i := range members {
			w := &g.from.workloads[i]
			copy(out[w.firstItem:], x[:w.items])
			x = x[w.items:]
		}
	}
	return out
}

// begin lets searches for tenants begin with a plan.
func (g *grouped) begin(x []int32) {
	for i := range g.workloads {
		w := &g.workloads[i]
		if w.tenant != nil {
			w.tenant.begin(x[w.firstItem:][:w.items])
		}
	}
}

// warmStart is one of the other program in the terms here.
func (g *grouped) warmStart(from *warmStart) *warmStart {
	w := &warmStart{prices: from.prices[:g.shared], x: g.gather(from.x)}
	for _, members := range g.members {
		w.kept = append(w.kept, !slices.ContainsFunc(members, func(i int) bool { return !from.kept[i] }))
	}
	return w
}

// exchangeMembers looks for a plan by exchanges of configurations of members, near the one of the solution of a tree's master:
// tenants know few configurations of their own, which rarely fit together in the last devices of pools.
func (g *grouped) exchangeMembers(t *tree) {
	if g.flat == nil {
		g.flat = newLagrangian(g.from, nil)
	}
	if g.master != t.master {
		g.master, g.taken = t.master, make([]int, len(g.workloads))
	}
	l := g.flat
	l.budget = t.l.budget
	if !l.budget.spend(len(l.workloads)) {
		return
	}
	b := &bundle{l: l, prices: g.pricesOf(t)}
	if b.value = l.evaluate(b.prices); !b.value.ok {
		return
	}
	b.scale = l.scales(&b.value.cut)
	p := newPrimal(b)
	a := p.start(g.picksOf(t, b.value.cut.picks))
	if p.repair(a) {
		p.improve(a)
		t.offerPlan(g.gather(l.plan(a).replicas))
	}
}

// pricesOf are the prices of a tree, and those of quotas that tenants have found last.
func (g *grouped) pricesOf(t *tree) []float64 {
	prices := make([]float64, len(g.from.rows))
	copy(prices, t.bundle.prices)
	for i := range g.workloads {
		if of := g.workloads[i].tenant; of != nil {
			for n, price := range of.warm.prices {
				prices[of.quotas[n]] = price
			}
		}
	}
	return prices
}

// picksOf takes over the configurations of members that a tree's master knows, and returns those which are heaviest in its
// solution, or else the given ones.
func (g *grouped) picksOf(t *tree, otherwise []int32) []int32 {
	picks := slices.Clone(otherwise)
	for i, known := range t.master.picks {
		for _, pick := range known[g.taken[i]:] {
			g.take(i, t.l.columns[i].x(pick), nil)
		}
		g.taken[i] = len(known)
		pick := heaviest(t.master.mixed[i], t.bundle.value.cut.picks[i])
		g.take(i, t.l.columns[i].x(pick), picks)
	}
	return picks
}

// take takes over a configuration of workload i for its members, whose picks it may be, too.
func (g *grouped) take(i int, x []int32, picks []int32) {
	for _, k := range g.members[i] {
		items := g.from.workloads[k].items
		if index, ok := g.flat.intern(k, x[:items]); ok && picks != nil {
			picks[k] = index
		}
		x = x[items:]
	}
}

// priceQuotas adds, to prices of the rows that all workloads share, those of the quotas of a program without others by
// rounding, for people to read.
func (g *grouped) priceQuotas(p *program, prices []float64, budget *effort) {
	for i := range g.workloads {
		if g.workloads[i].tenant == nil {
			continue
		}
		t := newTenant(p, g.members[i], 1, Options{})
		for n, price := range t.shadowPrices(prices, budget) {
			prices[t.quotas[n]] = price
		}
	}
}

// groups says whether workloads are taken together by namespace: several have quotas in most of the pools that they use, and
// are not large.
func (s *solver) groups() bool {
	if len(s.canonical.Quotas) <= s.options.limits.priced {
		return false
	}
	members, used := map[string]int{}, map[quotaKey]bool{}
	for i := range s.canonical.workloads {
		w := s.canonical.given(i)
		members[w.Namespace]++
		for j := range w.Variants {
			for _, at := range w.Variants[j].Placements {
				used[quotaKey{w.Namespace, s.canonical.rank[at.Pool]}] = true
			}
		}
	}
	open := map[string]int{} // pools without quotas less those with
	for key := range used {
		open[key.namespace]++
	}
	for _, q := range s.canonical.Quotas {
		if s.canonical.binds(&q) && used[quotaKey{q.Namespace, q.Pool}] {
			open[q.Namespace] -= 2
		}
	}
	tenants, quoted, squares := 0, 0, 0
	for namespace, n := range open {
		if n <= 0 {
			tenants++
			quoted += members[namespace]
			squares += members[namespace] * members[namespace]
		}
	}
	return tenants > s.options.limits.priced && squares <= mostMembers*quoted
}

// binds says whether a quota is less than its pool has.
func (c *canonical) binds(q *Quota) bool {
	return !c.Pools[q.Pool].Limited || q.Capacity < c.Pools[q.Pool].Capacity
}

// mostMembers is the number of workloads in the namespace of a workload, on the average, up to which tenants do better
// than prices of quotas.
const mostMembers = 150

// searchGrouped searches with tenants, whose rows have others that follow by rounding: they are few in each. What it
// finds is in the terms of the tree given, which searches itself where they come to no plan.
func (s *solver) searchGrouped(at stage, t *tree, tentative bool) result {
	p, inner := t.l.program, s.options
	inner.LP = lp.Simplex() // tenants are searched at the same time
	sharper := newProgram(s.canonical, s.packings, rounding{quotas: s.replicaSizes()}, at, nil)
	g := newGrouped(sharper, func(i int) string { return s.canonical.given(i).Namespace }, inner)
	u := s.newTree(at, g.program, outcome{}, t.l.budget)
	u.groups = g
	u.l.widen() // prices are those of the limits then
	if t.start != nil {
		u.start = t.start[:p.shared]
	}
	if t.warm != nil {
		u.warm = g.warmStart(t.warm)
	}
	if t.best != nil {
		x := g.gather(t.l.plan(t.best).replicas)
		g.begin(x)
		u.offerPlan(x)
	}
	found := u.solve(tentative)
	if found.best != nil {
		t.offerPlan(g.spread(u.l.plan(found.best).replicas))
	}
	if found.best = t.best; found.best == nil && !tentative && !math.IsInf(found.bound, 1) && !t.l.budget.exhausted() {
		t.roundable = false
		return t.solve(tentative)
	}
	if found.best != nil {
		found.bound = min(found.bound, found.best.cost)
	}
	found.prices = append(slices.Clone(found.prices), make([]float64, len(p.rows)-p.shared)...)
	if at.kind == moneyStage && !at.bounding && !at.hasty && found.best != nil && !t.l.budget.exhausted() {
		g.priceQuotas(p, found.prices, t.l.budget)
	}
	return found
}

// tenantRound is a round of raising the bound: searches for all tenants may take a share of the effort that is left, and leave
// a share of the gap open.
type tenantRound struct {
	effort, gap float64
}

// tenantRounds follow on one in which searches end at their roots, and tenantRepeats is how often each is repeated while
// some tenants have not come to what they may leave open.
var tenantRounds = []tenantRound{{0.3, 0.5}, {1, 0.1}}

const tenantRepeats = 1

// insist makes searches for tenants thorough. What they may leave open is shared in terms of cost: prices of shared
// rows are part of what a tenant costs, so that a share of that may be much. It is by mostOpen, but even where a level above cost is
// settled: to use all of the gap leaves later ones little to choose. Of the effort, half is shared among all, and half among those
// that did not come to it with what they had, if there are any.
func (t *tree) insist(round tenantRound) {
	tenants := t.tenants()
	n := float64(len(tenants))
	gap := round.gap * (t.best.cost - t.target())
	even, unfinished := gap/n, 0
	most := even
	if t.unit == 0 {
		most = mostOpen(tenants, gap)
	}
	for _, w := range tenants {
		if w.open > most {
			unfinished++
		}
	}
	for _, w := range tenants {
		w.share = 0.5 / n
		switch {
		case unfinished == 0:
			w.share = 1 / n
		case w.open > most:
			w.share += 0.5 / float64(unfinished)
		}
		allowance := even
		if w.open > even {
			allowance = most
		}
		w.insist(1+int(round.effort*w.share*float64(t.l.budget.left)), allowance)
	}
	t.insisted = true
}

// mostOpen is what a tenant may leave open where all together may leave a gap: what some leave less than their share, by their
// latest searches, is for the others. It is at least the even share.
func mostOpen(tenants []*tenant, gap float64) (most float64) {
	var open []float64
	for _, w := range tenants {
		open = append(open, w.open)
	}
	slices.Sort(open)
	for k, left := range open {
		if most = gap / float64(len(open)-k); left > most {
			break
		}
		gap -= left
	}
	return most
}

// ascendTenants raises the bound at the root of a program with tenants, and finds plans: first with searches
// for tenants that end at their roots, then with thorough ones, so that gaps of the tenants don't add up to more than
// the one asked for. A master does it, as a bundle would take what such a search leaves open for something to be gained.
func (t *tree) ascendTenants(g goal) ascent {
	t.master = t.newMaster()
	outcome := t.raiseTenants(g)
	for _, round := range tenantRounds {
		for range 1 + tenantRepeats {
			if outcome == infeasible || t.master == nil || t.best == nil || t.hasty || t.bundle.value.bound >= t.target() || t.l.budget.exhausted() {
				return outcome
			}
			t.insist(round)
			outcome = t.raiseTenants(g)
			if !slices.ContainsFunc(t.tenants(), (*tenant).unfinished) {
				break
			}
		}
	}
	return outcome
}

// tenants are those of the program.
func (t *tree) tenants() []*tenant {
	var tenants []*tenant
	for i := range t.l.workloads {
		if w := t.l.workloads[i].tenant; w != nil {
			tenants = append(tenants, w)
		}
	}
	return tenants
}

// raiseTenants raises the bound at the root by the master, once more where that has found the first plan: how far a bound
// is worth raising shows only then.
func (t *tree) raiseTenants(g goal) ascent {
	for {
		first := t.best == nil
		outcome := t.raiseRoot(g.hopeless, littleLeft)
		if outcome == infeasible || t.master == nil || t.bounding {
			return outcome
		}
		if t.bundle.value.bound < t.target() {
			if _, ok := t.master.solve(); ok { // with what was added last
				t.master.keep()
			}
			t.master.plan()
		}
		if !first || t.best == nil {
			return outcome
		}
	}
}
