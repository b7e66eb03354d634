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

// RouteKinds are the kinds that [Routes] look at beside the [ScaledKinds].
func RouteKinds() []schema.GroupKind {
	return []schema.GroupKind{routeKind, serviceKind, poolKind, oldPoolKind}
}

// Routes are the HTTPRoutes of a view with the annotation [WeightsAnnotation]: those whose
// weights may be written.
type Routes struct {
	view View
	// routes are in the order of the view, and of are the places among them of those that lead to
	// pods of a target.
	routes []*unstructured.Unstructured
	of     map[objectName][]int
	// pods are the labels of the pods of targets.
	pods map[objectName]labels.Set
}

// NewRoutes finds the routes of a view.
func NewRoutes(v View) *Routes {
	r := &Routes{view: v, of: make(map[objectName][]int), pods: make(map[objectName]labels.Set)}
	for _, route := range v.List(routeKind) {
		asked, _, _ := unstructured.NestedFieldNoCopy(route.Object, "metadata", "annotations", WeightsAnnotation)
		if asked == "true" {
			r.routes = append(r.routes, route)
		}
	}
	if len(r.routes) == 0 {
		return r
	}
	var found [][]backend
	namespaces := make(map[string]bool)
	for _, route := range r.routes {
		backends := backendsOf(v, route)
		for _, b := range backends {
			namespaces[b.namespace] = true
		}
		found = append(found, backends)
	}
	targets := r.readTargets(namespaces)
	for i, backends := range found {
		for _, b := range backends {
			for _, target := range targets.behind(b) {
				if places := r.of[target]; len(places) == 0 || places[len(places)-1] != i {
					r.of[target] = append(places, i)
				}
			}
		}
	}
	return r
}

// backendsOf are those backends of all rules of a route that select pods.
func backendsOf(v View, route *unstructured.Unstructured) []backend {
	var all []backend
	for _, rule := range rulesOf(route) {
		for _, ref := range refsOf(rule) {
			if b, ok := backendOf(v, ref, route.GetNamespace()); ok {
				all = append(all, b)
			}
		}
	}
	return all
}

// readTargets reads the pods of all that is scaled in some namespaces. They are those of what
// controls it, too.
func (r *Routes) readTargets(namespaces map[string]bool) targetIndex {
	index := make(targetIndex)
	for _, kind := range ScaledKinds() {
		for _, object := range r.view.List(kind) {
			if !namespaces[object.GetNamespace()] {
				continue
			}
			scaled, err := ReadScaled(object)
			if err != nil {
				continue // whoever reads workloads complains of it
			}
			t := &podTargets{pods: scaled.Labels}
			for _, of := range Lineage(r.view, ReferenceTo(object)) {
				name := of.objectName()
				t.targets = append(t.targets, name)
				if r.pods[name] == nil {
					r.pods[name] = scaled.Labels
				}
			}
			index.add(object.GetNamespace(), t)
		}
	}
	return index
}

// Patches return what gives the backends of the routes weights in proportion to the rates that
// the ready replicas of a workload behind them sustain. A backend is a Service or an
// InferencePool whose selector selects the pods of variants. A rule with a backend that has none
// of them, or behind which nothing is ready at all, keeps its weights, and so do all of a
// workload that is not [Workload.Weighed].
func (r *Routes) Patches(w *Workload, o *Outcome) []Patch {
	if len(r.routes) == 0 || !w.Weighed() {
		return nil
	}
	s := shares{routes: r, workload: w, outcome: o, pods: make([]labels.Set, len(w.Declared))}
	var places []int
	for j := range w.Declared {
		if target := w.Declared[j].Target.objectName(); target.namespace == w.Namespace {
			s.pods[j] = r.pods[target]
			places = append(places, r.of[target]...)
		}
	}
	slices.Sort(places)
	var patches []Patch
	for _, i := range slices.Compact(places) {
		route := r.routes[i]
		if rules := s.weigh(route); rules != nil {
			patches = append(patches, Patch{
				Object: ReferenceTo(route), ResourceVersion: route.GetResourceVersion(),
				Merge: map[string]any{"spec": map[string]any{"rules": rules}},
			})
		}
	}
	return patches
}

// shares are those of the backends in the requests of a workload.
type shares struct {
	routes   *Routes
	workload *Workload
	outcome  *Outcome
	// pods are the labels of the pods of each declared variant; nil where they are not known.
	pods []labels.Set
}

// weigh returns the rules of a route with weights, all of them, as a merge patch has lists as a
// whole; nil where they are as they should be.
func (s *shares) weigh(route *unstructured.Unstructured) []any {
	var rules []any
	old := rulesOf(route)
	for i := range old {
		refs := refsOf(old[i])
		for k, weight := range Weights(s.rates(refs, route.GetNamespace())) {
			if had, ok := refs[k].(map[string]any)["weight"].(int64); ok && had == weight {
				continue
			}
			if rules == nil {
				rules = runtime.DeepCopyJSONValue(old).([]any)
			}
			refsOf(rules[i])[k].(map[string]any)["weight"] = weight
		}
	}
	return rules
}

// rulesOf are the rules of a route, and refsOf the backends of a rule.
func rulesOf(route *unstructured.Unstructured) []any {
	rules, _, _ := unstructured.NestedFieldNoCopy(route.Object, "spec", "rules")
	list, _ := rules.([]any)
	return list
}

func refsOf(rule any) []any {
	fields, _ := rule.(map[string]any)
	refs, _ := fields["backendRefs"].([]any)
	return refs
}

// rates are those that the ready replicas behind each backend sustain; nil unless the
// workload is behind all of them.
func (s *shares) rates(refs []any, namespace string) []float64 {
	rates := make([]float64, len(refs))
	for k := range refs {
		b, ok := backendOf(s.routes.view, refs[k], namespace)
		if !ok || b.namespace != s.workload.Namespace {
			return nil
		}
		known := false
		for j, pods := range s.pods {
			if pods != nil && b.selector.Matches(pods) {
				known = true
				rates[k] += s.rate(j)
			}
		}
		if !known {
			return nil
		}
	}
	return rates
}

// rate is what the ready replicas of a variant sustain.
func (s *shares) rate(j int) float64 {
	name := s.workload.Declared[j].Name
	i := slices.IndexFunc(s.outcome.Workload.Variants, func(v planner.Variant) bool { return v.Name == name })
	if i < 0 || i >= len(s.outcome.Ready) {
		return 0
	}
	return s.outcome.Sustained(i)
}
