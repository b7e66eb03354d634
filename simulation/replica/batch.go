package replica

import "math"

// formBatch decides what the next iteration does and returns how long it takes, or
// false if there is nothing to do.
func (r *Replica) formBatch() (duration float64, work bool) {
	r.kvBlocked = false
	var prefill float64
	if r.blocking {
		prefill = r.admit(r.budget)
		r.decodes = len(r.prompts) == 0
		if r.decodes {
			r.makeRoom()
		}
	} else {
		prefill = r.formChunked()
		r.decodes = true
	}
	duration = r.profile.Alpha + prefill
	if r.decodes {
		duration += r.decodeTime()
	}
	return duration, r.running > 0
}

// decodeTime is what the decoding requests add to an iteration.
func (r *Replica) decodeTime() float64 {
	b := float64(r.decoding.count)
	t := r.profile.Beta*b + r.profile.Kappa*r.decoding.context()
	if r.profile.Sigma != 0 {
		t += r.profile.Sigma * math.Sqrt(b)
	}
	return t
}

// formChunked gives the decoding requests one token of the budget each and prompts
// the rest. There are never more decoding requests than budget, as every request in
// the batch takes a token of each iteration from the first on.
func (r *Replica) formChunked() (prefill float64) {
	preempted := r.makeRoom()
	budget := r.budget - r.decoding.count
	if i := r.partial; i != none {
		chunk := min(r.rest(i), budget)
		if r.fits(chunk) {
			r.partial = none
			prefill = r.compute(i, chunk)
			budget -= chunk
		} else {
			r.preempt(i)
			preempted = true
		}
	}
	if !preempted {
		prefill += r.admit(budget)
	}
	return prefill
}

// rest is the number of tokens of a request's prompt that are still to be computed.
func (r *Replica) rest(i int32) int {
	q := r.requests.at(i)
	return q.prompt() - q.computed
}

// kvUsed is the number of tokens in the KV cache, fractional where decoding steps give
// fractional tokens.
func (r *Replica) kvUsed() float64 { return float64(r.prefilled) + r.decoding.context() }

// fits tells whether the KV cache has room for more tokens.
func (r *Replica) fits(tokens int) bool {
	return r.kvUsed()+float64(tokens) <= float64(r.kvCapacity)
}

// makeRoom preempts the requests admitted last until the others' decoding fits the KV
// cache, and tells whether there were any.
func (r *Replica) makeRoom() (preempted bool) {
	for !r.fits(0) {
		r.preempt(r.newest)
		preempted = true
	}
	return preempted
}

// admit takes waiting requests into the batch, in order, and returns the time that
// their prompts add to the iteration.
func (r *Replica) admit(budget int) (prefill float64) {
	for r.waiting.len() > 0 && r.running < r.maxBatch && budget > 0 {
		i := r.waiting.front()
		q := r.requests.at(i)
		chunk, need := q.prompt(), q.Cached
		switch {
		case q.Prefilled:
			chunk, need = 0, q.Input+q.generated
		case !r.blocking:
			chunk = min(chunk, budget)
		case chunk > budget && len(r.prompts) > 0:
			return prefill
		}
		if !r.fits(need + chunk) {
			r.kvBlocked = true
			return prefill
		}
		r.waiting.popFront()
		r.enter(i, q)
		if q.Prefilled {
			r.decoding.join(i, q)
		} else {
			r.prefilled += q.Cached
			prefill += r.compute(i, chunk)
		}
		budget -= max(chunk, 1)
	}
	return prefill
}

// compute adds a chunk of a prompt to the iteration and returns the time it takes.
func (r *Replica) compute(i int32, chunk int) float64 {
	q := r.requests.at(i)
	start, end := float64(q.computed), float64(q.computed+chunk)
	t := r.profile.Delta*(end-start) + r.profile.Epsilon*(end*end-start*start)
	if q.computed == 0 && q.Input+q.generated > 0 {
		t += r.profile.Gamma
	}
	q.computed += chunk
	r.prefilled += chunk
	r.totals.PromptTokens += chunk
	if q.computed == q.prompt() {
		r.prompts = append(r.prompts, i)
	} else {
		r.partial = i
	}
	return t
}
