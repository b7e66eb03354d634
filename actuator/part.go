package actuator

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"

	"github.com/poolwright/poolwright/internal/resource"
)

// part is what is patched of an object: a subresource or, where that is empty, the whole.
type part struct {
	objects     dynamic.ResourceInterface
	resource    schema.GroupVersionResource
	name        string
	subresource string
}

func (b *batch) part(object *resource.Reference, mapping *meta.RESTMapping, subresource string) part {
	return part{b.config.Client.Dynamic.Resource(mapping.Resource).Namespace(object.Namespace), mapping.Resource, object.Name, subresource}
}

func (p *part) patch(ctx context.Context, of types.PatchType, body []byte, options metav1.PatchOptions) (*unstructured.Unstructured, error) {
	var subresources []string
	if p.subresource != "" {
		subresources = []string{p.subresource}
	}
	return p.objects.Patch(ctx, p.name, of, body, options, subresources...)
}

// right is what a service account needs for that, in words.
func right(r schema.GroupVersionResource, subresource string) string {
	name := r.Resource
	if subresource != "" {
		name += "/" + subresource
	}
	return fmt.Sprintf("the service account needs the verb patch on %s in the API group %q", name, r.Group)
}
