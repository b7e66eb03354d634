// Package hpa computes what the HorizontalPodAutoscaler would do, exactly.
//
// It is the arithmetic of autoscaling/v2 in Kubernetes 1.34 as pure functions:
// [Decide] takes a [Config], what was observed and a [History], and returns a
// [Decision] with its reasons and the history that follows. [Permit] applies the same
// bounds, windows and limits to replicas that a plan asks for. A caller that carried the
// decision out says so with [History.Scaled]; the limits on the speed of scaling
// count only changes that were made.
//
// Quantities are integers in thousandths (milli), as in Kubernetes. Numbers that would
// overflow there saturate here.
//
// Source: k8s.io/kubernetes v1.34.0, pkg/controller/podautoscaler. The vectors in
// testdata were taken from its tests.
package hpa
