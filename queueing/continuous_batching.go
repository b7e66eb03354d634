package queueing

import "math"

// continuousBatching is Poolwright's own model. docs/model.md derives it and tells
// how far it is off.
//
// An iteration with b decoding requests of mean context c, without prefill, takes
//
//	T(b) = α + β·b + σ·√b + κ·b·c
//
// and a prompt of which x = in·(1-h) tokens are not in the prefix cache adds
// P = γ + δ·x + ε·x² to an iteration, or to several together. A request stays for
// as many iterations as its prompt has chunks, then for (out-1)/a more, with a accepted
// tokens per iteration; r iterations in all, of which the share f decodes. So n requests
// in the batch complete one request per
//
//	1/μ(n) = r·T(f·n)/n + P
//
// Three things limit how many run together: the batch limit, the KV cache (M/c), and
// the token budget of an iteration: each of n requests brings x/r prompt tokens per
// iteration with it, so n·(1 + x/r) is at most the budget. Requests beyond that wait
// inside the batch for their prefill.
type continuousBatching struct {
	profile Profile
	mode    PrefillMode
	in, out float64
	// outputSCV and arrivalSCV are squared coefficients of variation.
	outputSCV, arrivalSCV float64
	accepted              float64
	// context is that of a decoding request at a random moment: requests with long
	// outputs are met more often.
	context float64
	// steps is (out-1)/a, iterations is r, decodeShare is f.
	steps, iterations, decodeShare float64
	// perInterval is E[1/(out-1)]: ITL is a mean over requests.
	perInterval float64
	prompt      prompt
	// budget is the token budget of an iteration, +Inf if unlimited.
	budget float64
	// places is the number of waiting places, +Inf if unlimited.
	places float64
	// batch is the batch limit after the KV cache; running is how many make progress
	// together at most, a mean and so fractional.
	batch   int
	running float64
	// budgetLimited tells whether the token budget is the tightest of the three.
	budgetLimited bool
	// recomputed is the time per request for prompts that a full KV cache lost.
	recomputed float64
}

func newContinuousBatching(r Replica, s Shape) *continuousBatching {
	m := &continuousBatching{
		profile:    r.Profile,
		mode:       r.PrefillMode,
		in:         float64(s.InputTokens),
		out:        float64(s.OutputTokens),
		outputSCV:  s.OutputSCV,
		arrivalSCV: s.ArrivalSCV,
		accepted:   max(r.AcceptedTokens, 1),
		prompt:     newPrompt(r.Profile, s),
		budget:     math.Inf(1),
		places:     math.Inf(1),
	}
	if r.MaxBatchedTokens > 0 {
		m.budget = float64(r.MaxBatchedTokens)
	}
	if r.MaxQueue.Limited {
		m.places = float64(r.MaxQueue.Places)
	}
	m.context = m.in*max(1+s.LengthCorrelation*math.Sqrt(s.InputSCV*s.OutputSCV), 0) + m.out*(1+m.outputSCV)/2
	if m.out > 1 {
		m.perInterval = meanReciprocal(max(1, m.out-1), m.outputSCV*m.out*m.out/((m.out-1)*(m.out-1)))
		// The last iteration of a request accepts what is left.
		m.steps = (m.out-1)/m.accepted + (m.accepted-1)/(2*m.accepted)
	}
	m.iterations = m.steps + 1
	if m.mode == Chunked {
		m.iterations = m.steps + m.prompt.chunks(m.budget)
	}
	m.decodeShare = m.steps / m.iterations

	m.running = float64(r.MaxBatch)
	if r.KVCacheTokens > 0 {
		m.limitKVCache(float64(r.KVCacheTokens))
	}
	m.batch = int(math.Ceil(m.running))
	if held := m.budget / (1 + m.prompt.tokens/m.iterations); m.mode == Chunked && held < m.running {
		m.running, m.budgetLimited = held, true
	}
	return m
}

// limitKVCache lets as many requests run as fit the KV cache next to the one that is
// next in line, of which half fits on average. Requests grow in a full cache, which
// then preempts others whose prompts are computed again: in a simulated replica
// preemptedShare requests per output token and prompt token, up to mostPreemptions.
func (m *continuousBatching) limitKVCache(tokens float64) {
	room := max(1, (tokens-m.in*(1+m.prompt.scv)/2)/m.context)
	if room >= m.running {
		return
	}
	m.running = room
	if m.in > 0 {
		m.recomputed = min(preemptedShare*m.out/m.in, mostPreemptions) * m.prompt.time
	}
}

// preemptedShare and mostPreemptions are fitted, see limitKVCache.
const (
	preemptedShare  = 0.8
	mostPreemptions = 2
)

