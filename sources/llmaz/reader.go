package llmaz

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/poolwright/poolwright/internal/resource"
)

// Reader reads the resources of llmaz. It implements [resource.Reader].
type Reader struct{}

// Kinds that are read.
func (Reader) Kinds() []schema.GroupKind {
	return []schema.GroupKind{modelKind, playgroundKind, serviceKind, runtimeKind, nodeKind}
}

// Read returns a workload for each OpenModel and namespace in which it is served, by
// namespace and name. Its variants stand in the order of the model's flavors.
func (Reader) Read(v resource.View) ([]resource.Workload, []resource.Skipped) {
	r := reading{view: v, products: make(map[string]string)}
	r.models = decodeAll[openModel](&r, modelKind)
	r.runtimes = decodeAll[backendRuntime](&r, runtimeKind)
	for _, object := range v.List(playgroundKind) {
		r.add(object, r.playground)
	}
	for _, object := range v.List(serviceKind) {
		if !isControlledByPlayground(object) {
			r.add(object, r.service)
		}
	}
	return r.workloads(), r.skipped
}

// isControlledByPlayground tells whether a Service is a Playground's: then it is the
// Playground that is scaled.
func isControlledByPlayground(object *unstructured.Unstructured) bool {
	owner := metav1.GetControllerOf(object)
	return owner != nil && schema.FromAPIVersionAndKind(owner.APIVersion, owner.Kind).GroupKind() == playgroundKind
}

// reading is one pass over a view.
type reading struct {
	view        resource.View
	models      []named[openModel]
	runtimes    []named[backendRuntime]
	deployments []deployment
	skipped     []resource.Skipped
	// products are the types of device that the nodes of a selector have.
	products map[string]string
}

// named is an object without a namespace.
type named[T any] struct {
	name   string
	object *T
}

func decodeAll[T any](r *reading, kind schema.GroupKind) []named[T] {
	var all []named[T]
	for _, object := range r.view.List(kind) {
		decoded := new(T)
		if err := resource.Decode(object, decoded); err != nil {
			r.skip(resource.ReferenceTo(object), err)
			continue
		}
		all = append(all, named[T]{object.GetName(), decoded})
	}
	return all
}

// find returns the object of that name, nil if there is none. Objects are sorted by name.
func find[T any](all []named[T], name string) *T {
	i, ok := slices.BinarySearchFunc(all, name, func(n named[T], name string) int { return cmp.Compare(n.name, name) })
	if !ok {
		return nil
	}
	return all[i].object
}

// Reasons for which an object is skipped, beside those of all kinds.
const (
	// ModelMissing: there is no OpenModel of the name that is claimed.
	ModelMissing = "ModelMissing"
	// FlavorMissing: the model has no flavor of a name that is claimed.
	FlavorMissing = "FlavorMissing"
	// ServiceConflict: somebody else's Service has the name of the Playground.
	ServiceConflict = "ServiceConflict"
	// ServedDifferently: what else serves the model in the namespace does so by another
	// engine, or under another name.
	ServedDifferently = "ServedDifferently"
)

// flaw is why an object can't be read, with a reason in one word.
type flaw struct {
	reason string
	error
}

func flawed(reason, format string, args ...any) error {
	return flaw{reason, fmt.Errorf(format, args...)}
}

// add reads a Playground or a Service, unless it is being deleted.
func (r *reading) add(object *unstructured.Unstructured, read func(*unstructured.Unstructured) (deployment, error)) {
	if object.GetDeletionTimestamp() != nil {
		return
	}
	d, err := read(object)
	if err != nil {
		r.skip(resource.ReferenceTo(object), err)
		return
	}
	r.deployments = append(r.deployments, d)
}

func (r *reading) skip(object resource.Reference, err error) {
	f := flaw{resource.Malformed, err}
	errors.As(err, &f)
	r.skipped = append(r.skipped, resource.Skipped{
		Object: object, Reason: f.reason, Message: resource.Sentence(f, "llmaz"),
	})
}
