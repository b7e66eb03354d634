package actuator

import (
	"context"
	"encoding/json"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
)

// replicas is the number of replicas of an object: spec.replicas of its scale subresource or,
// where its kind does without one, of the object itself.
type replicas struct{ part }

// scaleSubresource is the name of the usual place.
const scaleSubresource = "scale"

// count is the number of replicas of an object as the API server has it.
type count struct {
	number int
	uid    types.UID
}

// operation of a JSON patch.
type operation struct {
	Op    string `json:"op"`
	Path  string `json:"path"`
	Value any    `json:"value"`
}

// write changes the number of replicas where the object still has the UID and the number that it
// is said to have, and returns what the API server made of it; no UID stands for any. The API server
// compares, so one request is enough. The version is not compared: it changes with each status.
func (r *replicas) write(ctx context.Context, uid types.UID, from, to int, options metav1.PatchOptions) (count, error) {
	var was any = from
	if r.subresource == scaleSubresource && from == 0 {
		was = nil // a Scale leaves 0 out
	}
	operations := []operation{{"test", "/spec/replicas", was}, {"add", "/spec/replicas", to}}
	if uid != "" {
		operations = append([]operation{{"test", "/metadata/uid", uid}}, operations...)
	}
	return r.send(ctx, operations, options)
}

// read asks what would come of a change of nothing: that needs no right but the one to write.
func (r *replicas) read(ctx context.Context, options metav1.PatchOptions) (count, error) {
	options.DryRun = []string{metav1.DryRunAll}
	return r.send(ctx, []operation{}, options)
}

func (r *replicas) send(ctx context.Context, operations []operation, options metav1.PatchOptions) (count, error) {
	body, err := json.Marshal(operations)
	if err != nil {
		return count{}, err
	}
	object, err := r.patch(ctx, types.JSONPatchType, body, options)
	if err != nil {
		return count{}, err
	}
	n, given, err := unstructured.NestedInt64(object.Object, "spec", "replicas")
	if err != nil {
		return count{}, fmt.Errorf("its spec.replicas cannot be read: %w", err)
	}
	if !given && r.subresource != scaleSubresource {
		n = 1
	}
	return count{int(n), object.GetUID()}, nil
}
