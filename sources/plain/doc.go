// Package plain reads workloads out of Deployments, StatefulSets and LeaderWorkerSets that
// join by the annotation poolwright.dev/workload: those of a namespace that name the same
// workload are its variants.
//
// Devices and their type are those that the pods ask for. All else, and what they don't ask
// for, is said by further annotations or the configuration, which package sources/overlay
// reads.
package plain
