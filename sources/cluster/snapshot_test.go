package cluster

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/poolwright/poolwright/internal/resource"
	"github.com/poolwright/poolwright/optimizer/lp"
	"github.com/poolwright/poolwright/planner"
	"github.com/poolwright/poolwright/sources/overlay"
	"github.com/poolwright/poolwright/sources/plain"
)

const (
	h100   = "NVIDIA-H100-80GB-HBM3"
	a100   = "NVIDIA-A100-SXM4-80GB"
	onH100 = ", accelerator: " + h100
)

func TestReplicas(t *testing.T) {
	for name, test := range map[string]struct {
		asked                      int
		pods                       string
		starting, leaving, inPools int
		startup                    time.Duration
	}{
		"all ready": {
			asked: 2, pods: podOf("a", "x-1", "r-a-x", "n1", "ready") + podOf("a", "x-2", "r-a-x", "n1", "ready"),
			inPools: 2, startup: 3 * time.Minute,
		},
		"pending ones hold nothing and are counted once": {
			asked: 2, pods: podOf("a", "x-1", "r-a-x", "n1", "ready") + podOf("a", "x-2", "r-a-x", "", "pending"),
			starting: 1, inPools: 1, startup: 3 * time.Minute,
		},
		"starting ones hold devices": {
			asked: 1, pods: podOf("a", "x-1", "r-a-x", "n1", "starting"), starting: 1, inPools: 1,
		},
		"not made yet": {asked: 3, starting: 3},
		"terminating ones hold devices until they are gone": {
			asked: 1, pods: podOf("a", "x-1", "r-a-x", "n1", "ready") + podOf("a", "x-2", "r-a-x", "n1", "leaving"),
			leaving: 1, inPools: 2, startup: 3 * time.Minute,
		},
		"surge of a rollout": {
			asked: 1, pods: podOf("a", "x-1", "r-a-x", "n1", "ready") + podOf("a", "x-2", "r-a-x", "n1", "starting"),
			leaving: 1, inPools: 2, startup: 3 * time.Minute,
		},
		"ended ones hold nothing": {
			asked: 1, pods: podOf("a", "x-1", "r-a-x", "n1", "ended"), starting: 1,
		},
		"on a node that is lost": {
			asked: 1, pods: podOf("a", "x-1", "r-a-x", "lost", "starting"), starting: 1,
		},
		"of others": {
			asked: 1, pods: podOf("b", "x-1", "r-b-x", "n1", "ready"), starting: 1,
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := snapshotOf(t, viewOf(t, nodeOf("n1", h100, 8, ""), deployment("a", "x", test.asked, onH100), test.pods), "")
			v := variant(t, s, "a/x")
			assert.Equal(t, test.asked, v.CurrentReplicas)
			assert.Equal(t, test.starting, v.StartingReplicas, "starting")
			assert.Equal(t, test.leaving, v.LeavingReplicas, "leaving")
			assert.Equal(t, []int{test.inPools}, v.PoolReplicas)
			assert.Equal(t, test.startup, v.Startup)
		})
	}
}

// When a start is given up counts until one has been seen, and the configuration before both.
func TestStartup(t *testing.T) {
	limited := deployment("a", "x", 1, onH100+", startup-limit: 10m")
	pod := podOf("a", "x-1", "r-a-x", "n1", "ready")
	node := nodeOf("n1", h100, 8, "")
	assert.Equal(t, 10*time.Minute, variant(t, snapshotOf(t, viewOf(t, node, limited), ""), "a/x").Startup)
	assert.Equal(t, 3*time.Minute, variant(t, snapshotOf(t, viewOf(t, node, limited, pod), ""), "a/x").Startup)
	assert.Equal(t, time.Minute, variant(t, snapshotOf(t, viewOf(t, node, limited, pod), "replicaDefaults: {startup: 1m}"), "a/x").Startup)
}

// How long a restarted engine took does not say how long a new replica takes.
func TestStartupOfRestartedPods(t *testing.T) {
	node, fleet := nodeOf("n1", h100, 8, ""), deployment("a", "x", 3, onH100)
	again := strings.Replace(podOf("a", "x-1", "r-a-x", "n1", "ready"), "restartCount: 0", "restartCount: 2", 1)
	assert.Zero(t, variant(t, snapshotOf(t, viewOf(t, node, fleet, again), ""), "a/x").Startup)
	slow := strings.Replace(podOf("a", "x-2", "r-a-x", "n1", "ready"), "00:03:00", "00:05:00", 1)
	fast := podOf("a", "x-3", "r-a-x", "n1", "ready")
	assert.Equal(t, 5*time.Minute, variant(t, snapshotOf(t, viewOf(t, node, fleet, again, slow, fast), ""), "a/x").Startup, "the upper median")
}

