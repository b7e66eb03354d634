package queueing

import "math"

const (
	// negligible is the share of the largest state weight below which the
	// remaining states of a unimodal distribution change no sum.
	negligible = 1e-22
	// leastRatio and mostRatio bound λ/μ(1) and λ/μ(B): loads beyond them are
	// treated as no load and as this overload, so that nothing underflows or overflows.
	leastRatio = 1e-100
	mostRatio  = 1e15
)

// chain is the birth–death chain of a replica: arrivals at rate λ, service at rate
// μ(n) with n inside, constant from the batch limit B on. States run to B plus
// the waiting places.
type chain struct {
	// rate[n] is μ(n) for n = 1 … B; rate[0] is unused.
	rate []float64
	// period[n] is 1/μ(n).
	period []float64
	// logWeight[n] is -Σ_{i≤n} log μ(i), for n = 0 … B.
	logWeight []float64
	// places is the number of waiting places, +Inf if unlimited.
	places float64
	// monotone: μ never falls with n, so state probabilities have one mode.
	monotone bool
}

// steadyState is what the chain says about one arrival rate.
type steadyState struct {
	throughput float64
	// running and queued are mean numbers of requests.
	running, runningVariance, queued float64
	// empty and blocked are the probabilities of an empty and of a full replica.
	empty, blocked float64
	// open and idle are the probabilities that an accepted request finds a free place
	// in the batch, and nobody there.
	open, idle float64
	// service is the mean time in the batch.
	service float64
	wait    queueWait
}

// newChain computes the products that all arrival rates share. serviceTime gives
// τ(n) > 0 for n = 1 … batch.
func newChain(batch int, places float64, serviceTime func(n int) float64) chain {
	c := chain{
		rate:      make([]float64, batch+1),
		period:    make([]float64, batch+1),
		logWeight: make([]float64, batch+1),
		places:    places,
		monotone:  true,
	}
	for n := 1; n <= batch; n++ {
		c.period[n] = serviceTime(n) / float64(n)
		c.rate[n] = 1 / c.period[n]
		c.logWeight[n] = c.logWeight[n-1] + math.Log(c.period[n])
		if n > 1 && c.rate[n] < c.rate[n-1] {
			c.monotone = false
		}
	}
	return c
}

func (c *chain) batch() int { return len(c.rate) - 1 }

// saturation returns μ(B).
func (c *chain) saturation() float64 { return c.rate[c.batch()] }

// saturated tells whether there is no steady state.
func (c *chain) saturated(arrivals float64) bool {
	return math.IsInf(c.places, 1) && arrivals >= c.saturation()
}

// solve returns the steady state at an arrival rate that does not saturate the
// chain; a rate that is not positive is none. The time taken does not depend on the number of waiting places: from B
// on the state probabilities are geometric.
func (c *chain) solve(arrivals float64) steadyState {
	if !(arrivals > 0) {
		arrivals = 0
	}
	if arrivals < leastRatio*c.rate[1] {
		return steadyState{throughput: arrivals, empty: 1, open: 1, idle: 1, service: c.period[1]}
	}
	arrivals = min(arrivals, mostRatio*c.saturation())

	batch := float64(c.batch())
	logArrivals := math.Log(arrivals)
	below := c.sumBelowBatch(arrivals, logArrivals)
	logFull := batch*logArrivals + c.logWeight[c.batch()]
	tail := newTail(arrivals, c.saturation(), c.places, logFull)

	// All weights are taken relative to the largest.
	reference := max(below.logScale, tail.logScale)
	belowScale := math.Exp(below.logScale - reference)
	tailScale := math.Exp(tail.logScale - reference)
	belowTotal := belowScale * below.total
	tailTotal := tailScale * tail.total
	total := belowTotal + tailTotal
	accepted := belowTotal + tailScale*tail.accepted

	var s steadyState
	s.throughput = arrivals * accepted / total
	// Moments around the mode of the states below B lose no digits.
	mode := float64(below.mode)
	first := (belowScale*below.first + (batch-mode)*tailTotal) / total
	second := (belowScale*below.second + (batch-mode)*(batch-mode)*tailTotal) / total
	s.running = mode + first
	s.runningVariance = max(second-first*first, 0)
	s.queued = tailScale * tail.waiting / total
	s.empty = math.Exp(-reference) / total
	s.blocked = tailScale * tail.top / total
	s.open = belowTotal / accepted
	s.idle = math.Exp(-reference) / accepted
	s.service = s.running / s.throughput
	s.wait = newQueueWait(tail, c.saturation(), c.places)
	s.wait.probability = tailScale * tail.accepted / accepted
	return s
}

