package optimizer

import "math"

// relaxed is a lower bound on the cost of any configuration from a state on. Where
// the sum of replicas is limited, theta prices that limit.
func (p *pricer) relaxed(at node) float64 {
	if at.failing > 0 {
		return at.cost + p.relax(at.next, at.need, at.failing)
	}
	if p.plain() {
		return at.cost + p.walk(at.next, at.need)
	}
	cost, _ := p.walkOrder(at.next, at.need)
	switch {
	case p.theta > 0:
		cost += p.theta * float64(max(0, p.lacking(at)))
	case p.theta < 0:
		cost += p.theta * float64(p.w.most-at.total)
	}
	return at.cost + cost
}

// slope is the cost of a replica of a segment less theta, if it counts.
func (p *pricer) slope(s *segment) float64 {
	if p.theta > 0 && s.minimum {
		return s.slope
	}
	return s.slope - p.theta
}

// walkOrder is walk along order, with the replicas that it takes and that count
// towards what theta prices.
func (p *pricer) walkOrder(next int, need float64) (cost, replicas float64) {
	for ; next < len(p.order); next++ {
		i := p.order[next]
		count := p.available(i)
		if count == 0 {
			continue
		}
		s := &p.segments[i]
		slope := p.slope(s)
		taken := float64(count)
		if slope >= 0 {
			if need <= p.epsilon || ratioOf(slope, s.capacity) >= p.unmet {
				break
			}
			taken = min(taken, need/s.capacity)
		}
		cost += slope * taken
		need -= s.capacity * taken
		if !s.minimum || p.theta < 0 {
			replicas += taken
		}
	}
	if need > p.epsilon {
		cost += p.unmet * need
	}
	return cost, replicas
}

// chooseTheta finds the price of the limit on the sum of replicas that bounds best.
func (p *pricer) chooseTheta() {
	p.order = resize(p.order, len(p.segments))
	for i := range p.order {
		p.order[i] = int32(i)
	}
	root := p.root()
	lacking, room := float64(p.lacking(root)), float64(p.w.most-p.total)
	switch none := p.dualAt(0, lacking); {
	case none.rise > 0:
		right := p.beyond(1, lacking)
		if p.elastic() && right.theta > p.missing {
			right = p.dualAt(p.missing, lacking)
		}
		p.maximise(none, right, lacking)
	case p.w.most != unlimited && none.rise < lacking-room:
		// Minimums of variants count below 0.
		p.maximise(p.beyond(-1, room), p.dualAt(-math.SmallestNonzeroFloat64, room), room)
	}
}

// beyond is the relaxation at a theta of a sign, in steps of doubling, at which it meets the limit.
func (p *pricer) beyond(sign, limit float64) (at dual) {
	theta := 1e-3
	for k := range p.segments {
		theta = max(theta, math.Abs(p.segments[k].slope))
	}
	for range 20 {
		if at = p.dualAt(sign*theta, limit); sign*at.rise <= 0 {
			break
		}
		theta *= 2
	}
	return at
}

// dual is the relaxation at some theta: its value, less what is served, and how it rises with theta, by
// the replicas that the limit asks for or leaves.
type dual struct{ theta, value, rise float64 }

func (p *pricer) dualAt(theta, limit float64) dual {
	p.sortOrder(theta)
	cost, replicas := p.walkOrder(0, p.need)
	return dual{theta, cost + theta*limit, limit - replicas}
}

// maximise sets theta to where the relaxation, concave and piecewise linear, is largest between two
// thetas: it goes to where the tangents of both sides meet as long as that is above it (Kelley's cutting planes).
// Rounding must not lead beyond what missing replicas cost.
func (p *pricer) maximise(left, right dual, limit float64) {
	for range 30 {
		if left.rise <= 0 || right.rise >= 0 {
			break
		}
		theta := left.theta + (right.value-left.value-right.rise*(right.theta-left.theta))/(left.rise-right.rise)
		theta = min(theta, p.missing)
		top := left.value + left.rise*(theta-left.theta)
		at := p.dualAt(theta, limit)
		if at.value >= top-tolerance*math.Abs(top) {
			return
		}
		if at.rise > 0 {
			left = at
		} else {
			right = at
		}
	}
	best := left
	if right.value > left.value {
		best = right
	}
	p.sortOrder(best.theta)
}

// sortOrder sets theta and sorts the segments by cost per request/s under it. They are few, and often nearly
// in order.
func (p *pricer) sortOrder(theta float64) {
	p.theta = theta
	p.ratios = resize(p.ratios, len(p.segments))
	for i := range p.segments {
		s := &p.segments[i]
		p.ratios[i] = ratioOf(p.slope(s), s.capacity)
	}
	for k := 1; k < len(p.order); k++ {
		i, at := p.order[k], k
		for ; at > 0 && p.dearer(p.order[at-1], i); at-- {
			p.order[at] = p.order[at-1]
		}
		p.order[at] = i
	}
}

// dearer says whether segment a stands after b in order.
func (p *pricer) dearer(a, b int32) bool {
	if p.ratios[a] != p.ratios[b] {
		return p.ratios[a] > p.ratios[b]
	}
	return p.segments[a].sequence > p.segments[b].sequence
}

// sumSuffixes prepares relax.
func (p *pricer) sumSuffixes() {
	p.rest = resize(p.rest, len(p.segments)+1)
	last := suffix{ratio: math.Inf(1), slope: math.Inf(1)}
	p.rest[len(p.segments)] = last
	for i := len(p.segments) - 1; i >= 0; i-- {
		s := &p.segments[i]
		last.gain += min(0, s.slope) * float64(s.count)
		if s.forced || s.capacity > 0 {
			last.ratio = min(last.ratio, max(0, s.ratio))
		}
		if s.forced {
			last.forced += s.capacity * float64(s.count)
		}
		last.slope = min(last.slope, max(0, s.slope))
		p.rest[i] = last
	}
}

// relax is a lower bound on the cost of serving need from segment i on, by
// capacity, when failing > 0 replicas serve nothing.
func (p *pricer) relax(i int, need float64, failing int32) float64 {
	s := p.rest[i]
	if need <= p.epsilon {
		return s.gain
	}
	serve := need*min(s.ratio, p.unmet) + float64(failing)*s.slope
	return s.gain + min(serve, need*p.unmet)
}
