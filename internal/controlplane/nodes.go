//go:build linux

package controlplane

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
)

const (
	// LoadTimeAnnotation of a pod is how long it takes from its place on a node until it
	// is ready, such as "6s".
	LoadTimeAnnotation = "controlplane.poolwright.dev/load-time"
	// ProductLabel names the devices of a node, as NVIDIA's feature discovery does.
	ProductLabel = "nvidia.com/gpu.product"
	// DeviceResource is what pods ask for devices by.
	DeviceResource = corev1.ResourceName("nvidia.com/gpu")
)

// GPUNode is a node with so many devices of a product.
func GPUNode(name, product string, devices int) *corev1.Node {
	capacity := corev1.ResourceList{
		corev1.ResourceCPU:    resource.MustParse("1k"),
		corev1.ResourceMemory: resource.MustParse("4Ti"),
		corev1.ResourcePods:   resource.MustParse("10k"),
		DeviceResource:        *resource.NewQuantity(int64(devices), resource.DecimalSI),
	}
	return &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{
			ProductLabel: product, corev1.LabelHostname: name,
		}},
		Status: corev1.NodeStatus{Capacity: capacity, Allocatable: capacity},
	}
}

// AddNodes adds nodes. kwok makes them ready within a moment.
func (c *ControlPlane) AddNodes(ctx context.Context, nodes ...*corev1.Node) error {
	client, err := kubernetes.NewForConfig(c.admin)
	if err != nil {
		return fmt.Errorf("controlplane: %w", err)
	}
	for _, node := range nodes {
		if _, err := client.CoreV1().Nodes().Create(ctx, node, metav1.CreateOptions{}); err != nil {
			return fmt.Errorf("controlplane: %w", err)
		}
	}
	return nil
}
