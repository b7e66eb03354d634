// Package kthena reads workloads out of the resources of Kthena: ModelBooster,
// AutoscalingPolicyBinding and AutoscalingPolicy declare them, ModelServing has their
// replicas, ModelServer and ModelRoute say how they are reached.
//
// Three generations of the API share one version. Which one an object is of shows in its
// fields: a binding with scalingConfiguration or optimizerConfiguration, a binding with
// homogeneousTarget or heterogeneousTarget, and a policy that has the target itself.
// docs/conformance/kthena-*.md say of each field what becomes of it.
package kthena
