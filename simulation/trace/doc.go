// Package trace makes the requests that arrive at a simulated fleet: it reads traces and
// draws arrivals and lengths, scales and splices them, and merges workloads in order of time.
//
// Nothing is read or drawn before it is asked for, and memory does not grow with the number
// of requests. Equal seeds give equal requests, and every workload and every purpose draws
// from a stream of its own, so that what changes in one leaves the others as they are.
package trace
