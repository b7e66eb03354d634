package optimizer

import (
	"math"
	"slices"
)

// tenant is the workloads of a namespace with quotas, taken for one workload: at given prices of the rows that
// all workloads share, which configurations of its members are the cheapest within its quotas is a
// program of its own. Prices of quotas would do for a bound, but a namespace has few replicas, which rarely fill its quotas to
// the last device as mixtures of configurations do; and of hundreds of quotas prices are found slowly.
type tenant struct {
	// members are workloads of the program with rows of quotas, which begin at row shared; rows are those before it that they may use.
	members []*workload
	shared  int
	rows    []int32
	// l is the program of the members, whose costs have the shared rows priced, and most bounds the items.
	l    *lagrangian
	most []int32
	// quotas are the rows of l in the program with rows of quotas.
	quotas []int32
	// warm is what the search before has found.
	warm *warmStart
	// options are those of searches, and siblings the number of tenants. patience is the effort of each search, 0: the plans found at
	// the root will do. allowance is the gap that is good enough, in terms of cost.
	options   Options
	siblings  int
	patience  int
	allowance float64
	// answers are the latest ones.
	answers []tenantAnswer
	store   columnStore
}

// tenantAnswer is an answer with what it was asked for.
type tenantAnswer struct {
	priced
	x      []int32
	prices []float64 // of rows
	lo, hi []int32
}

// newTenant takes workloads of a program for one, beside so many siblings.
func newTenant(p *program, members []int, siblings int, o Options) *tenant {
	t := &tenant{shared: p.shared, siblings: siblings, options: o}
	sub := &program{workloads: make([]workload, len(members))}
	for m, i := range members {
		w := &p.workloads[i]
		t.members = append(t.members, w)
		for _, r := range w.rows {
			if int(r) < p.shared {
				t.rows = append(t.rows, r)
			} else {
				t.quotas = append(t.quotas, r)
			}
		}
		sub.workloads[m] = *w
		sub.workloads[m].firstItem = sub.items
		sub.items += w.items
	}
	t.rows, t.quotas = sortedOnce(t.rows), sortedOnce(t.quotas)
	t.warm = &warmStart{prices: make([]float64, len(t.quotas))}
	for _, r := range t.quotas {
		sub.rows = append(sub.rows, p.rows[r])
	}
	for m := range sub.workloads {
		t.leaveQuotas(&sub.workloads[m])
	}
	t.l = newLagrangian(sub, nil)
	t.most = slices.Clone(t.l.hi)
	return t
}

func sortedOnce(rows []int32) []int32 {
	slices.Sort(rows)
	return slices.Compact(rows)
}

// leaveQuotas leaves a copy of a member no other rows than those of quotas, as rows of l.
func (t *tenant) leaveQuotas(w *workload) {
	from := *w
	w.places, w.uses, w.rows, w.unmetRow, w.shortfallRow = slices.Clone(from.places), nil, nil, none, none
	for item := range w.places {
		at := &w.places[item]
		uses := from.usesOf(at)
		at.firstUse = int32(len(w.uses))
		for _, u := range uses {
			if n, quota := slices.BinarySearch(t.quotas, u.row); quota {
				w.uses = append(w.uses, use{int32(n), u.amount})
				w.rows = append(w.rows, int32(n))
			}
		}
		at.bound = int32(len(w.uses))
	}
	w.rows = sortedOnce(w.rows)
}

// workload is what stands for the members in a program without rows of quotas. It has no variants: what depends
// on these asks the tenant.
func (t *tenant) workload() workload {
	w := workload{tenant: t, rows: t.rows, unmetRow: none, shortfallRow: none}
	for _, member := range t.members {
		w.items += member.items
		for _, at := range member.places {
			uses := member.usesOf(&at)
			at.firstUse = int32(len(w.uses))
			for _, u := range uses {
				if int(u.row) < t.shared {
					w.uses = append(w.uses, u)
				}
			}
			at.bound = int32(len(w.uses))
			w.places = append(w.places, at)
		}
	}
	return w
}

// configure works out cost and use of a configuration of all members, and says whether it is allowed.
func (t *tenant) configure(c *column) bool {
	use := make([]float64, len(t.quotas))
	x := c.x
	for _, member := range t.members {
		of, ok := t.store.newColumn(member, x[:member.items])
		if !ok {
			return false
		}
		x = x[member.items:]
		c.cost += of.cost
		for n, r := range member.rows {
			if k, shared := slices.BinarySearch(t.rows, r); shared {
				c.use[k] += of.use[n]
			} else {
				k, _ = slices.BinarySearch(t.quotas, r)
				use[k] += of.use[n]
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
			return a.priced, a.x, 0
		}
	}
	t.price(prices)
	t.narrow(lo, hi)
	answer, x, spent = t.search(budget)
	if budget.stop.stopped() {
		return answer, x, spent
	}
	a := tenantAnswer{priced: answer, x: x, lo: slices.Clone(lo), hi: slices.Clone(hi)}
	for _, r := range t.rows {
		a.prices = append(a.prices, prices[r])
	}
	t.answers = append(t.answers[max(0, len(t.answers)-answersKept+1):], a)
	return answer, x, spent
}

// answersKept is the number of answers that a tenant remembers: most splits leave it as it was.
const answersKept = 4

// priced says whether the prices of the rows are those of an answer.
func (t *tenant) priced(of, prices []float64) bool {
	for n, r := range t.rows {
		if of[n] != prices[r] {
			return false
		}
	}
	return true
}

// price sets the prices of the shared rows.
func (t *tenant) price(prices []float64) {
	for m, member := range t.members {
		w := &t.l.workloads[m]
		for item := range member.places {
			at := &member.places[item]
			price := at.price
			for _, u := range member.usesOf(at) {
				if int(u.row) < t.shared {
					price += u.amount * prices[u.row]
				}
			}
			w.places[item].price = price
		}
		w.unmetCost, w.shortfallCost = member.unmetCost, member.shortfallCost
		if member.unmetRow != none {
			w.unmetCost += prices[member.unmetRow]
		}
		if member.shortfallRow != none {
			w.shortfallCost += prices[member.shortfallRow]
		}
		columns := t.l.columns[m]
		for k := range columns {
			columns[k].cost = w.costOf(&columns[k])
		}
	}
	t.l.known = nil
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
		return priced{bound: found.bound}, nil, spent
	}
	for m, pick := range found.best.picks {
		x = append(x, t.l.columns[m][pick].x...)
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
	tree.hasty, tree.warm = hasty, t.warm
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
	most = max(0, min(most, budget.left/t.siblings)-spent)
	t.l.budget = &effort{left: most, given: most, stop: budget.stop, grace: budget.grace}
}

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
