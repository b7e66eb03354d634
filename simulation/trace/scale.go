package trace

import (
	"container/heap"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
)

// Resample multiplies the rate of a source. For every window, of a length in seconds, it
// draws Poisson arrivals at factor times the rate of the window, and for each the lengths
// and the prefix of any request of the window. So the rate changes from window to window as
// that of the source does, and lengths stay those of the time; within a window arrivals
// are independent. A window is kept in memory.
//
// The shorter the window, the more of the source's own randomness becomes a change of the
// rate: a window of n requests shows its rate within a factor of 1 ± 1/√n.
func Resample(s Source, factor, window float64) (Source, error) {
	var errs []error
	if !(factor > 0) || math.IsInf(factor, 1) {
		errs = append(errs, fmt.Errorf("trace: resample: factor %g is not positive", factor))
	}
	if !(window > 0) || math.IsInf(window, 1) {
		errs = append(errs, fmt.Errorf("trace: resample: window %g s is not positive", window))
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	return &resampled{s, factor, window}, nil
}

type resampled struct {
	source         Source
	factor, window float64
}

func (x *resampled) stream(s seed) stream {
	return &resampledStream{windows: x.windows(s), random: s.of(ofResampling).random()}
}

func (x *resampled) windows(s seed) windows {
	return windows{stream: x.source.stream(s.of(ofParts)), factor: x.factor, window: x.window, last: x.source.end()}
}

func (x *resampled) expect(s seed, edges, counts []float64) error {
	w := x.windows(s)
	c := counter{edges: edges, counts: counts}
	for !c.done() && w.next() {
		rate := w.rate()
		c.share(w.start, w.end, func(a, b float64) float64 { return rate * (b - a) })
	}
	return w.stream.close()
}

func (x *resampled) end() float64 { return x.source.end() }

// windows are the requests of a source, window by window.
type windows struct {
	stream
	factor, window float64
	// last is the end of the source, where the last window ends too.
	last       float64
	start, end float64
	requests   []Request
	// ahead is the first request of a later window, if any.
	ahead Request
	begun bool
	done  bool
}

// next takes the next window that has requests.
func (w *windows) next() bool {
	if !w.begun {
		w.done = !w.stream.next(&w.ahead)
		w.begun = true
	}
	if w.done {
		return false
	}
	n := math.Floor(w.ahead.At / w.window)
	w.start, w.end = n*w.window, (n+1)*w.window
	w.requests = append(w.requests[:0], w.ahead)
	for {
		if w.done = !w.stream.next(&w.ahead); w.done || w.ahead.At >= w.end {
			break
		}
		w.requests = append(w.requests, w.ahead)
	}
	if w.start < w.last {
		w.end = math.Min(w.end, w.last)
	}
	return true
}

// rate is what arrivals are drawn at.
func (w *windows) rate() float64 { return w.factor * float64(len(w.requests)) / (w.end - w.start) }

type resampledStream struct {
	windows
	now    float64
	random *rand.Rand
}

func (x *resampledStream) next(r *Request) bool {
	for {
		if len(x.requests) > 0 {
			x.now += x.random.ExpFloat64() / x.rate()
			if x.now < x.end {
				*r = x.requests[x.random.IntN(len(x.requests))]
				r.At = x.now
				return true
			}
		}
		if !x.windows.next() {
			return false
		}
		x.now = x.start
	}
}

// Replicate repeats each request: it stays, and factor - 1 others like it follow, each
// uniformly within jitter seconds, ≥ 0; of a factor that is not whole, the rest is a chance.
// A trace so multiplied keeps its bursts, and makes them larger.
func Replicate(s Source, factor, jitter float64) (Source, error) {
	var errs []error
	if !(factor >= 1 && factor <= maxCopies) {
		errs = append(errs, fmt.Errorf("trace: replicate: factor %g is not in [1, %d]", factor, maxCopies))
	}
	if !(jitter >= 0) || math.IsInf(jitter, 1) {
		errs = append(errs, fmt.Errorf("trace: replicate: jitter %g s is not finite and ≥ 0", jitter))
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	return &replicated{s, factor, jitter}, nil
}

const maxCopies = 1_000_000

type replicated struct {
	source         Source
	factor, jitter float64
}

func (x *replicated) stream(s seed) stream {
	return &copies{stream: x.source.stream(s.of(ofParts)), replicated: x, random: s.of(ofReplication).random()}
}

func (x *replicated) expect(s seed, edges, counts []float64) error {
	c := counter{edges: edges, counts: counts}
	others := counter{edges: edges, counts: counts}
	return expectEach(x.source.stream(s.of(ofParts)), func(r *Request) {
		if c.add(r.At); x.jitter > 0 {
			others.share(r.At, r.At+x.jitter, func(a, b float64) float64 { return (x.factor - 1) * (b - a) / x.jitter })
		} else if !c.done() && r.At >= edges[0] {
			counts[c.window] += x.factor - 1
		}
	}, c.done)
}

func (x *replicated) end() float64 { return x.source.end() + x.jitter }

// copies holds those that are still to come within the jitter.
type copies struct {
	stream
	*replicated
	random *rand.Rand
	later  laterRequests
	ahead  Request
	// more says that there is one ahead, begun that the first was asked for.
	more, begun bool
}

func (c *copies) next(r *Request) bool {
	if !c.begun {
		c.more, c.begun = c.stream.next(&c.ahead), true
	}
	if c.more && (len(c.later) == 0 || c.ahead.At <= c.later[0].At) {
		*r = c.ahead
		n := int(c.factor)
		if c.random.Float64() < c.factor-float64(n) {
			n++
		}
		for range n - 1 {
			other := *r
			other.At += c.jitter * c.random.Float64()
			heap.Push(&c.later, other)
		}
		c.more = c.stream.next(&c.ahead)
		return true
	}
	if len(c.later) == 0 {
		return false
	}
	*r, _ = heap.Pop(&c.later).(Request)
	return true
}

func (c *copies) close() error { return c.stream.close() }

// laterRequests is a heap by time.
type laterRequests []Request

func (l laterRequests) Len() int           { return len(l) }
func (l laterRequests) Less(i, j int) bool { return l[i].At < l[j].At }
func (l laterRequests) Swap(i, j int)      { l[i], l[j] = l[j], l[i] }
func (l *laterRequests) Push(x any)        { r, _ := x.(Request); *l = append(*l, r) }

func (l *laterRequests) Pop() any {
	last := len(*l) - 1
	r := (*l)[last]
	*l = (*l)[:last]
	return r
}
