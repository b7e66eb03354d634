package cluster

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/poolwright/poolwright/internal/resource"
)

// node is what counts of a node.
type node struct {
	name string
	// product is the type of its devices; empty = it says none.
	product string
	zone    string
	// devices may be used by pods. resource is what they are asked for by; empty where the
	// node does not say how many it has.
	devices  int
	resource corev1.ResourceName
	// cordoned: no new pods may come, by somebody's word or because its kubelet is silent or
	// not ready. Pods that are there may serve, and stay until they are evicted.
	cordoned bool
	// taints keep pods away that don't tolerate them.
	taints []corev1.Taint
}

// Taints of node autoscalers on nodes that they are about to remove.
const (
	karpenterDisrupted  = "karpenter.sh/disrupted"
	clusterAutoscalerGo = "ToBeDeletedByClusterAutoscaler"
)

// readNode reads a node that was cut down by trim.
func readNode(object *unstructured.Unstructured) (*node, error) {
	var n corev1.Node
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, &n); err != nil {
		return nil, err
	}
	read := &node{
		name: n.Name, product: resource.Product(n.Labels), zone: n.Labels[corev1.LabelTopologyZone],
		devices: resource.Devices(n.Status.Allocatable), cordoned: n.Spec.Unschedulable || !isReady(&n),
		resource: resource.DeviceResource(n.Status.Capacity), taints: repelling(n.Spec.Taints),
	}
	for _, taint := range n.Spec.Taints {
		if taint.Key == karpenterDisrupted || taint.Key == clusterAutoscalerGo {
			read.cordoned = true
		}
	}
	return read, nil
}

func isReady(n *corev1.Node) bool {
	for _, c := range n.Status.Conditions {
		if c.Type == corev1.NodeReady {
			return c.Status == corev1.ConditionTrue
		}
	}
	return false
}
