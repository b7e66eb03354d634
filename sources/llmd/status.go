package llmd

import (
	"cmp"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/poolwright/poolwright/internal/resource"
)

// refresh is the time after which a status is written again although nothing has changed:
// lastRunTime tells that somebody is at it.
const refresh = 5 * time.Minute

// leastName is the length of the shortest name of an accelerator that the API takes in
// desiredOptimizedAlloc.
const leastName = 2

// Patches returns the status of each object of a workload that has changed in anything but
// lastRunTime, or was written five minutes ago. Noise is no change: see [same].
func (r *Reader) Patches(v resource.View, w *resource.Workload, o *resource.Outcome) []resource.Patch {
	var patches []resource.Patch
	for _, a := range allocations(w, o) {
		_, found := v.Get(a.target.GroupKind(), a.target.Namespace, a.target.Name)
		a.missing = !found
		u, ok := v.Get(autoscalingKind, a.object.Namespace, a.object.Name)
		if !ok || u.GetUID() != a.object.UID {
			continue
		}
		status := r.status(u, a, o)
		if !due(u, status, o.Now) {
			continue
		}
		patches = append(patches, resource.Patch{
			Object: resource.ReferenceTo(u), ResourceVersion: u.GetResourceVersion(),
			Subresource: "status", Merge: map[string]any{"status": status},
		})
	}
	return patches
}

// status is what is to be written, with a new lastRunTime.
func (r *Reader) status(u *unstructured.Unstructured, a *allocation, o *resource.Outcome) map[string]any {
	wanted := a.wanted(o, u)
	status := map[string]any{
		"actuation":  map[string]any{"applied": a.applied(o, &wanted)},
		"conditions": resource.MergeConditions(u, a.conditions(o, &wanted), o.Now),
	}
	if len(wanted.accelerator) >= leastName {
		status["desiredOptimizedAlloc"] = map[string]any{
			"accelerator": wanted.accelerator, "numReplicas": int64(wanted.replicas),
			"lastRunTime": o.Now.UTC().Format(time.RFC3339),
		}
	}
	if object, err := decode(u); err == nil && len(object.profiles) > 0 {
		status["currentAlloc"] = r.currentAlloc(object, a, o)
	}
	return status
}

// due tells whether a status is to be written. What the last writing did not leave behind
// is not in the API of this cluster, whose first shape has no conditions.
func due(u *unstructured.Unstructured, status map[string]any, now time.Time) bool {
	old, _, _ := unstructured.NestedMap(u.Object, "status")
	text, _, _ := unstructured.NestedString(old, "desiredOptimizedAlloc", "lastRunTime")
	last, err := time.Parse(time.RFC3339, text)
	written := err == nil
	if written && now.Sub(last).Abs() >= refresh {
		return true
	}
	for field, value := range status {
		before, ok := old[field]
		if (ok || !written) && !holds(before, value) {
			return true
		}
	}
	return false
}

// holds tells whether a value has all that is to be written, but for lastRunTime.
func holds(before, value any) bool {
	switch v := value.(type) {
	case map[string]any:
		existing, _ := before.(map[string]any)
		for name, inner := range v {
			if name != "lastRunTime" && !same(name, existing[name], inner) {
				return false
			}
		}
		return true
	case []any:
		existing, _ := before.([]any)
		return slices.EqualFunc(existing, v, holds)
	}
	return reflect.DeepEqual(before, value)
}

// noise is the relative change of what is measured from which on it is one. Demand that
// comes by chance varies as much from minute to minute, and a status for each object in
// each cycle would be more than an API server wants.
const noise = 0.05

// same tells whether a field has what is to be written, or nearly so: measured values may
// differ by noise, and messages in their numbers.
func same(name string, before, value any) bool {
	switch name {
	case "arrivalRate", "avgLength", "avgInputTokens", "avgOutputTokens", "itlAverage", "ttftAverage", "waitAverage":
		return near(fmt.Sprint(before), fmt.Sprint(value))
	case "message":
		return resource.SameMessage(fmt.Sprint(before), fmt.Sprint(value))
	}
	return holds(before, value)
}

func near(before, value string) bool {
	x, err := strconv.ParseFloat(before, 64)
	y, err2 := strconv.ParseFloat(value, 64)
	return err == nil && err2 == nil && math.Abs(y-x) <= noise*x
}

// currentAlloc is what the object uses now. What was not measured in this cycle stays as
// it was last; without a last value it is 0.00, since the API knows no word for it.
func (r *Reader) currentAlloc(object *object, a *allocation, o *resource.Outcome) map[string]any {
	use := &o.Workload.Variants[a.inUse]
	last, _, _ := unstructured.NestedMap(object.Object, "status", "currentAlloc")
	lastLoad, _, _ := unstructured.NestedMap(last, "load")
	decimals := func(in map[string]any, field string, value float64, known bool) string {
		before, _ := in[field].(string)
		if !known {
			return cmp.Or(before, "0.00")
		}
		return strconv.FormatFloat(value, 'f', 2, 64)
	}
	m := a.measured(o)
	load := map[string]any{
		"arrivalRate": decimals(lastLoad, "arrivalRate", m.rate.Value*secondsPerMinute, m.rate.Known),
	}
	alloc := map[string]any{
		"accelerator": a.name(o, a.inUse),
		"numReplicas": int64(use.CurrentReplicas),
		"maxBatch":    int64(0),
		"variantCost": decimals(last, "variantCost", float64(use.CurrentReplicas)*replicaPrice(o.Fleet, use)*r.config.CostUnits, true),
		"itlAverage":  decimals(last, "itlAverage", m.itl.Value*millisecondsPerSecond, m.itl.Known),
		"load":        load,
	}
	if use.Replica != nil {
		alloc["maxBatch"] = int64(use.Replica.MaxBatch)
	}
	if object.hasPrefill() {
		alloc["ttftAverage"] = decimals(last, "ttftAverage", m.ttft.Value*millisecondsPerSecond, m.ttft.Known)
		load["avgInputTokens"] = decimals(lastLoad, "avgInputTokens", m.input.Value, m.input.Known)
		load["avgOutputTokens"] = decimals(lastLoad, "avgOutputTokens", m.output.Value, m.output.Known)
	} else {
		alloc["waitAverage"] = decimals(last, "waitAverage", m.wait.Value*millisecondsPerSecond, m.wait.Known)
		load["avgLength"] = decimals(lastLoad, "avgLength", m.output.Value, m.output.Known)
	}
	return alloc
}
