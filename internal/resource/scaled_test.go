package resource_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/yaml"

	"github.com/poolwright/poolwright/internal/resource"
)

func TestReadScaled(t *testing.T) {
	leaders := labels.SelectorFromSet(labels.Set{
		"leaderworkerset.sigs.k8s.io/name": "one", "leaderworkerset.sigs.k8s.io/worker-index": "0",
	})
	for name, test := range map[string]struct {
		spec string
		want resource.Scaled
	}{
		"nothing is said": {`{}`, resource.Scaled{Replicas: 1}},
		"a deployment": {
			`{replicas: 3, template: {metadata: {labels: {app: a}}, spec: {nodeSelector: {nvidia.com/gpu.product: NVIDIA-L4}, containers: [{resources: {limits: {nvidia.com/gpu: 2}}}]}}}`,
			resource.Scaled{Replicas: 3, Devices: 2, Product: "NVIDIA-L4", Labels: map[string]string{"app": "a"}},
		},
		"workers like their leader": {
			`{replicas: 0, leaderWorkerTemplate: {size: 4, workerTemplate: {spec: {containers: [{resources: {limits: {amd.com/gpu: 8}}}]}}}}`,
			resource.Scaled{Devices: 32, Nodes: 4, Leaders: leaders},
		},
		"a leader without devices": {
			`{leaderWorkerTemplate: {size: 3, leaderTemplate: {metadata: {labels: {role: leader}}}, workerTemplate: {metadata: {labels: {role: worker}}, spec: {nodeSelector: {amd.com/gpu.product-name: MI300X}, containers: [{resources: {limits: {amd.com/gpu: 8}}}]}}}}`,
			resource.Scaled{Replicas: 1, Devices: 16, Nodes: 2, Product: "MI300X", Labels: map[string]string{"role": "leader"}, Leaders: leaders},
		},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := resource.ReadScaled(object(t, test.spec))
			require.NoError(t, err)
			assert.Equal(t, test.want, got)
		})
	}
	for spec, mistake := range map[string]string{
		`{replicas: -1}`:                       "spec.replicas: -1 is not in [0, 1000000]",
		`{replicas: some}`:                     "spec.replicas of type int32",
		`{leaderWorkerTemplate: {size: 0}}`:    "spec.leaderWorkerTemplate.size: 0 is not in [1, 1024]",
		`{leaderWorkerTemplate: {size: 2000}}`: "spec.leaderWorkerTemplate.size: 2000 is not in [1, 1024]",
	} {
		_, err := resource.ReadScaled(object(t, spec))
		assert.ErrorContains(t, err, mistake)
	}
}

func object(t *testing.T, spec string) *unstructured.Unstructured {
	t.Helper()
	var fields map[string]any
	require.NoError(t, yaml.Unmarshal([]byte(spec), &fields))
	return &unstructured.Unstructured{Object: map[string]any{
		"metadata": map[string]any{"name": "one"}, "spec": fields,
	}}
}
