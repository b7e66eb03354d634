package optimizer

import (
	"math"
)

// pricer finds the cheapest configuration of a workload at given prices of the
// coupling rows, exactly. It keeps its buffers between calls.
//
// The cost of a variant is convex and piecewise linear in its replicas: up to the
// current number a replica saves the cost of removing one, beyond it adding one is
// paid for, cheap placements fill first. So a variant falls into segments of
// constant cost per replica. A depth-first search over all segments by cost per
// request/s finds the optimum quickly: the linear relaxation of the rest is a walk
// along the segments, and it grows as fewer of the better replicas are taken.
type pricer struct {
	w      *workload
	lo, hi []int32 // bounds of the workload's items
	prices []float64

	q        []float64 // price of a replica by item, uses priced
	start    []int32   // replicas by item at the least the bounds allow
	segments []segment
	// base, need and total are cost, demand and replicas at the start; filled are
	// those of them that count towards minimums of variants.
	base, need    float64
	total, filled int32
	unmet         float64 // price of one request/s not served
	missing       float64 // price of a missing replica
	epsilon       float64

	// Where replicas may fail, segments stand by capacity; order has them by cost
	// per request/s with theta off the price of every replica that counts towards
	// the least or the most replicas of the workload.
	order   []int32
	ratios  []float64 // by segment, under theta
	theta   float64
	first   int32 // segments before it are settled, and from it on nothing fails
	settled int32 // replicas of segment first that are settled
	rest    []suffix

	counts, chosen []int32 // by segment
	best           float64 // of the search so far, or the threshold of enumeration
	found          bool
	steps, limit   int
	last           []int32      // scratch: the last segment by variant
	places         []int32      // scratch: placements of a variant by price
	turns, single  []int32      // of the only variant: scratch, and the best configuration so far
	collect        *enumeration // set while enumerating
	enumerated     enumeration  // the last one
	store          columnStore  // of what was enumerated
	x              []int32
	routed         routedSearch
}

// segment is replicas of one variant in one placement at one cost.
type segment struct {
	ratio    float64 // cost per request/s
	slope    float64 // cost per replica
	capacity float64
	count    int32
	item     int32
	variant  int32
	sequence int32 // among the segments of the variant
	before   int32 // the segment of the variant that comes before this one, −1 if there is none
	forced   bool  // all of it is in use, and paid for
	minimum  bool  // counts towards the minimum of the variant
	surplus  bool  // worth having without demand, at no multipliers
}

// suffix sums up the segments from one on, by capacity: what they save by
// themselves, the least cost per request/s and per replica, and the capacity of
// those in use anyway.
type suffix struct {
	gain, ratio, slope, forced float64
}

// searchLimit is the number of steps after which a pricing search gives up and
// returns its relaxation as the bound.
const searchLimit = 20_000

// priced is the answer of a pricer.
type priced struct {
	// bound is a lower bound on the cost of any configuration; it is the least
	// cost itself but for searches cut off.
	bound float64
	// found says whether there is a configuration; it is in pricer.x.
	found bool
}

// solve finds the cheapest configuration of w with lo ≤ x ≤ hi.
func (p *pricer) solve(w *workload, lo, hi []int32, prices []float64) priced {
	if !p.load(w, lo, hi, prices) {
		return priced{bound: math.Inf(1)}
	}
	p.collect, p.limit = nil, searchLimit
	p.best, p.found, p.steps = math.Inf(1), false, 0
	if w.routing != nil {
		return p.solveRouted()
	}
	if w.single {
		return p.solveSingle()
	}
	if !p.prepare(-1) {
		return priced{bound: math.Inf(1)}
	}
	if w.redundancy == 0 && p.solvePlain() {
		return p.answer(p.base + p.walk(0, p.need))
	}
	p.best, p.found, p.steps = math.Inf(1), false, 0
	clear(p.counts)
	p.chooseTheta()
	relaxed := p.relaxed(p.root())
	p.search(p.root())
	return p.answer(relaxed)
}

// answer is what a search found; relaxed bounds it where it was cut off.
func (p *pricer) answer(relaxed float64) priced {
	if p.found {
		p.setReplicas(p.chosen)
	}
	if p.steps > p.limit {
		return priced{bound: relaxed, found: p.found}
	}
	return priced{bound: p.best, found: p.found}
}

// load sets up what does not depend on which variants may be used.
func (p *pricer) load(w *workload, lo, hi []int32, prices []float64) bool {
	p.w, p.lo, p.hi, p.prices = w, lo, hi, prices
	p.epsilon = w.epsilon()
	p.unmet, p.missing = w.unmetCost, w.shortfallCost
	if w.unmetRow != none {
		p.unmet += prices[w.unmetRow]
	}
	if w.shortfallRow != none {
		p.missing += prices[w.shortfallRow]
	}
	p.q = resize(p.q, w.items)
	p.start = resize(p.start, w.items)
	p.x = resize(p.x, w.items)
	for item := range w.places {
		p.q[item] = w.priced(&w.places[item], prices)
	}
	return w.least <= w.most || !math.IsInf(w.shortfallCost, 1)
}

