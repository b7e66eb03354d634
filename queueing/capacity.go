package queueing

import (
	"math"
	"math/bits"
)

// roundingError is the relative excess over a limit that is put down to rounding:
// a latency that does not depend on load and equals its limit holds it.
const roundingError = 1e-12

// touching is the relative distance at which a limit counts as reached. A latency that
// jumps over its limit does not come that close.
const touching = 1e-9

// Capacity returns the highest arrival rate at which every limit holds, up to
// 0.999·μ(B). The error joins one error for each malformed limit.
//
// A limit on a quantile q holds if at least the share q of all arrivals keeps it;
// a blocked request does not keep it. A limit on a mean is over accepted requests.
// Without limits the rate is that of stability.
//
// Under the models of the llm-d family rates are from 0.001·μ(1) on, any limit on
// tokens per second stands for 0.9 times the highest rate, and under [LLMDV0] blocked
// requests do not count.
//
// Mean latency rises with load, so there is one rate beyond which a limit fails; it is
// found by root finding, of one limit at a time, in six to nine evaluations, and more where a
// latency jumps. A quantile of [ContinuousBatching] may dip where its variance shrinks near
// saturation; the limits hold at the rate that is returned, and a little above it they do not.
// Of equally strict limits the first one binds.
func (s *Station) Capacity(slo SLO) (Capacity, error) {
	if err := slo.validate(); err != nil {
		return Capacity{}, err
	}
	if s.unservable != "" {
		return Capacity{Unservable: s.unservable}, nil
	}
	c := Capacity{Feasible: true, SaturationRate: s.SaturationRate()}
	least, most := s.leastRate(), s.mostRate()
	if limit, ok := s.tokenRateLimit(slo); ok {
		most *= s.sizing.tokenRateLoad
		c.Bound, c.Binding = true, limit
	}
	var b bracket
	s.enclose(&b, slo, least, most)
	switch {
	case b.upper.failing == 0:
		c.Rate, c.Served = Rate(most), Rate(b.upper.throughput)
		return c, nil
	case b.lower.failing != 0:
		return s.infeasible(slo.Limits[b.lower.first()]), nil
	}
	// A limit that is reached exactly where another fails holds, and rounding at lower rates must
	// not make it fail.
	searched := everyLimit &^ b.upper.reached
	at := b.upper
	for at.failing != 0 {
		limit := b.strictest()
		c.Bound, c.Binding = true, slo.Limits[limit]
		if at = s.reach(&b, slo, searched, limit); at.failing != 0 {
			b.upper = s.excess(slo, searched, at.rate, &b.failing)
		}
	}
	if at.value > -touching {
		c.Binding = slo.Limits[at.limit]
	}
	if at.rate == 0 {
		return s.infeasible(c.Binding), nil
	}
	c.Rate, c.Served = Rate(at.rate), Rate(at.throughput)
	return c, nil
}

// bracket is two rates: at lower all limits hold, if any rate is that low, and at upper some
// fail, if any is that high. holding and failing are what the excesses are there.
type bracket struct {
	lower, upper     excess
	holding, failing excesses
}

// nearShare of the highest rate is where the limits are tried first: most latencies begin to
// grow close to saturation.
const nearShare = 0.9

// enclose sets the bracket in which the limits of an SLO are reached.
func (s *Station) enclose(b *bracket, slo SLO, least, most float64) {
	near := max(least, nearShare*most)
	b.upper = s.excess(slo, everyLimit, near, &b.failing)
	b.lower = b.upper
	if b.upper.failing == 0 {
		b.holding = b.failing
		b.upper = s.excess(slo, everyLimit, most, &b.failing)
	} else if near > least {
		b.lower = s.excess(slo, everyLimit, least, &b.holding)
	}
}

// strictest is the limit that is likely to fail first, of those that fail at upper: where the line
// between its excesses at both ends crosses 0.
func (b *bracket) strictest() int {
	strictest, most := 0, math.Inf(-1)
	for rest := b.upper.failing; rest != 0; rest &= rest - 1 {
		i := bits.TrailingZeros64(uint64(rest))
		if over := b.failing[i] / (b.failing[i] - min(b.holding[i], 0)); over > most {
			strictest, most = i, over
		}
	}
	return strictest
}

// reach returns what holds at the highest rate of the bracket at which one limit does. Of one
// limit the excess is smooth, of the strictest of many it is not.
func (s *Station) reach(b *bracket, slo SLO, among limitSet, limit int) excess {
	highest := b.lower
	var values excesses
	findRoot(func(rate float64) float64 {
		e := s.excess(slo, among, rate, &values)
		if values[limit] <= 0 {
			highest = e
		}
		return values[limit]
	}, b.lower.rate, b.upper.rate, min(b.holding[limit], 0), b.failing[limit])
	return highest
}

// tokenRateLimit returns the first limit that stands for a share of the highest rate.
func (s *Station) tokenRateLimit(slo SLO) (Limit, bool) {
	for i := range slo.Limits {
		if s.standsForLoad(&slo.Limits[i]) {
			return slo.Limits[i], true
		}
	}
	return Limit{}, false
}

func (s *Station) standsForLoad(l *Limit) bool {
	return l.Metric == TokensPerSecond && s.sizing.tokenRateLoad > 0
}

