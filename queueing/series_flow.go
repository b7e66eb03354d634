package queueing

import "math"

const (
	// maxInstants is the most instants at which a window is looked at.
	maxInstants = 12
	// mostOdds bounds the odds λ/(μ-λ) of the loads that stand for a number of requests
	// inside. Requests beyond are a queue that only drains.
	mostOdds = 1e6
	// oddsTolerance is the relative error of the number of requests that such a load
	// stands for.
	oddsTolerance = 1e-9
	// slopeStep is the relative step in the odds by which slopes are taken.
	slopeStep = 1e-3
)

// flow is the number of requests inside a replica as it moves in time at a constant
// arrival rate.
type flow struct {
	station  *Station
	arrivals float64
	outcome  Outcome
	// steady is where it moves to, possibly +Inf.
	steady float64
	// queued is what waits at the start, in requests of this shape.
	queued float64
	// requests and variance are x now and its variance.
	requests, variance float64
	// net and slope are dx/dt and -d(dx/dt)/dx ≥ 0 now, noise is the rate at which
	// chance adds to the variance.
	net, slope, noise float64
	// odds is the solution found last, where the next search starts; 0 without one.
	odds float64
}

// instant is the state at one moment: the steady state with as many requests inside.
type instant struct {
	steady Performance
	// rate is the arrival rate of that steady state, extra the requests beyond any.
	rate, extra float64
	// accepted is a rate of requests; running and queued are the numbers in the batch, at
	// most its limit, and waiting.
	accepted, running, queued float64
	// slope is -d(dx/dt)/dx.
	slope float64
	// chance is the standard deviation of x relative to that in the steady state, at
	// most 1.
	chance float64
}

// net returns dx/dt.
func (i *instant) net() float64 { return i.accepted - float64(i.steady.Throughput) }

// noise returns the rate at which chance adds to the variance of x.
func (i *instant) noise() float64 { return i.accepted + float64(i.steady.Throughput) }

func newFlow(s *Station, rate Rate, b Backlog) flow {
	f := flow{station: s, variance: counted(b.Variance)}
	f.queued = counted(float64(b.Work)) * float64(s.SaturationRate())
	f.requests = counted(b.Running) + f.queued
	if rate > 0 {
		f.arrivals = min(float64(rate), mostRatio*float64(s.SaturationRate()))
	}
	p := s.Evaluate(Rate(f.arrivals))
	f.outcome, f.steady = p.Outcome, inside(&p)
	if f.outcome != Unservable {
		i := f.here()
		f.net, f.slope, f.noise = i.net(), i.slope, i.noise()
	}
	return f
}

// load returns the arrival rate of given odds. With limited waiting there are steady
// states beyond μ(B) too.
func (f *flow) load(odds float64) Rate {
	if !math.IsInf(f.station.chain.places, 1) {
		return f.station.SaturationRate() * Rate(odds)
	}
	return f.station.SaturationRate() * Rate(odds/(1+odds))
}

// inside returns the number of requests in a steady state, by Little's law.
func inside(p *Performance) float64 {
	if p.Throughput == 0 {
		return 0
	}
	return float64(p.Throughput) * float64(p.E2E.Mean())
}

// insideAt returns the number of requests in the steady state of given odds.
func (f *flow) insideAt(odds float64) float64 {
	p := f.station.Evaluate(f.load(odds))
	return inside(&p)
}

// waiting returns how many requests of a steady state wait for others to leave: for a
// place in the batch, or in it where it is the token budget that limits.
func (f *flow) waiting(p *Performance) float64 {
	if p.Throughput == 0 {
		return 0
	}
	var chain steadyState
	f.station.chain.solve(float64(p.Throughput), &chain)
	return max(p.Queued, min(chain.queued, inside(p)-p.Running, float64(p.Throughput)*float64(p.TTFT.Mean())))
}

// at returns the state with a number of requests inside that has a variance.
func (f *flow) at(requests, variance float64) instant {
	odds := f.findOdds(requests)
	i := instant{rate: float64(f.load(odds)), chance: 1}
	i.steady = f.station.Evaluate(Rate(i.rate))
	p := &i.steady
	there := inside(p)
	i.accepted = f.arrivals * (1 - p.BlockedShare)
	if odds == mostOdds {
		i.extra = max(requests-there, 0)
	}
	// A model may put down to long service what is a wait, so what exceeds the batch is
	// counted as waiting.
	batch := float64(f.station.BatchLimit())
	i.queued = min(max(f.waiting(p)+i.extra, requests-batch), requests)
	i.running = min(requests-i.queued, batch)
	if odds == mostOdds {
		// So far out, the steady state varies by as much as it queues.
		i.chance = min(math.Sqrt(variance)/requests, 1)
		return i
	}

	near := f.station.Evaluate(f.load(max(odds, 1e-9) * (1 + slopeStep)))
	rise := inside(&near) - there
	if !(rise > 0) {
		return i
	}
	slope := max(float64(near.Throughput-p.Throughput)/rise, 0)
	i.slope = slope + f.arrivals*max((near.BlockedShare-p.BlockedShare)/rise, 0)
	if p.Throughput > 0 {
		i.chance = math.Sqrt(min(variance*slope/float64(p.Throughput), 1))
	}
	return i
}

