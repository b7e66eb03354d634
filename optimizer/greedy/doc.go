// Package greedy makes plans as other autoscalers do, for comparison and compatibility.
//
// The strategies work on an [optimizer.Problem] and return an [optimizer.Solution]
// that [optimizer.Problem.Assess] judges, so that their cost stands beside the
// optimum of the same problem. Nothing is proven of their plans. They never break a
// pool, quota, budget, maximum or single mixing: [optimizer.Headroom] says what
// fits, where the originals know pools only (Inferno) or maximums only (Kthena).
// Equal problems get equal plans in whatever order they are written; ties, which
// the originals leave to chance or to the order of the input, go by name.
//
// # Inferno
//
// [Inferno] is the greedy of llm-inferno/optimizer, llm-inferno/optimizer-light and
// the first releases of the llm-d workload-variant-autoscaler (pkg/solver/greedy.go
// and pkg/core/allocation.go, which are the same in all three). A server is a
// workload, and its candidates are its variants, each in each of its placements,
// with as many replicas as serve all demand alone:
//
//	replicas = max(⌈demand / capacity⌉, minReplicas)
//	value    = cost − current                         on the accelerator in use
//	         = cost − current + 0.1·(cost + current)  on another
//
// The value of what runs now, unchanged, is 0; current is the cost of what runs. A
// server without demand and minimum gets nothing.
//
// Servers take turns by priority, then by regret: what the next candidate is worth
// less than this one, infinite for the last, and then by the value of this one,
// larger first. A server whose candidate does not fit goes on to the next one and
// queues again. One that runs out of candidates is left to the [Saturation] policy,
// after the servers of its own priority, or with DelayedBestEffort after all
// servers.
//
// What a problem has and the original lacks:
//
//   - switching costs: a workload that has any is valued by them, value = cost −
//     current + switching, in place of the original's share of 0.1.
//   - currentReplicas on several variants: current is the cost of all of them, at
//     the cheapest placement of each; a candidate is on the accelerator in use if its
//     variant is the only one that runs.
//   - minReplicas of a variant are placed first, priority by priority, and count
//     towards the demand. With single mixing they leave only that variant, as
//     keepAccelerator does in the original.
//   - maxReplicas, quotas, nodes and the budget stop replicas as a full pool does.
//   - redundancy and demand within 1e-9 count as in [optimizer.Workload.Unmet].
//   - penalties and mixing variants do not enter the choice.
//
// The original computes in float32; values that differ by less than that resolves
// may be ordered otherwise there.
//
// # Kthena
//
// [Distribute] is the distribution of replicas over heterogeneous targets of
// volcano-sh/kthena (pkg/autoscaler/autoscaler/optimizer.go, costExpansionRatePercent
// of an AutoscalingPolicy), and [Kthena] plans with it. A target is a variant, its cost
// the price of a replica at the cheapest placement. Kthena has a number of
// replicas from a metric and treats replicas as equal. The plan is where its loop
// comes to rest when the metric is load over capacity: the fewest replicas, taken in
// the order of the batches, that serve the demand and the minimum of the workload.
// A replica that does not fit stays pending, and the loop asks for the next one.
// Kthena needs a maximum of each target: one that is not declared is what the
// demand and the minimum of the workload need of the variant alone. Workloads are
// served by priority, then by name, since Kthena knows neither pools nor
// priorities. Capacity, switching costs and penalties do not enter the choice.
package greedy
