// Package queueing predicts latency and throughput of one replica from its profile and load.
//
// A replica is a continuous-batching server: up to B requests run together and
// advance one token per iteration, further requests wait. Its state is the
// number of requests inside, a birth–death chain with arrival rate λ and
// state-dependent service rate μ(n) = n/τ(n), where τ(n) is the time one request
// takes while n run together. What is exact about the chain is solved exactly.
//
// The caller builds a [Station] once per replica and load shape and then asks it
// for the [Performance] at an arrival rate ([Station.Evaluate]) or for the
// highest arrival rate inside an SLO ([Station.Capacity]). A Station is
// immutable and may be used by many goroutines at once.
//
// # What is exact
//
// For every service model the state probabilities, throughput, blocking,
// utilisation, means and the distribution of the wait for a place in the batch are
// those of the chain, for any number of waiting places and at the cost of the B
// states below the batch limit only: from there on the probabilities are geometric.
// The state of the chain is what a Poisson arrival meets.
//
// The time in the batch is the model's. Its variation follows from the variation
// of lengths and of the batch; where varying times add up, the sum is taken as a
// gamma variable of the same mean and variance. [ContinuousBatching] corrects the
// wait for bursts and for lengths that are not exponential. The models of the
// llm-d family reproduce the means and rates of that family, which knows only
// means; lengths vary there in E2E only.
//
// # Duties of the caller
//
// A [Shape] whose variation is 0 says that all requests are alike and arrive like
// clockwork; an unknown load is better described by 1 in all three. Shares of a
// workload's traffic on several variants are put together by a [Mixture].
//
// Inside this package time is in seconds, rates are in requests per second and
// lengths are in tokens, all float64: a [time.Duration] would round microsecond
// coefficients to nanoseconds.
package queueing