// A pod that was not ready for a moment has not been starting all the time.
func TestStartupOfPodsThatStumble(t *testing.T) {
	at := func(hour string) *unstructured.Unstructured {
		return objectOf(t, strings.Replace(podOf("a", "x-1", "r-a-x", "n1", "ready"), "T00:03:00", "T"+hour, 1))
	}
	s := newStore(time.Now)
	startup := func() time.Duration {
		entries, _ := s.all()
		return entries[0].pod.startup
	}
	require.NoError(t, s.Add(at("00:30:00")))
	assert.Equal(t, 30*time.Minute, startup())
	require.NoError(t, s.Add(at("00:50:00")))
	assert.Equal(t, 30*time.Minute, startup())
	require.NoError(t, s.Replace([]any{at("00:55:00")}, ""))
	assert.Equal(t, 30*time.Minute, startup())
	another := at("00:40:00")
	another.SetUID("another")
	require.NoError(t, s.Add(another))
	assert.Equal(t, 40*time.Minute, startup(), "of the same name")
	require.NoError(t, s.Replace([]any{}, ""))
	require.NoError(t, s.Add(at("09:00:00")))
	assert.Zero(t, startup(), "it has probably been ready before")
}

// Of a LeaderWorkerSet a replica is a group, and serves when its leader does; the devices of
// its workers are its own.
func TestGroups(t *testing.T) {
	const group = `
apiVersion: leaderworkerset.x-k8s.io/v1
kind: LeaderWorkerSet
metadata: {namespace: a, name: x, uid: lws, labels: {test: x}}
spec: {replicas: 2}
---
apiVersion: apps/v1
kind: StatefulSet
metadata: {namespace: a, name: x, uid: leaders, ownerReferences: [{apiVersion: x/v1, kind: X, name: x, uid: lws, controller: true}]}
---
apiVersion: apps/v1
kind: StatefulSet
metadata: {namespace: a, name: x-0, uid: workers, ownerReferences: [{apiVersion: v1, kind: Pod, name: x-0, uid: p-a-x-0, controller: true}]}
---
`
	leader := strings.ReplaceAll(podOf("a", "x-0", "leaders", "n1", "ready"), "app: x-0", `leaderworkerset.sigs.k8s.io/name: x, leaderworkerset.sigs.k8s.io/worker-index: "0"`)
	starting := strings.ReplaceAll(podOf("a", "x-1", "leaders", "n1", "starting"), "app: x-1", `leaderworkerset.sigs.k8s.io/name: x, leaderworkerset.sigs.k8s.io/worker-index: "0"`)
	worker := strings.ReplaceAll(podOf("a", "x-0-1", "workers", "n1", "ready"), "app: x-0-1", `leaderworkerset.sigs.k8s.io/name: x, leaderworkerset.sigs.k8s.io/worker-index: "1"`)
	s := snapshotOf(t, viewOf(t, nodeOf("n1", h100, 8, ""), group, leader, starting, worker), "")
	v := variant(t, s, "a/x")
	assert.Equal(t, 2, v.CurrentReplicas)
	assert.Equal(t, 1, v.StartingReplicas)
	assert.Equal(t, []int{2}, v.PoolReplicas)
	assert.Equal(t, map[string]int{h100 + "-x8": 8}, pools(s), "no pod is of others")
}

func TestLeadersBySelector(t *testing.T) {
	x := newIndex(viewOf(t,
		podOf("a", "x", "", "n1", "ready"), podOf("a", "w", "", "n1", "ready"), podOf("b", "x", "", "n1", "ready")))
	for selector, want := range map[string]int{"app=x": 1, "app in (x,w)": 2, "app!=x": 1, "none=x": 0} {
		parsed, err := labels.Parse(selector)
		require.NoError(t, err)
		leaders := x.leaders(&resource.Variant{Target: resource.Reference{Namespace: "a", Name: "t"}, Leaders: parsed})
		assert.Len(t, leaders, want, selector)
	}
}

