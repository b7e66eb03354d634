package cluster

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/yaml"

	"github.com/poolwright/poolwright/internal/document"
	"github.com/poolwright/poolwright/internal/resource"
	"github.com/poolwright/poolwright/planner"
	poolwrightv1 "github.com/poolwright/poolwright/proto/poolwright/v1"
	"github.com/poolwright/poolwright/queueing"
	"github.com/poolwright/poolwright/sources/overlay"
)

// viewOf is the view of a cluster with the objects of some YAML documents. Without nodes
// among them, nodes can be read all the same.
func viewOf(t testing.TB, texts ...string) *View {
	t.Helper()
	stores := map[schema.GroupKind]*store{}
	for _, text := range texts {
		for document := range strings.SplitSeq(text, "\n---\n") {
			if strings.TrimSpace(document) == "" {
				continue
			}
			u := &unstructured.Unstructured{}
			data, err := yaml.ToJSON([]byte(document))
			require.NoError(t, err)
			require.NoError(t, u.UnmarshalJSON(data), document)
			kind := u.GroupVersionKind().GroupKind()
			if stores[kind] == nil {
				stores[kind] = newStore(time.Now)
			}
			require.NoError(t, stores[kind].Add(u))
		}
	}
	v := &View{asOf: time.Now(), kinds: map[schema.GroupKind]*listing{}, unreadable: map[schema.GroupKind]error{}}
	for kind, s := range stores {
		entries, version := s.all()
		v.kinds[kind], v.version = newListing(entries), v.version+version
	}
	return v
}

// snapshotOf is the fleet of a view with the workloads of deployments (see reader).
func snapshotOf(t testing.TB, v *View, config string) *snapshot {
	t.Helper()
	c := &Catalog{config: Config{Readers: []resource.Reader{reader{}}}}
	return c.snapshot(v, overlayOf(t, config))
}

func overlayOf(t testing.TB, config string) *overlay.Overlay {
	t.Helper()
	var m poolwrightv1.Overlay
	if config != "" {
		require.NoError(t, document.UnmarshalYAML([]byte(config), &m))
	}
	o, err := overlay.New(&m)
	require.NoError(t, err)
	return o
}

// reader reads a workload of one variant out of each Deployment and LeaderWorkerSet with
// the label test; a value that names something else than the object is that of a target.
type reader struct{}

func (reader) Kinds() []schema.GroupKind { return []schema.GroupKind{deploymentKind, groupSetKind} }

func (reader) Read(v resource.View) ([]resource.Workload, []resource.Skipped) {
	var all []resource.Workload
	for _, kind := range (reader{}).Kinds() {
		for _, object := range v.List(kind) {
			labels := object.GetLabels()
			if labels["test"] == "" {
				continue
			}
			n, _, _ := unstructured.NestedInt64(object.Object, "spec", "replicas")
			limit, _ := time.ParseDuration(labels["startup-limit"])
			target := resource.ReferenceTo(object)
			target.Name = labels["test"]
			w := resource.Workload{Object: resource.ReferenceTo(object), Mode: resource.Mode(labels["mode"]), MinimumDeclared: true}
			if found := labels["found"]; found != "" {
				w.Conditions = []resource.Condition{{Type: found, Status: resource.True, Reason: found, Message: "by the reader"}}
			}
			w.Namespace, w.Name, w.Model = object.GetNamespace(), object.GetName(), "m"
			w.SLO = queueing.SLO{Limits: []queueing.Limit{{Metric: queueing.TTFT, Value: 1}}}
			w.Declared = []resource.Variant{{
				Variant: planner.Variant{Name: "v", CurrentReplicas: int(n), DevicesPerReplica: 2, Capacity: 1},
				Target:  target, Accelerator: labels["accelerator"], StartupLimit: limit,
			}}
			all = append(all, w)
		}
	}
	return all, nil
}

func (reader) Patches(resource.View, *resource.Workload, *resource.Outcome) []resource.Patch {
	return nil
}

