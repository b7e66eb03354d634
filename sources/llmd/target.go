package llmd

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/poolwright/poolwright/internal/resource"
)

// acceleratorLabel names the accelerator in use, on the object, its target or its pods.
const acceleratorLabel = "inference.optimization/acceleratorName"

// target is what is scaled.
type target struct {
	*unstructured.Unstructured
	resource.Scaled
	// accelerator in use.
	accelerator string
	// assumed: nothing tells what is in use.
	assumed bool
	// missing: there is no such object.
	missing bool
}

// target finds what is scaled for an object: what it names, or the topmost object above
// that which can be scaled. It may be missing.
func (s *survey) target(o *object) (*target, error) {
	r, err := namedTarget(o)
	if err != nil {
		return nil, err
	}
	if r.Name == "" {
		r = s.namesake(o)
	}
	r = resource.TopOwner(s.view, r, func(kind schema.GroupKind) bool { return slices.Contains(resource.ScaledKinds(), kind) })
	u, found := s.view.Get(r.GroupKind(), r.Namespace, r.Name)
	if !found {
		u = &unstructured.Unstructured{}
		u.SetGroupVersionKind(r.GroupVersionKind)
		u.SetNamespace(r.Namespace)
		u.SetName(r.Name)
		return &target{Unstructured: u, missing: true}, nil
	}
	scaled, err := resource.ReadScaled(u)
	if err != nil {
		return nil, fmt.Errorf("%v: %w", r, err)
	}
	return &target{Unstructured: u, Scaled: scaled}, nil
}

// namedTarget is what the scaleTargetRef of an object names, else its owner; nothing where
// it has neither.
func namedTarget(o *object) (resource.Reference, error) {
	if ref := o.spec.ScaleTargetRef; ref != nil {
		for _, kind := range resource.ScaledKinds() {
			if kind.Kind == ref.Kind {
				return reference(kind, o.GetNamespace(), ref.Name), nil
			}
		}
		return resource.Reference{}, fmt.Errorf("spec.scaleTargetRef.kind: %q is not one of Deployment, StatefulSet and LeaderWorkerSet", ref.Kind)
	}
	for _, owner := range o.GetOwnerReferences() {
		kind := schema.FromAPIVersionAndKind(owner.APIVersion, owner.Kind).GroupKind()
		if slices.Contains(resource.ScaledKinds(), kind) {
			return reference(kind, o.GetNamespace(), owner.Name), nil
		}
	}
	return resource.Reference{}, nil
}

// namesake is what has the same name as an object: a Deployment where nothing does.
func (s *survey) namesake(o *object) resource.Reference {
	for _, kind := range resource.ScaledKinds() {
		if _, ok := s.view.Get(kind, o.GetNamespace(), o.GetName()); ok {
			return reference(kind, o.GetNamespace(), o.GetName())
		}
	}
	return reference(resource.ScaledKinds()[0], o.GetNamespace(), o.GetName())
}

// reference to an object of one of the kinds that are scaled, all of which have a v1.
func reference(kind schema.GroupKind, namespace, name string) resource.Reference {
	return resource.Reference{GroupVersionKind: kind.WithVersion("v1"), Namespace: namespace, Name: name}
}

// selector selects one pod of each replica.
func (t *target) selector() labels.Selector {
	if t.Leaders != nil {
		return t.Leaders
	}
	fields, _, _ := unstructured.NestedMap(t.Object, "spec", "selector")
	var selector metav1.LabelSelector
	if runtime.DefaultUnstructuredConverter.FromUnstructured(fields, &selector) != nil {
		return labels.Nothing()
	}
	converted, err := metav1.LabelSelectorAsSelector(&selector)
	if err != nil {
		return labels.Nothing()
	}
	return converted
}

// findAccelerator finds out which accelerator a target is on. Labels say it, then what its
// pods ask for, then the nodes of those that serve. Where nothing does, as at no replicas,
// what the status had last counts, then the first profile.
func (s *survey) findAccelerator(o *object, t *target) {
	name := cmp.Or(o.GetLabels()[acceleratorLabel], t.GetLabels()[acceleratorLabel], t.Labels[acceleratorLabel], t.Product)
	if name == "" {
		t.Product = s.productOfPods(t)
		name = t.Product
	}
	switch {
	case name != "":
		t.accelerator = s.unitPrices(o.GetNamespace()).accelerator(name, o)
	case len(o.profiles) > 0:
		t.assumed = len(o.profiles) > 1 && !t.missing
		t.accelerator = o.profiles[0].accelerator
		last, _, _ := unstructured.NestedString(o.Object, "status", "currentAlloc", "accelerator")
		if slices.ContainsFunc(o.profiles, func(p profile) bool { return p.accelerator == last }) {
			t.accelerator = last
		}
	}
}

// productOfPods is what the nodes of most of the pods that serve have.
func (s *survey) productOfPods(t *target) string {
	count, selector := make(map[string]int), t.selector()
	for _, pod := range s.servingPods(t.GetNamespace()) {
		if !selector.Matches(labels.Set(pod.GetLabels())) {
			continue
		}
		name, _, _ := unstructured.NestedString(pod.Object, "spec", "nodeName")
		if node, ok := s.view.Get(nodeKind, "", name); ok {
			count[resource.Product(node.GetLabels())]++
		}
	}
	delete(count, "")
	most := ""
	for _, product := range slices.Sorted(maps.Keys(count)) {
		if count[product] > count[most] {
			most = product
		}
	}
	return most
}

func (s *survey) servingPods(namespace string) []*unstructured.Unstructured {
	if s.pods == nil {
		s.pods = make(map[string][]*unstructured.Unstructured)
		for _, pod := range s.view.List(podKind) {
			if serves(pod) {
				s.pods[pod.GetNamespace()] = append(s.pods[pod.GetNamespace()], pod)
			}
		}
	}
	return s.pods[namespace]
}

func serves(pod *unstructured.Unstructured) bool {
	conditions, _, _ := unstructured.NestedFieldNoCopy(pod.Object, "status", "conditions")
	list, _ := conditions.([]any)
	for _, entry := range list {
		c, _ := entry.(map[string]any)
		if c["type"] == "Ready" && c["status"] == "True" {
			return pod.GetDeletionTimestamp() == nil
		}
	}
	return false
}
