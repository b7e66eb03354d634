// Package replica simulates one continuous-batching replica, iteration by iteration, in virtual time.
//
// It is plain on purpose: the analytic model of package queueing is measured
// against it, and a simulated fleet steps many of them. Time is a number of seconds
// that the caller's arrivals and the iterations move; there is no clock, no
// goroutine and no randomness in a [Replica]. Equal arrivals give equal
// completions, bit for bit.
//
// # An iteration
//
// With b requests decoding, c context tokens in total over them, and chunks of
// prompts, an iteration takes
//
//	T = α + β·b + σ·√b + κ·c + Σ (γ at a prompt's first chunk + δ·(end-start) + ε·(end²-start²))
//
// over the chunks [start, end) of computed prompt tokens, with the coefficients of
// [queueing.Profile] for ContinuousBatching. Prompt tokens found in the prefix cache
// are not computed but are context. The context of a decoding request is its prompt
// and the tokens generated before the iteration. A request gets its first token
// when the iteration with the last chunk of its prompt ends, then AcceptedTokens
// per iteration.
//
// With chunked prefill every decoding request takes one token of the budget
// MaxBatchedTokens and prompts take the rest in order of arrival, partly if need be.
// With blocking prefill an iteration either computes whole prompts, at least one and
// as many as fit the budget, or decodes; prompts go first. A prompt without tokens to
// compute takes one token of the budget and, unless it is empty, γ.
//
// # Admission and preemption
//
// They follow the scheduler of vLLM v1. Batches are formed between iterations;
// requests that arrived meanwhile, up to the very moment, can take part, in order of
// arrival, as long as the batch has a place and the KV cache has room for their first
// chunk. When the growth of decoding requests does not fit the KV cache, the request
// admitted last is preempted: it goes to the head of the queue and loses its KV
// entries, and its generated tokens become part of the prompt to compute again.
// Nothing is admitted into a batch that had to preempt.
//
// With a limited queue, MaxQueue counts the requests beyond those for which the batch
// has a place, so that a replica without waiting places still accepts requests between
// two iterations. A preempted request always finds a place in the queue.
//
// The KV cache is counted in tokens, not in blocks, and cached prefixes are counted
// for each request that uses them.
//
// # Duties of the caller
//
// Requests arrive in order of time, and no arrival passes an event: step the replica
// while [Replica.Next] is before the arrival. [Serve] does both.
package replica
