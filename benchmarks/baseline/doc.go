// Package baseline is the queueing algorithm that the llm-d/inferno family of
// autoscalers runs, written anew from its documented equations: what package
// queueing is compared with.
//
// It solves the birth–death chain of a replica state by state, over every number of
// requests that batch and queue can hold, and sizes a replica by bisection until
// the latency is within 1e-6 of its target or a hundred evaluations are spent, as
// they are where single precision can't come that close. Coefficients, rates and
// latencies are in single precision; state probabilities are in double precision.
//
// Units are those of the family. Coefficients and latencies are in milliseconds;
// rates are in requests per second, and per millisecond inside.
//
// Answers are the family's, wrong ones included: a latency that does not depend on
// load is searched for all the same. It is here to be compared with and serves
// nothing else.
package baseline
