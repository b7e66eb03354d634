// Package telemetry has the loop's own metrics, for Prometheus.
//
// What counts over time are counters and histograms. What is known of the last cycle is
// collected from its entry, so that nothing is left of what is gone, and of so many
// workloads only that labels stay bounded. docs/metrics.md has the table.
package telemetry
