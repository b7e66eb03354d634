// Package metrics turns what Prometheus has scraped, or pods report themselves, into
// observations; missing is never zero.
//
// An [Observer] implements controller.Observer over the query API of Prometheus, or
// of anything that speaks it, and over the pods of replicas. What engines and gateways
// call their metrics is a table (engines.go). However many workloads there are, a cycle
// asks at most two queries for each engine in use and one for gateways: results are
// grouped by the labels that tell replicas and workloads apart, and split in memory, so
// that each series counts for one workload. Pods are asked side by side, each with its own
// deadline.
//
// What was not scraped, by a typo, an outage or a restart, is a state of the
// measurement (missing, stale, invalid, incomplete) that the planner knows how to deal
// with, and so is a query that fails. docs/metrics.md has the tables.
package metrics
