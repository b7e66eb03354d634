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
// Inside this package time is in seconds, rates are in requests per second and
// lengths are in tokens, all float64: a [time.Duration] would round microsecond
// coefficients to nanoseconds.
package queueing
