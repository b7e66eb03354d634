package calibration

import "strconv"

// Quantity is a quantity that may be missing. The zero value is missing.
type Quantity struct {
	// Known tells whether there is a value.
	Known bool
	// Value counts only when Known.
	Value float64
}

// Of returns a known quantity.
func Of(value float64) Quantity { return Quantity{Known: true, Value: value} }

// Or returns the value, or a default if it is missing.
func (q Quantity) Or(value float64) float64 {
	if q.Known {
		return q.Value
	}
	return value
}

// Sample is one measurement of one replica in a steady state. In an open loop,
// requests arrive at random (Poisson); bursts lengthen TTFT in a way that no profile
// explains. If both ITL and TTFT of a closed loop are known, Little's law tells how
// many clients decode at a time, whatever TTFT is made of: so give TTFT even where it
// should not count in the fit, and ignore it by [Options].Ignore. Which quantities are
// known says of which [Kind] it is:
//
//	kind         always known                               at least one of  may be known
//	DecodePoint  Batch, ContextTokens                       ITL
//	PrefillPoint InputTokens                                TTFT             InputSCV, PrefixHitRatio
//	ClosedLoop   Concurrency, InputTokens, OutputTokens     ITL, TTFT        InputSCV, OutputSCV, PrefixHitRatio
//	OpenLoop     ArrivalRate, InputTokens, OutputTokens     ITL, TTFT        InputSCV, OutputSCV, PrefixHitRatio, Running, Waiting
type Sample struct {
	// Group labels what the sample has in common with others, for example its
	// workload, for [LeaveOneGroupOut]. Empty is a group too.
	Group string
	// Weight is how much the sample counts, > 0; missing means 1. Twice the weight is
	// as good as the same sample twice.
	Weight Quantity

	// Batch is the number of requests that decode together, ≥ 1, without prefill.
	Batch Quantity
	// ContextTokens is the mean number of tokens per running request in the KV cache, ≥ 0.
	ContextTokens Quantity

	// InputTokens is the mean prompt length, ≥ 0.
	InputTokens Quantity
	// InputSCV is the squared coefficient of variation of the prompt length, ≥ 0;
	// missing means that all are alike, as in most load tests.
	InputSCV Quantity
	// OutputTokens is the mean number of generated tokens, ≥ 1.
	OutputTokens Quantity
	// OutputSCV is the squared coefficient of variation of the output length, ≥ 0;
	// missing means that all are alike, as in most load tests.
	OutputSCV Quantity
	// PrefixHitRatio is the share of prompt tokens found in the prefix cache, in
	// [0, 1]; missing means that prompts had nothing in common.
	PrefixHitRatio Quantity

	// Concurrency is the number of clients that each send their next request when
	// the last one is answered, ≥ 1.
	Concurrency Quantity

	// ArrivalRate is the rate of requests, in requests/s, > 0.
	ArrivalRate Quantity
	// Running is the mean number of requests in the batch, > 0. If it is missing,
	// it follows from Little's law, for which ITL must be known.
	Running Quantity
	// Waiting is the mean number of requests that wait for a place in the batch, ≥ 0.
	// If there are any, TTFT tells nothing about the profile and is left out.
	Waiting Quantity

	// ITL is the mean time between the tokens of a request, in seconds, > 0. Where output
	// lengths vary it is the mean over tokens; that over requests is longer, because
	// the prompts right behind a request delay short answers by as much as long ones.
	ITL Quantity
	// TTFT is the mean time to first token, in seconds, > 0.
	TTFT Quantity
}

// Kind is what was measured, see [Sample].
type Kind int

const (
	// UnknownKind: the known quantities make no sample.
	UnknownKind Kind = iota
	// DecodePoint is a batch that decodes at a given context, without prefill.
	DecodePoint
	// PrefillPoint is a single prompt on an idle replica.
	PrefillPoint
	// ClosedLoop is a load test by a constant number of clients.
	ClosedLoop
	// OpenLoop is a load test at a given arrival rate, or production traffic.
	OpenLoop
)

// String returns the kind in words.
func (k Kind) String() string {
	switch k {
	case UnknownKind:
		return "unknown"
	case DecodePoint:
		return "decode point"
	case PrefillPoint:
		return "prefill point"
	case ClosedLoop:
		return "closed loop"
	case OpenLoop:
		return "open loop"
	}
	return "Kind(" + strconv.Itoa(int(k)) + ")"
}

// Kind returns what was measured, as the known quantities say. Quantities of several
// kinds, or of none, make UnknownKind.
func (s Sample) Kind() Kind {
	kind, claims := UnknownKind, 0
	for _, of := range []struct {
		kind  Kind
		known bool
	}{
		{DecodePoint, s.Batch.Known || s.ContextTokens.Known},
		{ClosedLoop, s.Concurrency.Known},
		{OpenLoop, s.ArrivalRate.Known || s.Running.Known || s.Waiting.Known},
	} {
		if of.known {
			kind = of.kind
			claims++
		}
	}
	switch {
	case claims == 1:
		return kind
	case claims == 0 && s.InputTokens.Known && !s.OutputTokens.Known:
		return PrefillPoint
	}
	return UnknownKind
}
