package llmd

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/poolwright/poolwright/internal/resource"
)

// acceleratorLabel names the accelerator in use, on the object, its target or its pods.
const acceleratorLabel = "inference.optimization/acceleratorName"

// targetKind is a kind whose replicas are those of a variant.
type targetKind struct {
	schema.GroupKind
	// templates are where the pod template may be.
	templates [][]string
}

// targetKinds are in the order in which objects of the same name are looked for.
func targetKinds() []targetKind {
	return []targetKind{
		{schema.GroupKind{Group: "apps", Kind: "Deployment"}, [][]string{{"spec", "template"}}},
		{leaderWorkerSetKind, [][]string{
			{"spec", "leaderWorkerTemplate", "leaderTemplate"}, {"spec", "leaderWorkerTemplate", "workerTemplate"},
		}},
		{schema.GroupKind{Group: "apps", Kind: "StatefulSet"}, [][]string{{"spec", "template"}}},
	}
}

var leaderWorkerSetKind = schema.GroupKind{Group: "leaderworkerset.x-k8s.io", Kind: "LeaderWorkerSet"}

// Labels of the pods of a LeaderWorkerSet.
const (
	leaderWorkerSetLabel = "leaderworkerset.sigs.k8s.io/name"
	workerIndexLabel     = "leaderworkerset.sigs.k8s.io/worker-index"
)

// target is what is scaled.
type target struct {
	*unstructured.Unstructured
	kind targetKind
	// accelerator in use.
	accelerator string
	// assumed: nothing tells what is in use.
	assumed bool
}

// target finds what an object scales: what its scaleTargetRef names, else its owner, else
// what has the same name.
func (s *survey) target(o *object) (*target, error) {
	if ref := o.spec.ScaleTargetRef; ref != nil {
		return s.named(o.GetNamespace(), ref.Kind, ref.Name)
	}
	for _, owner := range o.GetOwnerReferences() {
		for _, kind := range targetKinds() {
			if schema.FromAPIVersionAndKind(owner.APIVersion, owner.Kind).GroupKind() == kind.GroupKind {
				return s.named(o.GetNamespace(), owner.Kind, owner.Name)
			}
		}
	}
	for _, kind := range targetKinds() {
		if u, ok := s.view.Get(kind.GroupKind, o.GetNamespace(), o.GetName()); ok {
			return &target{Unstructured: u, kind: kind}, nil
		}
	}
	return nil, fmt.Errorf("no Deployment, LeaderWorkerSet or StatefulSet owns it or is named %q", o.GetName())
}

func (s *survey) named(namespace, kindName, name string) (*target, error) {
	for _, kind := range targetKinds() {
		if kind.Kind != kindName {
			continue
		}
		u, ok := s.view.Get(kind.GroupKind, namespace, name)
		if !ok {
			return nil, fmt.Errorf("there is no %s %q", kindName, name)
		}
		return &target{Unstructured: u, kind: kind}, nil
	}
	return nil, fmt.Errorf("%q is no kind of target that is known", kindName)
}

// replicas are those asked for; 1 where that is left to the API server.
func (t *target) replicas() int {
	n, ok, err := unstructured.NestedInt64(t.Object, "spec", "replicas")
	if !ok || err != nil {
		return 1
	}
	return int(max(0, min(n, mostReplicas)))
}

// template is the pod template, that of leaders where they have one.
func (t *target) template() (*corev1.PodTemplateSpec, bool) {
	for _, path := range t.kind.templates {
		m, ok, err := unstructured.NestedFieldNoCopy(t.Object, path...)
		if !ok || err != nil {
			continue
		}
		fields, isMap := m.(map[string]any)
		var template corev1.PodTemplateSpec
		if isMap && runtime.DefaultUnstructuredConverter.FromUnstructured(fields, &template) == nil {
			return &template, true
		}
	}
	return nil, false
}

// leaders select one pod of each replica; nil = the target's own selector does.
func (t *target) leaders() labels.Selector {
	if t.kind.GroupKind != leaderWorkerSetKind {
		return nil
	}
	return labels.SelectorFromSet(labels.Set{leaderWorkerSetLabel: t.GetName(), workerIndexLabel: "0"})
}

func (t *target) selector() labels.Selector {
	if leaders := t.leaders(); leaders != nil {
		return leaders
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
	name := cmp.Or(o.GetLabels()[acceleratorLabel], t.GetLabels()[acceleratorLabel])
	if name == "" {
		if template, ok := t.template(); ok {
			name = cmp.Or(template.Labels[acceleratorLabel], resource.SelectedProduct(&template.Spec))
		}
	}
	if name == "" {
		name = s.productOfPods(t)
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