// deployment is one of so many replicas, with its ReplicaSet.
func deployment(namespace, name string, replicas int, labels string) string {
	return fmt.Sprintf(`
apiVersion: apps/v1
kind: Deployment
metadata: {namespace: %[1]s, name: %[2]s, uid: d-%[1]s-%[2]s, generation: 7, labels: {test: %[2]s%[4]s}}
spec: {replicas: %[3]d}
---
apiVersion: apps/v1
kind: ReplicaSet
metadata:
  {namespace: %[1]s, name: %[2]s-1, uid: r-%[1]s-%[2]s, ownerReferences: [{apiVersion: apps/v1, kind: Deployment, name: %[2]s, uid: d-%[1]s-%[2]s, controller: true}]}
spec: {replicas: %[3]d}
---
`, namespace, name, replicas, labels)
}

// podOf is a pod of a controller with two devices. States are ready, starting, pending, leaving and ended.
func podOf(namespace, name, owner, node, state string) string {
	deletion, phase, ready := "", "Running", "False"
	switch state {
	case "ready":
		ready = "True"
	case "leaving":
		deletion, ready = `, deletionTimestamp: "2026-01-01T00:00:00Z"`, "True"
	case "ended":
		phase = "Succeeded"
	case "pending":
		phase = "Pending"
	}
	owners := ""
	if owner != "" {
		owners = fmt.Sprintf(`, ownerReferences: [{apiVersion: x/v1, kind: X, name: x, uid: %s, controller: true}]`, owner)
	}
	return fmt.Sprintf(`
apiVersion: v1
kind: Pod
metadata: {namespace: %[1]s, name: %[2]s, uid: p-%[1]s-%[2]s, labels: {app: %[2]s}%[3]s%[4]s}
spec: {nodeName: %[5]q, containers: [{name: main, resources: {limits: {nvidia.com/gpu: "2"}}}]}
status:
  phase: %[6]s
  podIP: 10.0.0.1
  conditions:
  - {type: PodScheduled, status: "True", lastTransitionTime: "2026-01-01T00:00:00Z"}
  - {type: Ready, status: %[7]q, lastTransitionTime: "2026-01-01T00:03:00Z"}
  containerStatuses: [{name: main, restartCount: 0, state: {running: {startedAt: "2026-01-01T00:00:10Z"}}}]
---
`, namespace, name, deletion, owners, node, phase, ready)
}

// nodeOf is a ready node of so many devices.
func nodeOf(name, product string, devices int, more string) string {
	return fmt.Sprintf(`
apiVersion: v1
kind: Node
metadata: {name: %s, labels: {nvidia.com/gpu.product: %s, topology.kubernetes.io/zone: zone-%s}}
%s
status:
  capacity: {nvidia.com/gpu: "%[5]d"}
  allocatable: {nvidia.com/gpu: "%[5]d"}
  conditions: [{type: Ready, status: "True"}]
---
`, name, product, name, more, devices)
}

// pools are the capacities by name; -1 = unlimited.
func pools(s *snapshot) map[string]int {
	all := map[string]int{}
	for _, p := range s.fleet.Pools {
		all[p.Name] = -1
		if p.Capacity.Limited {
			all[p.Name] = p.Capacity.Value
		}
	}
	return all
}

// variant is the only one of a workload.
func variant(t testing.TB, s *snapshot, workload string) *planner.Variant {
	t.Helper()
	i, ok := s.of[workload]
	require.True(t, ok, "no workload %s: %v", workload, s.skipped)
	return &s.fleet.Workloads[i].Variants[0]
}

func conditionsOf(t testing.TB, s *snapshot, workload string) map[string]string {
	t.Helper()
	i, ok := s.of[workload]
	require.True(t, ok, "no workload %s: %v", workload, s.skipped)
	all := map[string]string{}
	for _, c := range s.workloads[i].Conditions {
		all[c.Type] = c.Message
	}
	return all
}
