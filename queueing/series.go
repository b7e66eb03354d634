package queueing

import "math"

// Backlog is what a replica carries from one window of time to the next. The zero
// value is an empty replica, [Station.Backlog] that of observed numbers of requests. A
// field that is not positive, NaN included, counts as 0.
type Backlog struct {
	// Running and Queued are mean numbers of requests in the batch and waiting for it.
	Running, Queued float64
	// Work is the time that a full batch takes to make room for those that wait:
	// Queued/μ(B), each request with μ(B) of the shape that it arrived with.
	Work Seconds
	// Variance is how far Running and Queued together vary around their mean by
	// chance, with Poisson arrivals. A queue that has built up by overload is as long for
	// everybody; the variance of a steady state makes it longer on average, and of very
	// different length.
	Variance float64
}

// Backlog returns the backlog of requests that run and wait, all of this shape.
func (s *Station) Backlog(running, queued float64) Backlog {
	b := Backlog{Running: running, Queued: queued}
	if rate := s.SaturationRate(); queued > 0 && rate > 0 {
		b.Work = Seconds(queued) / Seconds(rate)
	}
	return b
}

// counted returns a number of requests or a variance as it counts.
func counted(x float64) float64 {
	if !(x > 0) {
		return 0
	}
	return min(x, math.MaxInt64)
}

// Window is a span of time with one arrival rate at one replica.
type Window struct {
	// Station is the replica under the shape of this window's load.
	Station *Station
	// Rate is the mean arrival rate. What is not positive, NaN included, counts as 0.
	Rate Rate
	// Length is the span; what is not positive, NaN included, counts as 0, and what
	// is above 1e9 s as 1e9 s.
	Length Seconds
}

// longestWindow is the longest length of a window, in seconds.
const longestWindow = 1e9

// EvaluateWindow returns what happens at a mean arrival rate over a length of time
// that starts with a backlog, and the backlog at its end. It has an answer where
// there is no steady state: time is finite. Conventions are those of [Window].
//
// The number of requests inside, x, is a fluid:
//
//	dx/dt = λ·(1 - blocked(x)) - D(x)
//
// where D(x) is the throughput of the steady state that has x requests inside on
// average. So x moves towards its steady state within the time that a request takes,
// from below as from above; in overload it grows by what exceeds μ(B), and later
// drains by what μ(B) exceeds arrivals. This is the pointwise stationary fluid flow
// approximation of W.-P. Wang, D. Tipper and S. Banerjee, "A simple approximation
// for modeling nonstationary queues" (IEEE INFOCOM 1996). A window much longer than
// the time in the replica gives the steady state of [Station.Evaluate].
//
// The variance V of x follows the linear noise approximation of N. G. van Kampen,
// "Stochastic Processes in Physics and Chemistry" (1992), chapter X:
//
//	dV/dt = λ·(1 - blocked) + D - 2·V·dD/dx
//
// which the variance of a single server and that of unlimited servers both satisfy.
//
// Means are those of the steady state with x requests inside; about its mean, a wait
// varies as much less as x does.
//
// On a change of shape, running requests carried over count as ones of the new shape;
// waiting ones keep their work. It allocates nothing, in about 75 evaluations.
func (s *Station) EvaluateWindow(rate Rate, length Seconds, b Backlog) (WindowPerformance, Backlog) {
	f := newFlow(s, rate, b)
	w := WindowPerformance{Outcome: f.outcome, station: s, arrivals: f.arrivals}
	if f.outcome == Unservable {
		w.unservable()
		return w, b
	}
	if length > 0 {
		w.length = min(float64(length), longestWindow)
	}
	if w.length == 0 {
		w.add(f.here(), 1)
	}
	for left := w.length; left > 0; {
		span := left
		if w.count < maxInstants-1 {
			span = min(f.span(w.length), left)
		}
		w.add(f.advance(span), span)
		left -= span
		if left < 1e-9*w.length {
			left = 0
		}
	}
	w.finish()
	end := f.backlog(b, float64(w.accepted)*w.length)
	w.Throughput = f.here().steady.Throughput
	if w.length > 0 {
		left := end.Running + end.Queued - counted(b.Running) - counted(b.Queued)
		w.Throughput = max(w.accepted-Rate(left/w.length), 0)
	}
	return w, end
}

// EvaluateSeries evaluates windows one after the other and appends their performance
// to results, which it returns with the backlog at the end. With enough room in
// results it allocates nothing.
//
// Windows should be short against the bursts of a load, but not against the time that a
// request takes if their shapes are measured: in a short window the few requests
// that arrive say little about those that run.
func EvaluateSeries(results []WindowPerformance, windows []Window, b Backlog) ([]WindowPerformance, Backlog) {
	for i := range windows {
		var p WindowPerformance
		p, b = windows[i].Station.EvaluateWindow(windows[i].Rate, windows[i].Length, b)
		results = append(results, p)
	}
	return results, b
}
