package planner

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/poolwright/poolwright/queueing"
)

// Lengths are what is remembered of the lengths of a workload's requests, where the
// workload declares none.
type Lengths struct {
	// Input and Output are mean lengths, in tokens, smoothed over a few minutes, and
	// InputSCV and OutputSCV their squared coefficients of variation.
	Input, Output       float64
	InputSCV, OutputSCV float64
	// At is the time of the last measurement that counted, and Varied that of the last of the
	// variations; zero where these are declared or assumed.
	At, Varied time.Time
	// Planned is the shape that the last plan was made for. It follows the lengths where they
	// differ by lengthsTolerance.
	Planned queueing.Shape
}

const (
	// lengthsSmoothing is the time in which a usual change of lengths is followed by 63 %, and
	// variationSmoothing that for their variation: a few long requests make most of it, so that
	// of a minute is chance.
	lengthsSmoothing   = 2 * time.Minute
	variationSmoothing = 15 * time.Minute
	// lengthsTolerance is the relative change of a length from which on it is planned with:
	// less changes no plan worth changing. Variation matters less, and is known less well.
	lengthsTolerance   = 0.05
	variationTolerance = 0.2
	// defaultSCV is that of exponential lengths and of Poisson arrivals, where nothing is
	// declared or measured.
	defaultSCV = 1
	// longestRequest, in tokens, and mostSCV are the most that is believed.
	longestRequest = 1e8
	mostSCV        = 1e3
)

// lengthless tells whether sizing a workload needs lengths of requests that it does not
// declare.
func (w *Workload) lengthless() bool {
	if w.Shape.OutputTokens > 0 || len(w.Shapes) > 0 {
		return false
	}
	for j := range w.Variants {
		if w.Variants[j].Replica != nil {
			return true
		}
	}
	return false
}

// observeLengths puts observed lengths in the place of declared ones, where there are
// none. It returns why nothing is known of them; empty where something is.
func (c *cycle) observeLengths(i int) (unknown string) {
	w, next := &c.fleet.Workloads[i], c.next[i]
	if !w.lengthless() {
		next.Lengths = nil
		return ""
	}
	o := c.observations[w.QualifiedName()]
	if o == nil {
		o = &Observation{}
	}
	now := c.snapshot.Now.UTC().Round(0)
	requests := c.completions(i) * cmp.Or(o.Window, now.Sub(next.At)).Seconds()
	lengths, reason := follow(next.Lengths, o, &w.Shape, requests, now)
	if lengths == nil {
		return reason
	}
	next.Lengths, w.Shape = lengths, lengths.Planned
	c.step(w.QualifiedName(), "none declared", fmt.Sprintf("%.4g input and %.4g output tokens",
		float64(w.Shape.InputTokens), float64(w.Shape.OutputTokens)), reason)
	return ""
}

// follow updates lengths by what was observed: as it is where all replicas report, and
// upwards only where some do. Otherwise they stay as they are. It says where they come
// from, or why there are none. The means observed are of so many requests, ≤ 0 where that is
// not known.
func follow(last *Lengths, o *Observation, declared *queueing.Shape, requests float64, now time.Time) (*Lengths, string) {
	input, output := o.InputTokens.within(0, longestRequest), o.OutputTokens.within(1, longestRequest)
	if !input.usable() || !output.usable() {
		bad := output.State
		if output.usable() {
			bad = input.State
		}
		if last == nil {
			return nil, fmt.Sprintf("no lengths of requests are declared, and those measured are %v", bad)
		}
		return last, fmt.Sprintf("observed until %s; %v now", last.At.Format(time.DateTime), bad)
	}
	complete := input.State == Fresh && output.State == Fresh
	next, reason := Lengths{At: now}, "observed"
	if last == nil {
		next.Input, next.Output = input.Value, output.Value
		next.InputSCV, next.OutputSCV = orDefault(declared.InputSCV), orDefault(declared.OutputSCV)
	} else {
		next = *last
		next.At = now
		part := 1 - math.Exp(-max(0, now.Sub(last.At).Seconds())/lengthsSmoothing.Seconds())
		smooth(&next.Input, input.Value, part, usual(next.Input, next.InputSCV, requests), complete)
		smooth(&next.Output, output.Value, part, usual(next.Output, next.OutputSCV, requests), complete)
	}
	if !complete {
		reason = "observed, at least, as not all replicas report"
	}
	next.vary(o.InputSCV.within(0, mostSCV), o.OutputSCV.within(0, mostSCV), now)
	next.plan(declared)
	return &next, reason
}