// findOdds inverts insideAt. In logarithms it is close to a straight line at both ends:
// requests inside grow like λ at low load and like 1/(μ-λ) near saturation.
func (f *flow) findOdds(requests float64) float64 {
	if requests < 1e-9 {
		return 0
	}
	excess := func(logOdds float64) float64 {
		e := boundedLog(f.insideAt(math.Exp(logOdds)) / requests)
		if math.Abs(e) < oddsTolerance {
			return 0
		}
		return e
	}
	if f.odds == 0 {
		f.odds = min(requests/f.insideAt(1), mostOdds)
	}
	guess := math.Log(f.odds)
	value := excess(guess)
	low, high, atLow, atHigh := guess, guess, value, value
	for stride := 0.05; atLow > 0; stride *= 4 {
		high, atHigh = low, atLow
		low -= stride
		atLow = excess(low)
	}
	most := math.Log(mostOdds)
	for stride := 0.05; atHigh <= 0 && atLow != 0; stride *= 4 {
		low, atLow = high, atHigh
		if low >= most {
			f.odds = mostOdds
			return mostOdds
		}
		high = min(high+stride, most)
		atHigh = excess(high)
	}
	if atLow < 0 {
		low = findRoot(excess, low, high, atLow, atHigh)
	}
	f.odds = math.Exp(low)
	return f.odds
}

// here returns the present instant.
func (f *flow) here() instant { return f.at(f.requests, f.variance) }

// backlog returns what is left over now, after a number of arrivals: first come, first
// served, so that what waited at the start goes first.
func (f *flow) backlog(start Backlog, arrived float64) Backlog {
	here := f.here()
	queued := here.queued
	b := Backlog{
		Running:  here.running,
		Queued:   queued,
		Work:     Seconds(queued) / Seconds(f.station.SaturationRate()),
		Variance: f.variance,
	}
	if older := min(queued-arrived, f.queued); older > 0 {
		b.Queued += older * (counted(start.Queued)/f.queued - 1)
	}
	return b
}

// span returns how long the flow may be taken as that of its middle: a quarter of the
// window; on the way to the steady state a few times that in which deviations decay,
// and half that way at most unless the flow is linear.
func (f *flow) span(length float64) float64 {
	quarter := length / 4
	way := math.Abs(f.requests - f.steady)
	speed := math.Abs(f.net)
	if way <= 1e-3*f.steady && !math.IsInf(way, 1) || speed == 0 {
		return quarter
	}
	decay := 1 / max(f.slope, 1/longestWindow)
	if math.IsInf(way, 1) {
		return min(quarter, decay)
	}
	switch reach := f.slope * way / (2 * speed); {
	case math.Abs(reach-0.5) < 0.02:
		return min(quarter, 8*decay)
	case reach >= 1:
		return min(quarter, 3*decay)
	case reach < 1e-9:
		return min(quarter, way/(2*speed))
	default:
		return min(quarter, -math.Log1p(-reach)*decay)
	}
}

// advance moves the flow by a span of time, as a linear flow around the state in the
// middle of the span, which it returns.
func (f *flow) advance(span float64) instant {
	before := f.requests
	middle := f.towardsSteady(before + f.net*decayed(f.slope, span/2))
	i := f.at(middle, f.varied(span/2))
	net := i.net()
	f.slope, f.noise = i.slope, i.noise()

	f.variance = f.varied(span)
	f.requests = f.towardsSteady(before + (net+f.slope*(middle-before))*decayed(f.slope, span))
	f.net = net - f.slope*(f.requests-middle)
	return i
}

// varied returns the variance after a time.
func (f *flow) varied(t float64) float64 {
	return f.variance*math.Exp(-2*f.slope*t) + f.noise*decayed(2*f.slope, t)
}

// decayed returns ∫ e^{-slope·s} ds for s from 0 to t.
func decayed(slope, t float64) float64 {
	if slope*t < 1e-12 {
		return t
	}
	return -math.Expm1(-slope*t) / slope
}

// towardsSteady keeps a move from passing the steady state, which no flow does, and
// from turning back.
func (f *flow) towardsSteady(requests float64) float64 {
	if f.steady >= f.requests {
		return min(max(requests, f.requests), f.steady)
	}
	return max(min(requests, f.requests), f.steady)
}
