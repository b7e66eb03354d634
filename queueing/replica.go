package queueing

import (
	"math"
	"time"
)

// Seconds is a span of time in seconds.
type Seconds float64

// Duration converts to the type of the standard library, rounded to nanoseconds.
// More than it can hold, about 292 years, becomes the most it can hold.
func (s Seconds) Duration() time.Duration {
	nanoseconds := math.Round(float64(s) * float64(time.Second))
	if nanoseconds >= math.MaxInt64 {
		return math.MaxInt64
	}
	return time.Duration(nanoseconds)
}

// Rate is a rate of requests, in requests per second.
type Rate float64

// Tokens is a number of tokens, possibly a mean and so fractional.
type Tokens float64

// ServiceModel names how iteration times follow from a [Profile].
type ServiceModel int

// The service models. The letters of a profile mean different things per model,
// see [Profile].
const (
	// ContinuousBatching is Poolwright's own model and the default.
	ContinuousBatching ServiceModel = iota
	// LLMDV0 is the first model of the llm-d/inferno family: Alpha, Beta; at most
	// ten times MaxBatch requests inside, whatever MaxQueue says. TTFT is its wait.
	LLMDV0
	// LLMDV1 is its four-parameter model: Alpha, Beta, Gamma per prefill, Delta per
	// prompt token and request.
	LLMDV1
	// LLMDV2 is its three-parameter model: Alpha, Beta per computed token, Gamma
	// per KV token.
	LLMDV2
	// LLMDV3 is LLMDV2 with chunked prefill, in iterations of MaxBatchedTokens (8192
	// if that is 0).
	LLMDV3
)

// PrefillMode says how a replica computes the prompts of new requests.
type PrefillMode int

const (
	// Chunked prefill shares iterations with decoding. The default.
	Chunked PrefillMode = iota
	// Blocking prefill stops decoding until the whole prompt is computed.
	Blocking
)

// Profile holds the measured coefficients of one (model, accelerator,
// parallelism). All are in seconds (per the unit given), ≥ 0 and ≤ 1e6.
//
// For [ContinuousBatching] an iteration with b decoding requests and c context
// tokens in total takes
//
//	T(b, c) = α + β·b + σ·√b + κ·c
//
// and a prompt of which n tokens are not in the prefix cache adds γ + δ·n + ε·n² to
// the iterations that compute it.
//
//	field       ContinuousBatching           LLMDV0      LLMDV1                    LLMDV2, LLMDV3
//	Alpha       iteration base               the same    the same                  the same
//	Beta        per running request          the same    the same                  per computed token
//	Gamma       prefill base                 unused      prefill base              per KV token
//	Delta       per prompt token             unused      per prompt token·request  unused
//	others      see fields                   unused      unused                    unused
type Profile struct {
	Alpha float64
	Beta  float64
	Gamma float64
	Delta float64
	// Kappa is the time per running request's context token: reading its KV entry.
	Kappa float64
	// Sigma is the time per square root of running requests: mixture-of-experts
	// models load more experts as the batch grows. 0 for dense models.
	Sigma float64
	// Epsilon is the time per squared prompt token: attention within the prompt.
	Epsilon float64
	// TTFTOffset is the constant overhead of server and API before the first token.
	TTFTOffset float64
}

// Waiting is the number of waiting places of a replica. The zero value is
// unlimited.
type Waiting struct {
	Limited bool
	// Places is ≥ 0 and counts only when Limited.
	Places int
}

// Replica is what is fixed about one replica. The models of the llm-d family know
// nothing of KVCacheTokens, PrefillMode and AcceptedTokens.
type Replica struct {
	Model   ServiceModel
	Profile Profile
	// MaxBatch is the most requests that run together, from 1 to MaxBatchLimit.
	MaxBatch int
	// MaxQueue is the number of waiting places.
	MaxQueue Waiting
	// KVCacheTokens is the room for context, in tokens; 0 = it never limits.
	KVCacheTokens Tokens
	// MaxBatchedTokens is the token budget of one iteration, ≥ 1; 0 = it never limits.
	MaxBatchedTokens Tokens
	PrefillMode      PrefillMode
	// AcceptedTokens is the mean number of tokens per decoding step under
	// speculative decoding; 0 means 1.
	AcceptedTokens float64
}

// Shape describes the requests of a load, apart from their rate.
type Shape struct {
	// InputTokens is the mean prompt length, ≥ 0.
	InputTokens Tokens
	// OutputTokens is the mean number of generated tokens, ≥ 1.
	OutputTokens Tokens
	// InputSCV, OutputSCV and ArrivalSCV are squared coefficients of variation of
	// prompt lengths, output lengths and times between arrivals, ≥ 0.
	InputSCV, OutputSCV, ArrivalSCV float64
	// LengthCorrelation is the correlation coefficient of prompt and output lengths of
	// a request, in [-1, 1]. Where long prompts get long outputs, a replica reads long
	// contexts for longer. Without variation of both it has no effect; the models of
	// the llm-d family do not know it.
	LengthCorrelation float64
	// PrefixHitRatio is the share of prompt tokens found in the prefix cache, in [0, 1].
	PrefixHitRatio float64
}
