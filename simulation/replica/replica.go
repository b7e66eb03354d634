package replica

import (
	"errors"
	"fmt"
	"math"

	"github.com/poolwright/poolwright/queueing"
)

// Replica is the state of one replica at one moment of virtual time. It must not be
// copied or used by several goroutines at once.
type Replica struct {
	profile  queueing.Profile
	blocking bool
	maxBatch int
	// places is the number of waiting places, kvCapacity and budget are in tokens;
	// math.MaxInt where there is no limit.
	places, kvCapacity, budget int

	// now is the moment of the last event, next of the next one: the end of the
	// iteration under way, or the start of the first one after idleness.
	now, next float64
	iterating bool
	totals    Totals

	requests requestTable
	waiting  ring
	// newest is the request admitted last, running the number admitted.
	newest  int32
	running int
	// kvBlocked: the KV cache kept a request waiting when the batch was formed.
	kvBlocked bool

	decoding decodingSet
	// prefilled is the number of KV tokens of requests in prefill.
	prefilled int
	// partial is the request whose prompt is computed in part, or none. It is always
	// the one admitted last.
	partial int32
	// prompts are the requests whose prompts end with the iteration under way.
	prompts []int32
	// decodes: the iteration under way advances the decoding requests.
	decodes   bool
	completed []Completion
}

// New returns an idle replica at time 0. The error says which fields are out of
// range, as [queueing.NewStation] does, or that the service model is not
// ContinuousBatching.
func New(r queueing.Replica) (*Replica, error) {
	if r.Model != queueing.ContinuousBatching {
		return nil, fmt.Errorf("replica: serviceModel: %d is not continuous batching", r.Model)
	}
	if _, err := queueing.NewStation(r, queueing.Shape{InputTokens: 1, OutputTokens: 2}); err != nil {
		return nil, fmt.Errorf("replica: %w", err)
	}
	s := &Replica{
		profile:    r.Profile,
		blocking:   r.PrefillMode == queueing.Blocking,
		maxBatch:   r.MaxBatch,
		places:     math.MaxInt,
		kvCapacity: wholeTokens(r.KVCacheTokens),
		budget:     wholeTokens(r.MaxBatchedTokens),
		decoding:   decodingSet{accepted: max(r.AcceptedTokens, 1)},
		next:       math.Inf(1),
		newest:     none,
		partial:    none,
	}
	if r.MaxQueue.Limited {
		s.places = r.MaxQueue.Places
	}
	return s, nil
}

// wholeTokens returns a limit in whole tokens, at least 1; 0 stands for no limit.
func wholeTokens(t queueing.Tokens) int {
	if t == 0 {
		return math.MaxInt
	}
	return max(1, int(t))
}

// Now is the moment of the last event or arrival, in seconds.
func (r *Replica) Now() float64 { return r.now }

// Next is the moment of the next event: when [Replica.Step] is due. +Inf while the
// replica is idle.
func (r *Replica) Next() float64 { return r.next }

// Running is the number of requests in the batch, those in prefill included.
func (r *Replica) Running() int { return r.running }

// Waiting is the number of requests that are not in the batch.
func (r *Replica) Waiting() int { return r.waiting.len() }

// KVUsed is the number of tokens in the KV cache: the prompts as far as they are
// computed or cached, and the tokens that were generated.
func (r *Replica) KVUsed() int { return int(math.Ceil(r.kvUsed())) }

// Totals returns what the replica has done up to now.
func (r *Replica) Totals() Totals {
	t := r.totals
	t.GeneratedTokens += int(r.decoding.generated())
	return t
}

// errEarly is what a caller is told who lets an arrival pass an event.
var errEarly = errors.New("replica: arrival after an event that is due: step first")

// Arrive hands the replica a request at the moment req.Arrival. It returns Accepted,
// or why the request was rejected; a rejected request leaves no trace but in Totals.
// An arrival later than Next is a mistake of the caller's, and Arrive panics.
func (r *Replica) Arrive(req Request) Outcome {
	outcome := r.judge(&req)
	if outcome != Accepted {
		r.totals.Rejected++
		return outcome
	}
	if req.Arrival > r.next {
		panic(errEarly)
	}
	r.advance(req.Arrival)
	r.totals.Accepted++
	r.waiting.pushBack(r.requests.add(req))
	if !r.iterating {
		r.next = r.now
	}
	return Accepted
}

func (r *Replica) judge(req *Request) Outcome {
	switch {
	case !req.wellFormed(), req.Arrival < r.now:
		return Malformed
	case req.Input+req.Output > r.kvCapacity:
		return TooLong
	case r.places < math.MaxInt && r.waiting.len() >= r.places+r.free():
		return QueueFull
	}
	return Accepted
}

// free is the number of places in the batch that requests only wait for the end of
// an iteration to take.
func (r *Replica) free() int {
	if r.kvBlocked {
		return 0
	}
	return r.maxBatch - r.running
}

// Step carries out the event at Next: it ends the iteration under way and starts
// another if there is anything to do. It returns the requests that completed, in a
// slice that the next Step overwrites. On an idle replica it does nothing.
func (r *Replica) Step() []Completion {
	r.completed = r.completed[:0]
	if math.IsInf(r.next, 1) {
		return nil
	}
	r.advance(r.next)
	if r.iterating {
		r.endIteration()
	}
	duration, work := r.formBatch()
	r.iterating = work
	r.next = math.Inf(1)
	if work {
		r.totals.Iterations++
		r.next = r.now + duration
	}
	return r.completed
}
