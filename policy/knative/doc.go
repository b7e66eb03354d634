// Package knative computes what the Knative Pod Autoscaler would do, as a baseline for
// comparisons.
//
// [History.Record] takes the load of a workload, once a second or so; [Decide] wants as
// many replicas as bring the mean of the stable window to its target. While the mean of
// the much shorter panic window asks for a multiple of the replicas that there are, it
// counts as well, and nothing shrinks.
//
// [Permit] takes what a plan asks for in place of load.
//
// A decision without any load recorded within the stable window holds replicas as they
// are. What is beside the arithmetic is left to others: the activator, the grace
// period before the last replica goes, and activation scale.
//
// Source: knative.dev/serving v0.51, pkg/autoscaler/scaling/autoscaler.go and
// pkg/autoscaler/aggregation/bucketing.go.
package knative
