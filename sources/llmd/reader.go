package llmd

import (
	"cmp"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/poolwright/poolwright/internal/resource"
)

// Reader reads VariantAutoscalings. It implements [resource.Reader].
type Reader struct{ config Config }

// NewReader returns a reader. The configuration must be valid.
func NewReader(c Config) *Reader { return &Reader{c.withDefaults()} }

// Kinds that are looked at.
func (r *Reader) Kinds() []schema.GroupKind {
	return append([]schema.GroupKind{autoscalingKind, configMapKind, podKind, nodeKind}, resource.ScaledKinds()...)
}

// Reasons for which an object is skipped, beside those of all kinds.
const (
	// TargetInvalid: what is to be scaled is of a kind that is not known, or breaks the rules
	// of its kind.
	TargetInvalid = "TargetInvalid"
	// ServiceClassNotFound: the class that the object names can't be read. Without its SLO
	// replicas would be taken away that it needs.
	ServiceClassNotFound = "ServiceClassNotFound"
)

// declaration is an object that could be read.
type declaration struct {
	*object
	target *target
	// class is nil where the object names none.
	class *class
}

// Read returns the workloads, in the order of the objects that declare them. Objects that
// are being deleted declare nothing.
func (r *Reader) Read(v resource.View) ([]resource.Workload, []resource.Skipped) {
	s := newSurvey(r.config, v)
	declarations, skipped := s.declarations()

	type group struct{ namespace, model, class string }
	groups := make(map[group][]*declaration)
	var order []group
	for _, d := range declarations {
		of := group{namespace: d.GetNamespace(), model: d.spec.ModelID}
		if d.class != nil {
			of.class = d.class.name
		}
		if groups[of] == nil {
			order = append(order, of)
		}
		groups[of] = append(groups[of], d)
	}
	workloads := make([]resource.Workload, 0, len(order))
	for _, of := range order {
		workloads = append(workloads, s.workload(groups[of]))
	}
	slices.SortFunc(workloads, func(a, b resource.Workload) int { return a.Object.Compare(b.Object) })
	slices.SortFunc(skipped, func(a, b resource.Skipped) int { return a.Object.Compare(b.Object) })
	return workloads, skipped
}

// declarations are the objects, the oldest first: a new one neither renames a workload nor
// takes a target away.
func (s *survey) declarations() (all []*declaration, skipped []resource.Skipped) {
	objects := slices.Clone(s.view.List(autoscalingKind))
	slices.SortStableFunc(objects, func(a, b *unstructured.Unstructured) int {
		return cmp.Or(a.GetCreationTimestamp().Compare(b.GetCreationTimestamp().Time), cmp.Compare(a.GetName(), b.GetName()))
	})
	taken := make(map[resource.Reference]*declaration)
	for _, u := range objects {
		if u.GetDeletionTimestamp() != nil {
			continue
		}
		d, reason, err := s.declaration(u)
		if err == nil {
			of := resource.ReferenceTo(d.target.Unstructured)
			if other := taken[of]; other != nil {
				reason, err = resource.DuplicateOwnership, fmt.Errorf("%v is scaled by VariantAutoscaling %q", of, other.GetName())
			} else {
				taken[of] = d
			}
		}
		if err != nil {
			skipped = append(skipped, resource.Skipped{Object: resource.ReferenceTo(u), Reason: reason, Message: err.Error()})
			continue
		}
		all = append(all, d)
	}
	return all, skipped
}

// declaration reads an object; the reason counts with an error.
func (s *survey) declaration(u *unstructured.Unstructured) (d *declaration, reason string, err error) {
	o, err := decode(u)
	if err != nil {
		return nil, resource.InvalidSpec, err
	}
	d = &declaration{object: o}
	if d.class, err = s.classOf(o); err != nil {
		return nil, ServiceClassNotFound, err
	}
	if d.target, err = s.target(o); err != nil {
		return nil, TargetInvalid, err
	}
	s.findAccelerator(o, d.target)
	return d, "", nil
}
