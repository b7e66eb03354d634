package resource

import (
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/poolwright/poolwright/planner"
)

// Kinds of the Gateway API, and of the backends of its routes.
var (
	routeKind   = schema.GroupKind{Group: "gateway.networking.k8s.io", Kind: "HTTPRoute"}
	serviceKind = schema.GroupKind{Kind: "Service"}
	poolKind    = schema.GroupKind{Group: "inference.networking.k8s.io", Kind: "InferencePool"}
	oldPoolKind = schema.GroupKind{Group: "inference.networking.x-k8s.io", Kind: "InferencePool"}
)

// RouteKinds are the kinds that [RoutePatches] looks at beside the [ScaledKinds].
func RouteKinds() []schema.GroupKind {
	return []schema.GroupKind{routeKind, serviceKind, poolKind, oldPoolKind}
}

// RoutePatches returns what gives the backends of HTTPRoutes with the annotation
// [WeightsAnnotation] weights in proportion to the rates that the ready replicas of a
// workload behind them sustain. A backend is a Service or an InferencePool whose selector
// selects the pods of variants. A rule with a backend that has none of them, or behind
// which nothing is ready at all, keeps its weights, and so do all of a workload that is not
// [Workload.Weighed].
func RoutePatches(v View, w *Workload, o *Outcome) []Patch {
	if !w.Weighed() {
		return nil
	}
	var patches []Patch
	b := backends{view: v, workload: w, outcome: o}
	for _, route := range v.List(routeKind) {
		if route.GetAnnotations()[WeightsAnnotation] != "true" {
			continue
		}
		if rules, changed := b.weigh(route); changed {
			patches = append(patches, Patch{
				Object: ReferenceTo(route), ResourceVersion: route.GetResourceVersion(),
				Merge: map[string]any{"spec": map[string]any{"rules": rules}},
			})
		}
	}
	return patches
}

// backends of a workload.
type backends struct {
	view     View
	workload *Workload
	outcome  *Outcome
	// pods are the labels of the pods of each variant, once they were asked for.
	pods []labels.Set
}

// weigh returns the rules of a route with weights, all of them: a merge patch has lists as
// a whole.
func (b *backends) weigh(route *unstructured.Unstructured) (rules []any, changed bool) {
	read, _, _ := unstructured.NestedFieldNoCopy(route.Object, "spec", "rules")
	old, _ := read.([]any)
	rules = runtime.DeepCopyJSONValue(old).([]any)
	for i := range rules {
		rule, _ := rules[i].(map[string]any)
		refs, _ := rule["backendRefs"].([]any)
		rates := b.rates(refs, route.GetNamespace())
		if rates == nil {
			continue
		}
		for k, weight := range Weights(rates) {
			ref := refs[k].(map[string]any)
			if had, ok := ref["weight"].(int64); !ok || had != weight {
				ref["weight"], changed = weight, true
			}
		}
	}
	return rules, changed
}

// rates are those that the ready replicas behind each backend sustain; nil unless the
// workload is behind all of them.
func (b *backends) rates(refs []any, namespace string) []float64 {
	rates := make([]float64, len(refs))
	for k := range refs {
		ref, _ := refs[k].(map[string]any)
		selector, ok := b.selector(ref, namespace)
		if !ok {
			return nil
		}
		known := false
		for j, pods := range b.variantPods() {
			if pods != nil && selector.Matches(pods) {
				known = true
				rates[k] += b.rate(j)
			}
		}
		if !known {
			return nil
		}
	}
	return rates
}

// rate is what the ready replicas of a variant sustain.
func (b *backends) rate(j int) float64 {
	name := b.workload.Declared[j].Name
	i := slices.IndexFunc(b.outcome.Workload.Variants, func(v planner.Variant) bool { return v.Name == name })
	if i < 0 || i >= len(b.outcome.Ready) {
		return 0
	}
	return b.outcome.Sustained(i)
}

// selector of a backend in the namespace of the workload; false if it has none.
func (b *backends) selector(ref map[string]any, namespace string) (labels.Selector, bool) {
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
	object, ok := b.view.Get(kind, namespace, name)
	if !ok || namespace != b.workload.Namespace {
		return nil, false
	}
	path := []string{"spec", "selector"}
	if kind != serviceKind {
		if _, nested, _ := unstructured.NestedMap(object.Object, "spec", "selector", "matchLabels"); nested {
			path = append(path, "matchLabels")
		}
	}
	matching, _, err := unstructured.NestedStringMap(object.Object, path...)
	return labels.SelectorFromSet(matching), err == nil && len(matching) > 0
}

// variantPods are the labels of the pods of each declared variant; nil where they are not
// known.
func (b *backends) variantPods() []labels.Set {
	if b.pods != nil {
		return b.pods
	}
	b.pods = make([]labels.Set, len(b.workload.Declared))
	for _, kind := range ScaledKinds() {
		for _, object := range b.view.List(kind) {
			if object.GetNamespace() != b.workload.Namespace {
				continue
			}
			scaled, err := ReadScaled(object)
			if err != nil {
				continue // whoever reads workloads complains of it
			}
			lineage := Lineage(b.view, ReferenceTo(object))
			for j := range b.workload.Declared {
				target := b.workload.Declared[j].Target.objectName()
				if b.pods[j] == nil && slices.ContainsFunc(lineage, func(r Reference) bool { return r.objectName() == target }) {
					b.pods[j] = labels.Set(scaled.Labels)
				}
			}
		}
	}
	return b.pods
}
