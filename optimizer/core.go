package optimizer

import (
	"cmp"
	"math"
	"slices"
)

// core is the part of a node that matters: a plan that beats the target uses only
// configurations whose reduced cost exceeds the least of their workload by less
// than target − bound. Where there are few of them, the core is solved exactly.
type core struct {
	t *tree
	// base is the Lagrangian bound and prices its multipliers: a plan costs base,
	// the excess of its columns and prices·(limit − use).
	base   float64
	prices []float64
	// picks and used are those of workloads with a single configuration, spent
	// their excess and cost their cost.
	picks  []int32
	used   []float64
	spent  float64
	cost   float64
	groups []coreGroup
	// columns is their number in groups.
	columns int
	// empty: some workload has no configuration that matters.
	empty bool
	// least and most are what the groups from an index on use of each row.
	least, most [][]float64
	steps       int
}

// coreGroup is the configurations of a workload that matters, least excess first.
type coreGroup struct {
	workload int
	columns  []coreColumn
}

type coreColumn struct {
	index  int32 // in lagrangian.columns
	excess float64
}

func (t *tree) newCore() *core {
	return &core{t: t, base: t.bundle.value.bound, prices: t.bundle.prices}
}

// solveCore solves the core of the node and says whether it did: nothing better than the target is
// left in the node then. Where a master bounds the nodes, only small cores are sooner done than more of these.
func (t *tree) solveCore() bool {
	if t.l.tenants {
		return false
	}
	most, share := t.limits.columns, coreShare
	if t.master != nil {
		most, share = t.limits.fewColumns, fewShare
		t.coreLimit = min(t.coreLimit, most)
		if !t.master.few() {
			return false
		}
	}
	c := t.newCore()
	reach := t.target() - c.base
	if reach > t.coreReach {
		return false
	}
	if !c.collect() {
		t.coreReach = share * reach
		return false
	}
	if !c.empty && !c.searchSoon() && (t.master != nil || !c.solveProgram(t.limits.programs)) {
		// Its descendants have smaller cores.
		t.coreLimit = min(most, max(1, int(share*float64(c.columns))))
		return false
	}
	t.coreReach *= coreGrowth
	t.coreLimit = min(most, int(math.Ceil(coreGrowth*float64(t.coreLimit))))
	return true
}

// A core that was too large is followed by one of so much less reach, or so many fewer columns: coreShare, or fewShare where a master
// knows which cores are small, so that few are tried in vain. After one that was solved the limits grow by coreGrowth: otherwise
// a long search would come to try none any more.
const (
	coreShare  = 0.5
	fewShare   = 0.9
	coreGrowth = 1.1
)

// closes says whether the core is soon found to have no better plan, or what the best one is.
func (c *core) closes() bool {
	return c.collect() && (c.empty || c.searchSoon())
}

// searchSoon is the search that suits the smallest cores.
func (c *core) searchSoon() bool {
	if c.t.master != nil {
		return c.searchMixture(c.t.limits.fewPrograms)
	}
	return c.search()
}

// collect enumerates the columns. It returns false if there are too many.
func (c *core) collect() bool {
	l := c.t.l
	reach := c.t.target() - c.base
	if reach > c.t.scale {
		return false
	}
	c.picks = make([]int32, len(l.workloads))
	c.used = make([]float64, len(l.rows))
	total := 0
	var store slab[coreColumn]
	for i := range l.workloads {
		w := &l.workloads[i]
		lo, hi := l.bounds(w)
		least := c.t.bundle.value.values[i]
		columns, complete := l.pricer.enumerate(w, lo, hi, c.prices, least+reach, enumerationLimit{c.t.coreLimit - total, enumerationSteps})
		if !complete || !l.budget.goOn(1+l.pricer.steps/stepsPerEffort) {
			l.budget.spend(i + (total+len(columns))/10)
			return false
		}
		group := coreGroup{workload: i, columns: store.take(len(columns))[:0]}
		for k := range columns {
			index, _ := l.intern(i, columns[k].x)
			group.columns = append(group.columns, coreColumn{index, max(0, w.reduced(columns[k].entries, c.prices)-least)})
		}
		total += c.addGroup(group)
	}
	slices.SortStableFunc(c.groups, func(a, b coreGroup) int { return cmp.Compare(len(a.columns), len(b.columns)) })
	c.sumUses()
	c.columns = total
	return l.budget.spend(len(l.workloads) + total/10)
}

