package optimizer

import "math"

// reoptimise takes out of the basis what is closed or below 0, by the dual simplex method (C. E. Lemke, The dual
// method of solving the linear programming problem, 1954): after a basis that was optimal, a few exchanges do.
// It returns false where it comes to no end, with a basis of no use.
func (m *mixture) reoptimise() bool {
	for range dualExchanges {
		leaving, key, level := m.off()
		if leaving < 0 && key < 0 {
			m.clamp()
			return true
		}
		m.price()
		entering, ok := m.dualRatio(leaving, key, level)
		if !ok {
			return false
		}
		m.direct(entering)
		var rate float64
		if leaving >= 0 {
			rate = m.direction[leaving]
		} else {
			rate = m.rates[key]
		}
		if math.Abs(rate) < mixturePivot || !m.replace(entering, leaving, key, level/rate) {
			return false
		}
	}
	return false
}

// dualExchanges limits the exchanges of the dual method; three are usual.
const dualExchanges = 30

// off is the basic variable, or else the group whose key column, that is the furthest out of its bounds, and its
// value: below 0, or above where it is closed. Both are −1 if there is none.
func (m *mixture) off() (leaving, key int, level float64) {
	leaving, key = -1, -1
	most := mixtureOff
	see := func(i, g int, value float64, shut bool) {
		off := -value
		if shut {
			off = math.Abs(value)
		}
		if off > most {
			leaving, key, level, most = i, g, value, off
		}
	}
	for i, v := range m.basic {
		see(i, -1, m.level[i], m.shut(v))
	}
	for k := range m.groups {
		g := &m.groups[k]
		see(-1, k, g.level, g.closed[g.key])
	}
	return leaving, key, level
}

// dualRatio is the variable that brings the leaving one to 0, in the direction that it has to go, and whose reduced
// cost is the least for what it moves it by; of several the one that moves it most.
func (m *mixture) dualRatio(leaving, key int, level float64) (best mixed, ok bool) {
	sign := math.Copysign(1, level)
	m.towards(leaving, key, sign)
	least, fastest := math.Inf(1), 0.0
	see := func(v mixed, reduced, rate float64) {
		if rate < dualPivot {
			return
		}
		ratio, alike := max(0, reduced)/rate, mixtureReduced*m.dearest
		if ratio < least-alike || ratio <= least+alike && rate > fastest {
			best, least, fastest, ok = v, min(least, ratio), rate, true
		}
	}
	for r, rate := range m.functional {
		see(mixed{slackOf, int32(r)}, m.prices[r], rate)
		see(mixed{surplusOf, int32(r)}, m.surplus[r]-m.prices[r], -rate)
	}
	for k := range m.groups {
		g := &m.groups[k]
		prices, rates := m.ofGroup(g)
		offset, priced := 0.0, g.cost[g.key]
		if k == key {
			offset = sign
		}
		for n, u := range g.column(g.key) {
			offset -= rates[n] * u
			priced += prices[n] * u
		}
		use := g.use
		for c, cost := range g.cost {
			uses := use[:len(rates)]
			use = use[len(rates):]
			if g.closed[c] {
				continue
			}
			rate := offset
			for n, u := range uses {
				rate += rates[n] * u
			}
			if rate < dualPivot {
				continue
			}
			for n, u := range uses {
				cost += prices[n] * u
			}
			see(mixed{int32(k), int32(c)}, cost-priced, rate)
		}
		m.work += len(g.use)
	}
	return best, ok
}

// towards sets the functional of the rows: by how much the leaving variable, times the sign, falls with what
// enters and uses one unit of a row.
func (m *mixture) towards(leaving, key int, sign float64) {
	if leaving >= 0 {
		for r, a := range m.line(leaving) {
			m.functional[r] = sign * a
		}
		return
	}
	clear(m.functional)
	for i, v := range m.basic {
		if int(v.group) == key {
			for r, a := range m.line(i) {
				m.functional[r] -= sign * a
			}
		}
	}
}

// ofGroup are prices and functional of the rows of a group.
func (m *mixture) ofGroup(g *mixtureGroup) (prices, functional []float64) {
	n := len(g.rows)
	m.scratch = resize(m.scratch, 2*n)
	prices, functional = m.scratch[:n], m.scratch[n:][:n]
	for k, r := range g.rows {
		prices[k], functional[k] = m.prices[r], m.functional[r]
	}
	return prices, functional
}
