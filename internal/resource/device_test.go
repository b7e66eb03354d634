package resource

import (
	"testing"

	"github.com/stretchr/testify/assert"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

func TestProduct(t *testing.T) {
	assert.Empty(t, Product(nil))
	assert.Empty(t, Product(map[string]string{"kubernetes.io/os": "linux"}))
	assert.Equal(t, "MI300X", Product(map[string]string{"amd.com/gpu.product-name": "MI300X"}))
	assert.Equal(t, "NVIDIA-H100-80GB-HBM3", Product(map[string]string{
		"cloud.google.com/gke-accelerator": "nvidia-h100-80gb",
		"nvidia.com/gpu.product":           "NVIDIA-H100-80GB-HBM3",
	}), "the vendor knows better than the cloud")
}

func TestDevices(t *testing.T) {
	assert.Zero(t, Devices(nil))
	assert.Equal(t, 8, Devices(corev1.ResourceList{
		"cpu":                   resource.MustParse("16"),
		"nvidia.com/gpu":        resource.MustParse("8"),
		"nvidia.com/mig-1g.5gb": resource.MustParse("2"),
	}))
}
