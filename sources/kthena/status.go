package kthena

import (
	"reflect"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/poolwright/poolwright/internal/resource"
)

// Patches are the status of the object that declares the workload, as far as its API has
// one, and the weights of the ModelRoutes that let them be written.
func (read *Reader) Patches(v resource.View, w *resource.Workload, o *resource.Outcome) []resource.Patch {
	var patches []resource.Patch
	if object, ok := v.Get(w.Object.GroupKind(), w.Object.Namespace, w.Object.Name); ok {
		var status map[string]any
		switch w.Object.GroupKind() {
		case boosterKind:
			status = map[string]any{"conditions": resource.MergeConditions(object, resource.Qualified(o.Conditions), o.Now)}
		case policyKind:
			status = policyStatus(object, w, o)
		}
		patches = append(patches, statusPatch(object, status)...)
	}
	return append(patches, read.network(v).weightPatches(w, o)...)
}

// statusPatch writes fields of a status; none where they are what they should be, but for
// the numbers in messages.
func statusPatch(object *unstructured.Unstructured, status map[string]any) []resource.Patch {
	before, _, _ := unstructured.NestedMap(object.Object, "status")
	changed := false
	for field, value := range status {
		if conditions, ok := value.([]any); ok && field == "conditions" {
			old, _ := before[field].([]any)
			changed = changed || !resource.SameConditions(old, conditions)
		} else {
			changed = changed || !reflect.DeepEqual(before[field], value)
		}
	}
	if !changed {
		return nil
	}
	return []resource.Patch{{
		Object: resource.ReferenceTo(object), ResourceVersion: object.GetResourceVersion(), Subresource: "status",
		Merge: map[string]any{"status": status},
	}}
}

// policyStatus is the status of an AutoscalingPolicy that has its targets itself. That a
// policy is in panic is in the reasons of a decision only: mode is left out.
func policyStatus(object *unstructured.Unstructured, w *resource.Workload, o *resource.Outcome) map[string]any {
	targets := make([]any, len(o.Workload.Variants))
	for j := range targets {
		targets[j] = targetStatus(object, o, j)
	}
	found := resource.Condition{Type: "TargetFound", Status: resource.True, Reason: "TargetFound"}
	for _, c := range w.Conditions {
		if c.Type == TargetNotFound || c.Type == TargetUnsupported {
			found.Status, found.Reason, found.Message = resource.False, c.Type, c.Message
		}
	}
	ready := resource.Condition{Type: "Ready", Status: resource.True, Reason: "Planned"}
	status := map[string]any{
		"observedGeneration": object.GetGeneration(),
		"conditions":         resource.MergeConditions(object, append([]resource.Condition{ready, found}, resource.Qualified(o.Conditions)...), o.Now),
	}
	_, single, _ := unstructured.NestedMap(object.Object, "spec", "homogeneousTarget")
	if single && len(targets) == 1 {
		status["homogeneousStatus"] = targets[0]
	} else {
		status["heterogeneousStatus"] = targets
	}
	return status
}

// targetStatus is a TargetScalingStatus. The time of the last change stays until there is
// another.
func targetStatus(object *unstructured.Unstructured, o *resource.Outcome, j int) map[string]any {
	v := &o.Workload.Variants[j]
	status := map[string]any{
		"name":            v.Name,
		"currentReplicas": int64(v.CurrentReplicas),
		"desiredReplicas": int64(o.Plan.Variants[j].Total()),
	}
	if last := lastScaled(object, v.Name); last != "" {
		status["lastScaleTime"] = last
	}
	if _, scaled := o.Carried(j); scaled {
		status["lastScaleTime"] = o.Now.UTC().Format(time.RFC3339)
	}
	return status
}

// lastScaled is the time of the last change that a status has of a target.
func lastScaled(object *unstructured.Unstructured, name string) string {
	type scaled struct {
		Name          string `json:"name"`
		LastScaleTime string `json:"lastScaleTime"`
	}
	var p struct {
		Status struct {
			HomogeneousStatus   scaled   `json:"homogeneousStatus"`
			HeterogeneousStatus []scaled `json:"heterogeneousStatus"`
		} `json:"status"`
	}
	if runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, &p) != nil {
		return ""
	}
	for _, s := range append(p.Status.HeterogeneousStatus, p.Status.HomogeneousStatus) {
		if s.Name == name {
			return s.LastScaleTime
		}
	}
	return ""
}
