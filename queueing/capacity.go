package queueing

import "math"

// roundingError is the relative excess over a limit that is put down to rounding:
// a latency that does not depend on load and equals its limit holds it.
const roundingError = 1e-12

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
// Latency rises with load, so each limit has one rate beyond which it fails; it is
// found by root finding in about ten evaluations. Of equally strict limits the
// first one binds.
func (s *Station) Capacity(slo SLO) (Capacity, error) {
	if err := slo.validate(); err != nil {
		return Capacity{}, err
	}
	if s.unservable != "" {
		return Capacity{Unservable: s.unservable}, nil
	}
	c := Capacity{
		Feasible:       true,
		Rate:           Rate(s.mostRate()),
		SaturationRate: s.SaturationRate(),
	}
	for _, limit := range slo.Limits {
		rate, feasible := s.sustain(limit, float64(c.Rate))
		if !feasible {
			return Capacity{
				SaturationRate: c.SaturationRate,
				Bound:          true,
				Binding:        limit,
				Best:           s.best(limit),
			}, nil
		}
		if Rate(rate) < c.Rate {
			c.Rate, c.Bound, c.Binding = Rate(rate), true, limit
		}
	}
	c.Served = s.Evaluate(c.Rate).Throughput
	return c, nil
}

// leastRate and mostRate bound the arrival rates that Capacity considers.
func (s *Station) leastRate() float64 { return s.sizing.leastLoad * s.chain.rate[1] }
func (s *Station) mostRate() float64  { return mostLoad * s.chain.saturation() }

// sustain returns the highest rate up to most at which a limit holds, and false if
// there is none.
func (s *Station) sustain(limit Limit, most float64) (rate float64, feasible bool) {
	if limit.Metric == TokensPerSecond && s.sizing.tokenRateLoad > 0 {
		return min(most, s.sizing.tokenRateLoad*s.mostRate()), true
	}
	excess := func(rate float64) float64 { return s.excess(limit, rate) }
	atMost := excess(most)
	if atMost <= roundingError {
		return most, true
	}
	least := s.leastRate()
	atLeast := excess(least)
	if atLeast > roundingError || least >= most {
		return 0, false
	}
	rate = findRoot(excess, least, most, min(atLeast, 0), atMost)
	return rate, rate > 0
}

// excess is positive where a limit fails at a rate. Logarithms make it close to
// linear in the rate, also near saturation.
func (s *Station) excess(limit Limit, rate float64) float64 {
	state := s.chain.solve(rate)
	l := s.model.latencies(state)
	latency := l.of(limit.Metric)
	value := limit.Value
	if limit.Metric == TokensPerSecond {
		value = 1 / value
	}
	if limit.Quantile == 0 {
		return boundedLog(latency.mean / value)
	}
	missing := 1 - latency.CDF(Seconds(value))
	if !s.sizing.acceptedOnly {
		missing = state.blocked + (1-state.blocked)*missing
	}
	return boundedLog(missing / (1 - limit.Quantile))
}

// boundedLog keeps a vanishing latency from upsetting root finding.
func boundedLog(x float64) float64 { return max(math.Log(x), -50) }

// of returns the distribution that a metric is about: for tokens per second that of
// its reciprocal.
func (l *latencies) of(m Metric) Latency {
	switch m {
	case TTFT:
		return l.ttft
	case E2E:
		return l.e2e
	default:
		return l.itl
	}
}

// best returns the value of a limit's metric at the lowest rate.
func (s *Station) best(limit Limit) float64 {
	state := s.chain.solve(s.leastRate())
	l := s.model.latencies(state)
	latency := l.of(limit.Metric)
	value := latency.mean
	if limit.Quantile > 0 {
		value = float64(latency.Quantile(limit.Quantile))
	}
	if limit.Metric == TokensPerSecond {
		return 1 / value
	}
	return value
}
