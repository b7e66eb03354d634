//go:build e2e && linux

package cluster_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/client-go/rest"

	"github.com/poolwright/poolwright/internal/controlplane"
	"github.com/poolwright/poolwright/internal/kube"
	"github.com/poolwright/poolwright/internal/resource"
	"github.com/poolwright/poolwright/planner"
	poolwrightv1 "github.com/poolwright/poolwright/proto/poolwright/v1"
	"github.com/poolwright/poolwright/sources/cluster"
	"github.com/poolwright/poolwright/sources/llmd"
	"github.com/poolwright/poolwright/sources/overlay"
	"github.com/poolwright/poolwright/sources/plain"
)

const (
	h100 = "NVIDIA-H100-80GB-HBM3"

	// workload is a Deployment that joins by annotation, and a pod of somebody else.
	workload = `
apiVersion: apps/v1
kind: Deployment
metadata: {namespace: default, name: chat, annotations: {poolwright.dev/workload: chat, poolwright.dev/model: m}}
spec:
  replicas: 2
  selector: {matchLabels: {app: chat}}
  template:
    metadata: {labels: {app: chat}}
    spec:
      nodeSelector: {nvidia.com/gpu.product: NVIDIA-H100-80GB-HBM3}
      containers: [{name: vllm, image: vllm, resources: {limits: {nvidia.com/gpu: "2"}}}]
---
apiVersion: v1
kind: Pod
metadata: {namespace: kube-public, name: other}
spec:
  nodeName: h100-0
  containers: [{name: job, image: job, resources: {limits: {nvidia.com/gpu: "3"}}}]
`
	// confined is a role with the rights to watch nearly all; the rest is to be filled in: core
	// resources, and groups.
	confined = `
apiVersion: v1
kind: ServiceAccount
metadata: {namespace: default, name: confined}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: confined}
rules:
- apiGroups: [""]
  resources: [configmaps, pods, resourcequotas%s]
  verbs: [get, list, watch]
- apiGroups: [apps, autoscaling, keda.sh, kueue.x-k8s.io, leaderworkerset.x-k8s.io, llmd.ai, workload.serving.volcano.sh%s]
  resources: ["*"]
  verbs: [get, list, watch]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: confined}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: confined}
subjects: [{kind: ServiceAccount, namespace: default, name: confined}]
`
)

// apply applies objects.
func apply(t *testing.T, c *controlplane.ControlPlane, text string) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "objects.yaml")
	require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
	_, err := c.Kubectl(t.Context(), "apply", "--server-side", "-f", file)
	require.NoError(t, err)
}

// catalog watches a cluster as somebody until the test ends.
func catalog(t *testing.T, as *rest.Config) *cluster.Catalog {
	t.Helper()
	client, err := kube.New(as)
	require.NoError(t, err)
	readers := []resource.Reader{llmd.NewReader(llmd.Config{}), plain.Reader{}}
	watch := cluster.NewWatch(cluster.WatchConfig{
		Client: client.Dynamic, Mapper: client.Mapper, Kinds: cluster.Kinds(readers), MaxAge: 3 * time.Second, Retry: time.Second,
	})
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		watch.Run(ctx)
	}()
	t.Cleanup(func() {
		cancel()
		<-done
	})
	o, err := overlay.New(&poolwrightv1.Overlay{})
	require.NoError(t, err)
	return cluster.New(cluster.Config{Watch: watch, Readers: readers, Overlay: func() *overlay.Overlay { return o }})
}

// becomes waits until the fleet is as it should be.
func becomes(t *testing.T, c *cluster.Catalog, what string, as func(*planner.Fleet, error) error) {
	t.Helper()
	require.EventuallyWithT(t, func(check *assert.CollectT) {
		fleet, _, err := c.Fleet(context.Background())
		assert.NoError(check, as(&fleet, err), what)
	}, time.Minute, 50*time.Millisecond)
}

// chat is the workload with so many replicas that serve, and devices in its pool.
func chat(ready, devices int) func(*planner.Fleet, error) error {
	return func(f *planner.Fleet, err error) error {
		if err != nil {
			return err
		}
		for i := range f.Workloads {
			if w := &f.Workloads[i]; w.Name == "chat" {
				v := &w.Variants[0]
				pool := &f.Pools[v.Pools[0]]
				if v.CurrentReplicas-v.StartingReplicas == ready && pool.Capacity.Value == devices && len(v.PoolReplicas) == 1 && v.PoolReplicas[0] == ready {
					return nil
				}
				return fmt.Errorf("%+v in %+v", v, pool)
			}
		}
		return fmt.Errorf("no workload among %d", len(f.Workloads))
	}
}

