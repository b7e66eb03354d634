package kthena

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/poolwright/poolwright/internal/resource"
	"github.com/poolwright/poolwright/planner"
)

// Reader is a [resource.Reader] of Kthena's resources. It knows the view that it read last;
// the zero value has read none.
type Reader struct{ last atomic.Pointer[network] }

// Kinds are those of the resources.
func (*Reader) Kinds() []schema.GroupKind {
	return []schema.GroupKind{boosterKind, bindingKind, policyKind, servingKind, serverKind, routeKind}
}

// Read returns a workload for each ModelBooster with bounds, then for each
// AutoscalingPolicyBinding, then for each AutoscalingPolicy with a target. What a
// ModelBooster controls is a part of its workload.
func (read *Reader) Read(v resource.View) ([]resource.Workload, []resource.Skipped) {
	r := &reading{view: v, network: newNetwork(v)}
	if last := read.last.Load(); last != nil {
		r.network.before = last.servings
	}
	r.declare(boosterKind, booster)
	r.declare(bindingKind, r.binding)
	r.declare(policyKind, autoscalingPolicy)
	r.claim()
	var workloads []resource.Workload
	for _, d := range r.declarations {
		w, err := r.workload(d)
		if err != nil {
			r.skip(d.object, err)
			continue
		}
		workloads = append(workloads, *w)
	}
	r.network.before = nil
	read.last.Store(r.network)
	return workloads, r.skipped
}

// network is how requests reach pods in a view.
func (read *Reader) network(v resource.View) *network {
	if n := read.last.Load(); n != nil && n.view == v {
		return n
	}
	return newNetwork(v)
}

// reading is one call of Read.
type reading struct {
	view         resource.View
	network      *network
	declarations []*declaration
	skipped      []resource.Skipped
}

func (r *reading) skip(object *unstructured.Unstructured, why *problem) {
	r.skipped = append(r.skipped, resource.Skipped{Object: resource.ReferenceTo(object), Reason: why.reason, Message: why.message})
}

// declare reads the objects of a kind that declare workloads. Those that are being deleted
// declare none.
func (r *reading) declare(kind schema.GroupKind, read func(*unstructured.Unstructured) (*declaration, *problem)) {
	for _, object := range r.view.List(kind) {
		if r.partOfBooster(object) || object.GetDeletionTimestamp() != nil {
			continue
		}
		d, err := read(object)
		if err == nil && d != nil {
			if mistakes := d.validate(); mistakes != nil {
				err = &problem{resource.InvalidSpec, sentence(mistakes)}
			}
		}
		switch {
		case err != nil:
			r.skip(object, err)
		case d != nil:
			r.declarations = append(r.declarations, d)
		}
	}
}

// partOfBooster tells whether a ModelBooster that is read itself made an object.
func (r *reading) partOfBooster(object *unstructured.Unstructured) bool {
	owner := metav1.GetControllerOf(object)
	if owner == nil || owner.Kind != boosterKind.Kind || !strings.HasPrefix(owner.APIVersion, workloadGroup+"/") {
		return false
	}
	_, ok := r.view.Get(boosterKind, object.GetNamespace(), owner.Name)
	return ok
}

// claim drops declarations of what another scales already, or by whose name another goes.
// The oldest stays, among equally old ones the first by name.
func (r *reading) claim() {
	byAge := slices.Clone(r.declarations)
	slices.SortStableFunc(byAge, func(a, b *declaration) int {
		return cmp.Or(
			a.object.GetCreationTimestamp().Compare(b.object.GetCreationTimestamp().Time),
			cmp.Compare(a.object.GetNamespace(), b.object.GetNamespace()), cmp.Compare(a.object.GetName(), b.object.GetName()),
		)
	})
	names, targets := make(map[name]*declaration), make(map[name]*declaration)
	lost := make(map[*declaration]*problem)
	for _, d := range byAge {
		namespace := d.object.GetNamespace()
		own := name{namespace, d.object.GetName()}
		if other := names[own]; other != nil {
			lost[d] = &problem{resource.DuplicateName, fmt.Sprintf("%v declares a workload of that name", resource.ReferenceTo(other.object))}
			continue
		}
		for i := range d.targets {
			if other := targets[name{namespace, d.targets[i].TargetRef.Name}]; other != nil {
				lost[d] = &problem{resource.DuplicateOwnership, fmt.Sprintf("%v, which is older, scales %s", resource.ReferenceTo(other.object), d.targets[i].TargetRef.Name)}
			}
		}
		if lost[d] != nil {
			continue
		}
		names[own] = d
		for i := range d.targets {
			targets[name{namespace, d.targets[i].TargetRef.Name}] = d
		}
	}
	kept := r.declarations[:0]
	for _, d := range r.declarations {
		if lost[d] != nil {
			r.skip(d.object, lost[d])
			continue
		}
		kept = append(kept, d)
	}
	r.declarations = kept
}

// workload is what a declaration and the objects that it names say together.
func (r *reading) workload(d *declaration) (*resource.Workload, *problem) {
	w := &resource.Workload{
		Workload:   planner.Workload{Namespace: d.object.GetNamespace(), Name: d.object.GetName()},
		Object:     resource.ReferenceTo(d.object),
		Conditions: d.conditions,
		// Every target says how many there are at least.
		MinimumDeclared: true,
	}
	if !d.single {
		w.ExpansionRate = &d.expansionRate
	}
	servings, err := r.variants(d, w)
	if err != nil {
		return nil, err
	}
	w.Policy.Kthena, w.ZeroGrace = d.policy, d.grace
	r.reach(d, servings, w)
	return w, nil
}

// variants reads the targets that there are.
func (r *reading) variants(d *declaration, w *resource.Workload) ([]*serving, *problem) {
	var servings []*serving
	var missing *problem
	for i := range d.targets {
		t := &d.targets[i]
		s, err := r.target(d.object.GetNamespace(), t)
		if err != nil {
			missing = cmp.Or(missing, err)
			addCondition(w, err.reason, "LeftOut", fmt.Sprintf("%s: %s", t.path, err.message))
			continue
		}
		servings = append(servings, s)
		m := r.network.measured(w.Namespace, s, &t.targetSpec)
		w.Declared = append(w.Declared, s.variant(t, m))
		if parts := m.parts(); parts != nil {
			if w.Series.Parts == nil {
				w.Series.Parts = make(map[string][]resource.Part)
			}
			w.Series.Parts[s.object.GetName()] = parts
		}
	}
	if len(servings) == 0 {
		return nil, missing
	}
	return servings, nil
}

// target finds the ModelServing that a target names.
func (r *reading) target(namespace string, t *target) (*serving, *problem) {
	if why := t.unsupported(); why != "" {
		return nil, &problem{TargetUnsupported, why}
	}
	s, err := r.network.serving(namespace, t.TargetRef.Name)
	if err != nil {
		return nil, err
	}
	r.network.servings[name{namespace, t.TargetRef.Name}] = s
	if _, mixed := s.accelerator(); mixed {
		return nil, &problem{TargetUnsupported, fmt.Sprintf("ModelServing %q: its pods select different types of devices", t.TargetRef.Name)}
	}
	return s, nil
}

// addCondition says something true of a workload, beside what is said under the same type.
func addCondition(w *resource.Workload, kind, reason, message string) {
	w.Conditions = resource.AddCondition(w.Conditions, resource.Condition{Type: kind, Status: resource.True, Reason: reason, Message: message})
}
