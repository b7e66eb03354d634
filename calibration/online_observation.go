package calibration

import (
	"math"

	"github.com/poolwright/poolwright/queueing"
)

// Observation is what one replica was seen to do during one window of time. Every
// quantity may be missing, and none has to be right: see [Verdict]. The zero value of
// everything but Window says that nothing is known.
type Observation struct {
	// Window is the length of the window, from 1 s to a day. About a minute is good:
	// several times as long as a request stays, and shorter than load takes to change.
	Window queueing.Seconds
	// Rate is the rate at which requests arrived, in requests/s.
	Rate Quantity
	// Running and Waiting are mean numbers of requests in the batch, those in prefill
	// included, and outside of it.
	Running, Waiting Quantity
	// InputTokens and OutputTokens are mean lengths of prompts and outputs.
	InputTokens, OutputTokens Quantity
	// InputSCV, OutputSCV and ArrivalSCV are squared coefficients of variation; missing
	// means 1.
	InputSCV, OutputSCV, ArrivalSCV Quantity
	// PrefixHitRatio is the share of prompt tokens found in the prefix cache, in
	// [0, 1]; missing means 0.
	PrefixHitRatio Quantity
	// ITL is the mean over tokens of the time between them, TTFT the mean over requests
	// of the time to first token, both in seconds.
	ITL, TTFT Quantity
}

// Lengths of valid windows.
const (
	leastWindow = 1
	mostWindow  = 24 * 3600
)

// leastArrivals and leastRunning are the least activity in a window that tells
// anything.
const (
	leastArrivals = 0.5
	leastRunning  = 1e-6
)

// conditions are under what load latencies came about, digested.
type conditions struct {
	window, rate float64
	// running is in the batch, waiting outside of it; the latter may be unknown.
	running float64
	waiting Quantity
	// arrivals is the number in the window.
	arrivals float64
	// prompt is x, the mean number of computed prompt tokens, and promptSquare E[x²].
	prompt, promptSquare            float64
	inputSCV, outputSCV, arrivalSCV float64
	// context is the mean context of a running request, steps the mean number of
	// iterations that it decodes, perToken the number of iterations per token.
	context, steps, perToken float64
	limit, budget            float64
	blocking                 bool
}

// digest checks what was observed, apart from the latencies themselves, and returns
// the conditions, or why there is nothing to learn.
func (f *Filter) digest(o *Observation) (conditions, Verdict) {
	if v := o.verdict(); v != Used {
		return conditions{}, v
	}
	in := f.state.Input.likely(o.InputTokens.Value, f.config.ChangeAfter)
	if !f.state.Output.likely(o.OutputTokens.Value, f.config.ChangeAfter) || !in {
		return conditions{}, Inconsistent
	}
	out := o.OutputTokens.Value
	w := conditions{
		window: float64(o.Window), rate: o.Rate.Value, running: o.Running.Value, waiting: o.Waiting,
		prompt:   o.InputTokens.Value * (1 - o.PrefixHitRatio.Or(0)),
		inputSCV: o.InputSCV.Or(1), outputSCV: o.OutputSCV.Or(1), arrivalSCV: o.ArrivalSCV.Or(1),
		context:  o.InputTokens.Value + out*(1+o.OutputSCV.Or(1))/2,
		perToken: 1 / max(f.replica.AcceptedTokens, 1),
		limit:    float64(f.replica.MaxBatch),
		budget:   math.Inf(1),
		blocking: f.replica.PrefillMode == queueing.Blocking,
	}
	w.steps = (out - 1) * w.perToken
	w.promptSquare = w.prompt * w.prompt * (1 + w.inputSCV)
	if f.replica.MaxBatchedTokens > 0 {
		w.budget = float64(f.replica.MaxBatchedTokens)
	}
	if !o.Rate.Known || !o.Running.Known {
		w.complete(o)
	}
	w.arrivals = w.rate * w.window
	if w.arrivals < leastArrivals || w.running < leastRunning {
		return conditions{}, Idle
	}
	if !o.consistent(&w, f.coefficients()[TTFTOffset]) {
		return conditions{}, Inconsistent
	}
	return w, Used
}

