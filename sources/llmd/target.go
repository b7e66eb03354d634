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
}

// target finds what is scaled for an object: what it names, or the topmost object above
// that which can be scaled.
func (s *survey) target(o *object) (*unstructured.Unstructured, error) {
	u, err := s.namedTarget(o)
	if err != nil {
		return nil, err
	}
	top := resource.TopOwner(s.view, resource.ReferenceTo(u), func(kind schema.GroupKind) bool {
		return slices.Contains(resource.ScaledKinds(), kind)
	})
	u, _ = s.view.Get(top.GroupKind(), top.Namespace, top.Name)
	return u, nil
}

// namedTarget is what the scaleTargetRef of an object names, else its owner, else what has
// the same name.
func (s *survey) namedTarget(o *object) (*unstructured.Unstructured, error) {
	if ref := o.spec.ScaleTargetRef; ref != nil {
		return s.named(o.GetNamespace(), ref.Kind, ref.Name)
	}
	for _, owner := range o.GetOwnerReferences() {
		if slices.Contains(resource.ScaledKinds(), schema.FromAPIVersionAndKind(owner.APIVersion, owner.Kind).GroupKind()) {
			return s.named(o.GetNamespace(), owner.Kind, owner.Name)
		}
	}
	for _, kind := range resource.ScaledKinds() {
		if u, ok := s.view.Get(kind, o.GetNamespace(), o.GetName()); ok {
			return u, nil
		}
	}
	return nil, fmt.Errorf("no Deployment, StatefulSet or LeaderWorkerSet owns it or is named %q", o.GetName())
}

func (s *survey) named(namespace, kindName, name string) (*unstructured.Unstructured, error) {
	for _, kind := range resource.ScaledKinds() {
		if kind.Kind != kindName {
			continue
		}
		u, ok := s.view.Get(kind, namespace, name)
		if !ok {
			return nil, fmt.Errorf("there is no %s %q", kindName, name)
		}
		return u, nil
	}
	return nil, fmt.Errorf("%q is no kind of target that is known", kindName)
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
		t.assumed = len(o.profiles) > 1
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
