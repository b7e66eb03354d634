package simulation

import (
	"math"

	"github.com/poolwright/poolwright/queueing"
)

// Limits are what an SLO allows one request, in seconds; +Inf = anything.
type Limits struct {
	// TTFT is from the arrival at the gateway to the first token, ITL the mean time between
	// tokens, E2E from the arrival to the last token.
	TTFT, ITL, E2E float64
}

// LimitsOf are the limits by which a request is judged: of those on a latency that with the
// highest quantile, the tighter one of equals, or the mean's where there is no other. A limit
// on tokens per second is one on their mean distance.
func LimitsOf(slo queueing.SLO) Limits {
	of := func(matches func(queueing.Limit) (seconds float64, ok bool)) float64 {
		limit, highest := math.Inf(1), -1.0
		for _, l := range slo.Limits {
			seconds, ok := matches(l)
			if ok && (l.Quantile > highest || l.Quantile == highest && seconds < limit) {
				limit, highest = seconds, l.Quantile
			}
		}
		return limit
	}
	on := func(m queueing.Metric) float64 {
		return of(func(l queueing.Limit) (float64, bool) { return l.Value, l.Metric == m })
	}
	speed := of(func(l queueing.Limit) (float64, bool) { return 1 / l.Value, l.Metric == queueing.TokensPerSecond })
	return Limits{TTFT: on(queueing.TTFT), ITL: min(on(queueing.ITL), speed), E2E: on(queueing.E2E)}
}

// Outcome says how a request ended.
type Outcome int

const (
	// Completed: it got all its tokens.
	Completed Outcome = iota
	// Rejected: the gateway had no place.
	Rejected
	// TimedOut: the gateway held it for too long.
	TimedOut
	// TooLong: it does not fit the KV cache of any replica that served.
	TooLong
	// Unfinished: the simulation ended before it.
	Unfinished
)

// String returns the outcome in lower case.
func (o Outcome) String() string {
	switch o {
	case Completed:
		return "completed"
	case Rejected:
		return "rejected"
	case TimedOut:
		return "timed out"
	case TooLong:
		return "too long"
	case Unfinished:
		return "unfinished"
	}
	return "unknown"
}

// Record is what became of one request.
type Record struct {
	Workload int
	// Arrival is the time of arrival at the gateway, in seconds after the start.
	Arrival float64
	// Input and Output are tokens, Cached those of the prompt that its replica held.
	Input, Output, Cached int
	Outcome               Outcome
	// Variant gave it its last token; -1 unless it completed.
	Variant int
	// TTFT, ITL and E2E are those of [Limits], in seconds, of a completed request. With one
	// token it has no ITL, 0.
	TTFT, ITL, E2E float64
	// Attained: it completed within the SLO.
	Attained bool
}

// attains tells whether latencies are within the limits.
func (l *Limits) attains(r *Record) bool {
	return r.TTFT <= l.TTFT && r.ITL <= l.ITL && r.E2E <= l.E2E
}
