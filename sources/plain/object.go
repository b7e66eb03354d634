package plain

import (
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/poolwright/poolwright/internal/resource"
	"github.com/poolwright/poolwright/planner"
)

// decode reads a variant out of an object.
func decode(object *unstructured.Unstructured) (*resource.Variant, error) {
	s, err := resource.ReadScaled(object)
	if err != nil {
		return nil, err
	}
	r := resource.ReferenceTo(object)
	return &resource.Variant{
		Variant: planner.Variant{
			Name: r.Name, CurrentReplicas: s.Replicas, DevicesPerReplica: s.Devices, NodesPerReplica: s.Nodes,
			ScaleTarget: r.ScaleTarget(),
		},
		Accelerator: s.Product, Target: r, Leaders: s.Leaders, Object: r,
	}, nil
}
