package queueing

import "math"

// TandemCapacity is what a disaggregated deployment sustains inside an SLO.
type TandemCapacity struct {
	// Feasible is false when no arrival rate holds every limit. Rate is 0 then, and
	// either Binding is a limit that never holds or Unservable says why.
	Feasible   bool
	Unservable string
	// Rate is the highest arrival rate to the whole deployment, with its numbers of
	// replicas.
	Rate Rate
	// Bound tells whether a limit of the SLO binds; false means that saturation of
	// either station does.
	Bound bool
	// Binding is the limit that binds, or that can't hold; Best is the best value that
	// it can reach, only when not Feasible and Bound.
	Binding Limit
	Best    float64
	// PrefillRate and DecodeRate are the capacity pair: arrival rates of the deployment
	// per prefill replica and per decode replica at which every limit holds together, and
	// at all lower ones of either. Where no waiting places are limited they are the
	// highest with enough replicas of the other kind for just that rate. ArrivalSCV below
	// 1 is that of arrivals split over the given replicas; over more they are less regular.
	PrefillRate, DecodeRate Rate
	// PrefillBound and DecodeBound tell whether a limit binds that rate, PrefillBinding
	// and DecodeBinding which; false means saturation.
	PrefillBound, DecodeBound     bool
	PrefillBinding, DecodeBinding Limit
	// Ratio is the number of decode replicas per prefill replica that leaves neither
	// with capacity to spare: PrefillRate/DecodeRate. Where nothing is decoded, it is 0
	// and DecodeRate +Inf.
	Ratio float64
}

// SaturationRate returns the arrival rate to the whole deployment from which on there
// is no steady state with unlimited waiting; 0 if not even one request fits.
func (t *Tandem) SaturationRate() Rate {
	return min(t.prefill.SaturationRate()*Rate(t.prefillReplicas), t.decodeSaturation())
}

// decodeSaturation is the arrival rate that saturates the decode replicas.
func (t *Tandem) decodeSaturation() Rate {
	if t.decoding == 0 {
		return Rate(mostRatio) * t.prefill.SaturationRate()
	}
	return t.decode.SaturationRate() * Rate(t.decodeReplicas/t.decoding)
}

// Capacity returns the highest arrival rate at which every limit holds, up to 0.999 of
// SaturationRate, and the capacity pair. Limits are those of [Station.Capacity]. For
// the pair, limits on TTFT concern the prefill station, those on ITL and tokens per
// second the decode station, and a limit on E2E lets the rates of both fall by one
// factor until it holds. Where waiting places are limited at either station, requests
// that it blocks fail quantiles of all, which then concern both. The error joins one error for each malformed limit.
func (t *Tandem) Capacity(slo SLO) (TandemCapacity, error) {
	if err := slo.validate(); err != nil {
		return TandemCapacity{}, err
	}
	for _, s := range []*Station{t.prefill, t.decode} {
		if s.unservable != "" {
			return TandemCapacity{Unservable: s.unservable}, nil
		}
	}
	whole := t.search(slo.Limits, anyMetric, func(rate float64) TandemPerformance { return t.Evaluate(Rate(rate)) },
		mostLoad*float64(t.SaturationRate()))
	c := TandemCapacity{
		Feasible: whole.feasible,
		Rate:     Rate(whole.rate),
		Bound:    whole.bound,
		Binding:  whole.binding,
		Best:     whole.best,
	}
	if c.Feasible {
		t.pair(&c, slo.Limits)
	}
	return c, nil
}

// pair fills in the capacity pair. Other replicas of a kind may leave those of the other one with less to do than the pair does, so that the
// rate of a decode replica has to hold with all arrivals passed on.
func (t *Tandem) pair(c *TandemCapacity, limits []Limit) {
	onPrefill, onDecode, onBoth := ofPrefill, ofDecode, ofBoth
	if t.prefill.blocks() || t.decode.blocks() {
		onPrefill, onDecode, onBoth = ofEither, ofEither, anyMetric
	}
	prefill := t.search(limits, onPrefill, func(rate float64) TandemPerformance { return t.evaluate(rate, 0) },
		mostLoad*float64(t.prefill.SaturationRate()))
	decode := t.search(limits, onDecode, func(rate float64) TandemPerformance { return t.evaluate(0, Rate(rate)) },
		mostLoad*float64(t.decodeSaturation()))
	both := t.search(limits, onBoth, func(share float64) TandemPerformance {
		return t.following(t.prefill.Evaluate(Rate(share*prefill.rate)), Rate(share*decode.rate))
	}, 1)
	c.PrefillBound, c.PrefillBinding = prefill.bound, prefill.binding
	c.DecodeBound, c.DecodeBinding = decode.bound, decode.binding
	if both.bound {
		c.PrefillBound, c.PrefillBinding = true, both.binding
		c.DecodeBound, c.DecodeBinding = true, both.binding
	}
	c.PrefillRate = Rate(both.rate * prefill.rate)
	c.DecodeRate = Rate(both.rate * decode.rate / t.decodeReplicas)
	if c.PrefillRate == 0 || c.DecodeRate == 0 {
		// Limits that only just hold at all may fail here by a rounding error. The
		// deployment as it is makes a pair that holds them.
		c.PrefillRate, c.DecodeRate = c.Rate/Rate(t.prefillReplicas), c.Rate/Rate(t.decodeReplicas)
	}
	if t.decoding == 0 {
		c.DecodeRate = Rate(math.Inf(1))
	}
	c.Ratio = float64(c.PrefillRate / c.DecodeRate)
}

// Metrics by the station that they concern; those of either do where requests that it blocks fail them.
func anyMetric(Metric) bool   { return true }
func ofPrefill(m Metric) bool { return m == TTFT }
func ofDecode(m Metric) bool  { return m == ITL || m == TokensPerSecond }
func ofBoth(m Metric) bool    { return m == E2E }
func ofEither(m Metric) bool  { return m != E2E }

// tandemSearch is the outcome of a search.
type tandemSearch struct {
	feasible, bound bool
	rate, best      float64
	binding         Limit
}

// search returns the highest rate up to most at which the limits on some metrics hold.
func (t *Tandem) search(limits []Limit, concerns func(Metric) bool, at func(rate float64) TandemPerformance, most float64) tandemSearch {
	found := tandemSearch{feasible: true, rate: most}
	for i := range limits {
		limit := &limits[i]
		if !concerns(limit.Metric) {
			continue
		}
		excess := func(rate float64) float64 {
			p := at(rate)
			return p.excess(limit)
		}
		atMost := excess(found.rate)
		if atMost <= roundingError {
			continue
		}
		atLeast := excess(0)
		if atLeast > roundingError {
			p := at(0)
			return tandemSearch{bound: true, binding: *limit, best: limit.ofLatency(p.of(limit.Metric))}
		}
		found.rate = findRoot(excess, 0, found.rate, min(atLeast, 0), atMost)
		found.bound, found.binding = true, *limit
	}
	found.feasible = found.rate > 0
	return found
}

// excess is positive where a limit fails.
func (p *TandemPerformance) excess(l *Limit) float64 {
	latency := p.of(l.Metric)
	if l.Quantile == 0 {
		return l.meanExcess(latency.mean)
	}
	return l.quantileExcess((1 - p.BlockedShare) * latency.CDF(Seconds(l.seconds())))
}

// of returns the distribution that a metric is about: for tokens per second that of its
// reciprocal.
func (p *TandemPerformance) of(m Metric) *Latency {
	switch m {
	case TTFT:
		return &p.TTFT
	case E2E:
		return &p.E2E
	default:
		return &p.ITL
	}
}
