// Package baseline is the queueing algorithm that the llm-d/inferno family of
// autoscalers runs, written anew from its documented equations: what package
// queueing is compared with.
//
// It solves the birth–death chain of a replica state by state, over all states
// that the batch and the queue have, and sizes by bisection to a relative 1e-6.
// Coefficients, arrival rates and latencies are in single precision and
// milliseconds, as in the family; sums over states are in double precision.
package baseline
