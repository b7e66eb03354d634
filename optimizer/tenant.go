package optimizer

import (
	"cmp"
	"math"
	"slices"
)

// tenant is the workloads of a namespace with quotas, taken for one workload: at given prices of the rows that
// all workloads share, which configurations of its members are the cheapest within its quotas is a
// program of its own. Prices of quotas would do for a bound, but a namespace has few replicas, which rarely fill its quotas to
// the last device as mixtures of configurations do; and of hundreds of quotas prices are found slowly.
type tenant struct {
	// members are workloads of the program with rows of quotas, and whole is what stands for them in the one without. It has
	// no variants: what depends on these asks the tenant.
	members []*workload
	whole   workload
	// l is the program of the members, whose costs have the rows of whole priced, and most bounds the items.
	l    *lagrangian
	most []int32
	// quotas are the rows of l in the program with rows of quotas.
	quotas []int32
	// warm is what the search before has found.
	warm *warmStart
	// options are those of searches, and share is that of the effort left which one may take. patience is the effort of each search, 0: the
	// plans found at the root will do. allowance is the gap that is good enough, in terms of cost, and open what the latest search has left.
	options   Options
	share     float64
	patience  int
	allowance float64
	open      float64
	// answers are the latest ones.
	answers []tenantAnswer
	store   columnStore
}

// tenantAnswer is an answer with what it was asked for.
type tenantAnswer struct {
	priced
	x      []int32
	open   float64
	prices []float64 // of the rows of whole
	lo, hi []int32
}

// newTenant takes workloads of a program for one, whose searches may take a share of the effort.
func newTenant(p *program, members []int, share float64, o Options) *tenant {
	t := &tenant{share: share, options: o}
	var shared []int32
	for _, i := range members {
		w := &p.workloads[i]
		t.members = append(t.members, w)
		n, _ := slices.BinarySearch(w.rows, int32(p.shared))
		shared, t.quotas = append(shared, w.rows[:n]...), append(t.quotas, w.rows[n:]...)
	}
	t.quotas = sortedOnce(t.quotas)
	t.whole = workload{tenant: t, rows: sortedOnce(shared), unmetRow: none, shortfallRow: none}
	sub := &program{}
	for _, r := range t.quotas {
		sub.rows = append(sub.rows, p.rows[r])
	}
	for _, member := range t.members {
		sub.workloads = append(sub.workloads, t.alone(member))
		t.whole.addPlaces(member, func(u use) (use, bool) { return u, int(u.row) < p.shared })
		t.whole.items += member.items
	}
	sub.items = t.whole.items
	t.l = newLagrangian(sub, nil)
	t.most = slices.Clone(t.l.hi)
	t.warm = &warmStart{prices: make([]float64, len(t.quotas))}
	return t
}

func sortedOnce[E cmp.Ordered](list []E) []E {
	slices.Sort(list)
	return slices.Compact(list)
}

// alone is the next member in the program of the members, where quotas are the only rows.
func (t *tenant) alone(member *workload) workload {
	w := *member
	w.firstItem, w.places, w.uses, w.rows, w.unmetRow, w.shortfallRow = t.whole.items, nil, nil, nil, none, none
	w.addPlaces(member, func(u use) (use, bool) {
		n, quota := slices.BinarySearch(t.quotas, u.row)
		return use{int32(n), u.amount}, quota
	})
	for _, u := range w.uses {
		w.rows = append(w.rows, u.row)
	}
	w.rows = sortedOnce(w.rows)
	return w
}

// configure works out cost and use of a configuration of all members, and says whether it is allowed.
func (t *tenant) configure(c *column) bool {
	use, shared := make([]float64, len(t.quotas)), c.use()
	x := c.x
	defer t.store.reset()
	for _, member := range t.members {
		of, ok := t.store.newColumn(member, x[:member.items])
		if !ok {
			return false
		}
		x = x[member.items:]
		c.entries[0] += of.cost()
		for n, r := range member.rows {
			if k, found := slices.BinarySearch(t.whole.rows, r); found {
				shared[k] += of.use()[n]
			} else {
				k, _ = slices.BinarySearch(t.quotas, r)
				use[k] += of.use()[n]
			}
		}
	}
	return t.l.feasible(use)
}

// solve finds the cheapest configuration of the members with lo ≤ x ≤ hi at prices of the shared rows, and
// says what that took. The bound is that of a search which may have ended before it was proven.
func (t *tenant) solve(lo, hi []int32, prices []float64, budget *effort) (answer priced, x []int32, spent int) {
	for k := range t.answers {
		if a := &t.answers[k]; slices.Equal(a.lo, lo) && slices.Equal(a.hi, hi) && t.priced(a.prices, prices) {
			t.open = a.open
			return a.priced, a.x, 0
		}
	}
	t.price(prices)
	t.narrow(lo, hi)
	answer, x, spent = t.search(budget)
	if budget.stop.stopped() {
		return answer, x, spent
	}
	a := tenantAnswer{priced: answer, x: x, open: t.open, lo: slices.Clone(lo), hi: slices.Clone(hi)}
	for _, r := range t.whole.rows {
		a.prices = append(a.prices, prices[r])
	}
	t.answers = append(t.answers[max(0, len(t.answers)-answersKept+1):], a)
	return answer, x, spent
}