func TestFleetOfARealCluster(t *testing.T) {
	c := controlplane.New(t, controlplane.Config{})
	require.NoError(t, c.AddNodes(t.Context(), controlplane.GPUNode("h100-0", h100, 8)))
	_, err := c.Kubectl(t.Context(), "apply", "-f", "../../deploy/kubernetes/rbac.yaml")
	require.NoError(t, err)
	account, err := c.ServiceAccount(t.Context(), "poolwright", "poolwright")
	require.NoError(t, err)
	apply(t, c, workload)
	fleet := catalog(t, account)
	becomes(t, fleet, "two replicas beside three devices of somebody else", chat(2, 5))

	_, err = c.Kubectl(t.Context(), "scale", "deployment", "chat", "--replicas", "1")
	require.NoError(t, err)
	becomes(t, fleet, "one replica", chat(1, 5))

	target, ok := fleet.Target("default/chat", "chat")
	require.True(t, ok)
	assert.NotEmpty(t, target.Object.UID)
	require.Len(t, fleet.Pods("default/chat"), 1)
	assert.NotEmpty(t, fleet.Pods("default/chat")[0].Address)

	c.APIServer.Stop()
	becomes(t, fleet, "nothing is decided without an API server", func(_ *planner.Fleet, err error) error {
		if err == nil {
			return fmt.Errorf("there is a fleet")
		}
		return nil
	})
	require.NoError(t, c.APIServer.Start(t.Context()))
	becomes(t, fleet, "as before", chat(1, 5))

	const crd = "../../deploy/crds/llmd.ai_variantautoscalings.yaml"
	_, err = c.Kubectl(t.Context(), "apply", "-f", crd)
	require.NoError(t, err)
	_, err = c.Kubectl(t.Context(), "wait", "--for", "condition=Established", "-f", crd)
	require.NoError(t, err)
	_, err = c.Kubectl(t.Context(), "apply", "-f", "../../examples/cluster/llmd")
	require.NoError(t, err)
	more := func(least int) func(*planner.Fleet, error) error {
		return func(f *planner.Fleet, err error) error {
			if err == nil && len(f.Workloads) < least {
				err = fmt.Errorf("%d workloads", len(f.Workloads))
			}
			return err
		}
	}
	becomes(t, fleet, "workloads of a kind that was installed later", more(2))
	_, err = c.Kubectl(t.Context(), "delete", "-f", crd)
	require.NoError(t, err)
	becomes(t, fleet, "without the kind", func(f *planner.Fleet, err error) error {
		if err == nil && len(f.Workloads) != 1 {
			err = fmt.Errorf("%d workloads", len(f.Workloads))
		}
		return err
	})
}

// inUse is a fleet with one pool of H100 of which only the four devices in use are known.
func inUse(f *planner.Fleet, err error) error {
	switch {
	case err != nil:
		return err
	case len(f.Pools) != 1 || f.Pools[0].Accelerator != h100 || f.Pools[0].Capacity.Value != 4 || !f.Pools[0].Capacity.Limited:
		return fmt.Errorf("%+v", f.Pools)
	}
	return nil
}

// A driver that allocates devices dynamically leaves nodes that do not say how many they have,
// and slices that not everybody may read: what is in use counts, and nothing stops.
func TestIncident13DevicesOfARealClusterUnderDRA(t *testing.T) {
	c := controlplane.New(t, controlplane.Config{})
	node := controlplane.GPUNode("h100-0", h100, 8)
	delete(node.Status.Capacity, controlplane.DeviceResource)
	require.NoError(t, c.AddNodes(t.Context(), node))
	apply(t, c, workload+"---"+fmt.Sprintf(confined, ", nodes", ""))
	account, err := c.ServiceAccount(t.Context(), "default", "confined")
	require.NoError(t, err)
	becomes(t, catalog(t, account), "four devices are in use", inUse)
}

// Who may not read nodes does not know what there is, and keeps what is in use.
func TestIncident14InventoryOfARealCluster(t *testing.T) {
	c := controlplane.New(t, controlplane.Config{})
	require.NoError(t, c.AddNodes(t.Context(), controlplane.GPUNode("h100-0", h100, 8)))
	apply(t, c, workload+"---"+fmt.Sprintf(confined, "", ", resource.k8s.io"))
	account, err := c.ServiceAccount(t.Context(), "default", "confined")
	require.NoError(t, err)
	becomes(t, catalog(t, account), "four devices are in use", inUse)
}
