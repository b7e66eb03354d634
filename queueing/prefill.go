package queueing

import "math"

const (
	// mostPrefillLoad keeps formulae for prompts finite where the chain is what limits.
	mostPrefillLoad = 0.9995
	// queueing of short prompts behind a full budget sets in with this power of the
	// load, see backlogged. Both constants are fitted, see docs/model.md.
	backlogExponent = 0.7
	baseExponent    = 2
)

// firstToken is the time from a place in the batch to the first token.
type firstToken struct {
	duration
	// own is the mean time of the iterations with the request's own prompt in them.
	own float64
	wake
}

// wake is the prefill that a request's decoding meets beyond what a random moment
// would: of prompts that came just after its own.
type wake struct {
	// carried is its mean time, step the most of it per iteration, a mean.
	carried, step float64
}

// firstToken averages over the number of decoding requests that an arrival finds:
// none, or a normal variable by the three points of Gauss–Hermite quadrature.
func (m *continuousBatching) firstToken(o *occupancy, d *decodeState) firstToken {
	stream := promptStream{
		model: m,
		rate:  o.throughput,
		load:  min(o.throughput*m.prompt.time, mostPrefillLoad),
		busy:  1,
		most:  mostPrefillLoad,
	}
	if m.mode == Chunked {
		stream.kept = stream.load * (1 - math.Pow(stream.load, m.steps)) / (1 - stream.load)
	}
	some := 1 - o.idle
	var sum average
	if o.idle > 0 {
		alone := stream
		alone.busy = stream.load
		sum.add(alone.at(0), o.idle)
	}
	if some > 0 {
		requests := d.requests / some
		spread := math.Sqrt(max((d.spread*d.spread+d.requests*d.requests)/some-requests*requests, 0))
		middle := stream.at(requests)
		sum.add(middle, some*4/6)
		// Only for a while can more requests decode than can get their prompts in.
		stream.most = (1 + min(middle.queueLoad, mostPrefillLoad)) / 2
		sum.add(stream.at(max(requests-math.Sqrt(3)*spread, min(1, requests))), some/6)
		sum.add(stream.at(min(requests+math.Sqrt(3)*spread, m.running)), some/6)
	}
	least := min(m.profile.Alpha+m.prompt.time-min(1, math.Sqrt(m.prompt.scv))*m.prompt.varying, sum.mean)
	return firstToken{
		duration: duration{
			constant: m.profile.TTFTOffset + least,
			varying:  sum.mean - least,
			variance: max(sum.square-sum.mean*sum.mean, 0),
		},
		own:  sum.own,
		wake: sum.wake,
	}
}

// average is a weighted sum of the moments of times to first token.
type average struct {
	mean, square, own float64
	wake
}

func (a *average) add(t prefillTimes, weight float64) {
	a.mean += weight * t.mean
	a.square += weight * (t.mean*t.mean + t.variance)
	a.own += weight * t.own
	a.carried += weight * t.carried
	a.step += weight * t.step
}

// promptStream is the stream of prompts to a replica.
type promptStream struct {
	model *continuousBatching
	// rate is λ, load is λ·P.
	rate, load float64
	// busy is the probability that an arrival finds an iteration running.
	busy float64
	// most bounds the load of the queue for the token budget.
	most float64
	// kept is the sum of the powers of the load over the iterations of a request: of prefill that
	// is more than usual in one, so much follows. Without a prompt's time it is 0.
	kept float64
}

// excess returns how many more arrivals than usual follow one within about a time.
func (q *promptStream) excess(within float64) float64 {
	return excessArrivals(q.rate*within, q.model.arrivalSCV)
}

// prefillTimes are the moments of the time to first token at one number of decoding
// requests, and the means named in firstToken.
type prefillTimes struct {
	mean, variance float64
	own            float64
	wake
	// queueLoad is the load of the queue for the token budget.
	queueLoad float64
}