func resize[T any](s []T, n int) []T {
	if cap(s) < n {
		return make([]T, n, 2*n)
	}
	return s[:n]
}

// plain says whether replicas count by their capacity alone.
func (p *pricer) plain() bool {
	w := p.w
	if w.redundancy > 0 || w.most != unlimited {
		return false
	}
	return p.total >= w.least
}

// prepare builds start and segments; if only ≥ 0, that variant is the only one in
// use. It returns false if the bounds can't hold.
func (p *pricer) prepare(only int) bool {
	w := p.w
	p.segments = p.segments[:0]
	p.base, p.need, p.total, p.filled = 0, w.demand, 0, 0
	for j := range w.variants {
		unused := only >= 0 && only != j
		if unused && !p.leaveVariant(&w.variants[j]) || !unused && !p.addVariant(j) {
			return false
		}
	}
	if p.elastic() {
		p.base += p.missing * float64(w.leastOfVariants-p.filled)
	}
	if p.total > w.most {
		return false
	}
	p.sortSegments()
	p.linkSegments()
	p.counts = resize(p.counts, len(p.segments))
	p.chosen = resize(p.chosen, len(p.segments))
	clear(p.counts)
	p.first, p.settled = 0, 0
	if w.redundancy > 0 {
		p.sumSuffixes()
	}
	return true
}

func (p *pricer) elastic() bool { return !math.IsInf(p.missing, 1) }

// sortSegments orders segments by cost per request/s, but by capacity where the
// replicas of the highest one may fail. There are few of them, nearly in order.
func (p *pricer) sortSegments() {
	failing := p.w.redundancy > 0
	for i := 1; i < len(p.segments); i++ {
		s := p.segments[i]
		k := i
		for ; k > 0 && s.precedes(&p.segments[k-1], failing); k-- {
			p.segments[k] = p.segments[k-1]
		}
		p.segments[k] = s
	}
}

// linkSegments says of every segment which one of its variant comes before.
func (p *pricer) linkSegments() {
	p.last = resize(p.last, len(p.w.variants))
	for j := range p.last {
		p.last[j] = -1
	}
	for i := range p.segments {
		s := &p.segments[i]
		if s.before = -1; !s.forced {
			s.before, p.last[s.variant] = p.last[s.variant], int32(i)
		}
	}
}

func (s *segment) precedes(other *segment, failing bool) bool {
	if failing {
		return s.larger(other)
	}
	return s.cheaper(other)
}

func (s *segment) cheaper(other *segment) bool {
	if s.ratio != other.ratio {
		return s.ratio < other.ratio
	}
	return s.sequence < other.sequence
}

func (s *segment) larger(other *segment) bool {
	switch {
	case s.capacity != other.capacity:
		return s.capacity > other.capacity
	case s.forced != other.forced:
		return s.forced
	}
	return s.cheaper(other)
}

func sign(x float64) int {
	switch {
	case x < 0:
		return -1
	case x > 0:
		return 1
	}
	return 0
}

// leaveVariant leaves a variant without replicas, and says whether the bounds allow that.
func (p *pricer) leaveVariant(v *variant) bool {
	for item := v.firstItem; item < v.firstItem+v.items; item++ {
		if p.lo[item] > 0 {
			return false
		}
		p.start[item] = 0
	}
	p.base += v.switching(0)
	return v.least == 0 || p.elastic()
}

// addVariant puts the least allowed replicas of a variant at the start and the
// others into segments.
func (p *pricer) addVariant(j int) bool {
	w, v := p.w, &p.w.variants[j]
	least, most := v.least, v.most
	if p.elastic() {
		least = 0
	}
	x, room := int32(0), int32(0)
	for item := v.firstItem; item < v.firstItem+v.items; item++ {
		lo, hi := p.lo[item], p.hi[item]
		p.start[item] = lo
		p.base += p.q[item] * float64(lo)
		x += lo
		room = min(unlimited, room+min(unlimited, hi-lo))
	}
	if max(x, least) > most || x+room < least {
		return false
	}
	p.sortPlaces(v)
	at := 0
	for ; x < least; at++ {
		item := v.firstItem + p.places[at]
		n := min(least-x, p.hi[item]-p.start[item])
		p.start[item] += n
		p.base += p.q[item] * float64(n)
		x += n
		if x == least {
			break
		}
	}
	p.base += v.switching(x)
	p.total += x
	p.filled += min(x, v.least)
	if w.redundancy == 0 {
		p.need -= v.capacity * float64(x)
	} else if x > 0 {
		p.segments = append(p.segments, segment{capacity: v.capacity, count: x, variant: int32(j), item: -1, sequence: -1, forced: true})
	}
	p.addSegments(j, x, most, at)
	return true
}

