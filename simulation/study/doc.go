// Package study compares autoscalers on the same arrivals.
//
// [Run] simulates every autoscaler with every seed, in parallel, and sums up over
// requests, windows and seeds what became of the fleet. Each run is sequential and all
// that is random in it comes from its seed, so that results are equal, bit for bit, on
// any number of processors.
package study