func TestPoolsFromNodes(t *testing.T) {
	for name, test := range map[string]struct {
		objects string
		want    map[string]int
	}{
		"by product and size": {
			nodeOf("n1", h100, 8, "") + nodeOf("n2", h100, 8, "") + nodeOf("n3", h100, 4, "") + nodeOf("n4", a100, 8, ""),
			map[string]int{h100 + "-x8": 16, h100 + "-x4": 4, a100 + "-x8": 8},
		},
		"devices of others make a node smaller": {
			nodeOf("n1", h100, 8, "") + nodeOf("n2", h100, 8, "") + podOf("z", "other", "", "n1", "ready"),
			map[string]int{h100 + "-x8": 8, h100 + "-x6": 6},
		},
		"a node full of others is none": {nodeOf("n1", h100, 2, "") + podOf("z", "other", "", "n1", "ready"), map[string]int{}},
		"others that ended or wait hold nothing": {
			nodeOf("n1", h100, 8, "") + podOf("z", "o1", "", "n1", "ended") + podOf("z", "o2", "", "", "pending"),
			map[string]int{h100 + "-x8": 8},
		},
		"our own are offered": {
			nodeOf("n1", h100, 8, "") + deployment("a", "x", 1, "") + podOf("a", "x-1", "r-a-x", "n1", "ready"),
			map[string]int{h100 + "-x8": 8},
		},
		"of a cordoned node what we hold": {
			nodeOf("n1", h100, 8, "spec: {unschedulable: true}") + nodeOf("n2", h100, 8, "spec: {unschedulable: true}") +
				deployment("a", "x", 1, "") + podOf("a", "x-1", "r-a-x", "n1", "ready"),
			map[string]int{h100 + "-x2": 2},
		},
		"a node about to be removed is cordoned": {
			nodeOf("n1", h100, 8, "spec: {taints: [{key: karpenter.sh/disrupted, effect: NoSchedule}]}"), map[string]int{},
		},
		"taints that we don't tolerate": {
			nodeOf("n1", h100, 8, "spec: {taints: [{key: team, value: b, effect: NoSchedule}]}") + nodeOf("n2", h100, 8, "") +
				deployment("a", "x", 1, onH100) + podOf("a", "x-1", "r-a-x", "n1", "ready"),
			map[string]int{h100 + "-x2": 2, h100 + "-x8": 8},
		},
		"taints that we tolerate": {
			nodeOf("n1", h100, 8, "spec: {taints: [{key: team, value: a, effect: NoSchedule}, {key: nvidia.com/gpu, effect: NoSchedule}]}") +
				strings.Replace(deployment("a", "x", 1, onH100), "spec: {replicas", "spec: {template: {spec: {tolerations: [{key: team, value: a}]}}, replicas", 1),
			map[string]int{h100 + "-x8": 8},
		},
		"of a silent node what we hold": {
			strings.ReplaceAll(nodeOf("n1", h100, 8, "")+nodeOf("n2", h100, 8, ""), `status: "True"`, `status: "Unknown"`) +
				deployment("a", "x", 1, "") + podOf("a", "x-1", "r-a-x", "n1", "starting"),
			map[string]int{h100 + "-x2": 2},
		},
		"a broken device": {
			strings.ReplaceAll(nodeOf("n1", h100, 8, ""), `allocatable: {nvidia.com/gpu: "8"}`, `allocatable: {nvidia.com/gpu: "7"}`),
			map[string]int{h100 + "-x7": 7},
		},
		"without devices": {nodeOf("n1", `""`, 0, ""), map[string]int{}},
	} {
		t.Run(name, func(t *testing.T) {
			s := snapshotOf(t, viewOf(t, test.objects), "")
			assert.Equal(t, test.want, pools(s))
			for _, p := range s.fleet.Pools {
				assert.Equal(t, fmt.Sprintf("%s-x%d", p.Accelerator, p.DevicesPerNode), p.Name)
			}
		})
	}
}

// The devices of a workload that is not in the fleet are not there for others.
func TestDevicesOfWorkloadsLeftOut(t *testing.T) {
	s := snapshotOf(t, viewOf(t, nodeOf("n1", h100, 8, ""),
		deployment("a", "x", 1, onH100), podOf("a", "x-1", "r-a-x", "n1", "ready"),
		strings.Replace(deployment("a", "w", 1, onH100), "test: w", "test: x", 1)), "")
	require.Len(t, s.skipped, 1)
	assert.Equal(t, resource.DuplicateOwnership, s.skipped[0].Reason)
	assert.Equal(t, map[string]int{h100 + "-x8": 8}, pools(s))

	s = snapshotOf(t, viewOf(t, nodeOf("n1", h100, 8, ""), nodeOf("n2", a100, 8, ""),
		deployment("a", "x", 1, ", accelerator: "+a100), podOf("a", "x-1", "r-a-x", "n1", "ready")), "")
	assert.Equal(t, map[string]int{h100 + "-x8": 6, a100 + "-x8": 8}, pools(s), "a pod that is where it should not be")
	assert.Nil(t, variant(t, s, "a/x").PoolReplicas)
}

const fast = `
accelerators: [{name: H100, aliases: [NVIDIA-H100-80GB-HBM3], pricePerHour: 4}]
`

func TestAcceleratorsByAlias(t *testing.T) {
	v := viewOf(t, nodeOf("n1", h100, 8, ""), deployment("a", "x", 1, ", accelerator: H100"), podOf("a", "x-1", "r-a-x", "n1", "ready"))
	s := snapshotOf(t, v, fast)
	assert.Equal(t, []int{1}, variant(t, s, "a/x").PoolReplicas)
	assert.Equal(t, "H100", s.fleet.Pools[0].Accelerator)
	assert.InDelta(t, 4, s.fleet.Pools[0].PricePerHour, 0)
}

