// Package resource is what those who read objects of a Kubernetes cluster, and those who
// change them, have in common: the view of a cluster, the workloads that objects declare,
// and what is to be written back.
//
// Readers of custom resources (below package sources) are pure: a view in, workloads and
// patches out. Package sources/cluster watches the cluster and offers the view; package
// actuator alone changes the world.
package resource
