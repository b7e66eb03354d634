package replica

import (
	"math"
	"strconv"

	"github.com/poolwright/poolwright/queueing"
)

// Request is one request to a replica.
type Request struct {
	// ID is the caller's; nothing depends on it.
	ID int
	// Arrival is the moment of arrival in seconds, ≥ 0.
	Arrival float64
	// Input is the number of prompt tokens, ≥ 0, Output of tokens to generate, ≥ 1.
	Input, Output int
	// Cached is how many of the prompt tokens the prefix cache holds, from 0 to Input.
	Cached int
	// Prefilled says that the prompt was computed and the first token generated
	// elsewhere; the KV entries arrive with the request, which starts decoding. Output
	// counts that token and is ≥ 2.
	Prefilled bool
}

// maxTokens bounds lengths, so that sums over a batch stay exact.
const maxTokens = 1 << 30

func (r *Request) wellFormed() bool {
	return r.Arrival >= 0 && !math.IsInf(r.Arrival, 1) &&
		r.Input >= 0 && r.Input <= maxTokens &&
		r.Output >= r.least() && r.Output <= maxTokens &&
		r.Cached >= 0 && r.Cached <= r.Input
}

// least is the least Output.
func (r *Request) least() int {
	if r.Prefilled {
		return 2
	}
	return 1
}

// Outcome says what became of a request.
type Outcome int

const (
	// Accepted: the request waits or runs.
	Accepted Outcome = iota
	// Completed: all its tokens were generated.
	Completed
	// QueueFull: every waiting place was taken at its arrival.
	QueueFull
	// TooLong: prompt and output do not fit the KV cache, even alone.
	TooLong
	// Malformed: a field is out of its range, or the arrival lies in the past.
	Malformed
)

// String returns the outcome in lower case.
func (o Outcome) String() string {
	switch o {
	case Accepted:
		return "accepted"
	case Completed:
		return "completed"
	case QueueFull:
		return "queue full"
	case TooLong:
		return "too long"
	case Malformed:
		return "malformed"
	}
	return "Outcome(" + strconv.Itoa(int(o)) + ")"
}

// Completion is what became of one request. Moments are in seconds; only a completed
// request has any.
type Completion struct {
	Request
	Outcome Outcome
	// Admitted is when it entered the batch for the first time, FirstToken and
	// Finished when the replica made the first and the last token. The first token of
	// a Prefilled request was there at its arrival.
	Admitted, FirstToken, Finished float64
	// Overhead is the profile's TTFTOffset.
	Overhead queueing.Seconds
	// Preemptions is how often it lost its KV entries.
	Preemptions int
}

// Wait is the time until the request entered the batch.
func (c *Completion) Wait() queueing.Seconds {
	return queueing.Seconds(c.Admitted - c.Arrival)
}

// TTFT is the time to first token, overhead included.
func (c *Completion) TTFT() queueing.Seconds {
	return c.Overhead + queueing.Seconds(c.FirstToken-c.Arrival)
}

// E2E is the time to the last token, overhead included.
func (c *Completion) E2E() queueing.Seconds {
	return c.Overhead + queueing.Seconds(c.Finished-c.Arrival)
}

// ITL is the mean time between tokens; 0 for a single token, which has none.
func (c *Completion) ITL() queueing.Seconds {
	if c.Output < 2 {
		return 0
	}
	return queueing.Seconds((c.Finished - c.FirstToken) / float64(c.Output-1))
}