// The type of device comes from the template or, where that is silent, from the nodes.
func TestAcceleratorInUse(t *testing.T) {
	nodes := nodeOf("n1", h100, 8, "") + nodeOf("n2", a100, 8, "")
	running := podOf("a", "x-1", "r-a-x", "n1", "ready") + podOf("a", "x-2", "r-a-x", "n2", "ready") + podOf("a", "x-3", "r-a-x", "n2", "ready")
	s := snapshotOf(t, viewOf(t, nodes, deployment("a", "x", 3, ""), running), "")
	assert.Equal(t, a100, s.workloads[0].Declared[0].Accelerator, "most of them")

	template := "spec: {template: {spec: {nodeSelector: {nvidia.com/gpu.product: " + h100 + "}}}, replicas"
	s = snapshotOf(t, viewOf(t, nodes, strings.Replace(deployment("a", "x", 3, ""), "spec: {replicas", template, 1), running), "")
	assert.Equal(t, h100, s.workloads[0].Declared[0].Accelerator)
}

// withoutPods is a view of two types of devices in which a Deployment that selects neither
// has so many replicas, of which none runs.
func withoutPods(t *testing.T, replicas int) *View {
	t.Helper()
	return viewOf(t, nodeOf("n1", h100, 8, ""), nodeOf("n2", a100, 8, ""), deployment("a", "x", replicas, ""),
		podOf("a", "x-9", "r-a-x", "", "pending"))
}

// A variant that pods alone tell the type of device of keeps it while none runs, and is woken
// on it.
func TestAcceleratorIsRemembered(t *testing.T) {
	c := &Catalog{config: Config{Readers: []resource.Reader{reader{}}}}
	see := func(v *View, config string) *snapshot {
		c.latest.Store(c.snapshot(v, overlayOf(t, config)))
		return c.latest.Load()
	}
	nodes := nodeOf("n1", h100, 8, "") + nodeOf("n2", a100, 8, "")
	see(viewOf(t, nodes, deployment("a", "x", 1, ""), podOf("a", "x-1", "r-a-x", "n2", "ready")), "")

	s := see(viewOf(t, nodes, deployment("a", "x", 0, "")), "")
	assert.Equal(t, a100, s.workloads[0].Declared[0].Accelerator, "no replicas")
	assert.Equal(t, 2, wanted(t, s, 2), "it is woken")
	for range 2 {
		s = see(withoutPods(t, 1), "replicaDefaults: {accelerator: "+h100+"}")
		assert.Equal(t, a100, s.workloads[0].Declared[0].Accelerator, "pending, after a cycle or two")
		assert.Empty(t, conditionsOf(t, s, "a/x")[resource.AcceleratorAssumed])
	}
	s = see(viewOf(t, nodes, deployment("a", "x", 1, ""), podOf("a", "x-2", "r-a-x", "n1", "starting")), "")
	assert.Equal(t, h100, s.workloads[0].Declared[0].Accelerator, "moved")

	again := strings.ReplaceAll(deployment("a", "x", 0, ""), "uid: d-a-x", "uid: d-a-x-2")
	s = see(viewOf(t, nodes, again), "")
	assert.Empty(t, s.workloads, "another one of the name")
	assert.Empty(t, s.products)
}

// Who has not seen a replica run goes by the configuration, then by nodes that leave no choice.
func TestAcceleratorAfterARestart(t *testing.T) {
	asleep := deployment("a", "x", 0, "")
	unlabelled := strings.Replace(nodeOf("n2", "", 8, ""), "nvidia.com/gpu.product: ,", "", 1)
	const aliases = "accelerators: [{name: fast, aliases: [" + h100 + ", " + a100 + "]}]"
	for name, test := range map[string]struct {
		objects, config string
		want            string // empty = it is left out
		assumed         bool
	}{
		"nodes of one type":        {objects: nodeOf("n1", h100, 8, "") + nodeOf("n2", h100, 4, ""), want: h100, assumed: true},
		"full of others":           {objects: nodeOf("n1", h100, 2, "") + podOf("z", "o", "", "n1", "ready"), want: h100, assumed: true},
		"beside nodes without any": {objects: nodeOf("n1", h100, 8, "") + strings.ReplaceAll(unlabelled, `nvidia.com/gpu: "8"`, ""), want: h100, assumed: true},
		"one type by two names":    {objects: nodeOf("n1", h100, 8, "") + nodeOf("n2", a100, 8, ""), config: aliases, want: "fast", assumed: true},
		"the configuration":        {objects: nodeOf("n1", h100, 8, ""), config: "replicaDefaults: {accelerator: " + a100 + "}", want: a100},
		"nodes of two types":       {objects: nodeOf("n1", h100, 8, "") + nodeOf("n2", a100, 8, "")},
		"nodes of no type":         {objects: nodeOf("n1", h100, 8, "") + unlabelled},
		"no nodes":                 {},
	} {
		t.Run(name, func(t *testing.T) {
			s := snapshotOf(t, viewOf(t, test.objects, asleep), test.config)
			if test.want == "" {
				require.Len(t, s.skipped, 1)
				assert.Equal(t, overlay.NoVariant, s.skipped[0].Reason)
				assert.Equal(t, "nothing says what type of device v runs on: it is left out of the plan, and not scaled", s.skipped[0].Message)
				return
			}
			require.Len(t, s.workloads, 1)
			assert.Equal(t, test.want, s.workloads[0].Declared[0].Accelerator)
			found, assumed := conditionsOf(t, s, "a/x")[resource.AcceleratorAssumed]
			assert.Equal(t, test.assumed, assumed)
			if assumed {
				assert.Equal(t, "nothing says what type of device v runs on: "+test.want+" is assumed, the only one that nodes have", found)
			}
		})
	}
	v := viewOf(t, nodeOf("n1", h100, 8, ""), asleep)
	v.unreadable[sliceKind] = errors.New("resourceslices is forbidden")
	assert.Empty(t, snapshotOf(t, v, "").workloads, "there may be others")
	assert.Empty(t, snapshotOf(t, withoutPods(t, 1), "").workloads)
}

