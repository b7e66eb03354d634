package kthena

import (
	"cmp"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/poolwright/poolwright/internal/resource"
)

// problem is why an object can't be read: a reason as a condition has it, and a sentence.
type problem struct{ reason, message string }

// decode takes the fields of to out of an object, and leaves the others alone.
func decode(object *unstructured.Unstructured, to any) *problem {
	if err := resource.Decode(object, to); err != nil {
		return &problem{resource.Malformed, err.Error()}
	}
	return nil
}

// sentence is an error as people read it on an object.
func sentence(err error) string { return resource.Sentence(err, "kthena") }

// within are the objects of one namespace in a list of a view, which is in their order.
func within(list []*unstructured.Unstructured, namespace string) []*unstructured.Unstructured {
	byNamespace := func(o *unstructured.Unstructured, namespace string) int {
		return cmp.Compare(o.GetNamespace(), namespace)
	}
	from, _ := slices.BinarySearchFunc(list, namespace, byNamespace)
	to := from
	for to < len(list) && list[to].GetNamespace() == namespace {
		to++
	}
	return list[from:to]
}