// overLeast takes the least reduced cost of the open columns of a group off all of them, and returns it.
func overLeast(reduced []float64, closed []bool) float64 {
	least := math.Inf(1)
	for k := range reduced {
		if !closed[k] {
			least = min(least, reduced[k])
		}
	}
	for k := range reduced {
		reduced[k] -= least
	}
	return least
}

// addGroup returns the number of columns to choose among.
func (c *core) addGroup(g coreGroup) int {
	switch len(g.columns) {
	case 0:
		c.empty = true
		return 0
	case 1:
		column := g.columns[0]
		c.picks[g.workload] = column.index
		c.spent += column.excess
		c.cost += c.t.l.columns[g.workload].entries(column.index).cost()
		c.use(c.used, g.workload, column.index, 1)
		return 0
	}
	slices.SortStableFunc(g.columns, func(a, b coreColumn) int { return cmp.Compare(a.excess, b.excess) })
	c.groups = append(c.groups, g)
	return len(g.columns)
}

// use adds a multiple of the use of a column.
func (c *core) use(used []float64, workload int, index int32, times float64) {
	use := c.t.l.columns[workload].entries(index).use()
	for k, r := range c.t.l.workloads[workload].rows {
		used[r] += times * use[k]
	}
}

// sumUses fills in least and most.
func (c *core) sumUses() {
	rows := len(c.used)
	c.least = make([][]float64, len(c.groups)+1)
	c.most = make([][]float64, len(c.groups)+1)
	var uses slab[float64]
	for g := range c.least {
		c.least[g], c.most[g] = uses.take(rows), uses.take(rows)
	}
	for g := len(c.groups) - 1; g >= 0; g-- {
		copy(c.least[g], c.least[g+1])
		copy(c.most[g], c.most[g+1])
		workload := c.groups[g].workload
		for k, r := range c.t.l.workloads[workload].rows {
			lowest, highest := c.columnUse(g, 0, k), c.columnUse(g, 0, k)
			for n := range c.groups[g].columns {
				lowest, highest = min(lowest, c.columnUse(g, n, k)), max(highest, c.columnUse(g, n, k))
			}
			c.least[g][r] += lowest
			c.most[g][r] += highest
		}
	}
}

func (c *core) columnUse(g, n, k int) float64 {
	group := &c.groups[g]
	return c.t.l.columns[group.workload].entries(group.columns[n].index).use()[k]
}

// search tries all combinations depth first, the cheapest first. It returns false
// if it took too many steps.
func (c *core) search() bool {
	c.steps = 0
	// What is used up to a group is added up anew for every combination: taken back, a large use would
	// leave its rounding in the place of a small one.
	used := make([][]float64, len(c.groups)+1)
	for g := range used {
		used[g] = slices.Clone(c.used)
	}
	c.descend(0, used, c.spent)
	c.t.l.budget.spend(c.steps / 10)
	return c.steps <= c.t.limits.steps
}

// descend goes on from group g; used[g] is what the groups before use.
func (c *core) descend(g int, used [][]float64, spent float64) {
	if c.steps++; c.steps > c.t.limits.steps {
		return
	}
	if !c.promising(g, used[g], spent) {
		return
	}
	if g == len(c.groups) {
		plan := cut{picks: c.picks}
		c.t.l.sumCut(&plan)
		c.t.offerCut(&plan)
		return
	}
	group := &c.groups[g]
	for _, column := range group.columns {
		if c.base+spent+column.excess >= c.t.target() || c.steps > c.t.limits.steps {
			break
		}
		copy(used[g+1], used[g])
		c.use(used[g+1], group.workload, column.index, 1)
		c.picks[group.workload] = column.index
		c.descend(g+1, used, spent+column.excess)
	}
}

// promising says whether the rows can hold from group g on, and at a cost below the
// target: what must stay unused has its price.
func (c *core) promising(g int, used []float64, spent float64) bool {
	cost := c.base + spent
	for r, row := range c.t.l.rows {
		// Uses are added up in another order than in sumCut, which decides.
		if used[r]+c.least[g][r] > row.limit*(1+1e-12) {
			return false
		}
		if unused := row.limit - used[r] - c.most[g][r]; unused > 0 {
			cost += c.prices[r] * unused
		}
	}
	return cost < c.t.target()
}