// Pods that ask for no devices need not run where devices are.
func TestAcceleratorOfPodsWithoutDevices(t *testing.T) {
	v := viewOf(t, nodeOf("n1", h100, 8, ""), strings.Replace(deployment("a", "x", 0, ""), "labels: {test: x}", "annotations: {poolwright.dev/workload: x}", 1))
	c := &Catalog{config: Config{Readers: []resource.Reader{plain.Reader{}}}}
	s := c.snapshot(v, overlayOf(t, ""))
	assert.Empty(t, s.workloads)
	require.Len(t, s.skipped, 1)
	assert.Contains(t, s.skipped[0].Message, "nothing says what type of device x runs on")
}

// Declared pools take the place of those that nodes show, and have their nodes.
func TestDeclaredPools(t *testing.T) {
	const zones = fast + `
pools:
- {name: near, accelerator: H100, zone: zone-n1, capacity: 8}
- {name: far, accelerator: H100, zone: zone-n2, capacity: 8}
`
	s := snapshotOf(t, viewOf(t, nodeOf("n1", h100, 8, ""), nodeOf("n2", h100, 8, ""),
		deployment("a", "x", 2, ", accelerator: H100"),
		podOf("a", "x-1", "r-a-x", "n2", "ready"), podOf("a", "x-2", "r-a-x", "n2", "ready")), zones)
	assert.Equal(t, map[string]int{"near": 8, "far": 8}, pools(s))
	assert.Equal(t, []int{0, 2}, variant(t, s, "a/x").PoolReplicas)

	s = snapshotOf(t, viewOf(t, nodeOf("n3", h100, 8, ""),
		deployment("a", "x", 1, ", accelerator: H100"), podOf("a", "x-1", "r-a-x", "n3", "ready")), zones)
	assert.Nil(t, variant(t, s, "a/x").PoolReplicas, "a node of neither zone")
}

// GPU counts that can't be read under dynamic resource allocation are neither zero nor a
// reason to stop: what is in use counts, and the workload says so.
func TestIncident13DevicesUnreadableUnderDRA(t *testing.T) {
	silent := strings.ReplaceAll(nodeOf("n1", h100, 8, ""), `{nvidia.com/gpu: "8"}`, "{}")
	v := viewOf(t, silent, deployment("a", "x", 2, onH100), podOf("a", "x-1", "r-a-x", "n1", "ready"), podOf("a", "x-2", "r-a-x", "n1", "ready"))
	s := snapshotOf(t, v, "")
	assert.Equal(t, map[string]int{h100: 4}, pools(s))
	assert.Contains(t, conditionsOf(t, s, "a/x")[overlay.PoolCapacityUnknown], "node n1 does not say how many devices it has")
	assert.Equal(t, []int{2}, variant(t, s, "a/x").PoolReplicas)

	v.unreadable[sliceKind] = errors.New("resourceslices is forbidden")
	s = snapshotOf(t, v, "")
	assert.Equal(t, map[string]int{h100: 4}, pools(s))
	assert.Contains(t, conditionsOf(t, s, "a/x")[overlay.PoolCapacityUnknown], "resourceslices is forbidden")

	s = snapshotOf(t, v, "unknownCapacity: UNLIMITED")
	assert.Equal(t, map[string]int{h100: -1}, pools(s), "the operator's choice")
	assert.Contains(t, conditionsOf(t, s, "a/x")[overlay.PoolCapacityUnknown], "taken as unlimited")
}

// An inventory that can't be read is not an inventory of nothing.
func TestIncident14InventoryUnreadable(t *testing.T) {
	v := viewOf(t, deployment("a", "x", 2, onH100), podOf("a", "x-1", "r-a-x", "n1", "ready"))
	v.unreadable[nodeKind] = errors.New("nodes is forbidden")
	s := snapshotOf(t, v, "")
	assert.Equal(t, map[string]int{h100: 4}, pools(s), "two replicas are asked for")
	assert.Contains(t, conditionsOf(t, s, "a/x")[overlay.PoolCapacityUnknown], "nodes is forbidden")
	assert.Equal(t, 1, variant(t, s, "a/x").StartingReplicas)
	assert.Equal(t, 2, wanted(t, s, 5), "what is there stays")

	s = snapshotOf(t, v, "unknownCapacity: UNLIMITED")
	assert.Equal(t, map[string]int{h100: -1}, pools(s))
	assert.Equal(t, 5, wanted(t, s, 5), "nothing is blocked")
}