// mix returns the mixture of t and, with the given share, u.
func (t prefillTimes) mix(u prefillTimes, share float64) prefillTimes {
	w := 1 - share
	return prefillTimes{
		mean:      w*t.mean + share*u.mean,
		variance:  w*t.variance + share*u.variance,
		own:       w*t.own + share*u.own,
		wake:      wake{w*t.carried + share*u.carried, w*t.step + share*u.step},
		queueLoad: u.queueLoad,
	}
}

// at returns the times with b requests decoding. Prompts much shorter than what
// decoding leaves of the token budget are all computed in the iteration after
// their arrival; longer ones queue for it, where they take any time.
func (q *promptStream) at(b float64) prefillTimes {
	m := q.model
	iteration := m.iteration(b)
	if m.mode == Blocking {
		return q.blocking(iteration)
	}
	gated := q.gated(iteration)
	if m.prompt.tokens == 0 || math.IsInf(m.budget, 1) || iteration+m.prompt.time < leastServiceTime {
		return gated
	}
	room := max(m.budget-b, 1)
	load := q.rate * (m.prompt.time + m.prompt.tokens/room*iteration)
	share := 1.0
	if typical := m.prompt.tokens * (1 + m.prompt.scv) / room; typical < 1 {
		share = math.Pow(min(load, q.most), backlogExponent*(1/typical-1))
	}
	if share < 1e-6 {
		gated.queueLoad = load
		return gated
	}
	return gated.mix(q.backlogged(iteration, room, load), share)
}

// met returns the mean length, over moments in time, of iterations to which every
// prompt is admitted that arrived during the one before: E[T²]/E[T], given E[T].
func (q *promptStream) met(mean float64) float64 {
	p := &q.model.prompt
	variable := p.time*p.time*(1+2*q.excess(mean)) + p.variance
	return mean + q.rate*variable/(1-q.load*q.load)
}

// gated is chunked prefill without a budget: an arrival waits for the end of the
// iteration that it meets; the next one computes its prompt and all others that
// arrived during the same iteration, before it or after it.
func (q *promptStream) gated(iteration float64) prefillTimes {
	m, p := q.model, &q.model.prompt
	// No iteration has more prompts than the batch.
	longest := iteration + float64(m.batch)*p.time
	mean := min(iteration/(1-q.load), longest)
	met := min(q.met(mean), longest)
	residual := q.busy * iteration / 2
	queued := q.load*mean + q.rate*p.secondMoment/(2*(1-q.load))
	burst := q.burst(queued, residual+iteration+p.time, p.time, q.load)
	wait := residual + max(queued+burst, 0)
	nearby := q.excess(met / 2)
	inBurst := nearby * p.time
	behind := q.load*met/2 + inBurst
	own := iteration + p.time + behind

	// The length T of the iteration met varies by itself; given it, the wait for its end
	// is uniform and prompts come at random.
	ofLength := mean * (met - mean)
	variance := q.busy*(met*met+ofLength)/12 + (0.5+q.load)*(0.5+q.load)*ofLength +
		q.rate*met*p.secondMoment + p.variance
	// Bursts have geometric sizes.
	burst = max(burst+inBurst, 0)
	variance += burst * (burst + p.time)

	// The iteration with the own prompt is longer than others; so are those after it.
	longer := max(own+q.load*met/2-mean, 0)
	companions := p.time * max(0, q.excess(own+met/2)-nearby)
	after := wake{
		carried: longer*q.kept + companions,
		step:    longer*q.load + companions,
	}
	return prefillTimes{mean: wait + own, variance: variance, own: own, wake: after}
}

// burst returns what is to be added to the mean wait of Poisson arrivals for the work of
// those that came shortly before: each further arrival within the time in the system
// brings work, which delays by work/(1-load). That is exact for GI/M/1 and M/G/1, and
// right in heavy traffic. rest is the time in the system but for the wait.
func (q *promptStream) burst(wait, rest, work, load float64) float64 {
	if q.model.arrivalSCV == 1 {
		return 0
	}
	burst := 0.0
	for range burstIterations {
		within := max(wait+burst, 0) + rest
		burst = q.excess(within) * work / (1 - load)
	}
	return burst
}

// burstIterations is how often burst improves its estimate of the time in the system.
const burstIterations = 3

