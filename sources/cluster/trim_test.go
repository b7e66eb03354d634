package cluster

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/yaml"
)

func objectOf(t *testing.T, text string) *unstructured.Unstructured {
	t.Helper()
	u := &unstructured.Unstructured{}
	require.NoError(t, yaml.Unmarshal([]byte(text), &u.Object))
	return u
}

func TestTrim(t *testing.T) {
	for name, test := range map[string]struct{ object, want string }{
		"what nobody reads of a pod": {
			`{apiVersion: v1, kind: Pod, metadata: {name: p, labels: {a: b}, managedFields: [{manager: kubelet}]},
              spec: {nodeName: n, tolerations: [{key: k}], containers: [{name: c, image: i, env: [{name: E}], resources: {limits: {nvidia.com/gpu: "1"}}}]},
              status: {phase: Running, hostIP: 10.0.0.1, conditions: [{type: Ready, status: "True", message: m}]}}`,
			`{apiVersion: v1, kind: Pod, metadata: {name: p, labels: {a: b}},
              spec: {nodeName: n, containers: [{name: c, resources: {limits: {nvidia.com/gpu: "1"}}}]},
              status: {phase: Running, conditions: [{type: Ready, status: "True"}]}}`,
		},
		"of a node": {
			`{apiVersion: v1, kind: Node, metadata: {name: n}, spec: {unschedulable: true, podCIDR: 10.0.0.0/8}, status: {images: [{sizeBytes: 1}], capacity: {cpu: "1"}}}`,
			`{apiVersion: v1, kind: Node, metadata: {name: n}, spec: {unschedulable: true}, status: {capacity: {cpu: "1"}}}`,
		},
		"what is short of a ConfigMap": {
			`{apiVersion: v1, kind: ConfigMap, metadata: {name: c}, data: {short: s, long: "` + strings.Repeat("x", longestValue+1) + `"}, binaryData: {b: eA==}}`,
			`{apiVersion: v1, kind: ConfigMap, metadata: {name: c}, data: {short: s}}`,
		},
		"copies of templates": {
			`{apiVersion: apps/v1, kind: ReplicaSet, metadata: {name: r, ownerReferences: [{uid: d, controller: true}]}, spec: {replicas: 1, template: {spec: {}}}}`,
			`{apiVersion: apps/v1, kind: ReplicaSet, metadata: {name: r, ownerReferences: [{uid: d, controller: true}]}, spec: {replicas: 1}}`,
		},
		"a template of its own stays": {
			`{apiVersion: apps/v1, kind: ReplicaSet, metadata: {name: r, ownerReferences: [{uid: d}]}, spec: {replicas: 1, template: {spec: {}}}}`,
			`{apiVersion: apps/v1, kind: ReplicaSet, metadata: {name: r, ownerReferences: [{uid: d}]}, spec: {replicas: 1, template: {spec: {}}}}`,
		},
		"who scales is looked for": {
			`{apiVersion: x/v1, kind: X, metadata: {name: x, annotations: {kubectl.kubernetes.io/last-applied-configuration: "{}", a: b},
              managedFields: [{manager: kubectl}, {manager: keda, subresource: scale}]}, spec: {any: thing}}`,
			`{apiVersion: x/v1, kind: X, metadata: {name: x, annotations: {a: b}, managedFields: [{manager: keda, subresource: scale}]}, spec: {any: thing}}`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			want := objectOf(t, test.want)
			got, err := trim(objectOf(t, test.object))
			require.NoError(t, err)
			assert.Equal(t, want, got)
			got, err = trim(got)
			require.NoError(t, err)
			assert.Equal(t, want, got, "once is enough")
		})
	}
	_, err := trim("text")
	require.ErrorContains(t, err, "a string is no object")
}
