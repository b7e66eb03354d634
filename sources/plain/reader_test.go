package plain_test

import (
	"io/fs"
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/poolwright/poolwright/internal/resource"
	"github.com/poolwright/poolwright/internal/resource/resourcetest"
	"github.com/poolwright/poolwright/planner"
	"github.com/poolwright/poolwright/sources/plain"
)

const objects = `
apiVersion: apps/v1
kind: Deployment
metadata: {namespace: prod, name: chat-h100, uid: u1, generation: 3, annotations: {poolwright.dev/workload: chat}}
spec:
  replicas: 3
  template:
    spec:
      nodeSelector: {nvidia.com/gpu.product: NVIDIA-H100-80GB-HBM3}
      containers:
      - {name: engine, resources: {limits: {nvidia.com/gpu: "4"}}}
      - {name: proxy}
---
apiVersion: apps/v1
kind: Deployment
metadata: {namespace: prod, name: chat-l4, annotations: {poolwright.dev/workload: chat}}
spec:
  template: {spec: {containers: [{name: engine, resources: {limits: {nvidia.com/gpu: 1}}}]}}
---
apiVersion: apps/v1
kind: StatefulSet
metadata: {namespace: prod, name: chat-l4, annotations: {poolwright.dev/workload: chat}}
spec: {replicas: 0}
---
apiVersion: leaderworkerset.x-k8s.io/v1
kind: LeaderWorkerSet
metadata: {namespace: prod, name: big, annotations: {poolwright.dev/workload: big}}
spec:
  replicas: 2
  leaderWorkerTemplate:
    size: 3
    leaderTemplate: {spec: {containers: [{name: engine, resources: {limits: {amd.com/gpu: "4"}}}]}}
    workerTemplate:
      spec:
        nodeSelector: {amd.com/gpu.product-name: MI300X}
        containers: [{name: engine, resources: {limits: {amd.com/gpu: "8"}}}]
---
apiVersion: apps/v1
kind: Deployment
metadata: {namespace: dev, name: chat, annotations: {poolwright.dev/workload: chat}}
---
apiVersion: apps/v1
kind: Deployment
metadata: {namespace: prod, name: web, annotations: {poolwright.dev/mode: apply}}
---
apiVersion: apps/v1
kind: Deployment
metadata: {namespace: prod, name: gone, deletionTimestamp: "2026-01-01T00:00:00Z", annotations: {poolwright.dev/workload: gone}}
`

func variant(kind, name string) resource.Variant {
	group, version := "apps", "apps/v1"
	if kind == "LeaderWorkerSet" {
		group, version = "leaderworkerset.x-k8s.io", "leaderworkerset.x-k8s.io/v1"
	}
	var r resource.Reference
	r.Group, r.Version, r.Kind, r.Namespace, r.Name = group, "v1", kind, "prod", name
	return resource.Variant{
		Variant: planner.Variant{Name: name, ScaleTarget: planner.ScaleTarget{APIVersion: version, Kind: kind, Name: name}},
		Target:  r, Object: r,
	}
}

func TestRead(t *testing.T) {
	workloads, skipped := plain.Reader{}.Read(resourcetest.New(t, objects))
	assert.Empty(t, skipped)
	require.Len(t, workloads, 3)

	assert.Equal(t, "dev/chat", workloads[0].QualifiedName())
	assert.Equal(t, 1, workloads[0].Declared[0].CurrentReplicas, "as the API server would fill in")
	assert.Zero(t, workloads[0].Declared[0].DevicesPerReplica)

	big := variant("LeaderWorkerSet", "big")
	big.CurrentReplicas, big.DevicesPerReplica, big.NodesPerReplica, big.Accelerator = 2, 20, 3, "MI300X"
	got := workloads[1].Declared[0]
	require.NotNil(t, got.Leaders)
	assert.Equal(t, "leaderworkerset.sigs.k8s.io/name=big,leaderworkerset.sigs.k8s.io/worker-index=0", got.Leaders.String())
	got.Leaders = nil
	assert.Equal(t, big, got)

	h100, l4, stateful := variant("Deployment", "chat-h100"), variant("Deployment", "chat-l4"), variant("StatefulSet", "chat-l4")
	h100.CurrentReplicas, h100.DevicesPerReplica, h100.Accelerator = 3, 4, "NVIDIA-H100-80GB-HBM3"
	h100.Target.UID, h100.Target.Generation = "u1", 3
	h100.Object = h100.Target
	l4.CurrentReplicas, l4.DevicesPerReplica = 1, 1
	stateful.Name = "statefulset/chat-l4"
	assert.Equal(t, resource.Workload{
		Workload: planner.Workload{Namespace: "prod", Name: "chat"}, Object: h100.Object,
		Declared: []resource.Variant{h100, l4, stateful},
	}, workloads[2])
}

const examples = "../../examples/cluster/plain"