// states returns the number of requests from which on μ(n) is constant.
func (m *continuousBatching) states() int { return int(math.Ceil(m.running)) }

// sizing considers all rates up to the highest stable one.
func (m *continuousBatching) sizing() sizing { return sizing{} }

// iteration returns T(b), decoding only.
func (m *continuousBatching) iteration(b float64) float64 {
	p := &m.profile
	return p.Alpha + b*(p.Beta+p.Kappa*m.context) + p.Sigma*math.Sqrt(b)
}

// slope returns dT/db; below one request it is that of one.
func (m *continuousBatching) slope(b float64) float64 {
	p := &m.profile
	return p.Beta + p.Kappa*m.context + p.Sigma/(2*math.Sqrt(max(b, 1)))
}

func (m *continuousBatching) serviceTime(n int) float64 {
	running := min(float64(n), m.running)
	iterations := m.iterations
	if m.mode == Blocking {
		iterations = m.steps
	}
	prefill := m.prefill(running)
	if float64(n) >= m.running {
		prefill += m.recomputed
	}
	return float64(n) * (iterations*m.iteration(m.decodeShare*running)/running + prefill)
}

// prefill returns the time that a prompt takes from decoding with n requests in the
// batch: P and, in blocking mode, the base of an iteration that it shares with the
// prompts that arrived during the same iteration of decoding and fit the budget.
func (m *continuousBatching) prefill(n float64) float64 {
	if m.mode == Chunked || !m.prompt.asks {
		return m.prompt.time
	}
	fit := math.Inf(1)
	if m.prompt.tokens > 0 {
		fit = max(1, m.budget/m.prompt.tokens-m.prompt.scv/2)
	}
	return m.prompt.time + m.profile.Alpha*max(meanShare(n/m.iterations), 1/fit)
}

// meanShare returns the number of groups per member where groups are the members
// that arrive, on average u, in one of many intervals: (1-e^{-u})/u.
func meanShare(u float64) float64 {
	if u < 1e-9 {
		return 1
	}
	return -math.Expm1(-u) / u
}

func (m *continuousBatching) sojourn(o occupancy) sojourn {
	d := m.decoding(&o)
	first := m.firstToken(&o, &d)
	return sojourn{
		wait:    m.wait(&o, &d),
		prefill: first.own,
		first:   first.duration,
		service: first.duration.plus(m.rest(&d, first.wake)),
		itl:     m.interTokens(&d, first.wake),
	}
}

// means takes them from the stages, which cost little more.
func (m *continuousBatching) means(o occupancy) means {
	s := m.sojourn(o)
	return s.means()
}

// interTokens returns the mean time between the tokens of a request. It is at most
// the longest iteration, and what has bounds varies no more than between them.
func (m *continuousBatching) interTokens(d *decodeState, w wake) duration {
	if m.steps == 0 {
		return duration{}
	}
	mean := min(d.itl+min(w.carried*m.perInterval, w.step), d.most)
	return duration{
		constant: d.least,
		varying:  mean - d.least,
		variance: min(d.variance, (mean-d.least)*(d.most-mean)),
	}
}

// rest returns the time from the first token to the last.
func (m *continuousBatching) rest(d *decodeState, w wake) duration {
	tokens := m.out - 1
	mean := tokens*d.itl + min(w.carried, tokens*min(w.step, d.most-d.itl))
	constant := (1 - min(1, math.Sqrt(m.outputSCV))) * tokens * d.least
	return duration{
		constant: constant,
		varying:  mean - constant,
		variance: m.outputSCV*mean*mean + (1+m.outputSCV)*tokens*tokens*min(d.variance, (d.itl-d.least)*(d.most-d.itl)),
	}
}

// longestIteration returns the time of an iteration with a full batch and as much
// prefill as the budget, or else the batch, allows; in blocking mode of all the
// iterations from one of decoding to the next.
func (m *continuousBatching) longestIteration() float64 {
	prompts, prefill := float64(m.batch), m.prompt.time
	switch {
	case m.mode == Blocking:
		prefill += m.profile.Alpha
	case m.prompt.tokens > 0:
		prompts = min(prompts, 1+m.budget/m.prompt.tokens)
	}
	return m.iteration(m.running) + prompts*prefill
}

// wait returns the wait for a place in the batch. Requests that the token budget
// holds back have one.
func (m *continuousBatching) wait(o *occupancy, d *decodeState) queueWait {
	if m.budgetLimited || o.wait.probability == 0 {
		return queueWait{}
	}
	w := o.wait
	if w.logRatio < 0 {
		w.probability = hayward(w.probability, -math.Expm1(w.logRatio), o.runningVariance, d.peakedness)
	}
	return w.stretched(m.stretch(o))
}