// vary takes over variations of lengths: the first that are measured, and from then on their
// mean.
func (l *Lengths) vary(input, output Measurement, now time.Time) {
	if input.State != Fresh && output.State != Fresh {
		return
	}
	part := 1 - math.Exp(-max(0, now.Sub(l.Varied).Seconds())/variationSmoothing.Seconds())
	for _, v := range []struct {
		mean     *float64
		measured Measurement
	}{{&l.InputSCV, input}, {&l.OutputSCV, output}} {
		switch {
		case v.measured.State != Fresh:
		case l.Varied.IsZero():
			*v.mean = v.measured.Value
		default:
			smooth(v.mean, v.measured.Value, part, math.Inf(1), true)
		}
	}
	l.Varied = now
}

// leastLoad is the share of its saturation rate that a replica is planned for at least where
// lengths are measured.
//
// A percentile of a latency is mostly that of long requests, and may be above its limit
// without any load: replicas don't help these. Just below that, ever more replicas are
// needed for ever less. The mean wait is ρ/(1 − ρ) of what a full server leaves of a request
// (Pollaczek and Khinchine); at a third of the load it is half of that, so that no number of
// replicas can take away more. An SLO that is declared for declared lengths is kept to the
// letter; but the variation of lengths that are measured is known by few requests, and what
// would follow from it is not worth a pool.
const leastLoad = 1. / 3

// keepLoaded raises what the replicas of a workload are planned for to leastLoad, where its
// lengths are measured and no variant holds its SLO at that.
func (c *cycle) keepLoaded(i int) {
	sizes, w := c.sizes[i], &c.fleet.Workloads[i]
	holds := func(s Size) bool { return s.Served > 0 && s.Served >= leastLoad*s.Saturation }
	if !c.loop() || c.next[i].Lengths == nil || slices.ContainsFunc(sizes, holds) {
		return
	}
	for j := range sizes {
		s := &sizes[j]
		if s.Saturation == 0 {
			continue
		}
		c.condition(i, SLOInfeasible, fmt.Sprintf("with the lengths measured, %s holds %s up to %.3g requests/s per replica only; planned for %.3g",
			w.Variants[j].Name, s.Binding, float64(s.Served), leastLoad*float64(s.Saturation)))
		s.Capacity, s.Served, s.Reason = leastLoad*s.Saturation, leastLoad*s.Saturation, ""
	}
}

// orDefault is a declared variation, or the default where there is none.
func orDefault(scv float64) float64 {
	if scv > 0 {
		return scv
	}
	return defaultSCV
}

// usual is how far the mean length of so many requests is from that of others, in tokens,
// without being another: three standard errors, and what is hardly planned with.
func usual(mean, scv, requests float64) float64 {
	if requests <= 0 {
		return math.Inf(1)
	}
	return mean * max(2*lengthsTolerance, 3*math.Sqrt(scv/requests))
}

// smooth moves a mean by a part of the way to what was observed, and all the way as far as
// that is beyond what is usual, as an adaptive EWMA does with Huber's score (Capizzi and
// Masarotto, Technometrics 45(3), 2003); downwards only where that is complete.
func smooth(mean *float64, observed, part, usual float64, complete bool) {
	off := observed - *mean
	if off < 0 && !complete {
		return
	}
	beyond := math.Copysign(max(0, math.Abs(off)-usual), off)
	*mean += part*off + (1-part)*beyond
}

// plan takes the lengths over into the shape that is planned for, where they have moved.
func (l *Lengths) plan(declared *queueing.Shape) {
	p := &l.Planned
	if p.OutputTokens > 0 &&
		near(l.Input, float64(p.InputTokens), lengthsTolerance) && near(l.Output, float64(p.OutputTokens), lengthsTolerance) &&
		near(l.InputSCV, p.InputSCV, variationTolerance) && near(l.OutputSCV, p.OutputSCV, variationTolerance) {
		return
	}
	*p = *declared
	p.InputTokens, p.OutputTokens = queueing.Tokens(l.Input), queueing.Tokens(l.Output)
	p.InputSCV, p.OutputSCV, p.ArrivalSCV = l.InputSCV, l.OutputSCV, orDefault(declared.ArrivalSCV)
}

// near tells whether a value differs from another by less than a share of that.
func near(value, from, tolerance float64) bool {
	return value == from || math.Abs(value-from) < tolerance*from
}
