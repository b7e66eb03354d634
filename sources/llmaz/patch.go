package llmaz

import (
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/poolwright/poolwright/internal/resource"
)

// Patches returns what puts the conditions of the workload into the statuses of its
// objects, beside those of llmaz. An object that llmaz has not got to yet is left alone: it
// takes an object with conditions for one that it has begun with.
func (Reader) Patches(v resource.View, w *resource.Workload, o *resource.Outcome) []resource.Patch {
	conditions := resource.Qualified(o.Conditions)
	var patches []resource.Patch
	for i := range w.Declared {
		read := &w.Declared[i].Object
		object, ok := v.Get(read.GroupKind(), read.Namespace, read.Name)
		if !ok || object.GetUID() != read.UID || !isBegun(object) {
			continue
		}
		if p, changed := resource.ConditionsPatch(object, conditions, o.Now); changed {
			patches = append(patches, p)
		}
	}
	return patches
}

// isBegun tells whether llmaz has written a condition of its own.
func isBegun(object *unstructured.Unstructured) bool {
	conditions, _, _ := unstructured.NestedSlice(object.Object, "status", "conditions")
	for _, c := range conditions {
		if entry, ok := c.(map[string]any); ok {
			if kind, _ := entry["type"].(string); kind != "" && !strings.HasPrefix(kind, resource.ConditionDomain) {
				return true
			}
		}
	}
	return false
}
