package calibration

import "math"

// itl returns the mean ITL of a load. It solves t = g(t), where g is the time between
// tokens that follows if it is t: see [load.interval].
func (l *load) itl(c *coefficients) float64 {
	if l.kind == DecodePoint {
		return l.steps * c.iteration(l.batch, l.context)
	}
	// g grows more slowly than t wherever the load is sustainable, so fixed-point
	// iteration converges; Steffensen's acceleration makes it quick.
	t := l.interval(c, 0)
	for range 50 {
		t1 := l.interval(c, t)
		t2 := l.interval(c, t1)
		next := t2
		if bend := (t2 - t1) - (t1 - t); math.Abs(bend) > 1e-14*t2 {
			if aitken := t - (t1-t)*(t1-t)/bend; aitken > 0 && aitken < 100*t2 {
				next = aitken
			}
		}
		if math.Abs(next-t) <= 1e-13*next {
			return next
		}
		t = next
	}
	return t
}

// mostPrefill bounds the share of time that prefill takes, beyond which an open loop
// has no steady state. It keeps predictions finite while a fit looks for coefficients.
const mostPrefill = 0.98

// interval returns the mean time between tokens that follows if it is t.
//
// In a closed loop of n clients a request decodes in the share f of the iterations of
// its cycle, so that it meets 1 + (n−1)·f decoding requests, itself included. Meanwhile
// each of the n−1 others completes f cycles, each with one prefill P:
//
//	t = (steps·T(1+(n−1)f) + (n−1)·f·P) / intervals
//
// An open loop is that of [openLoop.interval].
func (l *load) interval(c *coefficients, t float64) float64 {
	perToken := l.steps / l.intervals
	switch l.kind {
	case ClosedLoop:
		others := l.others(c, t)
		return perToken*c.iteration(1+others, l.context) + others*l.interruption(c, 0)/l.intervals
	case OpenLoop:
		o := l.openLoop(c, t)
		return o.interval()
	}
	return math.NaN()
}

// decodeShare returns f, the share of iterations in a closed loop's cycle in which a
// request decodes. Counted are iterations, not time: prefills start with iterations,
// and a request in prefill meets no other prefill but in its own iterations. With ITL
// and TTFT observed, Little's law gives the iterations of the wait whatever it is made
// of.
func (l *load) decodeShare(c *coefficients, t float64) float64 {
	if l.steps == 0 {
		return 0
	}
	others := min(l.batch, l.limit) - 1
	own := l.ownPrefill(c, others)
	wait := l.firstToken(c, t, others) - own
	if l.observedITL > 0 {
		t = l.observedITL
		wait = max(l.observedTTFT-own, 0)
	}
	iteration := l.iterationTime(t)
	if iteration == 0 {
		return 1
	}
	return l.steps / (l.steps + l.chunks(others) + wait/iteration)
}

// interruption returns what the prefill of one other request costs a decoding one:
// P, and in blocking mode the base of an iteration, which prompts that arrive during
// the same one share: during a mean time of one come u = λ·iteration, in (1−e^{−u})/u
// groups each.
func (l *load) interruption(c *coefficients, iteration float64) float64 {
	p := l.prefill(c)
	if !l.blocking || l.prompt == 0 {
		return p
	}
	if u := l.rate * iteration; u > 1e-9 {
		return p - c[Alpha]*math.Expm1(-u)/u
	}
	return p + c[Alpha]
}

// others returns how many others a request of a closed loop finds decoding on average.
func (l *load) others(c *coefficients, t float64) float64 {
	if l.observedITL > 0 {
		// What waits for a place does not decode, so the share knows of the limit.
		return (l.batch - 1) * l.decodeShare(c, t)
	}
	return (min(l.batch, l.limit) - 1) * l.decodeShare(c, t)
}

// ttft returns the mean TTFT of a load whose ITL is t, at low load: nothing waits for
// a place in the batch or for prefills of others.
func (l *load) ttft(c *coefficients, t float64) float64 {
	switch l.kind {
	case ClosedLoop:
		return l.firstToken(c, t, l.others(c, t))
	case OpenLoop:
		o := l.openLoop(c, t)
		return o.firstToken()
	}
	return c[TTFTOffset] + l.chunks(0)*c[Alpha] + l.prefill(c)
}

// firstToken returns the time to first token while a mean number of other
// clients decode at an ITL of t: offset, the rest of the iteration that is under way if any is, prompts
// that arrived during it, and as many iterations as the own prompt has chunks.
func (l *load) firstToken(c *coefficients, t, others float64) float64 {
	own := l.ownPrefill(c, others)
	if others <= 0 || l.steps == 0 {
		return c[TTFTOffset] + own
	}
	busy := -math.Expm1(-others)
	return c[TTFTOffset] + busy*l.iterationTime(t)/2 + own
}

// ownPrefill returns the time of the iterations that compute a request's prompt while
// others decode.
func (l *load) ownPrefill(c *coefficients, others float64) float64 {
	if l.blocking {
		return c[Alpha] + l.prefill(c)
	}
	return l.prefill(c) + l.chunks(others)*c.iteration(max(others, 0), l.context)
}

// chunks returns the number of iterations that a prompt takes while others decode.
func (l *load) chunks(others float64) float64 {
	if l.blocking || l.prompt == 0 {
		return 1
	}
	return max(1, math.Ceil(l.prompt/max(l.budget-others, 1)))
}