// bodySum sums the weights λ^n/(μ(1)…μ(n)) of the states below B, in units of
// e^logScale, with n counted from the mode.
type bodySum struct {
	mode                 int
	logScale             float64
	total, first, second float64
}

// sumBelowBatch walks from the most likely state below B to both sides by the
// ratios of neighbouring weights, which needs no exponential per state, and stops
// where nothing is left to add.
func (c *chain) sumBelowBatch(arrivals, logArrivals float64) bodySum {
	mode := c.mode(arrivals, logArrivals)
	stop := negligible
	if !c.monotone {
		stop = -1
	}
	total, first, second := 1.0, 0.0, 0.0
	weight, distance := 1.0, 0.0
	for _, period := range c.period[mode+1 : c.batch()] {
		weight *= arrivals * period
		distance++
		moment := weight * distance
		total += weight
		first += moment
		second += moment * distance
		if weight < stop {
			break
		}
	}
	gap := 1 / arrivals
	weight, distance = 1, 0
	for n := mode; n > 0; n-- {
		weight *= c.rate[n] * gap
		distance--
		moment := weight * distance
		total += weight
		first += moment
		second += moment * distance
		if weight < stop {
			break
		}
	}
	return bodySum{
		mode:     mode,
		logScale: float64(mode)*logArrivals + c.logWeight[mode],
		total:    total,
		first:    first,
		second:   second,
	}
}

// mode returns the most likely state below B.
func (c *chain) mode(arrivals, logArrivals float64) int {
	if c.monotone {
		low, high := 0, c.batch()-1
		for low < high {
			middle := (low + high + 1) / 2
			if c.rate[middle] <= arrivals {
				low = middle
			} else {
				high = middle - 1
			}
		}
		return low
	}
	best, bestWeight := 0, 0.0
	for n := 1; n < c.batch(); n++ {
		if weight := float64(n)*logArrivals + c.logWeight[n]; weight > bestWeight {
			best, bestWeight = n, weight
		}
	}
	return best
}

// tailSum sums the weights of the states from B on, in units of e^logScale.
type tailSum struct {
	logScale float64
	// total is over all states, accepted over those in which an arrival is
	// accepted, top is the weight of the last state.
	total, accepted, top float64
	// waiting is the sum of weights times the number of waiting requests.
	waiting float64
	// seen describes the number of waiting requests that an accepted one meets.
	seen geometric
	// logRatio is log(λ/μ(B)).
	logRatio float64
}

// newTail sums the geometric tail. logFull is the logarithm of the weight of
// state B.
func newTail(arrivals, saturation, places, logFull float64) tailSum {
	ratio := arrivals / saturation
	t := tailSum{logScale: logFull, logRatio: math.Log(ratio)}
	if ratio > 0.5 {
		t.logRatio = math.Log1p((arrivals - saturation) / saturation)
	}
	if t.logRatio <= 0 {
		t.seen = newGeometric(-t.logRatio, (saturation-arrivals)/arrivals, places)
		t.accepted = t.seen.sum
		t.total = 1 + ratio*t.accepted
		t.top = math.Exp(t.logRatio * places)
	} else {
		// Overloaded: counted down from the last state, which is the most likely.
		t.logScale += t.logRatio * places
		t.seen = newGeometric(t.logRatio, (arrivals-saturation)/saturation, places)
		t.seen.mean = max(places-1-t.seen.mean, 0)
		t.accepted = t.seen.sum / ratio
		t.total = 1 + t.accepted
		t.top = 1
	}
	t.waiting = ratio * t.accepted * (t.seen.mean + 1)
	return t
}
