package trace

import (
	"fmt"
	"iter"
	"math"
)

// Source is the requests of one workload. It may be read again and again, by several at
// once, and gives equal requests for equal seeds. Those of this package are values that
// were checked when they were made.
type Source interface {
	// stream begins the requests, in order of time.
	stream(s seed) stream
	// expect adds to counts[i] the requests that are expected from edges[i] until before
	// edges[i+1], for edges in ascending order.
	expect(s seed, edges, counts []float64) error
	// end is a time after which there are no requests, +Inf where there is none.
	end() float64
}

// stream is requests that come one by one.
type stream interface {
	// next sets r, whose Workload means nothing, or returns false.
	next(r *Request) bool
	// close ends the stream and returns what made next fail, nil at its end.
	close() error
}

// Workload is the traffic of one workload.
type Workload struct {
	// Name is unique. Random numbers depend on it and the seed alone, so that no workload
	// changes the requests of another.
	Name string
	// Source may be nil: no requests.
	Source Source
}

// Requests yields the requests of all workloads in order of time, those at the same time
// by the workloads' names. Request.Workload is an index into workloads. What ends them
// early, such as a file that can't be read any more, is returned by failed afterwards.
// Requests and failed are for one loop at a time.
func Requests(workloads []Workload, seed uint64) (requests iter.Seq[Request], failed func() error) {
	var failure error
	requests = func(yield func(Request) bool) {
		m := merge(workloads, seed)
		defer func() { failure = m.close() }()
		var r Request
		for m.next(&r) {
			if !yield(r) {
				return
			}
		}
	}
	return requests, func() error { return failure }
}

// Rates returns the arrival rate of a workload in each of n windows of a length in
// seconds, in requests/s: of traces what they hold, of generated requests the mean of
// the rate that they are drawn with.
func Rates(w Workload, seed uint64, window float64, n int) ([]float64, error) {
	if !(window > 0) || n < 0 {
		return nil, fmt.Errorf("trace: rates: %d windows of %g s", n, window)
	}
	rates := make([]float64, n)
	if w.Source == nil {
		return rates, nil
	}
	edges := make([]float64, n+1)
	for i := range edges {
		edges[i] = float64(i) * window
	}
	if err := w.Source.expect(seedOf(seed, w.Name), edges, rates); err != nil {
		return nil, err
	}
	for i := range rates {
		rates[i] /= window
	}
	return rates, nil
}

// End returns a time in seconds after which no workload has requests, or +Inf.
func End(workloads []Workload) float64 {
	var end float64
	for _, w := range workloads {
		if w.Source != nil {
			end = math.Max(end, w.Source.end())
		}
	}
	return end
}

// List is a source of requests in memory, in order of time.
type List []Request

func (l List) stream(seed) stream { return &listed{rest: l} }

func (l List) expect(_ seed, edges, counts []float64) error { //nolint:unparam // it is a Source
	c := counter{edges: edges, counts: counts}
	for i := range l {
		c.add(l[i].At)
	}
	return nil
}

func (l List) end() float64 {
	if len(l) == 0 {
		return 0
	}
	return l[len(l)-1].At
}

type listed struct{ rest []Request }

func (l *listed) next(r *Request) bool {
	if len(l.rest) == 0 {
		return false
	}
	*r, l.rest = l.rest[0], l.rest[1:]
	return true
}

func (l *listed) close() error { return nil }
