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

// chooseTheta finds the price of the limit on the sum of replicas that bounds best:
// the one at which the relaxation takes as many as it should.
func (p *pricer) chooseTheta() {
	p.order = resize(p.order, len(p.segments))
	for i := range p.order {
		p.order[i] = int32(i)
	}
	p.sortOrder(0)
	root := p.root()
	_, replicas := p.walkOrder(0, p.need)
	lacking, room := float64(p.lacking(root)), float64(p.w.most-p.total)
	var low, high float64
	switch {
	case replicas < lacking:
		high = p.most(1, func(replicas float64) bool { return replicas >= lacking })
		if p.elastic() {
			high = min(high, p.missing)
		}
	case replicas > room && p.w.most != unlimited:
		p.theta = -1 // minimums of variants count from here on
		low, high = 0, -p.most(-1, func(replicas float64) bool { return replicas <= room })
	default:
		return
	}
	if high > 0 {
		p.bisect(low, high, func(replicas float64) bool { return replicas >= lacking })
	} else {
		p.bisect(low, high, func(replicas float64) bool { return replicas <= room })
	}
}

// most is a price, in steps of doubling, at which the relaxation meets the limit.
func (p *pricer) most(sign float64, meets func(float64) bool) float64 {
	theta := 1e-3
	for k := range p.segments {
		theta = max(theta, math.Abs(p.segments[k].slope))
	}
	for range 20 {
		p.sortOrder(sign * theta)
		if _, replicas := p.walkOrder(0, p.need); meets(replicas) {
			break
		}
		theta *= 2
	}
	return theta
}

// bisect narrows theta down; it ends on the side that meets the limit or just short
// of it. Any theta gives a valid bound.
func (p *pricer) bisect(low, high float64, meets func(float64) bool) {
	for range 30 {
		middle := (low + high) / 2
		p.sortOrder(middle)
		if _, replicas := p.walkOrder(0, p.need); meets(replicas) {
			high = middle
		} else {
			low = middle
		}
	}
	p.sortOrder(high)
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
