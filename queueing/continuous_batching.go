package queueing

import "math"

// continuousBatching is Poolwright's own model. With n running requests of mean
// context ctx = in + out/2, an iteration without prefill takes
//
//	T(n) = α + β·n + σ·√n + κ·n·ctx
//
// and the prefill of a prompt of which x = in·(1-h) tokens are not in the prefix
// cache adds P = γ + δ·x + ε·x² to an iteration. A request takes steps = out/a
// iterations to decode, with a accepted tokens per step. So n running requests
// complete one request per
//
//	1/μ(n) = steps·T(n)/n + P
//
// which is T̄ = T(n)/(1 - μ(n)·P): prefill steals decode time.
//
// Three things limit how many run together: the batch limit, the KV cache
// (⌊M/ctx⌋), and the token budget of an iteration: each of n decoding requests
// brings x/steps prompt tokens per iteration with it, so n·(1 + x/steps) is at most
// the budget. Requests beyond that wait inside the batch for their prefill.
type continuousBatching struct {
	profile   Profile
	mode      PrefillMode
	in, out   float64
	inputSCV  float64
	outputSCV float64
	// arrivalSCV is of the times between arrivals.
	arrivalSCV float64
	steps      float64
	context    float64
	// prompt is x, the prompt tokens that are computed.
	prompt float64
	// prefill is P; prefillVarying the part of it that grows with the prompt.
	prefill, prefillVarying float64
	// budget is the token budget of an iteration, +Inf if unlimited.
	budget float64
	// batch is the batch limit after the KV cache; decoding is how many decode
	// together at most, a mean and so fractional.
	batch    int
	decoding float64
}

func newContinuousBatching(r Replica, s Shape) continuousBatching {
	m := continuousBatching{
		profile:    r.Profile,
		mode:       r.PrefillMode,
		in:         float64(s.InputTokens),
		out:        float64(s.OutputTokens),
		inputSCV:   s.InputSCV,
		outputSCV:  s.OutputSCV,
		arrivalSCV: s.ArrivalSCV,
		steps:      float64(s.OutputTokens),
		budget:     math.Inf(1),
		batch:      r.MaxBatch,
	}
	if r.AcceptedTokens > 0 {
		m.steps /= r.AcceptedTokens
	}
	if r.MaxBatchedTokens > 0 && r.PrefillMode == Chunked {
		m.budget = float64(r.MaxBatchedTokens)
	}
	m.context = m.in + m.out/2
	if r.KVCacheTokens > 0 {
		m.batch = int(min(float64(m.batch), math.Floor(float64(r.KVCacheTokens)/m.context)))
	}
	m.prompt = m.in * (1 - s.PrefixHitRatio)
	if m.in > 0 {
		m.prefillVarying = m.profile.Delta*m.prompt + m.profile.Epsilon*m.prompt*m.prompt
		m.prefill = m.profile.Gamma + m.prefillVarying
	}
	m.decoding = min(float64(m.batch), m.budget/(1+m.prompt/m.steps))
	return m
}

// states returns the number of requests from which on μ(n) is constant.
func (m continuousBatching) states() int { return int(math.Ceil(m.decoding)) }

// sizing considers all rates up to the highest stable one.
func (m continuousBatching) sizing() sizing { return sizing{} }

// iteration returns T(n).
func (m continuousBatching) iteration(n float64) float64 {
	p := &m.profile
	return p.Alpha + n*(p.Beta+p.Kappa*m.context) + p.Sigma*math.Sqrt(n)
}

func (m continuousBatching) serviceTime(n int) float64 {
	decoding := min(float64(n), m.decoding)
	return float64(n) * (m.steps*m.iteration(decoding)/decoding + m.prefill)
}

// itlAt returns the ITL while n requests run together: an iteration and the
// prefills of the n-1 others that happen during one request's decoding.
func (m continuousBatching) itlAt(n float64) float64 {
	return (m.steps*m.iteration(n) + max(n-1, 0)*m.prefill) / m.out
}

