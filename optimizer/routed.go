package optimizer

import (
	"math"
	"slices"
)

// routedSearch finds configurations of a workload with a routing, depth first over
// the replicas of its variants. The bound is that of the linear relaxation under the
// covering rows found so far; rows that a configuration breaks are added when it is
// met. A node narrows the replicas of one variant to one side of what the relaxation
// takes.
type routedSearch struct {
	covering
	// rowsOf are the rows of the relaxation from firstRow on, divided by scales.
	rowsOf   []coveringRow
	scales   []float64
	firstRow int
	// segments are those of each variant in the order in which they fill, running the
	// replicas that are in use anyway.
	segments [][]int32
	running  []int32
	// least and most bound the replicas of each variant, those running included.
	least, most []int32
	// counts are the replicas of a whole configuration, x those of the relaxation.
	counts []int32
	x      []float64
	// unmet, in units of the demand, and missing are variables of the relaxation after those of the
	// segments.
	unmet, missing int
	// asked are the counts last routed, known what they leave unmet and row what proves
	// it; taught says that the relaxation has it.
	asked  []int32
	known  float64
	row    coveringRow
	taught bool
}

// solveRouted is solve for a workload with a routing.
func (p *pricer) solveRouted() priced {
	p.limit *= routedPatience
	answer, least := priced{bound: math.Inf(1)}, math.Inf(1)
	x := make([]int32, p.w.items)
	for _, j := range p.alternatives() {
		if !p.prepare(j) {
			continue
		}
		p.best, p.found = math.Inf(1), false
		bound := p.searchRouted()
		if p.found && p.best < least {
			least, answer.found = p.best, true
			p.setReplicas(p.chosen)
			copy(x, p.x)
		}
		answer.bound = min(answer.bound, bound)
	}
	copy(p.x, x)
	return answer
}

// routedPatience is how many times as many steps as other searches a search may take
// whose configurations are linear programs.
const routedPatience = 10

// alternatives are the variants that may be used alone, or −1 for all together.
func (p *pricer) alternatives() []int {
	if !p.w.single {
		return []int{-1}
	}
	alone := make([]int, len(p.w.variants))
	for j := range alone {
		alone[j] = j
	}
	return alone
}

// enumerateRouted visits all configurations within the threshold, which is p.best.
func (p *pricer) enumerateRouted() {
	p.limit *= routedPatience
	for _, j := range p.alternatives() {
		if p.prepare(j) {
			p.searchRouted()
		}
	}
	idle := false
	p.collect.columns = slices.DeleteFunc(p.collect.columns, func(c column) bool {
		if slices.Max(c.x) > 0 {
			return false
		}
		// All variants share the configuration without replicas.
		again := idle
		idle = true
		return again
	})
}

// searchRouted searches from the segments prepared. It returns a lower bound on the
// cost, which is that of the configuration found, unless the search was cut off.
func (p *pricer) searchRouted() float64 {
	s := &p.routed
	s.load(p)
	p.tightenRoot()
	relaxed, _ := s.solve(math.Inf(1))
	p.explore()
	if p.steps > p.limit {
		return p.base + relaxed
	}
	return p.best
}

// load writes the relaxation of the workload.
func (s *routedSearch) load(p *pricer) {
	n := len(p.segments) + 2
	s.reset(n, 1e-9)
	s.unmet, s.missing = n-2, n-1
	for i := range p.segments {
		s.cost[i] = p.segments[i].slope
	}
	s.cost[s.unmet], s.cost[s.missing] = p.unmet*p.w.demand, p.missing
	for _, i := range []int{s.unmet, s.missing} {
		s.lower[i], s.upper[i] = 0, math.Inf(1)
		if math.IsInf(s.cost[i], 1) {
			s.cost[i], s.upper[i] = 0, 0
		}
	}
	s.split(p)
	s.start()
	s.addTotals(p)
	s.firstRow = len(s.rows)
	s.rowsOf, s.scales = s.rowsOf[:0], s.scales[:0]
	p.w.routing.forget()
	for _, row := range p.w.routing.rows {
		s.add(p, row)
	}
}

