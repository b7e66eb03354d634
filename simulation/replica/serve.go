package replica

import (
	"iter"
	"math"

	"github.com/poolwright/poolwright/queueing"
)

// Server is what serves requests in virtual time: a [Replica] or a pair of them.
type Server interface {
	// Arrive hands over a request at the moment of its arrival, which must not be
	// after Next. It returns Accepted, or why the request was rejected.
	Arrive(req Request) Outcome
	// Next is the moment of the next event, +Inf without one.
	Next() float64
	// Step carries out the next event. It returns the requests that it completed, in a
	// slice that is valid until the next Step.
	Step() []Completion
}

// Serve runs arrivals, which must be in order of time, through a server until all are
// completed or rejected. Completions come in the order in which requests complete;
// a rejected request comes at its arrival. Breaking off leaves the server between two
// events.
func Serve(s Server, arrivals iter.Seq[Request]) iter.Seq[Completion] {
	return func(yield func(Completion) bool) {
		for req := range arrivals {
			if !stepUntil(s, req.Arrival, yield) {
				return
			}
			outcome := s.Arrive(req)
			if outcome != Accepted && !yield(Completion{Request: req, Outcome: outcome}) {
				return
			}
		}
		stepUntil(s, math.Inf(1), yield)
	}
}

// stepUntil carries out the events before a moment. An arrival at the very moment of
// an event comes first and takes part in it.
func stepUntil(s Server, moment float64, yield func(Completion) bool) bool {
	for s.Next() < moment {
		for _, c := range s.Step() {
			if !yield(c) {
				return false
			}
		}
	}
	return true
}

// Run serves arrivals with a new replica, see [New] and [Serve].
func Run(r queueing.Replica, arrivals iter.Seq[Request]) (iter.Seq[Completion], error) {
	s, err := New(r)
	if err != nil {
		return nil, err
	}
	return Serve(s, arrivals), nil
}
