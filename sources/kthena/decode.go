package kthena

import (
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
