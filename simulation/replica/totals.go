package replica

import "github.com/poolwright/poolwright/queueing"

// Totals counts what a replica has done since time 0. What it did between two moments
// is the difference of two Totals.
type Totals struct {
	// Accepted, Rejected, Completed and Preemptions count requests and events.
	Accepted, Rejected, Completed, Preemptions int
	// Iterations counts the iterations that started.
	Iterations int
	// PromptTokens counts the prompt tokens that were computed, again ones included;
	// GeneratedTokens the tokens that were generated, without first tokens from elsewhere.
	PromptTokens, GeneratedTokens int
	// Time is the time that passed, Busy the part of it with an iteration under way.
	Time, Busy float64
	// Running, Waiting and KVUsed are integrals over time, in request-seconds and
	// token-seconds.
	Running, Waiting, KVUsed float64
}

// Since returns the difference of t and an earlier state.
func (t Totals) Since(earlier Totals) Totals {
	return Totals{
		Accepted:        t.Accepted - earlier.Accepted,
		Rejected:        t.Rejected - earlier.Rejected,
		Completed:       t.Completed - earlier.Completed,
		Preemptions:     t.Preemptions - earlier.Preemptions,
		Iterations:      t.Iterations - earlier.Iterations,
		PromptTokens:    t.PromptTokens - earlier.PromptTokens,
		GeneratedTokens: t.GeneratedTokens - earlier.GeneratedTokens,
		Time:            t.Time - earlier.Time,
		Busy:            t.Busy - earlier.Busy,
		Running:         t.Running - earlier.Running,
		Waiting:         t.Waiting - earlier.Waiting,
		KVUsed:          t.KVUsed - earlier.KVUsed,
	}
}

// MeanRunning is the mean over time of the requests in the batch.
func (t Totals) MeanRunning() float64 { return t.Running / t.Time }

// MeanWaiting is the mean over time of the requests waiting.
func (t Totals) MeanWaiting() float64 { return t.Waiting / t.Time }

// MeanKVUsed is the mean over time of the tokens in the KV cache.
func (t Totals) MeanKVUsed() float64 { return t.KVUsed / t.Time }

// Utilization is the share of time with an iteration under way.
func (t Totals) Utilization() float64 { return t.Busy / t.Time }

// Throughput is the rate of completions.
func (t Totals) Throughput() queueing.Rate { return queueing.Rate(float64(t.Completed) / t.Time) }

// MeanIteration is the mean duration of an iteration.
func (t Totals) MeanIteration() queueing.Seconds {
	return queueing.Seconds(t.Busy / float64(t.Iterations))
}

// advance moves time to a moment and adds what lies between to the integrals.
func (r *Replica) advance(to float64) {
	d := to - r.now
	if d == 0 {
		return
	}
	r.now = to
	t := &r.totals
	t.Time = to
	if r.iterating {
		t.Busy += d
	}
	t.Running += d * float64(r.running)
	t.Waiting += d * float64(r.waiting.len())
	t.KVUsed += d * r.kvUsed()
}
