package actuator

import (
	"context"
	"encoding/json"
	"fmt"
	"math"

	autoscalingv1 "k8s.io/api/autoscaling/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/scale"
)

// count is the number of replicas of an object as it was read.
type count struct {
	count int
	uid   types.UID
	// object is what is written back by way of the subresource.
	object *autoscalingv1.Scale
	// given is the value of the field, nil where it is left out.
	given any
}

// scaleSubresource is the usual way.
type scaleSubresource struct {
	scales   scale.ScaleInterface
	resource schema.GroupResource
	name     string
}

func (s *scaleSubresource) access() string {
	return fmt.Sprintf("get and update on %s/scale in the API group %q", s.resource.Resource, s.resource.Group)
}

func (s *scaleSubresource) read(ctx context.Context) (count, error) {
	object, err := s.scales.Get(ctx, s.resource, s.name, metav1.GetOptions{})
	if err != nil {
		return count{}, err
	}
	return count{count: int(object.Spec.Replicas), uid: object.UID, object: object}, nil
}

func (s *scaleSubresource) write(ctx context.Context, as count, n int, options metav1.UpdateOptions) (int, error) {
	object := as.object.DeepCopy()
	object.Spec.Replicas = int32(min(n, math.MaxInt32)) //nolint:gosec // n is not negative
	written, err := s.scales.Update(ctx, s.resource, object, options)
	if err != nil {
		return 0, err
	}
	return int(written.Spec.Replicas), nil
}

// replicasField is for kinds without a scale subresource: spec.replicas, 1 where it is
// not given.
type replicasField struct {
	objects  dynamic.ResourceInterface
	resource schema.GroupVersionResource
	name     string
}

func (f *replicasField) access() string {
	return fmt.Sprintf("get and patch on %s in the API group %q", f.resource.Resource, f.resource.Group)
}

func (f *replicasField) read(ctx context.Context) (count, error) {
	object, err := f.objects.Get(ctx, f.name, metav1.GetOptions{})
	if err != nil {
		return count{}, err
	}
	return countOf(object)
}

func countOf(object *unstructured.Unstructured) (count, error) {
	n, found, err := unstructured.NestedInt64(object.Object, "spec", "replicas")
	if err != nil {
		return count{}, fmt.Errorf("its spec.replicas cannot be read: %w", err)
	}
	c := count{count: 1, uid: object.GetUID()}
	if found {
		c.count, c.given = int(n), n
	}
	return c, nil
}

// operation of a JSON patch.
type operation struct {
	Op    string `json:"op"`
	Path  string `json:"path"`
	Value any    `json:"value"`
}

// write tests the old number and not the version of the object, which its status changes
// all the time.
func (f *replicasField) write(ctx context.Context, as count, n int, options metav1.UpdateOptions) (int, error) {
	patch, err := json.Marshal([]operation{
		{"test", "/metadata/uid", as.uid}, {"test", "/spec/replicas", as.given}, {"add", "/spec/replicas", n},
	})
	if err != nil {
		return 0, err
	}
	object, err := f.objects.Patch(ctx, f.name, types.JSONPatchType, patch,
		metav1.PatchOptions{FieldManager: options.FieldManager, DryRun: options.DryRun})
	if apierrors.IsInvalid(err) {
		// A test that failed looks like an object that is refused.
		if now, readErr := f.read(ctx); readErr == nil && (now.uid != as.uid || now.given != as.given) {
			err = apierrors.NewConflict(f.resource.GroupResource(), f.name, err)
		}
	}
	if err != nil {
		return 0, err
	}
	written, err := countOf(object)
	return written.count, err
}
