package calibration

import "github.com/poolwright/poolwright/queueing"

// SquareRoot says whether a fit has the term σ√n of mixture-of-experts models.
type SquareRoot int

const (
	// SquareRootDetected: σ is fitted if the samples call for it by a clearly smaller
	// error, see Fit.Notes. The default.
	SquareRootDetected SquareRoot = iota
	// SquareRootAlways: the model is a mixture of experts.
	SquareRootAlways
	// SquareRootNever: the model is dense; σ is 0.
	SquareRootNever
)

// Use names a metric of samples of one kind.
type Use struct {
	Kind   Kind
	Metric queueing.Metric
}

// Options says how to fit. The zero value is a good start.
type Options struct {
	// Ignore lists what does not count in the fit, for example the TTFT of a closed
	// loop that includes a start-up burst. Only ITL and TTFT count anyway.
	Ignore []Use
	// SquareRoot says whether σ is fitted.
	SquareRoot SquareRoot
	// Prior holds the values of coefficients that the samples do not identify. The
	// zero value has no prior: such coefficients are 0.
	Prior queueing.Profile

	// MaxBatch is the most requests that run together; 0 = it never limits.
	MaxBatch int
	// KVCacheTokens is the room for context, in tokens; 0 = it never limits.
	KVCacheTokens queueing.Tokens
	// MaxBatchedTokens is the token budget of one iteration, ≥ 1; 0 = it never limits.
	MaxBatchedTokens queueing.Tokens
	// PrefillMode says how prompts are computed.
	PrefillMode queueing.PrefillMode
	// AcceptedTokens is the mean number of tokens per decoding step under
	// speculative decoding; 0 means 1.
	AcceptedTokens float64

	// HeldOut asks for Estimate.HeldOut, at the cost of one more fit per group.
	HeldOut bool

	// Stop, which may be nil, is asked between steps. A fit ends with [ErrStopped] after it
	// has returned true.
	Stop func() bool
}