// exampleWorkload is the one of the example.
func exampleWorkload(t *testing.T) resource.Workload {
	t.Helper()
	text, err := fs.ReadFile(os.DirFS(examples), "chat.yaml")
	require.NoError(t, err)
	workloads, skipped := plain.Reader{}.Read(resourcetest.New(t, string(text)))
	require.Empty(t, skipped)
	require.Len(t, workloads, 1)
	return workloads[0]
}

func TestExample(t *testing.T) {
	w := exampleWorkload(t)
	assert.Equal(t, "plain/chat", w.QualifiedName())
	require.Len(t, w.Declared, 2)
	for j, want := range []struct {
		name, accelerator string
		devices, replicas int
	}{{"chat-h100", "NVIDIA-H100-80GB-HBM3", 4, 2}, {"chat-a100", "NVIDIA-A100-SXM4-80GB", 8, 1}} {
		v := &w.Declared[j]
		assert.Equal(t, want.name, v.Name)
		assert.Equal(t, want.accelerator, v.Accelerator)
		assert.Equal(t, want.devices, v.DevicesPerReplica)
		assert.Equal(t, want.replicas, v.CurrentReplicas)
	}
}

func TestSkipped(t *testing.T) {
	workloads, skipped := plain.Reader{}.Read(resourcetest.New(t, `
apiVersion: apps/v1
kind: Deployment
metadata: {namespace: prod, name: a, annotations: {poolwright.dev/workload: My Chat}}
---
apiVersion: apps/v1
kind: Deployment
metadata: {namespace: prod, name: b, annotations: {poolwright.dev/workload: chat}}
spec: {replicas: -1}
---
apiVersion: apps/v1
kind: Deployment
metadata: {namespace: prod, name: c, annotations: {poolwright.dev/workload: chat}}
spec: {replicas: many}
---
apiVersion: leaderworkerset.x-k8s.io/v1
kind: LeaderWorkerSet
metadata: {namespace: prod, name: d, annotations: {poolwright.dev/workload: chat}}
spec: {leaderWorkerTemplate: {size: 0}}
---
apiVersion: apps/v1
kind: StatefulSet
metadata:
  namespace: prod
  name: e
  annotations: {poolwright.dev/workload: chat}
  ownerReferences: [{apiVersion: example.com/v1, kind: Operator, name: it, uid: u, controller: true}]
---
apiVersion: leaderworkerset.x-k8s.io/v1
kind: LeaderWorkerSet
metadata: {namespace: prod, name: big, annotations: {poolwright.dev/workload: big}}
---
# It has the annotation from what controls it.
apiVersion: apps/v1
kind: StatefulSet
metadata:
  namespace: prod
  name: big
  annotations: {poolwright.dev/workload: big}
  ownerReferences: [{apiVersion: leaderworkerset.x-k8s.io/v1, kind: LeaderWorkerSet, name: big, uid: u, controller: true}]
`))
	require.Len(t, workloads, 1)
	assert.Len(t, workloads[0].Declared, 1)
	var got []string
	for _, s := range skipped {
		got = append(got, s.Object.String()+": "+s.Reason)
	}
	assert.Equal(t, []string{
		"Deployment prod/a: InvalidName", "Deployment prod/b: Malformed", "Deployment prod/c: Malformed",
		"StatefulSet prod/e: Controlled", "LeaderWorkerSet prod/d: Malformed",
	}, got)
	assert.Equal(t, "spec.replicas: -1 is not in [0, 1000000]", skipped[1].Message)
	assert.Equal(t, "Operator prod/it controls it, and would undo what is scaled: it can't join a workload", skipped[3].Message)
}

// Whatever an object holds, it is read or skipped, and what is read makes sense.
func FuzzRead(f *testing.F) {
	f.Add(`{"apiVersion":"apps/v1","kind":"Deployment","spec":{"replicas":3,"template":{"spec":{"containers":[{"resources":{"limits":{"nvidia.com/gpu":"4"}}}]}}}}`)
	f.Add(`{"apiVersion":"leaderworkerset.x-k8s.io/v1","kind":"LeaderWorkerSet","spec":{"leaderWorkerTemplate":{"size":3,"workerTemplate":{"spec":{"containers":[{"resources":{"limits":{"amd.com/gpu":8}}}]}}}}}`)
	f.Fuzz(func(t *testing.T, text string) {
		var object unstructured.Unstructured
		if object.UnmarshalJSON([]byte(text)) != nil || object.IsList() {
			return
		}
		object.SetName("it")
		object.SetNamespace("prod")
		object.SetAnnotations(map[string]string{resource.WorkloadAnnotation: "chat"})
		data, err := object.MarshalJSON()
		require.NoError(t, err)
		workloads, skipped := plain.Reader{}.Read(resourcetest.New(t, string(data)))
		assert.LessOrEqual(t, len(workloads)+len(skipped), 1)
		for _, w := range workloads {
			v := w.Declared[0]
			assert.GreaterOrEqual(t, v.CurrentReplicas, 0)
			assert.GreaterOrEqual(t, v.DevicesPerReplica, v.NodesPerReplica)
		}
	})
}
