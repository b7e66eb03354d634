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

// search finds the cheapest configuration where replicas may fail or their sum is
// limited, which cover leaves out. While enumerating it visits every configuration
// within the threshold that no other one beats in cost and in all uses of rows at
// once.
//
// The replicas of the highest capacity fail: the search first settles which, in
// order of capacity, and then serves the demand with what is left.
func (p *pricer) search(at node) {
	if at.failing == 0 {
		p.serve(at)
		return
	}
	if at.next == len(p.segments) {
		p.finish(at)
		return
	}
	s := &p.segments[at.next]
	if s.forced {
		p.settle(p.take(at, s, s.count, 0), s.count)
		return
	}
	most := min(s.count, at.failing, p.w.most-at.total)
	if p.outOfSequence(s) {
		most = 0
	}
	for n := most; n >= 0; n-- {
		if p.steps++; p.steps > p.limit {
			break
		}
		p.settle(p.take(at, s, n, s.slope), n)
	}
	p.counts[at.next] = 0
}

// settle goes on after n replicas of the segment before at.next were settled.
func (p *pricer) settle(at node, n int32) {
	i := at.next - 1
	p.counts[i] = n
	if at.failing > 0 {
		if p.improves(at.cost + p.relax(at.next, at.need, at.failing)) {
			p.search(at)
		}
		return
	}
	first, settled := p.first, p.settled
	p.first, p.settled = int32(i), n
	at.next = 0
	at.need -= p.rest[i+1].forced
	if p.improves(p.relaxed(at)) {
		p.serve(at)
	}
	p.first, p.settled = first, settled
	p.counts[i] = n
}

// available is the number of replicas of a segment that are not settled.
func (p *pricer) available(i int32) int32 {
	s := &p.segments[i]
	switch {
	case i < p.first || s.forced:
		return 0
	case i == p.first:
		return s.count - p.settled
	}
	return s.count
}

// serve goes through the available segments by cost per request/s.
func (p *pricer) serve(at node) {
	if at.next == len(p.order) {
		p.finish(at)
		return
	}
	i := p.order[at.next]
	s := &p.segments[i]
	enough, most := p.countRange(at, i)
	before := p.counts[i]
	for n := most; n >= 0; n-- {
		if p.steps++; p.steps > p.limit {
			break
		}
		child := p.take(at, s, n, s.slope)
		if !p.improves(p.relaxed(child)) {
			if n <= enough && p.worsens(child, s) {
				break
			}
			continue
		}
		p.counts[i] = before + n
		p.serve(child)
	}
	p.counts[i] = before
}

// worsens says whether even fewer replicas of the segment just taken only raise the
// relaxation. That holds by cost per request/s, unless some are wasted, dearer than
// demand not served, or more than the workload needs to have.
func (p *pricer) worsens(at node, s *segment) bool {
	if p.theta > 0 && p.lacking(at) < 0 {
		return false
	}
	slope := p.slope(s)
	return slope < 0 || at.need >= 0 && ratioOf(slope, s.capacity) <= p.unmet
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

// countRange is the largest useful number of replicas of segment i, and the number
// from which on fewer are worse in the relaxation.
func (p *pricer) countRange(at node, i int32) (enough, most int32) {
	s := &p.segments[i]
	if p.outOfSequence(s) {
		return 0, 0
	}
	count := p.available(i)
	room := min(count, p.w.most-at.total)
	if s.slope < 0 {
		return count, room
	}
	// While looking for the cheapest, capacity dearer than unmet demand serves nothing.
	if s.capacity > 0 && (s.ratio < p.unmet || p.collect != nil) {
		enough = min(count, p.enough(at.need, s))
	}
	if s.surplus && p.collect != nil {
		return enough, room
	}
	return enough, min(room, max(enough, p.lacking(at)))
}

// lacking is the number of replicas that the workload still needs to have, whatever
// their capacity. Missing minimums of variants are counted elsewhere.
func (p *pricer) lacking(at node) int32 {
	lacking := p.w.least - at.total
	if p.elastic() {
		lacking -= p.w.leastOfVariants - at.filled
	}
	return lacking
}

// outOfSequence says whether the segment of the same variant that comes before is not in use entirely: the same
// replicas cost no less in this one, and would be counted twice. Searches come to segments of a variant in their
// sequence, as theta is at most what missing replicas cost, which is off those that count towards the minimum.
func (p *pricer) outOfSequence(s *segment) bool {
	return s.before >= 0 && p.counts[s.before] < p.segments[s.before].count
}

// finish prices what remains unserved and missing.
func (p *pricer) finish(at node) {
	cost := at.cost
	if at.need > p.epsilon {
		cost += p.unmet * at.need
	}
	if lacking := p.lacking(at); lacking > 0 {
		cost += p.missing * float64(lacking)
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

// solveSingle tries every variant alone whose relaxation is cheaper than the best before.
func (p *pricer) solveSingle() priced {
	best := priced{bound: math.Inf(1)}
	p.single = resize(p.single, p.w.items)
	for j := range p.w.variants {
		if !p.prepare(j) {
			continue
		}
		if p.w.redundancy == 0 && p.base+p.walk(0, p.need) >= best.bound {
			continue
		}
		p.best, p.found = math.Inf(1), false
		p.trySingle(j)
		if p.found && p.best < best.bound {
			best = priced{bound: p.best, found: true}
			p.setReplicas(p.chosen)
			copy(p.single, p.x)
		}
	}
	if len(p.w.variants) == 0 && p.prepare(-1) {
		p.best, p.found = math.Inf(1), false
		p.finish(p.root())
		best = priced{bound: p.best, found: p.found}
	}
	copy(p.x, p.single)
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
	p.turns = append(p.turns[:0], p.total, p.w.redundancy, p.w.least)
	if p.w.most < unlimited {
		p.turns = append(p.turns, p.w.most)
	}
	if v.capacity > 0 && need > 0 {
		full := (need - p.epsilon) / v.capacity
		if full < float64(unlimited) {
			n := int32(math.Ceil(full)) + p.w.redundancy
			p.turns = append(p.turns, n-1, n)
		}
	}
	if p.elastic() {
		p.turns = append(p.turns, p.w.least-p.w.leastOfVariants+v.least)
	}
	n := p.total
	for i := range p.segments {
		if !p.segments[i].forced {
			n += p.segments[i].count
			p.turns = append(p.turns, n)
		}
	}
	// Of equal costs the fewest replicas win.
	slices.Sort(p.turns)
	for _, turn := range slices.Compact(p.turns) {
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
