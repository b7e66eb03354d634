package optimizer

import "math"

// enumeration collects configurations.
type enumeration struct {
	columns []column
	limit   int
	// overflow: there are more columns than limit.
	overflow bool
}

// enumerationLimit is the number of columns and of search steps after which an enumeration
// counts as overflown.
type enumerationLimit struct {
	columns, steps int
}

// enumerationSteps is the usual limit on steps.
const enumerationSteps = 200_000

// enumerate returns all configurations of w within the bounds whose reduced cost is
// at most threshold, but for those that another one beats or equals in cost and in
// the use of every row. complete is false if limit was reached. They are valid until the next call.
func (p *pricer) enumerate(w *workload, lo, hi []int32, prices []float64, threshold float64, limit enumerationLimit) (columns []column, complete bool) {
	if !p.load(w, lo, hi, prices) {
		return nil, true
	}
	e := &p.enumerated
	*e = enumeration{columns: e.columns[:0], limit: limit.columns}
	p.store.reset()
	p.collect = e
	defer func() { p.collect = nil }()
	p.best, p.steps, p.limit = threshold+1e-12*math.Abs(threshold), 0, limit.steps
	switch {
	case w.routing != nil:
		p.enumerateRouted()
	case w.single && len(w.variants) > 0:
		p.enumerateSingle()
	case p.prepare(-1):
		if p.plain() {
			p.enumeratePlain(0, p.need, p.base)
			break
		}
		p.chooseTheta()
		p.search(p.root())
	}
	return e.columns, !e.overflow && p.steps <= p.limit
}

// enumerateSingle visits every number of replicas of every variant that could be
// worth it.
func (p *pricer) enumerateSingle() {
	idle := false
	for j := range p.w.variants {
		if !p.prepare(j) {
			continue
		}
		v := &p.w.variants[j]
		most := max(p.total, p.w.redundancy, p.w.least, v.least, v.current)
		if v.capacity > 0 && p.w.demand > 0 {
			full := math.Ceil((p.w.demand - p.epsilon) / v.capacity)
			most = max(most, int32(min(full, float64(unlimited-p.w.redundancy)))+p.w.redundancy)
		}
		for n := p.total; n <= most && p.steps <= p.limit; n++ {
			p.steps++
			// All variants share the configuration without replicas.
			if n == 0 && idle {
				continue
			}
			idle = idle || n == 0
			p.evaluateSingle(n)
		}
	}
}

// enumeratePlain is serve where replicas count by their capacity alone, so that their sum has no price and segments stand in order: from
// segment i on, of which none is in use, before or after, with what remains to be served and what it has cost so far.
func (p *pricer) enumeratePlain(i int, need, cost float64) {
	for ; i < len(p.segments); i++ {
		// Those that save money are surplus.
		if s := &p.segments[i]; s.surplus || need > p.epsilon && s.capacity > 0 {
			break
		}
	}
	if i == len(p.segments) {
		at := p.root()
		at.need, at.cost = need, cost
		p.finish(at)
		return
	}
	s := &p.segments[i]
	enough, most := int32(0), int32(0)
	if !p.outOfSequence(s) {
		switch {
		case s.slope < 0:
			enough = s.count
		case s.capacity > 0:
			enough = p.enough(need, s)
		}
		if most = enough; s.surplus {
			most = s.count
		}
	}
	for n := most; n >= 0; n-- {
		if p.steps++; p.steps > p.limit {
			break
		}
		rest, spent := need-s.capacity*float64(n), cost+s.slope*float64(n)
		if spent+p.walk(i+1, rest) > p.best {
			// Fewer only cost more, unless some are wasted or dearer than demand not served.
			if n <= enough && (s.slope < 0 || rest >= 0 && s.ratio <= p.unmet) {
				break
			}
			continue
		}
		p.counts[i] = n
		p.enumeratePlain(i+1, rest, spent)
	}
	p.counts[i] = 0
}

// expand collects the configuration of the current counts and all those that place
// the same replicas elsewhere. The search has placed them where they cost least.
func (p *pricer) expand(cost float64) {
	p.setReplicas(p.counts)
	p.spread(0, cost)
}

func (p *pricer) spread(j int, cost float64) {
	for j < len(p.w.variants) && p.w.variants[j].items == 1 {
		j++
	}
	if j == len(p.w.variants) {
		p.collectColumn()
		return
	}
	v := &p.w.variants[j]
	items := p.x[v.firstItem:][:v.items]
	saved := append([]int32(nil), items...)
	total := int32(0)
	for k, n := range saved {
		total += n
		cost -= p.q[int(v.firstItem)+k] * float64(n)
	}
	p.spreadOver(j, 0, total, cost)
	copy(items, saved)
}

// spreadOver places left replicas of variant j from placement k on.
func (p *pricer) spreadOver(j, k int, left int32, cost float64) {
	v := &p.w.variants[j]
	item := int(v.firstItem) + k
	if k == int(v.items)-1 {
		cost += p.q[item] * float64(left)
		if left >= p.lo[item] && left <= p.hi[item] && cost <= p.best {
			p.x[item] = left
			p.spread(j+1, cost)
		}
		return
	}
	for n := p.lo[item]; n <= min(left, p.hi[item]); n++ {
		p.steps++
		if p.collect.overflow || p.steps > p.limit {
			return
		}
		p.x[item] = n
		p.spreadOver(j, k+1, left-n, cost+p.q[item]*float64(n))
	}
}

func (p *pricer) collectColumn() {
	e := p.collect
	if len(e.columns) >= e.limit {
		e.overflow = true
		p.steps = p.limit + 1
		return
	}
	if c, ok := p.store.newColumn(p.w, p.x); ok {
		c.x = p.store.replicas.take(len(p.x))
		copy(c.x, p.x)
		e.columns = append(e.columns, c)
	}
}
