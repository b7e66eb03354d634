package resource

import (
	"encoding/json"
	"net"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// FieldManager is the name under which the fields that Poolwright writes are owned. It is
// the same for every process of an installation: a leader takes over what the last one wrote.
const FieldManager = "poolwright"

// Kinds of autoscalers that are looked for.
var (
	hpaKind          = schema.GroupKind{Group: "autoscaling", Kind: "HorizontalPodAutoscaler"}
	scaledObjectKind = schema.GroupKind{Group: "keda.sh", Kind: "ScaledObject"}
	bindingKind      = schema.GroupKind{Group: "workload.serving.volcano.sh", Kind: "AutoscalingPolicyBinding"}
	policyKind       = schema.GroupKind{Group: "workload.serving.volcano.sh", Kind: "AutoscalingPolicy"}
)

// OwnershipKinds are the kinds that [NewOwnership] looks at, beside those of the targets
// and of what lies between a target and its pods.
func OwnershipKinds() []schema.GroupKind {
	return []schema.GroupKind{hpaKind, scaledObjectKind, bindingKind, policyKind}
}

// Self is how this installation is known to others.
type Self struct {
	// FieldManager as others see it; empty = [FieldManager].
	FieldManager string
	// ScalerHosts are the hosts under which KEDA reaches our external scaler: the name
	// of the service, alone or with what follows it.
	ScalerHosts []string
}

// Ownership knows who else scales the objects of a cluster.
type Ownership struct {
	view View
	self Self
	// scaled are the autoscalers of exactly an object, within those of it or of anything
	// that it controls.
	scaled, within map[objectName][]Reference
	// asking are the objects that KEDA scales as we say.
	asking map[objectName]bool
}

// objectName names an object whatever its version.
type objectName struct {
	schema.GroupKind
	namespace, name string
}

func (r Reference) objectName() objectName {
	return objectName{r.GroupKind(), r.Namespace, r.Name}
}

// NewOwnership finds the autoscalers of a cluster: HorizontalPodAutoscalers, KEDA's
// ScaledObjects and Kthena's bindings. A ScaledObject all of whose
// triggers ask this installation, and the HorizontalPodAutoscaler that it made, are none.
func NewOwnership(v View, self Self) *Ownership {
	if self.FieldManager == "" {
		self.FieldManager = FieldManager
	}
	o := &Ownership{view: v, self: self, scaled: make(map[objectName][]Reference), within: make(map[objectName][]Reference), asking: make(map[objectName]bool)}
	for _, hpa := range v.List(hpaKind) {
		if !o.madeByOurs(hpa) {
			o.add(hpa, targetOf(hpa, "scaleTargetRef", schema.GroupVersionKind{}))
		}
	}
	for _, scaled := range v.List(scaledObjectKind) {
		target := targetOf(scaled, "scaleTargetRef", schema.GroupVersionKind{Group: "apps", Version: "v1", Kind: "Deployment"})
		if o.asksUs(scaled) {
			o.asking[target.objectName()] = true
		} else {
			o.add(scaled, target)
		}
	}
	for _, kind := range []schema.GroupKind{bindingKind, policyKind} {
		for _, binding := range v.List(kind) {
			for _, target := range bindingTargets(binding) {
				o.add(binding, target)
			}
		}
	}
	return o
}

// add enters an autoscaler of a target.
func (o *Ownership) add(autoscaler *unstructured.Unstructured, target Reference) {
	if target.Name == "" {
		return
	}
	by := ReferenceTo(autoscaler)
	o.scaled[target.objectName()] = append(o.scaled[target.objectName()], by)
	for _, r := range Lineage(o.view, target) {
		o.within[r.objectName()] = append(o.within[r.objectName()], by)
	}
}

// Owners returns in words who else scales a target, anything that it controls or anything
// that controls it, in a stable order; none = nobody. The object that declares the
// workload, which asks us to scale, is left out, and so is a binding that Kthena made of it.
func (o *Ownership) Owners(target, declared Reference) []string {
	var owners []Reference
	add := func(found []Reference) {
		for _, by := range found {
			if !o.madeOf(by, declared) && !slices.Contains(owners, by) {
				owners = append(owners, by)
			}
		}
	}
	add(o.within[target.objectName()])
	for _, ancestor := range Lineage(o.view, target)[1:] {
		add(o.scaled[ancestor.objectName()])
	}
	slices.SortFunc(owners, Reference.Compare)
	var words []string
	for _, r := range owners {
		words = append(words, r.String())
	}
	if writer := o.writer(target); writer != "" {
		words = append(words, writer)
	}
	return words
}

// madeOf tells whether an autoscaler is the object that declares a workload, or says the
// same in the form of a binding that it controls.
func (o *Ownership) madeOf(by, declared Reference) bool {
	if by.GroupKind() != bindingKind {
		return by.objectName() == declared.objectName()
	}
	return slices.ContainsFunc(Lineage(o.view, by), func(r Reference) bool { return r.objectName() == declared.objectName() })
}

// Delegated tells whether KEDA scales a target as we say, so that whoever wrote its scale as
// well would be set back to the decision before.
func (o *Ownership) Delegated(target Reference) bool { return o.asking[target.objectName()] }

// Lineage is an object, what controls it, and so on to the top. What the view does not have
// ends it.
func Lineage(v View, r Reference) []Reference {
	lineage := []Reference{r}
	for range mostGenerations {
		object, ok := v.Get(r.GroupKind(), r.Namespace, r.Name)
		if !ok {
			break
		}
		controller, ok := controllerOf(object)
		if !ok {
			break
		}
		r = controller
		lineage = append(lineage, r)
	}
	return lineage
}

// mostGenerations ends walks along owner references that run in circles.
const mostGenerations = 16

func controllerOf(object *unstructured.Unstructured) (Reference, bool) {
	for _, o := range object.GetOwnerReferences() {
		if o.Controller != nil && *o.Controller {
			return Reference{
				GroupVersionKind: schema.FromAPIVersionAndKind(o.APIVersion, o.Kind),
				Namespace:        object.GetNamespace(), Name: o.Name, UID: o.UID,
			}, true
		}
	}
	return Reference{}, false
}

// TopOwner is the highest object in the lineage of a target whose kind can be scaled, as it
// is in the view: what is written to those below it would be reverted. It is the target
// itself where none is higher.
func TopOwner(v View, target Reference, scalable func(schema.GroupKind) bool) Reference {
	top := target
	for _, r := range Lineage(v, target) {
		object, ok := v.Get(r.GroupKind(), r.Namespace, r.Name)
		if ok && scalable(r.GroupKind()) && (r.UID == "" || r.UID == object.GetUID()) {
			top = ReferenceTo(object)
		}
	}
	return top
}

// targetOf reads a reference to a target out of the spec of an autoscaler.
func targetOf(object *unstructured.Unstructured, field string, kind schema.GroupVersionKind) Reference {
	ref, _, _ := unstructured.NestedMap(object.Object, "spec", field)
	return referenceIn(ref, object.GetNamespace(), kind)
}

func referenceIn(ref map[string]any, namespace string, kind schema.GroupVersionKind) Reference {
	r := Reference{GroupVersionKind: kind, Namespace: namespace}
	r.Name, _, _ = unstructured.NestedString(ref, "name")
	k, _, _ := unstructured.NestedString(ref, "kind")
	apiVersion, _, _ := unstructured.NestedString(ref, "apiVersion")
	if k != "" {
		r.Kind = k
	}
	if apiVersion != "" {
		r.GroupVersionKind = schema.FromAPIVersionAndKind(apiVersion, r.Kind)
	}
	if ns, _, _ := unstructured.NestedString(ref, "namespace"); ns != "" {
		r.Namespace = ns
	}
	return r
}

// bindingTargets are the targets of a binding of Kthena, or of a policy, wherever its
// generation has them.
func bindingTargets(binding *unstructured.Unstructured) []Reference {
	kind := schema.GroupVersionKind{Group: bindingKind.Group, Version: binding.GroupVersionKind().Version, Kind: "ModelServing"}
	var targets []Reference
	target := func(holder map[string]any) {
		ref, ok, _ := unstructured.NestedMap(holder, "target", "targetRef")
		if ok {
			targets = append(targets, referenceIn(ref, binding.GetNamespace(), kind))
		}
	}
	for _, field := range []string{"scalingConfiguration", "homogeneousTarget"} {
		holder, _, _ := unstructured.NestedMap(binding.Object, "spec", field)
		target(holder)
	}
	for _, field := range []string{"optimizerConfiguration", "heterogeneousTarget"} {
		params, _, _ := unstructured.NestedSlice(binding.Object, "spec", field, "params")
		for _, p := range params {
			if holder, ok := p.(map[string]any); ok {
				target(holder)
			}
		}
	}
	return targets
}

// madeByOurs tells whether an HPA belongs to a ScaledObject that asks us.
func (o *Ownership) madeByOurs(hpa *unstructured.Unstructured) bool {
	by, ok := controllerOf(hpa)
	if !ok || by.GroupKind() != scaledObjectKind {
		return false
	}
	scaled, ok := o.view.Get(scaledObjectKind, by.Namespace, by.Name)
	return ok && o.asksUs(scaled)
}

// asksUs tells whether all triggers of a ScaledObject ask our external scaler: with another
// beside it the larger of two answers counts, which is not ours.
func (o *Ownership) asksUs(scaled *unstructured.Unstructured) bool {
	triggers, _, _ := unstructured.NestedSlice(scaled.Object, "spec", "triggers")
	for _, t := range triggers {
		trigger, _ := t.(map[string]any)
		kind, _, _ := unstructured.NestedString(trigger, "type")
		address, _, _ := unstructured.NestedString(trigger, "metadata", "scalerAddress")
		if kind != "external" && kind != "external-push" || !o.self.at(address) {
			return false
		}
	}
	return len(triggers) > 0
}

// at tells whether an address is one of ours. The domain of the cluster may be left out.
func (s *Self) at(address string) bool {
	_, rest, found := strings.Cut(address, "://")
	if found {
		address = strings.TrimLeft(rest, "/")
	}
	host := address
	if h, _, err := net.SplitHostPort(address); err == nil {
		host = h
	}
	return slices.ContainsFunc(s.ScalerHosts, func(ours string) bool {
		return ours != "" && (host == ours || strings.HasPrefix(host, ours+"."))
	})
}

// writer says which autoscaler without an object wrote the scale of a target last. The API
// server keeps no time of that, so it counts until somebody else scales: we, told to take
// over, or a person.
func (o *Ownership) writer(target Reference) string {
	object, ok := o.view.Get(target.GroupKind(), target.Namespace, target.Name)
	if !ok {
		return ""
	}
	for _, f := range object.GetManagedFields() {
		if f.Subresource == "scale" && f.Manager != o.self.FieldManager && isAutoscaler(f.Manager) &&
			f.FieldsV1 != nil && ownsReplicas(f.FieldsV1.GetRawBytes()) {
			return f.Manager + ", which wrote the scale last"
		}
	}
	return ""
}

// isAutoscaler knows the field managers of other installations of ours, of Kthena and of
// llm-d, and "manager", the name of most controllers. What else writes a scale is a person's
// tool, or belongs to an autoscaler with an object.
func isAutoscaler(manager string) bool {
	return manager == "manager" || slices.ContainsFunc([]string{FieldManager, "kthena", "workload-variant-autoscaler"}, func(name string) bool {
		return strings.HasPrefix(manager, name)
	})
}

func ownsReplicas(fields []byte) bool {
	var owned struct {
		Spec map[string]json.RawMessage `json:"f:spec"`
	}
	if json.Unmarshal(fields, &owned) != nil {
		return false
	}
	_, ok := owned.Spec["f:replicas"]
	return ok
}
