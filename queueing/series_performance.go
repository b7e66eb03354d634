package queueing

import "math"

// WindowPerformance is what happens within one window of time. Means of Wait, TTFT
// and E2E are over the requests that arrive in it (if none does, over its time), those
// of ITL over the requests served in it: a request that arrives at the end gets its
// tokens later.
type WindowPerformance struct {
	// Outcome is Saturated if there is no steady state at this rate: the queue grows.
	// Latencies are finite all the same.
	Outcome Outcome
	// Throughput is the mean rate of completions: what is accepted less what is left
	// over at the end.
	Throughput Rate
	// BlockedShare is the share of arrivals that find every place taken.
	BlockedShare float64
	// Running and Queued are mean numbers of requests in the batch and waiting for it.
	Running, Queued float64
	// Utilization is Running over Station.BatchLimit.
	Utilization float64
	// Wait, TTFT, ITL and E2E are means. For quantiles see [WindowPerformance.Quantile].
	Wait, TTFT, ITL, E2E Seconds

	station  *Station
	arrivals float64
	accepted Rate
	length   float64
	// instants stand for parts of the window.
	instants [maxInstants]windowInstant
	count    int
}

// windowInstant is what quantiles are computed from.
type windowInstant struct {
	// rate and chance are those of instant, delay the wait for the extra requests.
	rate, chance, delay float64
	// waits is the mean wait, delay included.
	waits float64
	// arrived and served are weights: requests that arrive and that are served.
	arrived, served float64
	span            float64
}

func (w *WindowPerformance) unservable() {
	never := Seconds(math.Inf(1))
	w.Wait, w.TTFT, w.ITL, w.E2E = never, never, never, never
}

// add counts an instant that stands for a span.
func (w *WindowPerformance) add(i instant, span float64) {
	p := &i.steady
	v := windowInstant{
		rate:    i.rate,
		chance:  i.chance,
		delay:   i.extra / float64(w.station.SaturationRate()),
		arrived: span,
		served:  span * float64(p.Throughput),
		span:    span,
	}
	if p.Throughput > 0 {
		// What exceeds the batch may, by the model, already have its first token.
		v.waits = min(i.queued/float64(p.Throughput), float64(p.TTFT.Mean())+v.delay)
	}
	if i.accepted > 0 {
		v.arrived = span * i.accepted
	}
	w.instants[w.count] = v
	w.count++

	arrived, delay := Seconds(v.arrived), Seconds(v.delay)
	w.Wait += arrived * Seconds(v.waits)
	w.TTFT += arrived * (p.TTFT.Mean() + delay)
	w.E2E += arrived * (p.E2E.Mean() + delay)
	w.ITL += Seconds(v.served) * p.ITL.Mean()
	w.Running += span * i.running
	w.Queued += span * i.queued
	w.BlockedShare += span * p.BlockedShare
}

// finish turns sums into means.
func (w *WindowPerformance) finish() {
	var arrived, served, span float64
	for _, v := range w.instants[:w.count] {
		arrived += v.arrived
		served += v.served
		span += v.span
	}
	w.Wait /= Seconds(arrived)
	w.TTFT /= Seconds(arrived)
	w.E2E /= Seconds(arrived)
	if served > 0 {
		w.ITL /= Seconds(served)
	} else {
		w.ITL = w.station.Evaluate(0).ITL.Mean()
	}
	w.Running /= span
	w.Queued /= span
	w.BlockedShare /= span
	w.Utilization = min(w.Running/float64(w.station.BatchLimit()), 1)
	w.accepted = Rate(w.arrivals * (1 - w.BlockedShare))
}

// CDF returns the share of the window's requests whose metric is at most t, blocked
// requests left out; for TokensPerSecond of its reciprocal.
func (w *WindowPerformance) CDF(m Metric, t Seconds) float64 {
	if w.Outcome == Unservable {
		return 0
	}
	x := w.mixture(m)
	return x.cdf(float64(t))
}

// Quantile returns the least latency that at least the share q of the window's
// requests keeps, with the ends as of [Latency.Quantile]; for TokensPerSecond it is
// that of the reciprocal. It is a mixture over the moments of the window. At each
// moment a wait varies about its mean as in the steady state, but by less where there
// was no time yet for chance to spread it.
func (w *WindowPerformance) Quantile(m Metric, q float64) Seconds {
	if w.Outcome == Unservable {
		return Seconds(math.Inf(1))
	}
	x := w.mixture(m)
	return Seconds(x.quantile(q))
}

// mixture returns the distribution of a metric over the window.
func (w *WindowPerformance) mixture(m Metric) windowMixture {
	x := windowMixture{count: w.count}
	total := 0.0
	for k := range w.instants[:w.count] {
		v := &w.instants[k]
		p := w.station.Evaluate(Rate(v.rate))
		switch part := &x.parts[k]; m {
		case TTFT:
			part.draw(v, p.TTFT)
		case E2E:
			part.draw(v, p.E2E)
		default:
			*part = windowPart{latency: p.ITL, weight: v.served, scale: 1}
		}
		total += x.parts[k].weight
	}
	for k := range x.parts[:x.count] {
		if total > 0 {
			x.parts[k].weight /= total
		} else {
			x.parts[k].weight = 1 / float64(x.count)
		}
	}
	return x
}

// leastScale keeps a distribution from becoming a point.
const leastScale = 1e-6

// windowMixture is a mixture of distributions, each of them scaled and moved.
type windowMixture struct {
	parts [maxInstants]windowPart
	count int
}

type windowPart struct {
	latency             Latency
	weight, scale, move float64
}

// draw draws a latency that includes the wait together about its mean, in so far as it
// consists of waiting.
func (p *windowPart) draw(v *windowInstant, l Latency) {
	mean := float64(l.Mean()) + v.delay
	*p = windowPart{latency: l, weight: v.arrived, scale: 1}
	if v.waits > 0 {
		p.scale = max(1-min(v.waits/mean, 1)*(1-v.chance), leastScale)
	}
	p.move = mean - p.scale*float64(l.Mean())
}

func (p *windowPart) cdf(t float64) float64 {
	return p.latency.CDF(Seconds((t - p.move) / p.scale))
}

func (p *windowPart) quantile(q float64) float64 {
	return p.move + p.scale*float64(p.latency.Quantile(q))
}

func (x *windowMixture) cdf(t float64) float64 {
	share := 0.0
	for k := range x.parts[:x.count] {
		share += x.parts[k].weight * x.parts[k].cdf(t)
	}
	return share
}

// quantile lies between the least and the greatest of the parts' quantiles.
func (x *windowMixture) quantile(q float64) float64 {
	low, high := math.Inf(1), math.Inf(-1)
	for k := range x.parts[:x.count] {
		if x.parts[k].weight > 0 {
			at := x.parts[k].quantile(q)
			low, high = min(low, at), max(high, at)
		}
	}
	if math.IsInf(high, 1) || high < leastServiceTime {
		return high
	}
	missing := func(t float64) float64 { return q - x.cdf(t) }
	atLow := missing(low)
	if low == high || atLow <= 0 {
		return low
	}
	return findRoot(missing, high, low, min(missing(high), 0), atLow)
}