// wanted is the number of replicas that the only workload is planned to have at an arrival
// rate; each sustains one request/s.
func wanted(t *testing.T, s *snapshot, rate float64) int {
	t.Helper()
	name := s.fleet.Workloads[0].QualifiedName()
	d, _, err := planner.New(lp.Simplex()).Plan(planner.Snapshot{
		Now: time.Unix(0, 0), Fleet: s.fleet, Paused: s.pauses,
		Observations: []planner.Observation{{Workload: name, ArrivalRate: planner.Measurement{State: planner.Fresh, Value: rate}}},
	}, planner.Memory{}, nil)
	require.NoError(t, err)
	return d.Plans[0].Variants[0].Wanted
}

func TestIncident14NoNodeOfAnAccelerator(t *testing.T) {
	s := snapshotOf(t, viewOf(t, nodeOf("n1", a100, 8, ""), deployment("a", "x", 2, ", accelerator: H100")), "")
	assert.Equal(t, map[string]int{a100 + "-x8": 8, "H100": 4}, pools(s))
	assert.Contains(t, conditionsOf(t, s, "a/x"), overlay.PoolCapacityUnknown)
}

// Where pods of some namespaces alone are seen, what others hold is not known.
func TestCapacityInSomeNamespaces(t *testing.T) {
	v := viewOf(t, nodeOf("n1", h100, 8, ""), nodeOf("n2", h100, 4, ""), deployment("a", "x", 1, onH100), podOf("a", "x-1", "r-a-x", "n1", "ready"))
	c := &Catalog{config: Config{Readers: []resource.Reader{reader{}}}, partial: true}
	s := c.snapshot(v, overlayOf(t, ""))
	assert.Equal(t, map[string]int{h100: 2}, pools(s))
	assert.Contains(t, conditionsOf(t, s, "a/x")[overlay.PoolCapacityUnknown], "some namespaces")
}

const dynamicDevices = `
apiVersion: resource.k8s.io/v1
kind: ResourceSlice
metadata: {name: n1-gpu}
spec:
  driver: gpu.nvidia.com
  nodeName: n1
  pool: {name: n1, generation: 2, resourceSliceCount: 1}
  devices:
  - {name: gpu-0, attributes: {type: {string: gpu}, productName: {string: NVIDIA H100 80GB HBM3}}}
  - {name: gpu-1, attributes: {gpu.nvidia.com/type: {string: gpu}, gpu.nvidia.com/productName: {string: NVIDIA H100 80GB HBM3}}}
  - {name: gpu-2, attributes: {type: {string: gpu}, productName: {string: NVIDIA H100 80GB HBM3}}}
  - {name: mig-0, attributes: {type: {string: mig}, productName: {string: NVIDIA H100 80GB HBM3}}}
---
apiVersion: resource.k8s.io/v1
kind: ResourceSlice
metadata: {name: n1-old}
spec:
  driver: gpu.nvidia.com
  nodeName: n1
  pool: {name: n1, generation: 1, resourceSliceCount: 1}
  devices: [{name: gpu-9, attributes: {type: {string: gpu}, productName: {string: NVIDIA H100 80GB HBM3}}}]
---
apiVersion: resource.k8s.io/v1
kind: ResourceSlice
metadata: {name: n1-nic}
spec:
  driver: dra.net
  nodeName: n1
  pool: {name: n1, generation: 1, resourceSliceCount: 1}
  devices: [{name: eth0, attributes: {productName: {string: NIC}}}]
---
apiVersion: resource.k8s.io/v1
kind: ResourceClaim
metadata: {namespace: z, name: other}
status:
  reservedFor: [{resource: pods, name: other, uid: p-z-other}]
  allocation:
    devices:
      results:
      - {request: gpu, driver: gpu.nvidia.com, pool: n1, device: gpu-0}
      - {request: nic, driver: dra.net, pool: n1, device: eth0}
      - {request: watch, driver: gpu.nvidia.com, pool: n1, device: gpu-1, adminAccess: true}
---
`