// split sorts the segments by variant.
func (s *routedSearch) split(p *pricer) {
	variants := p.w.variants
	s.segments, s.running = resize(s.segments, len(variants)), resize(s.running, len(variants))
	s.least, s.most = resize(s.least, len(variants)), resize(s.most, len(variants))
	s.x, s.counts = resize(s.x, len(variants)), resize(s.counts, len(variants))
	s.asked = s.asked[:0]
	for v := range variants {
		s.segments[v], s.running[v] = s.segments[v][:0], 0
		for item := range variants[v].items {
			s.running[v] += p.start[variants[v].firstItem+item]
		}
	}
	for i := range p.segments {
		if p.segments[i].forced {
			s.lower[i], s.upper[i], s.cost[i] = 0, 0, 0
			continue
		}
		v := p.segments[i].variant
		s.segments[v] = append(s.segments[v], int32(i))
	}
	for v := range variants {
		slices.SortFunc(s.segments[v], func(a, b int32) int { return int(p.segments[a].sequence - p.segments[b].sequence) })
		most := s.running[v]
		for _, i := range s.segments[v] {
			most += p.segments[i].count
		}
		s.narrow(p, v, s.running[v], most)
	}
}

// narrow bounds the replicas of a variant; its segments fill in order.
func (s *routedSearch) narrow(p *pricer, v int, least, most int32) {
	s.least[v], s.most[v] = least, most
	least, most = least-s.running[v], most-s.running[v]
	for _, i := range s.segments[v] {
		count := p.segments[i].count
		s.lower[i], s.upper[i] = float64(min(least, count)), float64(min(most, count))
		least, most = least-min(least, count), most-min(most, count)
	}
}

// addTotals adds the rows of the least and the most replicas of the workload.
func (s *routedSearch) addTotals(p *pricer) {
	if lacking := p.lacking(p.root()); lacking > 0 {
		row := make([]float64, len(s.cost))
		for i := range p.segments {
			if !p.elastic() || !p.segments[i].minimum {
				row[i] = 1
			}
		}
		row[s.missing] = 1
		s.addRow(row, float64(lacking))
	}
	if p.w.most != unlimited {
		row := make([]float64, len(s.cost))
		for i := range p.segments {
			row[i] = -1
		}
		s.addRow(row, float64(p.total-p.w.most))
	}
}

// add puts a covering row into the relaxation, in units of the replica that covers
// most. Where replicas may fail, what fails at least is added to the need; fewer
// replicas than fail serve nothing, which the weight of unmet demand allows for.
func (s *routedSearch) add(p *pricer, from coveringRow) {
	heaviest := slices.Max(from.weights)
	unmet := 1 + float64(p.w.redundancy)*heaviest/from.need
	scale := max(heaviest, from.need/float64(unlimited))
	row := make([]float64, len(s.cost))
	for i := range p.segments {
		if !p.segments[i].forced {
			row[i] = from.weights[p.segments[i].variant] / scale
		}
	}
	row[s.unmet] = unmet * (p.w.demand / scale)
	s.addRow(row, 0)
	s.rowsOf, s.scales = append(s.rowsOf, from), append(s.scales, scale)
	s.setNeed(p, len(s.rowsOf)-1)
}

// shift sets the needs of all rows to what is settled.
func (s *routedSearch) shift(p *pricer) {
	for k := range s.rowsOf {
		s.setNeed(p, k)
	}
	s.work += len(s.rowsOf) * len(s.least) * len(s.least)
}

func (s *routedSearch) setNeed(p *pricer, k int) {
	row := &s.rowsOf[k]
	need := row.need - p.epsilon
	for v, weight := range row.weights {
		need -= weight * float64(s.running[v])
	}
	if p.w.redundancy > 0 {
		need += s.failing(p, row.weights)
	}
	s.need[s.firstRow+k] = need / s.scales[k]
}

