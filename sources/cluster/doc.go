// Package cluster watches a Kubernetes cluster, and says which fleet runs there.
//
// [Watch] keeps copies of the objects that count and offers them as a consistent
// [View]. [Catalog] has the readers of each ecosystem read workloads out of a view,
// completes them by the overlay, counts replicas and devices, and implements
// controller.Catalog and what the actuator and the metrics ask for. What is decided it turns
// into conditions, statuses and events.
//
// Nothing is decided on old knowledge: a view that has been out of touch with the API
// server for too long is an error.
package cluster
