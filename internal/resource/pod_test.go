package resource_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/yaml"

	"github.com/poolwright/poolwright/internal/resource"
)

func podSpec(t *testing.T, text string) *corev1.PodSpec {
	t.Helper()
	var spec corev1.PodSpec
	require.NoError(t, yaml.Unmarshal([]byte(text), &spec))
	return &spec
}

func TestPodDevices(t *testing.T) {
	for name, test := range map[string]struct {
		spec string
		want int
	}{
		"none":        {`containers: [{resources: {requests: {cpu: "8"}}}]`, 0},
		"limits only": {`containers: [{resources: {limits: {nvidia.com/gpu: "4", memory: 1Gi}}}]`, 4},
		"containers add up": {
			`containers: [{resources: {requests: {nvidia.com/gpu: 1}, limits: {nvidia.com/gpu: 1}}}, {resources: {limits: {nvidia.com/gpu: "2"}}}]`, 3,
		},
		"the largest init container": {
			`{initContainers: [{resources: {limits: {amd.com/gpu: "2"}}}, {resources: {limits: {amd.com/gpu: "4"}}}], containers: [{resources: {limits: {amd.com/gpu: "1"}}}]}`, 4,
		},
		"sidecars run beside": {
			`{initContainers: [{restartPolicy: Always, resources: {limits: {google.com/tpu: "1"}}}, {resources: {limits: {google.com/tpu: "4"}}}], containers: [{resources: {limits: {google.com/tpu: "2"}}}]}`, 5,
		},
	} {
		t.Run(name, func(t *testing.T) {
			assert.Equal(t, test.want, resource.PodDevices(podSpec(t, test.spec)))
		})
	}
}

func TestSelectedProduct(t *testing.T) {
	affinity := func(terms string) string {
		return "affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: " + terms + "}}}"
	}
	for name, test := range map[string]struct{ spec, want string }{
		"nothing":       {`{}`, ""},
		"node selector": {`nodeSelector: {nvidia.com/gpu.product: NVIDIA-L4, zone: a}`, "NVIDIA-L4"},
		"affinity": {
			affinity(`[{matchExpressions: [{key: amd.com/gpu.product-name, operator: In, values: [MI300X]}]}]`), "MI300X",
		},
		"affinity to several": {
			affinity(`[{matchExpressions: [{key: nvidia.com/gpu.product, operator: In, values: [A, B]}]}]`), "",
		},
		"affinity to all but one": {
			affinity(`[{matchExpressions: [{key: nvidia.com/gpu.product, operator: NotIn, values: [A]}]}]`), "",
		},
		"terms that agree": {
			affinity(`[{matchExpressions: [{key: nvidia.com/gpu.product, operator: In, values: [A]}]}, {matchExpressions: [{key: nvidia.com/gpu.product, operator: In, values: [A]}, {key: zone, operator: Exists}]}]`), "A",
		},
		"terms that differ": {
			affinity(`[{matchExpressions: [{key: nvidia.com/gpu.product, operator: In, values: [A]}]}, {matchExpressions: [{key: zone, operator: Exists}]}]`), "",
		},
	} {
		t.Run(name, func(t *testing.T) {
			assert.Equal(t, test.want, resource.SelectedProduct(podSpec(t, test.spec)))
		})
	}
}