// failing is the least that the replicas that fail cover of a row: the heaviest of
// those settled, and as light ones as there may be. Replicas without weight only fail
// where there are too few others, and then nothing is served.
func (s *routedSearch) failing(p *pricer, weights []float64) float64 {
	left, total := float64(p.w.redundancy), 0.0
	lightest := math.Inf(1)
	for v := range weights {
		s.x[v] = float64(s.least[v])
		if weights[v] > 0 && s.most[v] > s.least[v] {
			lightest = min(lightest, weights[v])
		}
	}
	for left > 0 {
		heaviest := -1
		for v := range weights {
			if s.x[v] > 0 && weights[v] > 0 && (heaviest < 0 || weights[v] > weights[heaviest]) {
				heaviest = v
			}
		}
		if heaviest < 0 {
			break
		}
		failed := min(left, s.x[heaviest])
		total += failed * weights[heaviest]
		left -= failed
		s.x[heaviest] = 0
	}
	if left > 0 && !math.IsInf(lightest, 1) {
		total += left * lightest
	}
	return total
}

// total are the replicas of a variant in the relaxation.
func (s *routedSearch) total(v int) float64 {
	total := float64(s.running[v])
	for _, i := range s.segments[v] {
		total += s.y[i]
	}
	return total
}

// rootRounds limits the rows that are sought for the root of a search.
const rootRounds = 10

// tightenRoot adds rows that the relaxation breaks.
func (p *pricer) tightenRoot() {
	s := &p.routed
	for range rootRounds {
		value, optimal := s.solve(math.Inf(1))
		if !optimal || !p.improves(p.base+value) {
			return
		}
		for v := range s.x {
			s.x[v] = s.total(v)
		}
		unmet := p.w.routing.unmet(s.x)
		if unmet <= s.y[s.unmet]*p.w.demand+2*p.epsilon {
			return
		}
		p.learn(p.w.routing.row.clone())
	}
}

// learn keeps a row.
func (p *pricer) learn(row coveringRow) {
	p.w.routing.rows = append(p.w.routing.rows, row)
	p.routed.add(p, row)
}

// explore searches within the bounds on replicas.
func (p *pricer) explore() {
	s := &p.routed
	if p.steps > p.limit {
		return
	}
	if p.w.redundancy > 0 {
		s.shift(p)
	}
	if !p.open() {
		return
	}
	v := s.widest()
	if v < 0 {
		return
	}
	least, most := s.least[v], s.most[v]
	at := min(max(s.total(v), float64(least)), float64(most))
	below := min(int32(math.Floor(at+wholeWithin)), most-1)
	if at-float64(below) > 0.5 {
		p.exploreAbove(v, below, most)
		s.narrow(p, v, least, below)
		p.explore()
	} else {
		s.narrow(p, v, least, below)
		p.explore()
		p.exploreAbove(v, below, most)
	}
	s.narrow(p, v, least, most)
}

// exploreAbove searches the configurations with more than below replicas of v.
func (p *pricer) exploreAbove(v int, below, most int32) {
	s := &p.routed
	s.narrow(p, v, below, most)
	if p.collect != nil && p.sated(v) {
		return
	}
	s.narrow(p, v, below+1, most)
	p.explore()
}

// relaxRouted solves the relaxation unless it is no better than the best.
func (p *pricer) relaxRouted() (value float64, optimal bool) {
	s := &p.routed
	value, optimal = s.solve(p.best - p.base)
	p.charge()
	return value, optimal
}

// charge counts the work done as steps.
func (p *pricer) charge() {
	p.steps += 1 + (p.routed.work+p.w.routing.dual.work)/multiplicationsPerStep
	p.routed.work, p.w.routing.dual.work = 0, 0
}

// multiplicationsPerStep are about as much work as a step of other searches.
const multiplicationsPerStep = multiplications / stepsPerEffort