// complete fills in a rate or number running that is missing, by Little's law.
func (w *conditions) complete(o *Observation) {
	stay := o.OutputTokens.Value * o.ITL.Value
	if o.Rate.Known {
		w.running = w.rate * stay
	} else {
		w.rate = w.running / stay
	}
}

// verdict tells whether the quantities that conditions need are there and valid.
func (o *Observation) verdict() Verdict {
	switch {
	case o.invalid():
		return Invalid
	case !o.InputTokens.Known || !o.OutputTokens.Known:
		return NoConditions
	case o.Rate.Known && o.Rate.Value == 0, o.Running.Known && o.Running.Value == 0:
		return Idle
	case o.Rate.Known && o.Running.Known, isLatency(o.ITL) && (o.Rate.Known || o.Running.Known):
		return Used
	}
	return NoConditions
}

// isLatency tells whether a latency is known and valid.
func isLatency(q Quantity) bool { return q.Known && between(q.Value, leastTime, maxSeconds) }

// invalid tells whether a quantity is known to be what none can be.
func (o *Observation) invalid() bool {
	for _, q := range [...]struct {
		Quantity
		low, high float64
	}{
		{o.Rate, 0, maxRate},
		{o.Running, 0, maxBatch},
		{o.Waiting, 0, maxRate},
		{o.InputTokens, 0, maxTokens},
		{o.OutputTokens, 1, maxTokens},
		{o.InputSCV, 0, maxSCV},
		{o.OutputSCV, 0, maxSCV},
		{o.ArrivalSCV, 0, maxSCV},
		{o.PrefixHitRatio, 0, 1},
	} {
		if q.Known && !between(q.Value, q.low, q.high) {
			return true
		}
	}
	return false
}

// Tolerances of Little's law over one window, in logarithms.
const (
	// littleFloor is for what a gauge and a histogram count differently. Simulated
	// replicas obey the law to 0.15 in windows of a minute.
	littleFloor = 0.25
	// littleArrivals is for requests that stay beyond the window, littleInside for a
	// gauge that was sampled a few times only.
	littleArrivals = 2
	littleInside   = 1
	// longestStay is the longest stay of a request, as a share of the window, for
	// which arrivals and departures are mostly of the same requests.
	longestStay = 0.5
)

// consistent tells whether number inside, rate and latencies obey Little's law as far
// as they can in one window. One of them is off by a factor, otherwise, and nothing
// says which.
func (o *Observation) consistent(w *conditions, offset float64) bool {
	if !o.Rate.Known || !o.Running.Known || !isLatency(o.ITL) {
		return true
	}
	inside, stay := w.running, o.OutputTokens.Value*o.ITL.Value
	if isLatency(o.TTFT) {
		inside += w.waiting.Or(0)
		stay += max(o.TTFT.Value-offset, 0) - o.ITL.Value
	}
	if stay > longestStay*w.window && inside > longestStay*w.arrivals {
		return true
	}
	tolerance := littleFloor + littleArrivals/math.Sqrt(w.arrivals) + littleInside/math.Sqrt(1+inside)
	return math.Abs(math.Log(inside/(w.rate*stay))) <= tolerance
}

const (
	// farLength is how far log(1 + mean length) may be from what it usually is: to four
	// times as long or short.
	farLength = 1.4
	// lengthGain is the weight of one window in what a length usually is.
	lengthGain = 0.1
)

// likely tells whether a mean length is about as usual, or has been otherwise for so
// many windows that this is usual from now on. Nothing else would tell that a small
// part of a latency, as prefill may be, was predicted for wrong prompts.
func (s *LengthState) likely(length float64, changeAfter int) bool {
	l := math.Log1p(length)
	switch {
	case s.Typical == 0:
		s.Typical = l
	case math.Abs(l-s.Typical) <= farLength:
		s.Typical += lengthGain * (l - s.Typical)
	case s.Far+1 < changeAfter:
		s.Far++
		return false
	default:
		s.Typical = l
	}
	s.Far = 0
	return true
}