// infeasible returns the capacity where a limit fails at the least rate already.
func (s *Station) infeasible(limit Limit) Capacity {
	return Capacity{
		SaturationRate: s.SaturationRate(),
		Bound:          true,
		Binding:        limit,
		Best:           s.best(limit),
	}
}

// leastRate and mostRate bound the arrival rates that Capacity considers.
func (s *Station) leastRate() float64 { return s.sizing.leastLoad * s.chain.rate[1] }
func (s *Station) mostRate() float64  { return mostLoad * s.chain.saturation() }

// mostLimits is the number of limits that an SLO may have.
const mostLimits = 64

// limitSet is a set of limits of an SLO, bit i for limit i.
type limitSet uint64

// everyLimit is the set of all limits.
const everyLimit = ^limitSet(0)

func (l limitSet) has(i int) bool { return l>>i&1 != 0 }

// excesses are those of single limits.
type excesses [mostLimits]float64

// excess tells how far limits are from being reached at a rate.
type excess struct {
	// value is the largest of all: positive if a limit fails. It is close to linear in the
	// rate also near saturation: 1 less the ratio of limit and mean, as means grow like the
	// reciprocal of the rate that is left; for a quantile the logarithm of the share that
	// misses the limit over the share that may.
	value float64
	// limit is the first limit with that value.
	limit int
	// rate is that of arrivals, throughput that of requests served.
	rate, throughput float64
	// failing are those that fail by more than rounding, reached those that are reached
	// but for rounding.
	failing, reached limitSet
}

// first returns the first limit that fails, or else the one closest to it.
func (e *excess) first() int {
	if e.failing == 0 {
		return e.limit
	}
	return bits.TrailingZeros64(uint64(e.failing))
}

// excess looks at some limits of an SLO, and sets values to how far each is from being reached.
// Means alone cost less than distributions.
func (s *Station) excess(slo SLO, among limitSet, rate float64, values *excesses) excess {
	var state steadyState
	s.chain.solve(rate, &state)
	e := excess{value: math.Inf(-1), rate: rate, throughput: state.throughput}
	if !slo.limitsQuantile() {
		s.compare(&e, values, slo, among, &state, s.model.means(state.occupancy), nil)
		return e
	}
	stages := s.model.sojourn(state.occupancy)
	s.compare(&e, values, slo, among, &state, stages.means(), &stages)
	return e
}

// compare compares limits with means and, where there are limits on quantiles, with
// distributions.
func (s *Station) compare(e *excess, values *excesses, slo SLO, among limitSet, state *steadyState, m means, stages *sojourn) {
	for i := range slo.Limits {
		limit := &slo.Limits[i]
		if !among.has(i) || s.standsForLoad(limit) {
			continue
		}
		var value float64
		if limit.Quantile == 0 {
			value = limit.meanExcess(m.of(limit.Metric))
		} else {
			value = limit.quantileExcess(s.kept(limit, state, stages))
		}
		switch {
		case value > roundingError:
			e.failing |= 1 << i
		case value >= -roundingError:
			e.reached |= 1 << i
		}
		if value > e.value {
			e.value, e.limit = value, i
		}
		values[i] = value
	}
}

// kept returns the share of requests that keep a limit on a quantile.
func (s *Station) kept(limit *Limit, state *steadyState, stages *sojourn) float64 {
	var l Latency
	stages.setLatency(&l, limit.Metric)
	kept := l.CDF(Seconds(limit.seconds()))
	if s.sizing.acceptedOnly {
		return kept
	}
	return (1 - state.blocked) * kept
}

// meanExcess is positive where a mean latency exceeds a limit on it, in the terms of
// excess.value.
func (l *Limit) meanExcess(mean float64) float64 {
	return max(1-l.seconds()/mean, leastExcess)
}

// quantileExcess is positive where fewer requests than the quantile keep a limit, in
// the terms of excess.value.
func (l *Limit) quantileExcess(kept float64) float64 {
	return boundedLog((1 - kept) / (1 - l.Quantile))
}

// ofLatency returns what a limit is about, in its own unit.
func (l *Limit) ofLatency(latency *Latency) float64 {
	value := latency.mean
	if l.Quantile > 0 {
		value = float64(latency.Quantile(l.Quantile))
	}
	return l.inUnit(value)
}

// inUnit converts a latency to the unit of the limit.
func (l *Limit) inUnit(seconds float64) float64 {
	if l.Metric == TokensPerSecond {
		return 1 / seconds
	}
	return seconds
}

// seconds returns the limit on the latency that the metric is about.
func (l *Limit) seconds() float64 {
	if l.Metric == TokensPerSecond {
		return 1 / l.Value
	}
	return l.Value
}

// limitsQuantile tells whether not all limits are on means.
func (o *SLO) limitsQuantile() bool {
	for i := range o.Limits {
		if o.Limits[i].Quantile > 0 {
			return true
		}
	}
	return false
}

// leastExcess keeps a vanishing latency from upsetting root finding.
const leastExcess = -50

func boundedLog(x float64) float64 { return max(math.Log(x), leastExcess) }

// best returns the value of a limit's metric at the lowest rate.
func (s *Station) best(limit Limit) float64 {
	var state steadyState
	s.chain.solve(s.leastRate(), &state)
	stages := s.model.sojourn(state.occupancy)
	var l Latency
	stages.setLatency(&l, limit.Metric)
	return limit.ofLatency(&l)
}
