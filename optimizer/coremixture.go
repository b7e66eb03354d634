package optimizer

import (
	"math"
	"slices"
)

// coreMixture solves a core by branch and bound, depth first, over its linear relaxation, which is a mixture of
// the columns that are still open. A node costs some exchanges and no pricing: all that matters is known. The
// mixture only guides: every bound is worked out as the Lagrangian of the open columns at its multipliers.
type coreMixture struct {
	*core
	mixture *mixture
	// value bounds the cost of any plan of the open columns, and excess by column how far that of a plan
	// with it is above.
	value  float64
	excess [][]float64
	// closed are the columns closed so far, the last one last.
	closed []mixed
	// programs is how many linear programs may still be solved.
	programs int
	prices   []float64
	mixed    [][]fraction
	splits   []split // scratch
}

// searchMixture solves at most limit linear programs. It returns false if that or numerics end it early.
func (c *core) searchMixture(limit int) bool {
	return c.newCoreMixture(limit).descend()
}

// newCoreMixture takes the mixture that the cores of a tree use one after the other.
func (c *core) newCoreMixture(programs int) *coreMixture {
	l := c.t.l
	s := &coreMixture{core: c, programs: programs, prices: make([]float64, len(l.rows)), excess: make([][]float64, len(c.groups)), mixed: make([][]fraction, len(c.groups))}
	rows := make([][]int32, len(c.groups))
	for g := range rows {
		rows[g] = l.workloads[c.groups[g].workload].rows
	}
	s.mixture = &c.t.coreMixture
	c.t.resetMixture(s.mixture, rows, c.used, c.prices)
	var scaled []float64
	for g := range c.groups {
		group := &c.groups[g]
		for k := range group.columns {
			from := l.columns[group.workload].entries(group.columns[k].index)
			scaled = l.scaledUse(group.workload, from, scaled)
			s.mixture.add(g, from.cost(), scaled, false)
		}
		s.excess[g] = make([]float64, len(group.columns))
	}
	s.mixture.restart()
	return s
}

// descend looks for plans of the open columns, and says whether there is nothing better than the target among
// them.
func (s *coreMixture) descend() bool {
	if closed, ok := s.relax(); closed || !ok {
		return closed
	}
	choice, ok := s.chooseSplit()
	if !ok {
		// An integral optimum that the rows or the target refuse by a hair.
		return false
	}
	before := len(s.closed)
	defer s.reopen(before)
	s.closeDear()
	basis := s.mixture.basis()
	for _, below := range []bool{choice.below, !choice.below} {
		from := len(s.closed)
		if s.exclude(choice, below) {
			s.mixture.enter(basis)
			if !s.descend() {
				return false
			}
		}
		s.reopen(from)
	}
	return true
}

// relax solves the relaxation, with rows that are too dear to exceed, and offers what is near its solution. Closed:
// no plan of the open columns beats the target.
func (s *coreMixture) relax() (closed, ok bool) {
	m, budget := s.mixture, s.t.l.budget
	for exceeded := true; exceeded; exceeded = m.raiseSurplus() {
		if s.programs--; s.programs < 0 || !budget.spend(1) || !m.solve() {
			return false, false
		}
		m.charge(budget)
		if s.prove(); s.value >= s.t.target() {
			return true, true
		}
	}
	s.offerRounded()
	return s.value >= s.t.target(), true
}

// prove works out the Lagrangian of the open columns at the multipliers of the relaxation, rounding errors
// considered.
func (s *coreMixture) prove() {
	l := s.t.l
	var value boundSum
	value.add(s.cost)
	for r, price := range s.mixture.prices {
		s.prices[r] = price * l.unit(r)
		value.add(s.prices[r] * (s.used[r] - l.rows[r].limit))
	}
	for g := range s.groups {
		group, excess := &s.groups[g], s.excess[g]
		w := &l.workloads[group.workload]
		for k := range group.columns {
			excess[k] = w.reduced(l.columns[group.workload].entries(group.columns[k].index), s.prices)
		}
		value.add(overLeast(excess, s.mixture.groups[g].closed))
	}
	s.value = value.bound()
}

// offerRounded offers the plan of the largest share of every group, and keeps the shares.
func (s *coreMixture) offerRounded() {
	for g := range s.mixed {
		s.mixed[g] = s.mixed[g][:0]
	}
	s.mixture.shares(func(g, column int, share float64) {
		if share > leastShare {
			s.mixed[g] = append(s.mixed[g], fraction{s.groups[g].columns[column].index, share})
		}
	})
	plan := cut{picks: slices.Clone(s.picks)}
	for g, fractions := range s.mixed {
		i := s.groups[g].workload
		plan.picks[i] = heaviest(fractions, plan.picks[i])
	}
	s.t.l.sumCut(&plan)
	s.t.offerCut(&plan)
}

// chooseSplit is the split of the highest score. ok is false if all shares are whole.
func (s *coreMixture) chooseSplit() (choice coreSplit, ok bool) {
	best := math.Inf(-1)
	for g, fractions := range s.mixed {
		if len(fractions) < 2 {
			continue
		}
		w := &s.t.l.workloads[s.groups[g].workload]
		s.splits = s.t.appendSplits(s.splits[:0], s.groups[g].workload, fractions)
		for _, split := range s.splits {
			if split.score > best {
				best, choice, ok = split.score, coreSplit{group: g, item: split.item - w.firstItem, at: split.at}, true
			}
		}
	}
	if ok {
		below := 0.0
		for _, f := range s.mixed[choice.group] {
			if s.t.l.columns[s.groups[choice.group].workload].x(f.pick)[choice.item] <= choice.at {
				below += f.share
			}
		}
		choice.below = below >= 0.5
	}
	return choice, ok
}

// closeDear closes the columns that no plan better than the target has.
func (s *coreMixture) closeDear() {
	missing := s.t.target() - s.value
	for g, excess := range s.excess {
		for k := range excess {
			if excess[k] >= missing {
				s.close(g, k)
			}
		}
	}
}

// exclude closes the columns on the other side of a split, and says whether any is left.
func (s *coreMixture) exclude(choice coreSplit, below bool) (left bool) {
	group := &s.groups[choice.group]
	columns := &s.t.l.columns[group.workload]
	for k, closed := range s.mixture.groups[choice.group].closed {
		switch {
		case closed:
		case columns.x(group.columns[k].index)[choice.item] <= choice.at == below:
			left = true
		default:
			s.close(choice.group, k)
		}
	}
	return left
}

func (s *coreMixture) close(g, k int) {
	if closed := s.mixture.groups[g].closed; !closed[k] {
		closed[k] = true
		s.closed = append(s.closed, mixed{int32(g), int32(k)})
	}
}

// reopen opens the columns closed since there were so many.
func (s *coreMixture) reopen(count int) {
	for _, v := range s.closed[count:] {
		s.mixture.groups[v.group].closed[v.column] = false
	}
	s.closed = s.closed[:count]
}
