package cluster

import (
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// lastApplied is a copy of the whole object that kubectl leaves in an annotation.
const lastApplied = "kubectl.kubernetes.io/last-applied-configuration"

// fields are those to keep of an object: a leaf is kept whole, and so is what is below it.
// Of lists, each element is cut.
type fields map[string]fields

// podFields and the like are what is kept of objects of which there are many.
func podFields() fields {
	container := fields{"name": nil, "ports": nil, "resources": nil, "restartPolicy": nil}
	condition := fields{"type": nil, "status": nil, "lastTransitionTime": nil}
	return fields{
		"apiVersion": nil, "kind": nil, "metadata": nil,
		"spec": {
			"affinity": {"nodeAffinity": nil}, "containers": container, "initContainers": container,
			"nodeName": nil, "nodeSelector": nil,
		},
		"status": {
			"conditions": condition, "containerStatuses": {"name": nil, "restartCount": nil, "state": {"running": nil}},
			"phase": nil, "podIP": nil, "startTime": nil,
		},
	}
}

func nodeFields() fields {
	return fields{
		"apiVersion": nil, "kind": nil, "metadata": nil,
		"spec": {"taints": nil, "unschedulable": nil},
		"status": {
			"allocatable": nil, "capacity": nil,
			"conditions": {"type": nil, "status": nil, "lastTransitionTime": nil},
		},
	}
}

// childFields are of objects that another controls: their templates are copies of its.
func childFields() fields {
	return fields{"apiVersion": nil, "kind": nil, "metadata": nil, "spec": {"replicas": nil, "selector": nil}, "status": nil}
}

// trim takes out of an object what nobody reads, which is most of it. It may be given what
// it returned.
func trim(object any) (any, error) {
	u, ok := object.(*unstructured.Unstructured)
	if !ok {
		return nil, fmt.Errorf("cluster: a %T is no object", object)
	}
	trimMetadata(u)
	switch u.GroupVersionKind().GroupKind() {
	case podKind:
		u.Object = keep(u.Object, podFields())
	case nodeKind:
		u.Object = keep(u.Object, nodeFields())
	case configMapKind:
		u.Object = keep(u.Object, fields{"apiVersion": nil, "kind": nil, "metadata": nil, "data": nil})
		trimData(u.Object)
	case replicaSetKind, statefulSetKind:
		if controlled(u) {
			u.Object = keep(u.Object, childFields())
		}
	}
	return u, nil
}

// longestValue is what is kept of ConfigMaps, in bytes: what is read of them is short.
const longestValue = 64 << 10

// trimData drops the long values of a ConfigMap.
func trimData(object map[string]any) {
	data, _ := object["data"].(map[string]any)
	for key, value := range data {
		if text, ok := value.(string); !ok || len(text) > longestValue {
			delete(data, key)
		}
	}
}

// controlled tells whether another object manages this one.
func controlled(u *unstructured.Unstructured) bool {
	for _, owner := range u.GetOwnerReferences() {
		if owner.Controller != nil && *owner.Controller {
			return true
		}
	}
	return false
}

// trimMetadata keeps of the managers of fields those alone that scale, who are looked for.
func trimMetadata(u *unstructured.Unstructured) {
	metadata, _ := u.Object["metadata"].(map[string]any)
	if annotations, ok := metadata["annotations"].(map[string]any); ok {
		delete(annotations, lastApplied)
	}
	managers, _ := metadata["managedFields"].([]any)
	var scaling []any
	for i := range managers {
		if m, ok := managers[i].(map[string]any); ok && m["subresource"] == "scale" {
			scaling = append(scaling, m)
		}
	}
	if scaling == nil {
		delete(metadata, "managedFields")
	} else {
		metadata["managedFields"] = scaling
	}
}

// keep copies some fields.
func keep(object map[string]any, some fields) map[string]any {
	kept := make(map[string]any, len(some))
	for name, below := range some {
		value, ok := object[name]
		if !ok {
			continue
		}
		kept[name] = keepValue(value, below)
	}
	return kept
}

func keepValue(value any, some fields) any {
	if some == nil {
		return value
	}
	switch v := value.(type) {
	case map[string]any:
		return keep(v, some)
	case []any:
		kept := make([]any, len(v))
		for i := range v {
			kept[i] = keepValue(v[i], some)
		}
		return kept
	}
	return value
}
