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
// In an open loop the others arrive at rate λ and each decodes for intervals·t, so that
// by Little's law a request meets 1 + λ·intervals·t, itself included, and as many
// prefills as arrive meanwhile:
//
//	t = steps/intervals·T(1+λ·intervals·t) + λ·t·P
func (l *load) interval(c *coefficients, t float64) float64 {
	perToken := l.steps / l.intervals
	switch l.kind {
	case ClosedLoop:
		others := l.others(c, t)
		return perToken*c.iteration(1+others, l.context) + others*l.interruption(c)/l.intervals
	case OpenLoop:
		n := l.rate * l.intervals * t
		if l.batch > 0 {
			n = l.batch
		}
		n = min(1+n, max(l.limit, 1))
		prefill := min(l.rate*l.interruption(c), mostPrefill)
		return perToken * c.iteration(n, l.context) / (1 - prefill)
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
	iteration := t * l.intervals / l.steps
	if iteration == 0 {
		return 1
	}
	return l.steps / (l.steps + l.chunks(others) + wait/iteration)
}

// interruption returns what the prefill of one other request costs a decoding one:
// P, and in blocking mode the base of an iteration of its own.
func (l *load) interruption(c *coefficients) float64 {
	p := c.prefill(l.prompt)
	if l.blocking && l.prompt > 0 {
		p += c[Alpha]
	}
	return p
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
		others := l.rate * l.intervals * t
		if l.batch > 0 {
			others = l.batch
		}
		return l.firstToken(c, t, min(others, l.limit-1))
	}
	return c[TTFTOffset] + l.chunks(0)*c[Alpha] + c.prefill(l.prompt)
}

// firstToken returns the time to first token while a mean number of others decode at
// an ITL of t: offset, the rest of the iteration that is under way if any is, prompts
// that arrived during it, and as many iterations as the own prompt has chunks.
func (l *load) firstToken(c *coefficients, t, others float64) float64 {
	own := l.ownPrefill(c, others)
	if others <= 0 || l.steps == 0 {
		return c[TTFTOffset] + own
	}
	busy := -math.Expm1(-others)
	mean := t * l.intervals / l.steps
	if l.kind != OpenLoop {
		return c[TTFTOffset] + busy*mean/2 + own
	}
	wait := busy * l.foundIteration(c, mean, others) * (0.5 + l.rate*c.prefill(l.prompt))
	if l.chunks(others) > 1 {
		// Prompts of several chunks wait for each other: a single server with the mean
		// wait of A. Y. Khinchin and F. Pollaczek for equal services.
		load := min(l.rate*own, mostPrefill)
		wait += load / (1 - load) * own / 2
	}
	return c[TTFTOffset] + wait + own
}

// foundIteration returns the mean length E[T²]/E[T] of the iteration that an arrival
// finds under way: it finds long ones, those with prefill, more often than others.
// mean is the mean length of all.
func (l *load) foundIteration(c *coefficients, mean, others float64) float64 {
	chunks := l.chunks(others)
	decode := c.iteration(others, l.context)
	long := decode + c.prefill(l.prompt)/chunks
	filled := min(l.rate*mean*chunks, 1)
	first := filled*long + (1-filled)*decode
	if first == 0 {
		return 0
	}
	return (filled*long*long + (1-filled)*decode*decode) / first
}

// ownPrefill returns the time of the iterations that compute a request's prompt while
// others decode.
func (l *load) ownPrefill(c *coefficients, others float64) float64 {
	if l.blocking {
		return c[Alpha] + c.prefill(l.prompt)
	}
	return c.prefill(l.prompt) + l.chunks(others)*c.iteration(max(others, 0), l.context)
}

// chunks returns the number of iterations that a prompt takes while others decode.
func (l *load) chunks(others float64) float64 {
	if l.blocking || l.prompt == 0 {
		return 1
	}
	return max(1, math.Ceil(l.prompt/max(l.budget-others, 1)))
}