func TestDynamicResourceAllocation(t *testing.T) {
	silent := strings.ReplaceAll(nodeOf("n1", `""`, 8, ""), `{nvidia.com/gpu: "8"}`, "{}")
	other := strings.ReplaceAll(podOf("z", "other", "", "n1", "ready"), `{nvidia.com/gpu: "2"}`, "{}")
	s := snapshotOf(t, viewOf(t, silent, dynamicDevices, other), "")
	assert.Equal(t, map[string]int{h100 + "-x2": 2}, pools(s))

	ours := strings.ReplaceAll(podOf("a", "x-1", "r-a-x", "n1", "ready"), `{nvidia.com/gpu: "2"}`, "{}")
	s = snapshotOf(t, viewOf(t, silent, strings.ReplaceAll(dynamicDevices, "p-z-other", "p-a-x-1"), deployment("a", "x", 1, onH100), ours), "")
	assert.Equal(t, map[string]int{h100 + "-x3": 3}, pools(s))
	assert.Equal(t, []int{1}, variant(t, s, "a/x").PoolReplicas)

	// A pod that asks for a number of devices gets a claim of the scheduler for the same ones.
	generated := strings.ReplaceAll(dynamicDevices, "metadata: {namespace: z, name: other}",
		`metadata: {namespace: z, name: other, annotations: {resource.kubernetes.io/extended-resource-claim: "true"}}`)
	s = snapshotOf(t, viewOf(t, silent, generated, podOf("z", "other", "", "n1", "ready")), "")
	assert.Equal(t, map[string]int{h100 + "-x1": 1}, pools(s))

	v := viewOf(t, silent, dynamicDevices, other)
	v.unreadable[claimKind] = errors.New("resourceclaims is forbidden")
	assert.Equal(t, map[string]int{h100: 0}, pools(snapshotOf(t, v, "")), "nobody knows what others hold, and nothing is ours")
}

func quotas(s *snapshot) map[string][]planner.Quota {
	all := map[string][]planner.Quota{}
	for _, p := range s.fleet.Pools {
		if len(p.Quotas) > 0 {
			all[p.Name] = p.Quotas
		}
	}
	return all
}

func TestQuotas(t *testing.T) {
	const (
		quota = `
apiVersion: v1
kind: ResourceQuota
metadata: {namespace: a, name: q}
spec: {hard: {requests.nvidia.com/gpu: "10", requests.cpu: "100", requests.amd.com/gpu: "0"}}
---
apiVersion: v1
kind: ResourceQuota
metadata: {namespace: a, name: best-effort}
spec: {hard: {requests.nvidia.com/gpu: "1"}, scopes: [BestEffort]}
---
apiVersion: v1
kind: ResourceQuota
metadata: {namespace: nothing-planned, name: q}
spec: {hard: {requests.nvidia.com/gpu: "10"}}
---
`
		queues = `
apiVersion: kueue.x-k8s.io/v1beta1
kind: ClusterQueue
metadata: {name: cq}
spec:
  resourceGroups:
  - coveredResources: [cpu, nvidia.com/gpu]
    flavors:
    - {name: h100, resources: [{name: cpu, nominalQuota: 9}, {name: nvidia.com/gpu, nominalQuota: 6}]}
    - {name: a100, resources: [{name: nvidia.com/gpu, nominalQuota: "3"}]}
---
apiVersion: kueue.x-k8s.io/v1beta1
kind: ResourceFlavor
metadata: {name: h100}
spec: {nodeLabels: {nvidia.com/gpu.product: NVIDIA-H100-80GB-HBM3}}
---
apiVersion: kueue.x-k8s.io/v1beta1
kind: ResourceFlavor
metadata: {name: a100}
spec: {nodeLabels: {nvidia.com/gpu.product: NVIDIA-A100-SXM4-80GB}}
---
apiVersion: kueue.x-k8s.io/v1beta1
kind: LocalQueue
metadata: {namespace: a, name: lq}
spec: {clusterQueue: cq}
---
apiVersion: kueue.x-k8s.io/v1beta1
kind: LocalQueue
metadata: {namespace: b, name: lq}
spec: {clusterQueue: cq}
---
`
	)
	nodes := nodeOf("n1", h100, 8, "") + nodeOf("n2", a100, 8, "")
	ours := deployment("a", "x", 1, onH100) + podOf("a", "x-1", "r-a-x", "n1", "ready")
	queued := strings.Replace(ours, "test: x", "test: x, "+queueLabel+": lq", 1)
	// with has other node labels of the flavors h100 and a100.
	with := func(h, a string) string {
		return strings.NewReplacer("{nvidia.com/gpu.product: NVIDIA-H100-80GB-HBM3}", h, "{nvidia.com/gpu.product: NVIDIA-A100-SXM4-80GB}", a).Replace(queues)
	}
	for name, test := range map[string]struct {
		objects string
		want    map[string][]planner.Quota
	}{
		"none": {ours, map[string][]planner.Quota{}},
		"what one pool uses the other does not get": {
			ours + quota,
			map[string][]planner.Quota{h100 + "-x8": {{Namespace: "a", Devices: 10}}, a100 + "-x8": {{Namespace: "a", Devices: 8}}},
		},
		"so large that it is none": {
			ours + strings.Replace(quota, `"10"`, "5G", 1),
			map[string][]planner.Quota{h100 + "-x8": {{Namespace: "a", Devices: mostDevices}}, a100 + "-x8": {{Namespace: "a", Devices: mostDevices - 2}}},
		},
		"others of the namespace use it up": {
			ours + quota + podOf("a", "other", "", "n2", "ready"),
			map[string][]planner.Quota{h100 + "-x8": {{Namespace: "a", Devices: 8}}, a100 + "-x6": {{Namespace: "a", Devices: 6}}},
		},
		"queues that nobody asks for": {ours + queues, map[string][]planner.Quota{}},
		"flavors of one product add up": {
			queued + with("{nvidia.com/gpu.product: NVIDIA-H100-80GB-HBM3, spot: 'no'}", "{nvidia.com/gpu.product: NVIDIA-H100-80GB-HBM3, spot: 'yes'}"),
			map[string][]planner.Quota{h100 + "-x8": {{Namespace: "a", Devices: 9}}},
		},
		"flavors of any product add up": {
			queued + with("{spot: 'no'}", "{spot: 'yes'}"),
			map[string][]planner.Quota{h100 + "-x8": {{Namespace: "a", Devices: 9}}, a100 + "-x8": {{Namespace: "a", Devices: 7}}},
		},
		"a flavor of any product adds to that of one": {
			queued + with("{}", "{nvidia.com/gpu.product: NVIDIA-A100-SXM4-80GB}"),
			map[string][]planner.Quota{h100 + "-x8": {{Namespace: "a", Devices: 6}}, a100 + "-x8": {{Namespace: "a", Devices: 7}}},
		},
		"what a product does not use of its own is for no other": {
			queued + with("{nvidia.com/gpu.product: NVIDIA-H100-80GB-HBM3}", "{}"),
			map[string][]planner.Quota{h100 + "-x8": {{Namespace: "a", Devices: 9}}, a100 + "-x8": {{Namespace: "a", Devices: 3}}},
		},
		"nominal quotas by flavor": {
			queued + queues,
			map[string][]planner.Quota{h100 + "-x8": {{Namespace: "a", Devices: 6}}, a100 + "-x8": {{Namespace: "a", Devices: 3}}},
		},
		"namespaces share a queue": {
			queued + queues +
				strings.Replace(deployment("b", "w", 1, onH100), "test: w", "test: w, "+queueLabel+": lq", 1) + podOf("b", "w-1", "r-b-w", "n1", "ready"),
			map[string][]planner.Quota{
				h100 + "-x8": {{Namespace: "a", Devices: 4}, {Namespace: "b", Devices: 4}},
				a100 + "-x8": {{Namespace: "a", Devices: 3}, {Namespace: "b", Devices: 3}},
			},
		},
		"the lower one counts": {
			queued + queues + quota,
			map[string][]planner.Quota{h100 + "-x8": {{Namespace: "a", Devices: 6}}, a100 + "-x8": {{Namespace: "a", Devices: 3}}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			assert.Equal(t, test.want, quotas(snapshotOf(t, viewOf(t, nodes, test.objects), "")))
		})
	}
}