// open bounds what is settled, visits the configuration at which the relaxation is
// least if that is whole, and says whether others may be better.
func (p *pricer) open() bool {
	s := &p.routed
	for {
		value, optimal := p.relaxRouted()
		if !p.improves(p.base+value) || p.steps > p.limit {
			return false
		}
		if !optimal {
			p.steps = p.limit + 1
			return false
		}
		if !s.whole(p) {
			return true
		}
		unmet := s.route(p)
		cost := p.costOf(unmet)
		if p.collect == nil {
			p.accept(cost)
			if p.found && p.best-1e-12*math.Abs(p.best) <= p.base+value {
				return false
			}
		} else if s.widest() < 0 {
			if cost <= p.best {
				p.expand(cost)
			}
			return false
		}
		if unmet <= s.y[s.unmet]*p.w.demand+2*p.epsilon || !p.teach() {
			return true
		}
	}
}

// teach adds the row that the last configuration breaks, unless the relaxation has it.
func (p *pricer) teach() bool {
	s := &p.routed
	if s.taught {
		return false
	}
	s.taught = true
	p.learn(s.row)
	return true
}

// wholeWithin is the distance from a whole number that counts as none.
const wholeWithin = 1e-6

// whole says whether the relaxation takes whole replicas of all variants, and sets the
// counts of variants and of segments to them.
func (s *routedSearch) whole(p *pricer) bool {
	for v := range s.counts {
		total := s.total(v)
		n := math.Round(total)
		if math.Abs(total-n) > wholeWithin {
			return false
		}
		s.counts[v] = int32(n)
		s.count(p, v)
	}
	return true
}

// count fills the segments of a variant.
func (s *routedSearch) count(p *pricer, v int) {
	left := s.counts[v] - s.running[v]
	for _, i := range s.segments[v] {
		p.counts[i] = min(left, p.segments[i].count)
		left -= p.counts[i]
	}
}

// route is what the counts leave unmet. It remembers the last answer.
func (s *routedSearch) route(p *pricer) float64 {
	if !slices.Equal(s.asked, s.counts) {
		s.asked = append(s.asked[:0], s.counts...)
		s.known = p.w.routing.unmetAfter(s.counts, p.w.redundancy)
		s.row, s.taught = p.w.routing.worst.clone(), false
		if s.known <= p.epsilon {
			s.known = 0
		}
	}
	return s.known
}

// costOf is the cost of the counts.
func (p *pricer) costOf(unmet float64) float64 {
	cost := p.base
	at := p.root()
	for i := range p.segments {
		if n := p.counts[i]; n > 0 && !p.segments[i].forced {
			cost += p.segments[i].slope * float64(n)
			at.total += n
			if p.segments[i].minimum {
				at.filled += n
			}
		}
	}
	if unmet > 0 {
		cost += p.unmet * unmet
	}
	if lacking := p.lacking(at); lacking > 0 {
		cost += p.missing * float64(lacking)
	}
	return cost
}

// widest is the variant to narrow next: the one that is the farthest from whole by
// what a replica costs, or any that is not settled; −1 if all are.
func (s *routedSearch) widest() int {
	best, most := -1, -1.0
	for v := range s.least {
		if s.least[v] == s.most[v] {
			continue
		}
		total := s.total(v)
		away := math.Abs(total-math.Round(total)) * (1 + math.Abs(s.cost[s.segments[v][0]]))
		if away > most {
			best, most = v, away
		}
	}
	return best
}

// sated says whether one more replica of variant v is of no use, because the least
// that is settled serves everything.
func (p *pricer) sated(v int) bool {
	s := &p.routed
	total := int32(0)
	for j := range s.counts {
		s.counts[j] = s.least[j]
		total += s.counts[j]
		s.count(p, j)
	}
	for _, i := range s.segments[v] {
		if seg := &p.segments[i]; p.counts[i] < seg.count {
			return seg.slope >= 0 && !seg.surplus && total >= p.w.least && s.covers() && s.route(p) == 0
		}
	}
	return true
}

// covers says whether the counts meet all rows, but for what may fail.
func (s *routedSearch) covers() bool {
	for k := range s.rowsOf {
		covered := 0.0
		for v, weight := range s.rowsOf[k].weights {
			covered += weight * float64(s.counts[v])
		}
		if covered < s.rowsOf[k].need*(1-tolerance) {
			return false
		}
	}
	return true
}
