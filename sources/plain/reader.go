package plain

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/poolwright/poolwright/internal/resource"
	"github.com/poolwright/poolwright/planner"
)

// Reasons for which an object is skipped.
const (
	// InvalidName: the annotation is not the name of a workload.
	InvalidName = "InvalidName"
	// Controlled: something else controls the object, and would undo what is scaled.
	Controlled = "Controlled"
)

// Reader reads annotated objects. It implements [resource.Reader].
type Reader struct{}

// Kinds that are read, in the order in which their objects are.
func (Reader) Kinds() []schema.GroupKind { return resource.ScaledKinds() }

// Read returns the workloads by namespace and name. Variants have the names of their
// objects; the first object stands for the workload.
func (r Reader) Read(v resource.View) ([]resource.Workload, []resource.Skipped) {
	var skipped []resource.Skipped
	index := make(map[string]int)
	var workloads []resource.Workload
	for _, kind := range r.Kinds() {
		for _, object := range v.List(kind) {
			name, joins := object.GetAnnotations()[resource.WorkloadAnnotation]
			if !joins || object.GetDeletionTimestamp() != nil {
				continue
			}
			variant, problem := read(v, object, name)
			switch {
			case problem != nil:
				skipped = append(skipped, *problem)
				continue
			case variant == nil:
				continue
			}
			w := planner.Workload{Namespace: object.GetNamespace(), Name: name}
			i, ok := index[w.QualifiedName()]
			if !ok {
				i = len(workloads)
				index[w.QualifiedName()] = i
				workloads = append(workloads, resource.Workload{Workload: w, Object: variant.Object})
			}
			workloads[i].Declared = append(workloads[i].Declared, *variant)
		}
	}
	for i := range workloads {
		distinguish(workloads[i].Declared)
	}
	slices.SortFunc(workloads, func(a, b resource.Workload) int {
		return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
	})
	slices.SortFunc(skipped, func(a, b resource.Skipped) int { return a.Object.Compare(b.Object) })
	return workloads, skipped
}

// Patches returns nothing: these objects have no status of ours.
func (Reader) Patches(resource.View, *resource.Workload, *resource.Outcome) []resource.Patch {
	return nil
}

// read returns the variant that an object is, or why it is none; neither for an object that
// has the annotation from what controls it.
func read(v resource.View, object *unstructured.Unstructured, workload string) (*resource.Variant, *resource.Skipped) {
	of := resource.ReferenceTo(object)
	skip := func(reason, format string, args ...any) (*resource.Variant, *resource.Skipped) {
		return nil, &resource.Skipped{Object: of, Reason: reason, Message: fmt.Sprintf(format, args...)}
	}
	if mistakes := validation.IsDNS1123Subdomain(workload); len(mistakes) > 0 {
		return skip(InvalidName, "%s: %q is not the name of a workload: %s", resource.WorkloadAnnotation, workload, strings.Join(mistakes, "; "))
	}
	if lineage := resource.Lineage(v, of); len(lineage) > 1 {
		for _, r := range lineage[1:] {
			if owner, ok := v.Get(r.GroupKind(), r.Namespace, r.Name); ok && owner.GetAnnotations()[resource.WorkloadAnnotation] == workload {
				return nil, nil
			}
		}
		return skip(Controlled, "%v controls it, and would undo what is scaled: it can't join a workload", lineage[1])
	}
	variant, err := decode(object)
	if err != nil {
		return skip(resource.Malformed, "%v", err)
	}
	return variant, nil
}

// distinguish gives variants that have the name of an earlier one, of another kind, a name
// of their own.
func distinguish(variants []resource.Variant) {
	for j := range variants {
		v := &variants[j]
		if slices.ContainsFunc(variants[:j], func(other resource.Variant) bool { return other.Name == v.Name }) {
			v.Name = strings.ToLower(v.Object.Kind) + "/" + v.Name
		}
	}
}