// backlogged is chunked prefill where the token budget is what limits: a single
// server that takes iteration/room + P/x per prompt token, and the base of an
// iteration when it is idle, as in M/G/1 with vacations. A prompt is done when
// the iteration of its last token ends, which computes prompts behind it as well.
func (q *promptStream) backlogged(iteration, room, load float64) prefillTimes {
	m, p := q.model, &q.model.prompt
	size := p.tokens / room
	service := p.time + size*iteration
	varying := p.varying + size*iteration
	variance := p.scv * varying * varying
	secondMoment := service*service + variance
	full := iteration + p.time/size
	load = min(load, q.most)

	residual := q.busy * iteration / 2
	queued := q.rate * secondMoment / (2 * (1 - load))
	// Short prompts do not share the base of their iteration out.
	unshared := math.Pow(max(0, 1-size), baseExponent)
	queued += unshared * q.load * iteration / (1 - q.load)
	burst := q.burst(queued, residual+service, service, load)
	waited := min(max(queued+burst, 0), service*(float64(m.batch)+m.places))
	wait := residual + waited

	slack := p.slack(size, load)
	window := max(wait+service-(1-slack)*full, unshared*q.met(iteration/(1-q.load))/2)
	arrivals := q.rate*window + q.excess(window)
	behind, most := 0.0, slack*p.time/size
	if most > 0 {
		behind = most * -math.Expm1(-arrivals*min(1, p.time/most))
	}
	own := service + iteration*slack + behind

	// Prompts that came during the own time in the system are left behind. At the end of
	// decoding, which comes with iterations and not with time, fewer are left.
	soon := q.rate*(wait+service) + q.excess(wait+service)
	present := q.rate*residual + q.rate*secondMoment/(2*service) + q.rate*waited
	carried := p.time * (soon - present*iteration/(load*iteration+(1-load)*full))
	carried = max(carried-behind, 0)
	step := -math.Expm1(-soon) * (full - iteration)
	return prefillTimes{
		mean: wait + own,
		variance: q.busy*iteration*iteration/12 + waited*waited + max(burst, 0)*service +
			q.rate*secondMoment*secondMoment/service/(3*(1-load)) +
			behind*max(0, most-behind) + variance,
		own:       own,
		wake:      wake{carried, step},
		queueLoad: load,
	}
}

// blocking is prefill that stops decoding. An arrival that finds an iteration of
// decoding waits for its end; one that finds prompts being computed waits for that.
// Its own prompt is computed with all others that arrived meanwhile.
func (q *promptStream) blocking(iteration float64) prefillTimes {
	m, p := q.model, &q.model.prompt
	if p.time == 0 {
		return q.gated(iteration)
	}
	base := m.profile.Alpha
	prefilling := min(q.rate*(p.time+base*meanShare(q.rate*iteration)), mostPrefillLoad)
	// Short prompts count as long as decoding: with more of them nobody waits less.
	met := max(p.secondMoment/p.time/(1-q.load*q.load)+base*q.load/(1+q.load), iteration)
	decoding := q.busy * (1 - prefilling)
	residual := decoding*iteration/2 + prefilling*met/2
	queued := prefilling * q.load * met / 2
	burst := max(q.burst(queued, residual+base+p.time, p.time, q.load), 0)
	wait := residual + queued + burst
	behind := decoding*q.load*iteration + prefilling*q.load*met/2 +
		max(q.excess(met/2), 0)*p.time
	own := base + p.time + behind
	// Decoding starts when an iteration of prefill ends without a new prompt: after a busy
	// period if prompts take long, at a rare moment if iterations do.
	more := -math.Expm1(-q.rate * own)
	period := (q.load*own + base*more) / (1 - q.load)
	others := base / (1 - q.load)
	rare := math.Expm1(q.rate*others) * others
	carried := min(max(period, rare), float64(m.batch-1)*(p.time+base))
	return prefillTimes{
		mean: wait + own,
		variance: decoding*iteration*iteration/12 + prefilling*met*met/12 +
			q.rate*met*p.secondMoment + p.variance + burst*(burst+p.time),
		own:  own,
		wake: wake{carried, carried},
	}
}