// hayward returns the probability of waiting where the number of requests varies z
// times as much as with Poisson arrivals, given that with Poisson arrivals, the
// variance there and 1-λ/μ(B): Hayward's approximation, W. Whitt, "Heavy-traffic
// approximations for service systems with blocking" (1984), counts requests in
// groups of z. The probability of all states below B relative to that of B grows as
// √V·e^{Δ²/2V} with the distance Δ of their mean, V becomes z·V.
func hayward(probability, spare, variance, z float64) float64 {
	below := (1/probability - 1) / spare
	if z <= 1 || !(below > 0) || math.IsInf(below, 1) {
		return probability
	}
	typical := math.Sqrt(2 * math.Pi * max(variance, 1))
	below = typical * math.Pow(below/typical, 1/z) / math.Sqrt(z)
	return 1 / (1 + spare*below)
}

// stretch returns the factor (ca²+cs²)/2 by which the wait with unlimited places
// differs from that of Poisson arrivals and exponential service: A. O. Allen,
// "Probability, Statistics, and Queueing Theory" (1990), the Allen–Cunneen
// approximation. Blocking stays that of the chain.
func (m *continuousBatching) stretch(o *occupancy) float64 {
	decode := 0.0
	if m.steps > 0 {
		decode = o.service - m.prompt.time
	}
	serviceSCV := (m.outputSCV*decode*decode + m.prompt.variance) / (o.service * o.service)
	return (m.arrivalSCV + serviceSCV) / 2
}

// decodeState describes decoding in a steady state.
type decodeState struct {
	// itl is the mean ITL over tokens, variance its variance over requests, least and
	// most its bounds.
	itl, variance, least, most float64
	// requests and spread are the mean and the standard deviation of the number of
	// decoding requests.
	requests, spread float64
	// peakedness is the ratio of the variance of the number of requests to that with
	// Poisson arrivals.
	peakedness float64
}

// decoding returns the ITL. The chain counts a request's own prefill and, with the
// share that the variation of n gives it, that of the requests which came with it;
// neither stretches its own tokens. Prefill comes in busy periods, and so do the
// requests that start decoding: the more they vary, the longer an iteration that a
// request meets.
func (m *continuousBatching) decoding(o *occupancy) decodeState {
	dispersion := 1.0
	if o.running > 0 {
		dispersion = o.runningVariance / o.running
	}
	prefill, iterations := m.prefill(o.running), m.iterations
	if m.mode == Blocking {
		iterations = max(m.steps, 1)
	}
	load := min(o.throughput*prefill, mostPrefillLoad)
	mean := (o.service - prefill*max(dispersion, 1)) / iterations
	requests := m.decodeShare * o.running
	slope := m.slope(requests)

	// In the time that is left for decoding, arrivals vary more by 1/(1-ρ)². Regular
	// ones are not given credit.
	arrivals := 1 + max(2*excessArrivals(o.throughput*o.service, m.arrivalSCV), 0)
	overdispersion := (arrivals+o.throughput*o.throughput*m.prompt.variance)/((1-load)*(1-load)) - 1
	most := m.iteration(m.decodeShare*m.running) / (1 - load)
	// Lengths that vary smooth arrivals: by 1/2 if exponential, as in GI/M/∞.
	overdispersion /= 1 + m.outputSCV
	bump := min(slope*m.decodeShare*dispersion*overdispersion, max(most-mean, 0)/2)
	mean = max(mean+bump+slope*(1-m.decodeShare), m.profile.Alpha)

	peakedness := 1 + (1-load)*overdispersion
	varianceOfRequests := peakedness * o.runningVariance * m.decodeShare * m.decodeShare
	// The mean over a stay varies less than the value at a moment; with constant
	// lengths and no feedback by 2/3.
	averaged := 1 - 1/(3*max(dispersion, 1))
	variance := slope * slope * varianceOfRequests * averaged
	prefills := o.throughput * o.service * (prefill*prefill + m.prompt.variance)
	variance += prefills * (1 + overdispersion) / (m.iterations * m.iterations)

	longest := m.longestIteration()
	mean = min(mean, longest)
	least := min(m.iteration(min(1, m.running)), mean)
	perToken := 1 / m.accepted
	if m.out > 1 {
		perToken = m.steps / (m.out - 1)
	}
	return decodeState{
		itl:        mean * perToken,
		variance:   variance * perToken * perToken,
		least:      least * perToken,
		most:       longest * perToken,
		requests:   min(o.throughput*m.steps*mean, m.running),
		spread:     math.Sqrt(varianceOfRequests),
		peakedness: peakedness,
	}
}