// answersKept is the number of answers that a tenant remembers: most splits leave it as it was.
const answersKept = 4

// priced says whether the prices of the rows are those of an answer.
func (t *tenant) priced(of, prices []float64) bool {
	for n, r := range t.whole.rows {
		if of[n] != prices[r] {
			return false
		}
	}
	return true
}

// price sets the prices of the shared rows.
func (t *tenant) price(prices []float64) {
	places := t.whole.places
	for m, member := range t.members {
		w := &t.l.workloads[m]
		for item := range w.places {
			w.places[item].price = t.whole.priced(&places[item], prices)
		}
		places = places[member.items:]
		w.unmetCost, w.shortfallCost = member.unmetCost, member.shortfallCost
		if member.unmetRow != none {
			w.unmetCost += prices[member.unmetRow]
		}
		if member.shortfallRow != none {
			w.shortfallCost += prices[member.shortfallRow]
		}
		columns := &t.l.columns[m]
		for k := range int32(columns.len()) {
			columns.setCost(k, w.costOf(columns.x(k), columns.rest(k)))
		}
	}
}

// narrow sets the bounds on the items.
func (t *tenant) narrow(lo, hi []int32) {
	copy(t.l.lo, lo)
	copy(t.l.hi, hi)
	item := 0
	for m, member := range t.members {
		t.l.narrowed[m] = 0
		for range member.items {
			if lo[item] > 0 || hi[item] < t.most[item] {
				t.l.narrowed[m] = 1
			}
			item++
		}
	}
}

// search begins with what the search before has found. Where the root of a hasty one comes to no plan, it goes on to the first.
func (t *tenant) search(budget *effort) (answer priced, x []int32, spent int) {
	found := t.searchOnce(budget, t.patience == 0, t.allowance, &spent)
	if found.best == nil && t.patience == 0 && !math.IsInf(found.bound, 1) {
		bound := found.bound
		found = t.searchOnce(budget, false, math.Inf(1), &spent)
		found.bound = max(found.bound, bound)
	}
	if found.best == nil {
		t.open = 0
		if !math.IsInf(found.bound, 1) {
			t.open = math.Inf(1)
		}
		return priced{bound: found.bound}, nil, spent
	}
	t.open = found.best.cost - found.bound
	for m, pick := range found.best.picks {
		x = append(x, t.l.columns[m].x(pick)...)
	}
	t.warm.prices = found.prices
	t.begin(x)
	return priced{bound: found.bound, found: true}, x, spent
}

// begin makes a configuration of the members the one that the next search begins with.
func (t *tenant) begin(x []int32) {
	t.warm = &warmStart{prices: t.warm.prices, x: x, kept: slices.Repeat([]bool{true}, len(t.members))}
}

// searchOnce adds what it takes to spent.
func (t *tenant) searchOnce(budget *effort, hasty bool, allowance float64, spent *int) result {
	t.limit(budget, *spent)
	tree := newTree(t.l, t.options)
	tree.tenant, tree.hasty, tree.warm = true, hasty, t.warm
	tree.gap, tree.unit, tree.finest = allowance, 1, finestOfTenants
	found := tree.solve(false)
	*spent += t.l.budget.spent()
	return found
}

// limit sets the effort of a search, of which so much is spent, so that all tenants together keep to the budget.
func (t *tenant) limit(budget *effort, spent int) {
	most := t.patience
	if most == 0 {
		most = firstPatience * len(t.members)
	}
	most = max(0, min(most, int(t.share*float64(budget.left)))-spent)
	t.l.budget = &effort{left: most, given: most, stop: budget.stop, grace: budget.grace}
}

// insist makes searches thorough. Answers that leave more open than is allowed are forgotten.
func (t *tenant) insist(patience int, allowance float64) {
	t.patience, t.allowance = patience, allowance
	t.answers = slices.DeleteFunc(t.answers, func(a tenantAnswer) bool { return a.open > allowance })
}

// unfinished says whether the latest search has left more open than is allowed.
func (t *tenant) unfinished() bool { return t.open > t.allowance }

// firstPatience limits the search for a plan, in pricing problems for each member. finestOfTenants is the least gap: the
// prices of a tenant may be far above what a plan costs.
const (
	firstPatience   = 3000
	finestOfTenants = 1e-13
)

// shadowPrices are the multipliers of the quotas at prices of the shared rows, as tree.shadowPrices has them.
func (t *tenant) shadowPrices(prices []float64, budget *effort) []float64 {
	t.price(prices)
	t.l.widen()
	t.limit(budget, 0)
	b := bundle{l: t.l, prices: t.warm.prices}
	b.value, b.fresh = t.l.evaluate(b.prices), true
	if b.value.ok {
		b.scale = t.l.scales(&b.value.cut)
		b.ascend(goal{target: math.Inf(1), hopeless: math.Inf(1), passes: shadowPasses, precision: shadowPrecision})
	}
	budget.left -= t.l.budget.spent()
	return b.prices
}