func (m continuousBatching) latencies(s steadyState) latencies {
	itl := min((s.service-m.prefill)/m.out, m.itlAt(m.decoding))
	wait := s.wait.stretched(m.stretch(s))
	prefill, first := m.firstToken(s, itl)
	return latencies{
		prefill: prefill,
		wait:    latencyAfterWait(wait, duration{}),
		ttft:    latencyAfterWait(wait, first),
		itl:     itlLatency(s, itl, m.decoding, m.itlAt),
		e2e:     latencyAfterWait(wait, first.plus(proportional((m.out-1)*itl, m.outputSCV))),
	}
}

// stretch returns the factor (ca²+cs²)/2 by which the wait with unlimited places
// differs from that of Poisson arrivals and exponential service: A. O. Allen,
// "Probability, Statistics, and Queueing Theory" (1990), the Allen–Cunneen
// approximation. Blocking stays that of the chain.
func (m continuousBatching) stretch(s steadyState) float64 {
	decode := s.service - m.prefill
	serviceSCV := (m.outputSCV*decode*decode + m.prefillVariance()) / (s.service * s.service)
	return (m.arrivalSCV + serviceSCV) / 2
}

func (m continuousBatching) prefillVariance() float64 {
	return m.inputSCV * m.prefillVarying * m.prefillVarying
}

// firstToken returns the mean time of a prefill, and the time to first token but for
// the wait for a place in the batch: the rest of the iteration that a request finds
// running, its prefill and, in blocking mode, those of others.
func (m continuousBatching) firstToken(s steadyState, itl float64) (prefill float64, first duration) {
	n := min(max(s.running+s.open, 1), m.decoding)
	iteration := m.iteration(n)
	prefill = max(m.ownPrefill(n, iteration), s.service-m.out*itl)
	first = duration{constant: m.profile.TTFTOffset + prefill - m.prefillVarying}
	first = first.plus(proportional(m.prefillVarying, m.inputSCV))
	// Those who find an iteration running see it at a random moment.
	busy := 1 - s.idle
	first = first.plus(duration{varying: busy * iteration / 2, variance: busy * iteration * iteration / 12})
	if m.mode == Blocking {
		first = first.plus(m.prefillQueue(s))
	}
	return prefill, first
}

// ownPrefill returns the time that a request's own prompt takes with n running. The
// bases of an iteration and of a prefill are one: only the longer counts.
//
// Chunked, x tokens take ⌈x/(budget - n)⌉ iterations of n others and P. Blocking, they
// take an iteration of their own.
func (m continuousBatching) ownPrefill(n, iteration float64) float64 {
	base := min(m.profile.Alpha, m.profile.Gamma)
	switch {
	case m.in == 0:
		return iteration
	case m.mode == Blocking:
		return m.profile.Alpha + m.prefill - base
	case m.prompt == 0:
		return iteration + m.prefill - base
	}
	chunks := max(1, math.Ceil(m.prompt/(m.budget-n)))
	return chunks*iteration + m.prefill - base
}

// prefillQueue returns the wait for the prefills of others in blocking mode, where
// prompts are computed one after the other before all decoding: a single server
// with the mean wait of J. F. C. Kingman, "The single server queue in heavy
// traffic" (1961). It is exponential for those that wait, whose share is the load,
// and no longer than the prefills of all requests in the batch.
func (m continuousBatching) prefillQueue(s steadyState) duration {
	load := s.throughput * m.prefill
	if load == 0 {
		return duration{}
	}
	prefillSCV := m.prefillVariance() / (m.prefill * m.prefill)
	mean := load / max(1-load, 0) * m.prefill * (m.arrivalSCV + prefillSCV) / 2
	mean = min(mean, s.running*m.prefill)
	return duration{varying: mean, variance: mean * mean * max(2/load-1, 0)}
}
