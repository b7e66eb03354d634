package replica

import "github.com/poolwright/poolwright/queueing"

// enter appends a request to the batch.
func (r *Replica) enter(i int32, q *request) {
	if !q.wasAdmitted {
		q.admitted, q.wasAdmitted = r.now, true
	}
	q.older, q.newer = r.newest, none
	if r.newest != none {
		r.requests.at(r.newest).newer = i
	}
	r.newest = i
	r.running++
}

// exit takes a request out of the batch.
func (r *Replica) exit(q *request) {
	if q.older != none {
		r.requests.at(q.older).newer = q.newer
	}
	if q.newer != none {
		r.requests.at(q.newer).older = q.older
	} else {
		r.newest = q.older
	}
	r.running--
}

// preempt puts a request of the batch, which is between two iterations, at the head of
// the queue.
func (r *Replica) preempt(i int32) {
	q := r.requests.at(i)
	r.exit(q)
	if i == r.partial {
		r.partial = none
		r.prefilled -= q.Cached + q.computed
	} else {
		generated := r.decoding.generatedBy(q)
		r.decoding.leave(q)
		q.generated += generated
		r.totals.GeneratedTokens += generated
	}
	q.computed, q.Prefilled = 0, false
	q.preemptions++
	r.totals.Preemptions++
	r.waiting.pushFront(i)
}

// endIteration hands out the tokens of the iteration that ends now.
func (r *Replica) endIteration() {
	if r.decodes {
		r.decoding.steps++
		for i := r.decoding.popLast(&r.requests); i != none; i = r.decoding.popLast(&r.requests) {
			r.complete(i)
		}
	}
	for _, i := range r.prompts {
		q := r.requests.at(i)
		r.prefilled -= q.Cached + q.computed
		q.generated++
		r.totals.GeneratedTokens++
		if !q.hasFirstToken {
			q.firstToken, q.hasFirstToken = r.now, true
		}
		if q.generated == q.Output {
			r.complete(i)
		} else {
			r.decoding.join(i, q)
		}
	}
	r.prompts = r.prompts[:0]
}

// complete lets a request leave that has all its tokens.
func (r *Replica) complete(i int32) {
	q := r.requests.at(i)
	r.exit(q)
	r.totals.Completed++
	r.totals.GeneratedTokens += q.Output - q.generated
	r.completed = append(r.completed, Completion{
		Request:     q.Request,
		Outcome:     Completed,
		Admitted:    q.admitted,
		FirstToken:  q.firstToken,
		Finished:    r.now,
		Overhead:    queueing.Seconds(r.profile.TTFTOffset),
		Preemptions: q.preemptions,
	})
	r.requests.remove(i)
}
