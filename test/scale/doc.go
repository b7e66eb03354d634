// Package scale measures cycles of the program over fleets of many workloads, against a
// real control plane and a real Prometheus.
//
// `make e2e` runs it with a small fleet, `make e2e-scale` with the size that is promised.
package scale
