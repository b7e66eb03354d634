package resource

import (
	"cmp"
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/poolwright/poolwright/planner"
)

// View is a cluster at one instant. What it returns is shared, and never changed.
type View interface {
	// List returns the objects of a kind, by namespace and name; none where the kind is
	// not installed.
	List(kind schema.GroupKind) []*unstructured.Unstructured
	// Get returns one object; false if there is none. The namespace of what has none is
	// empty.
	Get(kind schema.GroupKind, namespace, name string) (*unstructured.Unstructured, bool)
}

// Reference names an object.
type Reference struct {
	schema.GroupVersionKind
	Namespace, Name string
	// UID and Generation are those that were read; empty and 0 where nothing was.
	UID        types.UID
	Generation int64
}

// ReferenceTo an object.
func ReferenceTo(object *unstructured.Unstructured) Reference {
	return Reference{
		GroupVersionKind: object.GroupVersionKind(),
		Namespace:        object.GetNamespace(), Name: object.GetName(),
		UID: object.GetUID(), Generation: object.GetGeneration(),
	}
}

// ScaleTarget names the object as decisions do.
func (r Reference) ScaleTarget() planner.ScaleTarget {
	return planner.ScaleTarget{APIVersion: r.GroupVersion().String(), Kind: r.Kind, Name: r.Name}
}

// String is the kind and the qualified name.
func (r Reference) String() string {
	if r.Namespace == "" {
		return fmt.Sprintf("%s %s", r.Kind, r.Name)
	}
	return fmt.Sprintf("%s %s/%s", r.Kind, r.Namespace, r.Name)
}

// Compare orders by group, kind, namespace and name.
func (r Reference) Compare(other Reference) int {
	return cmp.Or(
		cmp.Compare(r.Group, other.Group), cmp.Compare(r.Kind, other.Kind),
		cmp.Compare(r.Namespace, other.Namespace), cmp.Compare(r.Name, other.Name),
	)
}
