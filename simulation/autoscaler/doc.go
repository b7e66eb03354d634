// Package autoscaler has what scales simulated clusters, so that they can be compared:
// Poolwright's own loop, the documented algorithms of others, and what somebody would do
// who knows the future.
//
// Each of the others decides alone, from what its own metrics say, at its own interval. A
// [Settings] value says which one it is and how it is set; New makes one for a cluster.
// [Kinds] has all of them in their defaults, and Grid the settings in which each is
// compared at its best. docs/autoscalers.md in the repository has the sources.
//
// # What they see
//
// Prometheus scrapes pods every 15 s. Scrapes and decisions of a HorizontalPodAutoscaler and
// of llm-d's analyzer are not in step: the newest scrape that a decision sees is 7.5 s old,
// half of that. Kthena's autoscaler and Knative's ask pods themselves. A pod that has not
// been scraped since it serves has no metrics.
//
// # Whom they scale
//
// A HorizontalPodAutoscaler, Kthena with a homogeneous target and Knative scale one variant at
// a time, between bounds: at least its minReplicas and, if it runs at the start, one; at
// most its maximum, or what its pools hold if nobody else is there. A variant without
// replicas at the start has no pods, so no metrics and no traffic, and stays as it is; where
// no variant of a workload has any, the cheapest starts with one. The others scale all
// variants of a workload together. Only Poolwright and the inferno family plan the whole
// fleet within its pools.
package autoscaler
