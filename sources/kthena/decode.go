package kthena

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
)

// problem is why an object can't be read: a reason as a condition has it, and a sentence.
type problem struct{ reason, message string }

// decode takes the fields of to out of an object, and leaves the others alone.
func decode(object *unstructured.Unstructured, to any) *problem {
	err := runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, to)
	if err == nil {
		return nil
	}
	// The slower way names the field.
	if text, failed := object.MarshalJSON(); failed == nil {
		err = cmp.Or(json.Unmarshal(text, to), err)
	}
	return &problem{Malformed, err.Error()}
}

// sentence is an error as people read it on an object: mistakes in one line, without the
// name of the package.
func sentence(err error) string {
	mistakes := strings.Split(err.Error(), "\n")
	for i := range mistakes {
		mistakes[i] = strings.TrimPrefix(mistakes[i], "kthena: ")
	}
	return strings.Join(mistakes, "; ")
}

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