// addSegments splits the replicas beyond x by placement, at the current number and
// at the minimum.
func (p *pricer) addSegments(j int, x, most int32, at int) {
	v := &p.w.variants[j]
	least := int32(0)
	if p.elastic() {
		least = v.least
	}
	sequence := int32(j) << 8
	cheapest := math.Inf(1)
	for _, place := range p.w.placesOf(v) {
		cheapest = min(cheapest, place.price)
	}
	for ; at < len(p.places) && x < most; at++ {
		item := v.firstItem + p.places[at]
		room := p.hi[item] - p.start[item]
		for room > 0 && x < most {
			n, change := min(room, most-x), v.up
			if x < v.current {
				n, change = min(n, v.current-x), -v.down
			}
			s := segment{capacity: v.capacity, item: item, variant: int32(j), sequence: sequence}
			s.slope = p.q[item] + change
			if x < least {
				n = min(n, least-x)
				s.slope -= p.missing
				s.minimum = true
			}
			s.count = n
			s.surplus = s.minimum || cheapest+change < 0
			s.ratio = ratioOf(s.slope, v.capacity)
			if v.capacity > 0 || s.slope < 0 || s.surplus || p.w.least > 0 {
				p.segments = append(p.segments, s)
			}
			sequence++
			room -= n
			x += n
		}
	}
}

func ratioOf(slope, capacity float64) float64 {
	switch {
	case capacity > 0:
		return slope / capacity
	case slope < 0:
		return math.Inf(-1)
	}
	return math.Inf(1)
}

func (p *pricer) sortPlaces(v *variant) {
	p.places = p.places[:0]
	for k := range v.items {
		p.places = append(p.places, k)
		for i := k; i > 0 && p.q[v.firstItem+p.places[i]] < p.q[v.firstItem+p.places[i-1]]; i-- {
			p.places[i], p.places[i-1] = p.places[i-1], p.places[i]
		}
	}
}

// setReplicas puts start and the counts of the segments into x.
func (p *pricer) setReplicas(counts []int32) {
	copy(p.x, p.start)
	for i := range p.segments {
		if !p.segments[i].forced {
			p.x[p.segments[i].item] += counts[i]
		}
	}
}

// solvePlain finds the cheapest configuration where the sum of replicas is not limited: it takes
// what saves money by itself and covers the rest of the demand. It returns false if the limits
// on the sum don't hold for what it found.
func (p *pricer) solvePlain() bool {
	i, need, cost := 0, p.need, p.base
	for ; i < len(p.segments) && p.segments[i].slope < 0; i++ {
		s := &p.segments[i]
		p.counts[i] = s.count
		cost += s.slope * float64(s.count)
		need -= s.capacity * float64(s.count)
	}
	p.cover(i, need, cost)
	if !p.found {
		return true
	}
	at := p.root()
	for k, n := range p.chosen {
		at.total += n
		if p.segments[k].minimum {
			at.filled += n
		}
	}
	return at.total <= p.w.most && p.lacking(at) <= 0
}

// cover serves need from segment i on.
func (p *pricer) cover(i int, need, cost float64) {
	p.steps++
	if need <= p.epsilon {
		p.accept(cost)
		return
	}
	if i == len(p.segments) || p.segments[i].ratio >= p.unmet {
		if !math.IsInf(p.unmet, 1) {
			p.accept(cost + p.unmet*need)
		}
		return
	}
	s := &p.segments[i]
	n := int32(0)
	if !p.outOfSequence(s) {
		n = p.enough(need, s)
	}
	for ; n >= 0; n-- {
		rest, spent := need-s.capacity*float64(n), cost+s.slope*float64(n)
		if p.steps > p.limit {
			break
		}
		if !p.improves(spent + p.walk(i+1, rest)) {
			if rest < 0 {
				// One less may do: what is left over is wasted here.
				continue
			}
			break
		}
		p.counts[i] = n
		p.cover(i+1, rest, spent)
	}
	p.counts[i] = 0
}

// enough is the number of replicas that serves need, or all of the segment.
func (p *pricer) enough(need float64, s *segment) int32 {
	if need <= p.epsilon {
		return 0
	}
	if s.capacity*float64(s.count) <= need {
		return s.count
	}
	return min(s.count, int32(math.Ceil((need-p.epsilon)/s.capacity)))
}

func (p *pricer) improves(bound float64) bool {
	if p.collect != nil {
		return bound <= p.best
	}
	return bound < p.best-1e-13*math.Abs(p.best) || math.IsInf(p.best, 1) && !math.IsInf(bound, 1)
}

func (p *pricer) accept(cost float64) {
	if p.improves(cost) {
		p.best, p.found = cost, true
		copy(p.chosen, p.counts)
	}
}

// walk is the linear relaxation of serving need from segment i on: everything that
// saves money, then the cheapest capacity.
func (p *pricer) walk(i int, need float64) float64 {
	cost := 0.0
	for ; i < len(p.segments); i++ {
		s := &p.segments[i]
		all := s.capacity * float64(s.count)
		if s.slope < 0 {
			cost += s.slope * float64(s.count)
			need -= all
			continue
		}
		if need <= p.epsilon || s.ratio >= p.unmet {
			break
		}
		if all >= need {
			return cost + s.ratio*need
		}
		cost += s.slope * float64(s.count)
		need -= all
	}
	if need > p.epsilon {
		cost += p.unmet * need
	}
	return cost
}
