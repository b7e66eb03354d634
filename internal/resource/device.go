package resource

import (
	"math"
	"slices"

	corev1 "k8s.io/api/core/v1"
)

// productLabels are the labels of nodes that name the type of their devices: those of the
// vendors' discovery, then those of clouds.
func productLabels() []string {
	return []string{
		"nvidia.com/gpu.product", "amd.com/gpu.product-name", "gpu.intel.com/product",
		"cloud.google.com/gke-accelerator", "cloud.google.com/gke-tpu-accelerator",
		"karpenter.k8s.aws/instance-gpu-name", "k8s.amazonaws.com/accelerator",
	}
}

// Product returns the type of device that the labels of a node, or a selector of nodes,
// name; empty where they name none.
func Product(labels map[string]string) string {
	for _, label := range productLabels() {
		if product := labels[label]; product != "" {
			return product
		}
	}
	return ""
}

// deviceResources are the resources that count whole devices. Slices of devices are none:
// how much of one they are, the name does not say.
func deviceResources() []corev1.ResourceName {
	return []corev1.ResourceName{
		"nvidia.com/gpu", "amd.com/gpu", "gpu.intel.com/i915", "gpu.intel.com/xe", "habana.ai/gaudi",
		"google.com/tpu", "aws.amazon.com/neuron",
	}
}

// Devices counts the devices in a list of resources, from 0 to 2³¹ − 1 of each kind.
func Devices(list corev1.ResourceList) int {
	n := 0
	for _, name := range deviceResources() {
		quantity := list[name]
		n += int(max(0, min(quantity.Value(), math.MaxInt32)))
	}
	return n
}

// DeviceResource names the resource by which a list counts devices; empty where it has
// none.
func DeviceResource(list corev1.ResourceList) corev1.ResourceName {
	for _, name := range deviceResources() {
		if quantity, ok := list[name]; ok && quantity.Sign() > 0 {
			return name
		}
	}
	return ""
}

// IsDevice tells whether a resource counts whole devices.
func IsDevice(name corev1.ResourceName) bool { return slices.Contains(deviceResources(), name) }
