package resource

import (
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
)

// backend is what requests are sent to: pods of a namespace that have some labels.
type backend struct {
	namespace string
	labels    labels.Set
	selector  labels.Selector
}

// backendOf is the one that a route in a namespace refers to; false if it selects no pods.
func backendOf(v View, of any, namespace string) (backend, bool) {
	ref, _ := of.(map[string]any)
	kind := serviceKind
	if group, ok := ref["group"].(string); ok {
		kind.Group = group
	}
	if k, ok := ref["kind"].(string); ok {
		kind.Kind = k
	}
	if ns, ok := ref["namespace"].(string); ok {
		namespace = ns
	}
	name, _ := ref["name"].(string)
	object, ok := v.Get(kind, namespace, name)
	if !ok {
		return backend{}, false
	}
	path := []string{"spec", "selector"}
	if kind != serviceKind {
		if _, nested, _ := unstructured.NestedMap(object.Object, "spec", "selector", "matchLabels"); nested {
			path = append(path, "matchLabels")
		}
	}
	matching, _, err := unstructured.NestedStringMap(object.Object, path...)
	return backend{namespace, matching, labels.SelectorFromSet(matching)}, err == nil && len(matching) > 0
}

// podTargets are the targets whose pods have some labels.
type podTargets struct {
	pods    labels.Set
	targets []objectName
}

// podLabel is a label of pods in a namespace.
type podLabel struct{ namespace, key, value string }

// targetIndex finds targets by each label of their pods.
type targetIndex map[podLabel][]*podTargets

func (x targetIndex) add(namespace string, t *podTargets) {
	for key, value := range t.pods {
		label := podLabel{namespace, key, value}
		x[label] = append(x[label], t)
	}
}

// behind are the targets whose pods a backend selects.
func (x targetIndex) behind(b backend) []objectName {
	var fewest []*podTargets
	first := true
	for key, value := range b.labels {
		if some := x[podLabel{b.namespace, key, value}]; first || len(some) < len(fewest) {
			fewest, first = some, false
		}
	}
	var all []objectName
	for _, t := range fewest {
		if b.selector.Matches(t.pods) {
			all = append(all, t.targets...)
		}
	}
	return all
}
