package optimizer

import (
	"math"
	"slices"
)

// node is a state of the depth-first search over segments: what remains to be
// served from segment next on and what it has cost so far.
type node struct {
	next          int
	need, cost    float64
	total, filled int32
	failing       int32
}

// search is the search with everything that cover leaves out: limits on the sum of
// replicas, failing replicas, missing replicas. While enumerating it visits every
// configuration within the threshold that no other one beats in cost and in all
// uses of rows at once.
func (p *pricer) search(at node) {
	p.steps++
	if at.next == len(p.segments) {
		p.finish(at)
		return
	}
	s := &p.segments[at.next]
	if s.forced {
		p.counts[at.next] = s.count
		p.search(p.take(at, s, s.count, 0))
		return
	}
	enough, most := p.countRange(at, s)
	for n := most; n >= 0; n-- {
		if p.steps > p.limit {
			break
		}
		child := p.take(at, s, n, s.slope)
		if !p.improves(child.cost + p.relax(child.next, child.need, child.failing)) {
			// By ratio, taking fewer raises the relaxation, unless some are wasted or
			// dearer than demand not served.
			if n <= enough && p.w.redundancy == 0 && (s.slope < 0 || child.need >= 0 && s.ratio <= p.unmet) {
				break
			}
			continue
		}
		p.counts[at.next] = n
		p.search(child)
	}
	p.counts[at.next] = 0
}

// take is the state after n replicas of segment s.
func (p *pricer) take(at node, s *segment, n int32, slope float64) node {
	child := at
	child.next++
	child.cost += slope * float64(n)
	failed := min(child.failing, n)
	child.failing -= failed
	child.need -= s.capacity * float64(n-failed)
	if !s.forced {
		child.total += n
		if s.minimum {
			child.filled += n
		}
	}
	return child
}

// countRange is the largest useful number of replicas of segment s, and the number
// from which on fewer are worse in the relaxation.
func (p *pricer) countRange(at node, s *segment) (enough, most int32) {
	if p.outOfSequence(at.next, s) {
		return 0, 0
	}
	room := min(s.count, p.w.most-at.total)
	if s.slope < 0 {
		return s.count, room
	}
	if s.capacity > 0 {
		enough = p.enough(at.need, s)
		if enough > 0 {
			enough = min(s.count, enough+at.failing)
		}
	}
	if s.surplus && p.collect != nil {
		return enough, room
	}
	missing := p.w.least - at.total
	if p.elastic() {
		missing -= p.w.leastOfVariants - at.filled
	}
	return enough, min(room, max(enough, missing))
}

// outOfSequence says whether a segment of the same variant that comes first is not
// in use entirely, so that the same replicas would be counted twice. In a search
// for the cheapest it doesn't matter, because later segments cost more.
func (p *pricer) outOfSequence(i int, s *segment) bool {
	if p.collect == nil {
		return false
	}
	for k := i - 1; k >= 0; k-- {
		if t := &p.segments[k]; t.variant == s.variant && !t.forced && t.sequence < s.sequence && p.counts[k] < t.count {
			return true
		}
	}
	return false
}

// finish prices what remains unserved and missing.
func (p *pricer) finish(at node) {
	cost := at.cost
	if at.need > p.epsilon {
		cost += p.unmet * at.need
	}
	missing := p.w.least - at.total
	if p.elastic() {
		missing -= p.w.leastOfVariants - at.filled
	}
	if missing > 0 {
		cost += p.missing * float64(missing)
	}
	if math.IsInf(cost, 1) {
		return
	}
	if p.collect != nil {
		if cost <= p.best {
			p.expand(cost)
		}
		return
	}
	p.accept(cost)
}

// solveSingle tries every variant alone.
func (p *pricer) solveSingle() priced {
	best := priced{bound: math.Inf(1)}
	x := make([]int32, p.w.items)
	for j := range p.w.variants {
		if !p.prepare(j) {
			continue
		}
		p.best, p.found = math.Inf(1), false
		p.trySingle(j)
		if p.found && p.best < best.bound {
			best = priced{bound: p.best, found: true}
			p.setReplicas(p.chosen)
			copy(x, p.x)
		}
	}
	if len(p.w.variants) == 0 && p.prepare(-1) {
		p.best, p.found = math.Inf(1), false
		p.finish(p.root())
		best = priced{bound: p.best, found: p.found}
	}
	copy(p.x, x)
	return best
}

func (p *pricer) root() node {
	return node{need: p.need, cost: p.base, total: p.total, filled: p.filled, failing: p.w.redundancy}
}

// trySingle evaluates variant j alone at every number of replicas where its cost,
// piecewise linear in them, may turn.
func (p *pricer) trySingle(j int) {
	v := &p.w.variants[j]
	need := p.w.demand
	turns := []int32{p.total, p.w.redundancy, p.w.least, p.w.most}
	if v.capacity > 0 && need > 0 {
		full := (need - p.epsilon) / v.capacity
		if full < float64(unlimited) {
			n := int32(math.Ceil(full)) + p.w.redundancy
			turns = append(turns, n-1, n)
		}
	}
	if p.elastic() {
		turns = append(turns, p.w.least-p.w.leastOfVariants+v.least)
	}
	n := p.total
	for i := range p.segments {
		if !p.segments[i].forced {
			n += p.segments[i].count
			turns = append(turns, n)
		}
	}
	// Of equal costs the fewest replicas win.
	slices.Sort(turns)
	for _, turn := range turns {
		p.evaluateSingle(turn)
	}
}

// evaluateSingle visits the configuration of n replicas of the only variant.
func (p *pricer) evaluateSingle(n int32) {
	at := p.root()
	if n < at.total || n > p.w.most {
		return
	}
	clear(p.counts)
	left := n - at.total
	for i := range p.segments {
		s := &p.segments[i]
		taken := min(left, s.count)
		slope := s.slope
		if s.forced {
			taken, slope = s.count, 0
		} else {
			left -= taken
		}
		p.counts[i] = taken
		at = p.take(at, s, taken, slope)
	}
	if left == 0 {
		p.finish(at)
	}
}
