// Package kthena computes what Kthena's AutoscalingPolicy would do, and without its
// known mistakes.
//
// [Decide] recommends replicas by metrics, and corrects the recommendation by panic
// mode, stabilization windows and rate limits. [Permit] corrects what a plan asks for in
// the same way. Windows remember recommendations, rate limits remember what was decided.
// That lasts until the next decision, so that it counts in a period as long as that one
// is recent.
//
// With [PerReplica] readings every ready replica counts by itself, and a metric that
// nobody reports holds replicas as they are. [Upstream] does what Kthena does: the sum
// over a workload as if it were one replica, and metrics without a value are left out.
//
// [RoleRatio] keeps prefill and decode replicas in proportion, and [Quantile] reads
// latencies from histograms.
//
// Source: github.com/volcano-sh/kthena v0.4, pkg/autoscaler. The vectors in testdata
// were taken from it.
package kthena
