package resource

import (
	"cmp"
	"encoding/json"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
)

// Decode reads those fields of an object that to has, and leaves the others alone. An object
// that it can't read is [Malformed].
func Decode(object *unstructured.Unstructured, to any) error {
	err := runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, to)
	if err == nil {
		return nil
	}
	// The slower way names the field.
	if text, failed := object.MarshalJSON(); failed == nil {
		err = cmp.Or(json.Unmarshal(text, to), err)
	}
	return err
}

// Sentence is an error as people read it on an object: its mistakes in one line, without
// the name of the package that begins them.
func Sentence(err error, pkg string) string {
	mistakes := strings.Split(err.Error(), "\n")
	for i := range mistakes {
		mistakes[i] = strings.TrimPrefix(mistakes[i], pkg+": ")
	}
	return strings.Join(mistakes, "; ")
}