func TestModeOffIsLeftAloneAndCounts(t *testing.T) {
	s := snapshotOf(t, viewOf(t, nodeOf("n1", h100, 8, ""),
		deployment("a", "x", 1, onH100+`, mode: "off"`), podOf("a", "x-1", "r-a-x", "n1", "ready")), "")
	assert.Equal(t, []planner.Pause{{Workload: "a/x", Reason: "its mode is off"}}, s.pauses)
	assert.Equal(t, 1, wanted(t, s, 5))
	assert.Equal(t, []int{1}, variant(t, s, "a/x").PoolReplicas)
}

// A target that was deleted is not scaled, and its workload goes on with the others.
func TestTargetMissing(t *testing.T) {
	v := viewOf(t, nodeOf("n1", h100, 8, ""), strings.Replace(deployment("a", "x", 3, onH100), "test: x", "test: gone", 1))
	s := snapshotOf(t, v, "")
	missing := variant(t, s, "a/x")
	assert.Zero(t, missing.CurrentReplicas)
	assert.Equal(t, 0, missing.MaxReplicas.Value)
	assert.True(t, missing.MaxReplicas.Limited)
	assert.Equal(t, "v: there is no Deployment a/gone", conditionsOf(t, s, "a/x")[TargetMissing])
}

// Equal views give equal fleets, whatever the order in which objects arrived.
func TestSnapshotIsDeterministic(t *testing.T) {
	objects := []string{
		nodeOf("n1", h100, 8, ""), nodeOf("n2", h100, 4, ""), nodeOf("n3", a100, 8, ""), dynamicDevices,
		deployment("a", "x", 2, onH100), podOf("a", "x-1", "r-a-x", "n1", "ready"), podOf("a", "x-2", "r-a-x", "n2", "starting"),
		deployment("b", "w", 1, ", accelerator: "+a100), podOf("b", "w-1", "r-b-w", "n3", "ready"), podOf("z", "o", "", "n3", "ready"),
	}
	want := snapshotOf(t, viewOf(t, objects...), fast)
	for range 20 {
		slices.Reverse(objects)
		objects = append(objects[3:], objects[:3]...)
		got := snapshotOf(t, viewOf(t, objects...), fast)
		require.Equal(t, want.fleet, got.fleet)
		require.Equal(t, want.pauses, got.pauses)
	}
}
