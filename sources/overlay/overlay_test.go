package overlay_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/poolwright/poolwright/internal/document"
	"github.com/poolwright/poolwright/internal/resource"
	"github.com/poolwright/poolwright/internal/resource/resourcetest"
	"github.com/poolwright/poolwright/optimizer"
	"github.com/poolwright/poolwright/optimizer/lp"
	"github.com/poolwright/poolwright/planner"
	poolwrightv1 "github.com/poolwright/poolwright/proto/poolwright/v1"
	"github.com/poolwright/poolwright/queueing"
	"github.com/poolwright/poolwright/sources/overlay"
)

func parse(t testing.TB, text string) *overlay.Overlay {
	t.Helper()
	m := &poolwrightv1.Overlay{}
	if text != "" {
		require.NoError(t, document.UnmarshalYAML([]byte(text), m))
	}
	o, err := overlay.New(m)
	require.NoError(t, err)
	return o
}

func reference(kind, name string) resource.Reference {
	return resource.Reference{
		GroupVersionKind: schema.GroupVersionKind{Group: "apps", Version: "v1", Kind: kind}, Namespace: "prod", Name: name,
	}
}

// chat is a workload of one variant on four H100, which may go to zero replicas.
func chat() resource.Workload {
	target := reference("Deployment", "chat-h100")
	return resource.Workload{
		Workload: planner.Workload{Namespace: "prod", Name: "chat", Model: "llama-70b"},
		Object:   target, MinimumDeclared: true,
		Declared: []resource.Variant{{
			Variant: planner.Variant{Name: "chat-h100", DevicesPerReplica: 4, CurrentReplicas: 2}, Accelerator: "H100", Target: target,
		}},
	}
}

func h100(devices int) overlay.Pool {
	return overlay.Pool{Pool: planner.Pool{Name: "H100", Accelerator: "H100", Capacity: optimizer.Bound{Limited: true, Value: devices}}}
}

const rates = `
replicas:
- {match: {model: llama-70b, accelerator: H100, devices: 4}, capacityRps: 2}
`

func types(cs []resource.Condition) []string {
	var out []string
	for _, c := range cs {
		out = append(out, c.Type)
	}
	return out
}

// Nothing but the resource's own fields: what is unknown is said, and nothing is scaled.
func TestNothingSaid(t *testing.T) {
	c := parse(t, "").Complete(resourcetest.New(t), []overlay.Pool{h100(64)}, []resource.Workload{chat()})
	require.Len(t, c.Fleet.Workloads, 1)
	w := c.Fleet.Workloads[0]
	assert.Equal(t, 1, w.Priority)
	assert.Equal(t, planner.Variant{Name: "chat-h100", Pools: []int{0}, DevicesPerReplica: 4, NodesPerReplica: 1, CurrentReplicas: 2}, w.Variants[0])
	assert.Equal(t, resource.Apply, c.Workloads[0].Mode)
	assert.Empty(t, c.Workloads[0].Conditions, "the planner says that there is no profile")
	assert.Empty(t, c.Skipped)
	assert.Equal(t, []planner.Pool{h100(64).Pool}, c.Fleet.Pools)
}

// What the configuration says takes precedence over the object, the most specific first,
// field by field; its defaults count last.
func TestPrecedence(t *testing.T) {
	o := parse(t, `
replicas:
- {match: {model: llama*}, startup: 1m, maxBatch: 1, minReplicas: 1}
- {match: {model: llama-70b, accelerator: H100, devices: 4}, profile: {alphaMs: 10, betaMs: 1}, maxBatch: 128, startup: 2m}
- {match: {model: llama-70b, accelerator: H100, devices: 8}, maxBatch: 2}
- {match: {workload: chat, namespace: prod}, startup: 3m}
- {match: {workload: chat, namespace: other}, startup: 4m}
- {match: {workload: c*}, maxReplicas: 7}
replicaDefaults: {startup: 5m, kvCacheTokens: 1e5, devices: 2, switchingCost: {up: 1, down: 2}}
workloads:
- {match: {model: llama-70b}, slo: {ttft: {p95: 2s}}, priority: 5}
- {match: {model: llama-70b, serviceClass: premium}, slo: {ttft: {p95: 1s}}}
- {match: {namespace: prod}, priority: 3, mode: RECOMMEND}
- {match: {name: chat}, mode: DRY_RUN}
workloadDefaults: {priority: 9, serviceClass: premium, redundancy: 1, mode: OFF, metrics: {engine: vllm, port: 8000}}
`)
	declared := chat()
	declared.Mode = resource.Off
	declared.Series.Port = 9000
	declared.Series.Parts = map[string][]resource.Part{"chat-h100": {{Count: 2}}}
	declared.Declared[0].Startup = time.Hour
	declared.Declared[0].Replica = &queueing.Replica{MaxBatch: 32, MaxBatchedTokens: 2048}
	c := o.Complete(resourcetest.New(t), []overlay.Pool{h100(64)}, []resource.Workload{declared})
	require.Len(t, c.Fleet.Workloads, 1)
	w, v := c.Fleet.Workloads[0], c.Fleet.Workloads[0].Variants[0]
	assert.Equal(t, []queueing.Limit{{Metric: queueing.TTFT, Quantile: 0.95, Value: 1}}, w.SLO.Limits)
	assert.Equal(t, "premium", w.ServiceClass)
	assert.Equal(t, 3, w.Priority)
	assert.Equal(t, 1, w.Redundancy)
	assert.Equal(t, resource.DryRun, c.Workloads[0].Mode)
	assert.Equal(t, resource.Series{Engine: "vllm", Port: 9000, Path: "/metrics", Parts: declared.Series.Parts}, c.Workloads[0].Series)
	assert.Equal(t, planner.Variant{
		Name: "chat-h100", Pools: []int{0}, DevicesPerReplica: 4, NodesPerReplica: 1, CurrentReplicas: 2,
		MinReplicas: 1, MaxReplicas: optimizer.Bound{Limited: true, Value: 7}, Startup: 3 * time.Minute,
		SwitchUp: 1, SwitchDown: 2,
		Replica: &queueing.Replica{
			Profile: queueing.Profile{Alpha: 0.010, Beta: 0.001}, MaxBatch: 128, MaxBatchedTokens: 2048, KVCacheTokens: 1e5,
		},
	}, v)
	assert.Empty(t, c.Workloads[0].Conditions)
	assert.Equal(t, 32, declared.Declared[0].Replica.MaxBatch, "what was declared is not changed")
}

func TestAnnotations(t *testing.T) {
	view := resourcetest.New(t, `
apiVersion: apps/v1
kind: Deployment
metadata:
  namespace: prod
  name: chat-h100
  annotations:
    poolwright.dev/workload: chat
    poolwright.dev/model: "405"
    poolwright.dev/mode: dry-run
    poolwright.dev/priority: "2"
    poolwright.dev/take-over: "true"
    poolwright.dev/slo: '{ttft: {p95: 1s}}'
    poolwright.dev/metrics: |
      engine: sglang
      selector: {app: chat}
    poolwright.dev/accelerator: NVIDIA-A100
    poolwright.dev/devices: "8"
    poolwright.dev/max-replicas: "5"
    poolwright.dev/pools: '[spot]'
    other.dev/mode: apply
`)
	o := parse(t, `
accelerators: [{name: A100, aliases: [NVIDIA-A100], pricePerHour: 2}]
pools: [{accelerator: A100, capacity: 8}, {name: spot, accelerator: NVIDIA-A100, pricePerHour: 1}]
replicas: [{match: {model: "405", accelerator: A100, devices: 8}, capacityRps: 3}]
workloads: [{match: {name: chat}, mode: OFF, priority: 7, redundancy: 1}]
`)
	c := o.Complete(view, []overlay.Pool{h100(64)}, []resource.Workload{chat()})
	require.Len(t, c.Fleet.Workloads, 1)
	w := c.Workloads[0]
	assert.Empty(t, w.Conditions)
	assert.Equal(t, "405", w.Model)
	assert.Equal(t, resource.DryRun, w.Mode)
	assert.True(t, w.TakeOver)
	assert.Equal(t, 2, w.Priority)
	assert.Equal(t, 1, w.Redundancy)
	assert.Equal(t, resource.Series{Engine: "sglang", Selector: map[string]string{"app": "chat"}}, w.Series)
	assert.Equal(t, "A100", w.Declared[0].Accelerator)
	assert.Equal(t, planner.Variant{
		Name: "chat-h100", Pools: []int{1}, DevicesPerReplica: 8, NodesPerReplica: 1, CurrentReplicas: 2, Capacity: 3,
		MaxReplicas: optimizer.Bound{Limited: true, Value: 5},
	}, w.Declared[0].Variant)
	assert.Equal(t, w.Declared[0].Variant, c.Fleet.Workloads[0].Variants[0])
	assert.InDelta(t, 2, c.Fleet.Pools[0].PricePerHour, 0, "the accelerator's")
	assert.InDelta(t, 1, c.Fleet.Pools[1].PricePerHour, 0)
	assert.Equal(t, "H100", c.Fleet.Pools[2].Accelerator)
	again := o.Complete(view, []overlay.Pool{h100(64)}, []resource.Workload{chat()})
	assert.Equal(t, c, again)
}

// An engine that objects do not tell is known once it is named for the workload; a default
// for all may be wrong.
func TestEngineThatIsNamed(t *testing.T) {
	declared := chat()
	declared.Conditions = []resource.Condition{{Type: resource.EngineUnsupported, Status: resource.True}, {Type: "Other", Status: resource.True}}
	for config, want := range map[string][]string{
		"workloadDefaults: {metrics: {engine: vllm}}":                   {resource.EngineUnsupported, "Other"},
		"workloads: [{match: {name: chat}, metrics: {engine: sglang}}]": {"Other"},
	} {
		c := parse(t, config).Complete(resourcetest.New(t), []overlay.Pool{h100(64)}, []resource.Workload{declared})
		require.Len(t, c.Workloads, 1)
		assert.Subset(t, types(c.Workloads[0].Conditions), want, config)
		assert.Equal(t, slices.Contains(want, resource.EngineUnsupported), slices.Contains(types(c.Workloads[0].Conditions), resource.EngineUnsupported), config)
	}
	assert.Len(t, declared.Conditions, 2, "what was declared is not changed")
}

// What objects leave to an autoscaler of their own is scaled once it is taken over, unless
// something else is said of it.
func TestTakeOver(t *testing.T) {
	for _, test := range []struct {
		said     string
		declared resource.Mode
		want     resource.Mode
	}{
		{"priority: 1", resource.Recommend, resource.Recommend},
		{"takeOver: false", resource.Recommend, resource.Recommend},
		{"takeOver: true", resource.Recommend, resource.Apply},
		{"takeOver: true", resource.Off, resource.Off},
		{"takeOver: true, mode: DRY_RUN", resource.Recommend, resource.DryRun},
		{"takeOver: true, mode: RECOMMEND", "", resource.Recommend},
	} {
		declared := chat()
		declared.Mode = test.declared
		o := parse(t, "workloads: [{match: {name: chat}, "+test.said+"}]")
		c := o.Complete(resourcetest.New(t), []overlay.Pool{h100(64)}, []resource.Workload{declared})
		require.Len(t, c.Workloads, 1)
		assert.Equal(t, test.want, c.Workloads[0].Mode, test.said)
	}
}

// A bad value is a condition on the object, and what held without it holds. A mode that is
// not understood keeps our hands off.
func TestBadAnnotations(t *testing.T) {
	view := resourcetest.New(t, `
apiVersion: apps/v1
kind: Deployment
metadata:
  namespace: prod
  name: chat-h100
  annotations:
    poolwright.dev/mode: of
    poolwright.dev/priority: high
    poolwright.dev/redundancy: "-1"
    poolwright.dev/start-up: 5m
    poolwright.dev/match: '{}'
    poolwright.dev/min-replicas: "5"
    poolwright.dev/max-replicas: "4"
    poolwright.dev/devices: ""
    poolwright.dev/slo: '{ttft: {p95: 0s, p99: x}}'
    poolwright.dev/unmet-penalty-per-rps: |-
      3
      mode: APPLY
`)
	o := parse(t, rates+`
workloads: [{match: {name: chat}, slo: {ttft: {p95: 1s}}, priority: 2}]
`)
	c := o.Complete(view, []overlay.Pool{h100(64)}, []resource.Workload{chat()})
	require.Len(t, c.Workloads, 1)
	w := c.Workloads[0]
	assert.Equal(t, resource.Recommend, w.Mode)
	assert.Equal(t, 2, w.Priority)
	assert.Equal(t, 4, w.Declared[0].DevicesPerReplica)
	assert.Equal(t, optimizer.Bound{Limited: true, Value: 4}, w.Declared[0].MaxReplicas)
	assert.Zero(t, w.Declared[0].MinReplicas)
	require.Len(t, w.Conditions, 1)
	assert.Equal(t, overlay.AnnotationInvalid, w.Conditions[0].Type)
	assert.Equal(t, resource.True, w.Conditions[0].Status)
	assert.Equal(t, strings.Join([]string{
		`poolwright.dev/devices: empty`,
		`poolwright.dev/match: unknown`,
		`poolwright.dev/mode: expected apply, recommend, dry-run, off, got "of"`,
		`poolwright.dev/priority: expected a whole number, got the string "high"`,
		`poolwright.dev/slo: ttft.p99: expected a duration such as "50ms", "1m30s" or "0.05s", got the string "x"`,
		`poolwright.dev/start-up: unknown; did you mean startup?`,
		`poolwright.dev/unmet-penalty-per-rps: not YAML: mapping values are not allowed in this context`,
		`poolwright.dev/redundancy: must be greater than or equal to 0 and less than or equal to 1000000`,
		`poolwright.dev/min-replicas: 5 is more than maxReplicas, which is 4`,
	}, "; "), w.Conditions[0].Message)
}

// An annotation does not become much by aliases.
func TestAliasesOfAnnotations(t *testing.T) {
	view := resourcetest.New(t, `
apiVersion: apps/v1
kind: Deployment
metadata:
  namespace: prod
  name: chat-h100
  annotations:
    poolwright.dev/slo: '{ttft: &a [`+strings.Repeat("x,", 200)+`], itl: [*a,*a,*a]}'
`)
	c := parse(t, rates).Complete(view, []overlay.Pool{h100(64)}, []resource.Workload{chat()})
	require.Len(t, c.Workloads, 1)
	require.Len(t, c.Workloads[0].Conditions, 1)
	assert.Equal(t, `poolwright.dev/slo: aliases expand to more than 55 values`, c.Workloads[0].Conditions[0].Message)
}

// Objects of one workload may say different things of it: the one that declares it counts,
// then the first. What is about replicas belongs on the object that is scaled.
func TestAnnotationsOfSeveralObjects(t *testing.T) {
	view := resourcetest.New(t, `
apiVersion: apps/v1
kind: Declaration
metadata: {namespace: prod, name: chat, annotations: {poolwright.dev/priority: "2", poolwright.dev/devices: "8", poolwright.dev/min-replicas: "3"}}
---
apiVersion: apps/v1
kind: Deployment
metadata: {namespace: prod, name: chat-h100, annotations: {poolwright.dev/priority: "3", poolwright.dev/mode: "off", poolwright.dev/min-replicas: "1"}}
---
apiVersion: apps/v1
kind: Deployment
metadata: {namespace: prod, name: chat-2, annotations: {poolwright.dev/mode: "off", poolwright.dev/redundancy: "1", poolwright.dev/startup: 5m}}
`)
	w := chat()
	w.Object = reference("Declaration", "chat")
	second := w.Declared[0]
	second.Name, second.Target = "chat-2", reference("Deployment", "chat-2")
	w.Declared = append(w.Declared, second)
	c := parse(t, rates+"workloadDefaults: {slo: {itl: {mean: 50ms}}}").Complete(view, []overlay.Pool{h100(64)}, []resource.Workload{w})
	require.Len(t, c.Fleet.Workloads, 1)
	got := c.Fleet.Workloads[0]
	assert.Equal(t, 2, got.Priority)
	assert.Equal(t, 3, got.MinReplicas)
	assert.Equal(t, 1, got.Redundancy)
	assert.Equal(t, resource.Off, c.Workloads[0].Mode)
	assert.Equal(t, 4, got.Variants[0].DevicesPerReplica)
	assert.Equal(t, 1, got.Variants[0].MinReplicas)
	assert.Zero(t, got.Variants[1].MinReplicas)
	assert.Equal(t, 5*time.Minute, got.Variants[1].Startup)
	assert.Equal(t, []resource.Condition{{
		Type: overlay.AnnotationInvalid, Status: resource.True, Reason: overlay.AnnotationInvalid,
		Message: "poolwright.dev/devices: it is about replicas: it belongs on the object that is scaled; " +
			"Deployment prod/chat-h100: poolwright.dev/priority: Declaration prod/chat says otherwise, and counts",
	}}, c.Workloads[0].Conditions)
}

// TestIncident14: an inventory that could not be read was taken for an empty one, and nothing
// was scaled up any more. Here the operator chooses, and it is said.
func TestIncident14UnknownCapacityIsNotZero(t *testing.T) {
	w := chat()
	w.Declared[0].LeavingReplicas = 1
	for text, want := range map[string]planner.Pool{
		"":                           {Name: "H100", Accelerator: "H100", PricePerHour: 4, Capacity: optimizer.Bound{Limited: true, Value: 12}},
		"unknownCapacity: UNLIMITED": {Name: "H100", Accelerator: "H100", PricePerHour: 4},
	} {
		o := parse(t, rates+"accelerators: [{name: H100, pricePerHour: 4}]\n"+text)
		for _, discovered := range [][]overlay.Pool{nil, {{Pool: planner.Pool{Accelerator: "H100"}, Unknown: "nodes can't be read"}}} {
			c := o.Complete(resourcetest.New(t), discovered, []resource.Workload{w})
			assert.Equal(t, []planner.Pool{want}, c.Fleet.Pools)
			assert.Equal(t, []int{0}, c.Fleet.Workloads[0].Variants[0].Pools)
			assert.Equal(t, []string{overlay.PoolCapacityUnknown}, types(c.Workloads[0].Conditions))
		}
	}
	nvidia := overlay.Pool{Pool: planner.Pool{Name: "NVIDIA-H100", Accelerator: "NVIDIA-H100", Capacity: optimizer.Bound{Limited: true, Value: 8}}}
	c := parse(t, rates).Complete(resourcetest.New(t), []overlay.Pool{nvidia}, []resource.Workload{w})
	assert.Equal(t, "the capacity of pool H100 is unknown (no pool of it is declared or discovered, but of NVIDIA-H100), "+
		"and taken as the 12 devices in use", c.Workloads[0].Conditions[0].Message)
	c = parse(t, rates).Complete(resourcetest.New(t), []overlay.Pool{{Pool: planner.Pool{Accelerator: "H100"}, Unknown: "nodes can't be read"}}, []resource.Workload{w})
	assert.Equal(t, "the capacity of pool H100 is unknown (nodes can't be read), and taken as the 12 devices in use", c.Workloads[0].Conditions[0].Message)
}

// Declared pools take the place of discovered ones of their accelerator; names are unique.
func TestPools(t *testing.T) {
	o := parse(t, `
accelerators: [{name: H100, aliases: [NVIDIA-H100]}, {name: A100, pricePerHour: 2}]
pools: [{name: A100, accelerator: NVIDIA-H100, capacity: 8}]
replicas: [{match: {accelerator: NVIDIA-H100}, pools: [A100, mine], capacityRps: 1}]
`)
	a100 := overlay.Pool{Pool: planner.Pool{Name: "A100", Accelerator: "A100", Capacity: optimizer.Bound{Limited: true, Value: 4}}}
	c := o.Complete(resourcetest.New(t), []overlay.Pool{h100(64), a100, a100}, []resource.Workload{chat()})
	var names []string
	for _, p := range c.Fleet.Pools {
		names = append(names, p.Name+" of "+p.Accelerator)
	}
	assert.Equal(t, []string{"A100 of H100", "A100-2 of A100", "A100-3 of A100"}, names)
	assert.Equal(t, []int{0}, c.Fleet.Workloads[0].Variants[0].Pools)
	assert.Equal(t, overlay.PoolUnknown, c.Workloads[0].Conditions[0].Type)
	assert.Equal(t, `chat-h100: there is no pool "mine" of H100`, c.Workloads[0].Conditions[0].Message)
}

// Replicas run where nodes have as many devices as they need on one, and nowhere where none do, whatever is free on several.
// What is declared of nodes is taken as said.
func TestPoolsOfSmallNodes(t *testing.T) {
	nodes := func(devices, count int) overlay.Pool {
		p := h100(devices * count)
		p.Name, p.DevicesPerNode, p.PricePerHour = fmt.Sprintf("H100-x%d", devices), devices, 3
		return p
	}
	large := planner.Pool{Name: "H100-x8", Accelerator: "H100", PricePerHour: 3, DevicesPerNode: 8, Capacity: optimizer.Bound{Limited: true}}
	for name, test := range map[string]struct {
		devices, nodes int
		discovered     []overlay.Pool
		config         string
		pools          []int
		missing        []planner.Pool
	}{
		"all large enough":     {devices: 4, nodes: 1, discovered: []overlay.Pool{nodes(6, 2), nodes(8, 1)}, pools: []int{0, 1}},
		"some too small":       {devices: 8, nodes: 1, discovered: []overlay.Pool{nodes(6, 2), nodes(8, 1)}, pools: []int{1}},
		"some for a part":      {devices: 16, nodes: 2, discovered: []overlay.Pool{nodes(6, 4), nodes(8, 2)}, pools: []int{1}},
		"a part fits":          {devices: 12, nodes: 2, discovered: []overlay.Pool{nodes(6, 4)}, pools: []int{0}},
		"all too small":        {devices: 8, nodes: 1, discovered: []overlay.Pool{nodes(6, 2), nodes(4, 9)}, pools: []int{2}, missing: []planner.Pool{large}},
		"named ones too small": {devices: 8, nodes: 1, discovered: []overlay.Pool{nodes(6, 2)}, config: "replicas: [{match: {accelerator: H100}, pools: [H100-x6]}]", pools: []int{1}, missing: []planner.Pool{large}},
		"nodes do not matter":  {devices: 8, nodes: 1, discovered: []overlay.Pool{h100(6)}, pools: []int{0}},
		"declared":             {devices: 16, nodes: 1, config: "pools: [{accelerator: H100, capacity: 32, devicesPerNode: 8}]", pools: []int{0}},
	} {
		t.Run(name, func(t *testing.T) {
			w, twin := chat(), chat()
			w.Declared[0].DevicesPerReplica, w.Declared[0].NodesPerReplica = test.devices, test.nodes
			twin.Name, twin.Declared = "twin", slices.Clone(w.Declared)
			twin.Declared[0].Target = reference("Deployment", "twin")
			small := chat()
			small.Name, small.Declared[0].Target = "small", reference("Deployment", "small")
			c := parse(t, test.config).Complete(resourcetest.New(t), test.discovered, []resource.Workload{w, twin, small})
			require.Len(t, c.Fleet.Workloads, 3)
			for i := range 2 {
				assert.Equal(t, test.pools, c.Fleet.Workloads[i].Variants[0].Pools)
				assert.Equal(t, test.missing != nil, slices.Contains(types(c.Workloads[i].Conditions), overlay.NodesTooSmall))
			}
			assert.NotContains(t, types(c.Workloads[2].Conditions), overlay.NodesTooSmall)
			declared := max(1, len(test.discovered))
			assert.Equal(t, test.missing, append([]planner.Pool(nil), c.Fleet.Pools[declared:]...), "one for both")
			for _, pool := range c.Fleet.Workloads[2].Variants[0].Pools {
				assert.Less(t, pool, declared, "they are not offered to others")
			}
		})
	}
}

// Two workloads never scale one target, nor one what another's target is part of.
func TestDuplicateOwnership(t *testing.T) {
	view := resourcetest.New(t, `
apiVersion: apps/v1
kind: Deployment
metadata:
  namespace: prod
  name: chat-h100
  ownerReferences: [{apiVersion: inference.llmaz.io/v1alpha1, kind: Playground, name: chat, uid: u, controller: true}]
`)
	by := func(name string, target resource.Reference) resource.Workload {
		w := chat()
		w.Name, w.Object = name, reference("Declaration", name)
		w.Declared = []resource.Variant{w.Declared[0]}
		w.Declared[0].Target = target
		return w
	}
	playground := reference("Playground", "chat")
	playground.Group = "inference.llmaz.io"
	deployment := reference("Deployment", "chat-h100")
	o := parse(t, rates)
	for _, targets := range [][2]resource.Reference{{deployment, deployment}, {playground, deployment}, {deployment, playground}} {
		declared := []resource.Workload{by("a", targets[0]), by("b", targets[1]), by("c", reference("Deployment", "other"))}
		c := o.Complete(view, []overlay.Pool{h100(64)}, declared)
		require.Len(t, c.Workloads, 2)
		assert.Equal(t, "c", c.Workloads[1].Name)
		message := "Declaration prod/a and Declaration prod/b both scale " + targets[1].String() + ": the latter is left out"
		assert.Equal(t, []resource.Skipped{{Object: declared[1].Object, Reason: resource.DuplicateOwnership, Message: message}}, c.Skipped)
		assert.Equal(t, []string{resource.DuplicateOwnership}, types(c.Workloads[0].Conditions))
		assert.Equal(t, message, c.Workloads[0].Conditions[0].Message)
	}
	twice := by("a", deployment)
	twice.Declared = append(twice.Declared, twice.Declared[0])
	twice.Declared[1].Name = "again"
	once := o.Complete(view, []overlay.Pool{h100(64)}, []resource.Workload{twice})
	require.Len(t, once.Fleet.Workloads[0].Variants, 1)
	assert.Equal(t, "chat-h100 and again both scale Deployment prod/chat-h100: the latter is left out", once.Workloads[0].Conditions[0].Message)

	same := by("a", reference("Deployment", "other"))
	same.Object = reference("Other", "a")
	c := o.Complete(view, []overlay.Pool{h100(64)}, []resource.Workload{by("a", deployment), same})
	assert.Equal(t, []resource.Skipped{{
		Object: same.Object, Reason: resource.DuplicateName,
		Message: "Declaration prod/a and Other prod/a both declare a workload prod/a: the latter is left out",
	}}, c.Skipped)
}

// Without a profile there is an estimate where facts are known, and else nothing.
func TestEstimate(t *testing.T) {
	facts := `
models: [{model: llama*, facts: {parameters: 70e9, layers: 80, hiddenSize: 8192, kvHeads: 8, headSize: 128}}]
replicaDefaults: {maxBatch: 256}
workloadDefaults: {slo: {ttft: {p95: 1s}}}
`
	complete := func(text string, change func(*resource.Workload)) (*queueing.Replica, []string) {
		w := chat()
		if change != nil {
			change(&w)
		}
		c := parse(t, text).Complete(resourcetest.New(t), []overlay.Pool{h100(64)}, []resource.Workload{w})
		require.Len(t, c.Workloads, 1)
		return c.Fleet.Workloads[0].Variants[0].Replica, types(c.Workloads[0].Conditions)
	}
	r, found := complete(facts, nil)
	require.NotNil(t, r)
	assert.Equal(t, []string{overlay.ProfileEstimated}, found)
	assert.Greater(t, r.Profile.Alpha, 0.005)
	assert.Less(t, r.Profile.Alpha, 0.05)
	assert.Equal(t, 256, r.MaxBatch)
	assert.Greater(t, float64(r.KVCacheTokens), 1e5)

	measured := &queueing.Replica{Profile: queueing.Profile{Alpha: 0.01}, MaxBatch: 32}
	r, found = complete(facts, func(w *resource.Workload) { w.Declared[0].Replica = measured })
	assert.Equal(t, measured, r)
	assert.Empty(t, found)

	r, found = complete(facts, func(w *resource.Workload) { w.Declared[0].DevicesPerReplica = 0 })
	assert.Nil(t, r)
	assert.Equal(t, []string{overlay.DevicesUnknown}, found)

	r, found = complete(facts, func(w *resource.Workload) { w.Model = "other" })
	assert.Nil(t, r)
	assert.Empty(t, found, "the planner says that there is none")

	r, found = complete(facts, func(w *resource.Workload) { w.Declared[0].Accelerator = "L4" })
	assert.Nil(t, r)
	assert.Equal(t, []string{overlay.ProfileInvalid, overlay.PoolCapacityUnknown}, found, "the weights don't fit")

	r, found = complete(facts+"accelerators: [{name: X, aliases: [H100]}]", nil)
	assert.Nil(t, r)
	assert.Empty(t, found, "nothing is known of X")
}

// TestIncident19: one workload that could not be planned failed the plan of all. Here a
// profile that can't be used spoils its variant only.
func TestIncident19InvalidProfileSpoilsItsVariantOnly(t *testing.T) {
	for _, r := range []queueing.Replica{
		{Profile: queueing.Profile{Alpha: 0.01}},
		{Profile: queueing.Profile{Alpha: 0.01, Beta: -1}, MaxBatch: 8},
	} {
		w := chat()
		w.Declared[0].Replica = &r
		c := parse(t, "").Complete(resourcetest.New(t), []overlay.Pool{h100(64)}, []resource.Workload{w})
		require.Len(t, c.Workloads, 1)
		assert.Nil(t, c.Fleet.Workloads[0].Variants[0].Replica)
		assert.Equal(t, []string{overlay.ProfileInvalid}, types(c.Workloads[0].Conditions))
	}
}

// A profile without an SLO is sized by stability alone, which is said; a declared capacity
// needs neither profile nor estimate.
func TestSLOMissing(t *testing.T) {
	w := chat()
	w.Declared[0].Replica = &queueing.Replica{Profile: queueing.Profile{Alpha: 0.01}, MaxBatch: 32}
	c := parse(t, "").Complete(resourcetest.New(t), []overlay.Pool{h100(64)}, []resource.Workload{w})
	assert.Equal(t, []string{overlay.SLOMissing}, types(c.Workloads[0].Conditions))

	w.Declared[0].Replica, w.Declared[0].Capacity = &queueing.Replica{MaxBatch: 32}, 3
	c = parse(t, "models: [{model: llama*, facts: {parameters: 8e9, layers: 32, hiddenSize: 4096, kvBytesPerToken: 131072}}]").
		Complete(resourcetest.New(t), []overlay.Pool{h100(64)}, []resource.Workload{w})
	assert.Empty(t, c.Workloads[0].Conditions)
	assert.Nil(t, c.Fleet.Workloads[0].Variants[0].Replica)
	assert.InDelta(t, 3, float64(c.Fleet.Workloads[0].Variants[0].Capacity), 0)
}

// A variant whose accelerator nobody knows is left out, and the others are planned.
func TestAcceleratorUnknown(t *testing.T) {
	w := chat()
	second := w.Declared[0]
	second.Name, second.Accelerator, second.Target = "second", "", reference("Deployment", "second")
	w.Declared = append(w.Declared, second)
	c := parse(t, rates).Complete(resourcetest.New(t), []overlay.Pool{h100(64)}, []resource.Workload{w})
	require.Len(t, c.Fleet.Workloads, 1)
	assert.Len(t, c.Fleet.Workloads[0].Variants, 1)
	assert.Len(t, c.Workloads[0].Declared, 1)
	assert.Equal(t, []string{overlay.AcceleratorUnknown}, types(c.Workloads[0].Conditions))

	w.Declared = w.Declared[1:]
	c = parse(t, rates).Complete(resourcetest.New(t), []overlay.Pool{h100(64)}, []resource.Workload{w})
	assert.Empty(t, c.Workloads)
	assert.Equal(t, []resource.Skipped{{
		Object: w.Object, Reason: overlay.NoVariant,
		Message: "nothing says what type of device second runs on: it is left out of the plan, and not scaled",
	}}, c.Skipped)
	w.Declared = nil
	c = parse(t, rates).Complete(resourcetest.New(t), []overlay.Pool{h100(64)}, []resource.Workload{w})
	assert.Equal(t, "it has no variants", c.Skipped[0].Message)

	c = parse(t, rates+"replicaDefaults: {accelerator: H100}").Complete(resourcetest.New(t), []overlay.Pool{h100(64)}, []resource.Workload{
		func() resource.Workload { w := chat(); w.Declared[0].Accelerator = ""; return w }(),
	})
	assert.InDelta(t, 2, float64(c.Fleet.Workloads[0].Variants[0].Capacity), 0)
}

// The accelerator that is assumed counts last, and entries for it count.
func TestAcceleratorAssumed(t *testing.T) {
	for text, want := range map[string]struct {
		accelerator string
		assumed     bool
	}{
		"":                                   {"H100", true},
		"replicaDefaults: {accelerator: L4}": {"L4", false},
		"- {match: {workload: chat}, accelerator: L4, capacityRps: 3}":                         {"L4", false},
		"accelerators: [{name: Hopper, aliases: [H100]}]":                                      {"Hopper", true},
		"- {match: {accelerator: H100, model: other}, devices: 8}":                             {"H100", true},
		"- {match: {accelerator: L4}, devices: 8, minReplicas: 1}\npools: [{accelerator: L4}]": {"H100", true},
	} {
		w := chat()
		w.Declared[0].Accelerator, w.Declared[0].Assumed = "", "H100"
		c := parse(t, rates+text).Complete(resourcetest.New(t), []overlay.Pool{h100(64)}, []resource.Workload{w})
		require.Len(t, c.Workloads, 1, text)
		assert.Equal(t, want.accelerator, c.Workloads[0].Declared[0].Accelerator, text)
		assert.Equal(t, want.assumed, slices.Contains(types(c.Workloads[0].Conditions), resource.AcceleratorAssumed), text)
		v := c.Fleet.Workloads[0].Variants[0]
		assert.Equal(t, 4, v.DevicesPerReplica, text)
		assert.Equal(t, want.accelerator, c.Fleet.Pools[v.Pools[0]].Accelerator, text)
		assert.Equal(t, want.assumed, v.Capacity == 2, text)
	}
}

// The last replica stays where nobody says a minimum and nothing would wake the workload.
func TestMinimumAssumed(t *testing.T) {
	nothingSaid := func(change func(*resource.Workload)) resource.Workload {
		w := chat()
		w.MinimumDeclared = false
		second := w.Declared[0]
		second.Name, second.Target = "chat-second", reference("Deployment", "chat-second")
		w.Declared = append(w.Declared, second)
		if change != nil {
			change(&w)
		}
		return w
	}
	annotated := `
apiVersion: apps/v1
kind: Deployment
metadata: {namespace: prod, name: chat-second, annotations: {poolwright.dev/min-replicas: %s}}
`
	barred := optimizer.Bound{Limited: true}
	for name, test := range map[string]struct {
		config, minimum string // minimum is that of an annotation
		change          func(*resource.Workload)
		want            int
		assumed         bool
	}{
		"nothing is said":           {want: 1, assumed: true},
		"of another workload":       {config: "workloads: [{match: {name: code}, minReplicas: 0}]", want: 1, assumed: true},
		"by mistake":                {minimum: "none", want: 1, assumed: true},
		"a maximum":                 {config: "workloads: [{match: {name: chat}, maxReplicas: 4}]", want: 1, assumed: true},
		"of the workload":           {config: "workloads: [{match: {name: chat}, minReplicas: 0}]"},
		"more":                      {config: "workloads: [{match: {name: chat}, minReplicas: 3}]", want: 3},
		"of all workloads":          {config: "workloadDefaults: {minReplicas: 0}"},
		"of a variant":              {config: "replicas: [{match: {variant: chat-second}, minReplicas: 0}]"},
		"of all variants":           {config: "replicaDefaults: {minReplicas: 0}"},
		"by an annotation":          {minimum: `"0"`},
		"by the object":             {change: func(w *resource.Workload) { w.MinimumDeclared = true }},
		"a gateway":                 {config: "workloads: [{match: {name: chat}, metrics: {gateway: {}}}]"},
		"a gateway of all":          {config: "workloadDefaults: {metrics: {gateway: {modelLabel: model}}}"},
		"a gateway of the object":   {change: func(w *resource.Workload) { w.Series.Gateway = &resource.Gateway{} }},
		"no replicas are to be":     {config: "workloads: [{match: {name: chat}, maxReplicas: 0}]"},
		"one variant may have none": {change: func(w *resource.Workload) { w.Declared[0].MaxReplicas = barred }, want: 1, assumed: true},
		"none of them may have any": {change: func(w *resource.Workload) { w.Declared[0].MaxReplicas, w.Declared[1].MaxReplicas = barred, barred }},
		"of a variant that is unknown": {
			config: "replicas: [{match: {variant: chat-second}, minReplicas: 0}]",
			change: func(w *resource.Workload) { w.Declared[1].Accelerator = "" },
		},
	} {
		t.Run(name, func(t *testing.T) {
			view := resourcetest.New(t)
			if test.minimum != "" {
				view = resourcetest.New(t, fmt.Sprintf(annotated, test.minimum))
			}
			c := parse(t, test.config).Complete(view, []overlay.Pool{h100(64)}, []resource.Workload{nothingSaid(test.change)})
			require.Len(t, c.Fleet.Workloads, 1)
			assert.Equal(t, test.want, c.Fleet.Workloads[0].MinReplicas)
			assert.Equal(t, test.assumed, slices.Contains(types(c.Workloads[0].Conditions), overlay.MinimumAssumed))
			assert.NotContains(t, types(c.Workloads[0].Conditions), overlay.BoundsInvalid)
		})
	}
}

// The loop over a night: engines report that nothing arrives, and report nothing once they are
// gone. Requests come back in the morning.
func TestNight(t *testing.T) {
	const silence, fresh = planner.Missing, planner.Fresh
	for name, test := range map[string]struct {
		config         string
		gateway        bool
		start          int
		night, morning int
	}{
		"nothing is said":                  {start: 1, night: 1, morning: 3},
		"nothing is said, from zero":       {start: 0, night: 1, morning: 3},
		"a minimum of 0, and nobody tells": {config: "replicaDefaults: {minReplicas: 0}", start: 1, night: 0, morning: 0},
		"a gateway":                        {config: "workloadDefaults: {metrics: {gateway: {}}}", gateway: true, start: 1, night: 0, morning: 3},
	} {
		t.Run(name, func(t *testing.T) {
			w := chat()
			w.MinimumDeclared = false
			replicas := &w.Declared[0].CurrentReplicas
			*replicas = test.start
			o := parse(t, rates+"accelerators: [{name: H100, pricePerHour: 4}]\n"+test.config)
			p, memory, now := planner.New(lp.Simplex()), planner.Memory{}, time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
			pass := func(rate float64) {
				for range 80 {
					c := o.Complete(resourcetest.New(t), []overlay.Pool{h100(64)}, []resource.Workload{w})
					arrivals := planner.Measurement{State: silence}
					if *replicas > 0 || test.gateway {
						arrivals = planner.Measurement{State: fresh, Value: rate}
					}
					d, next, err := p.Plan(planner.Snapshot{
						Now: now, Fleet: c.Fleet,
						Observations: []planner.Observation{{Workload: "prod/chat", ArrivalRate: arrivals}},
					}, memory, nil)
					require.NoError(t, err)
					for _, change := range d.Changes {
						*replicas = change.To
					}
					memory, now = next, now.Add(planner.DefaultCycle)
				}
			}
			pass(0)
			assert.Equal(t, test.night, *replicas, "at night")
			pass(5)
			assert.Equal(t, test.morning, *replicas, "in the morning")
		})
	}
}

// What sources say together need not make sense.
func TestReconciled(t *testing.T) {
	w := chat()
	w.Mixing, w.MinReplicas, w.MaxReplicas = optimizer.Single, 5, optimizer.Bound{Limited: true, Value: 4}
	w.Declared[0].Role = optimizer.Prefill
	w.Declared[0].NodesPerReplica = 9
	w.Declared[0].MinReplicas = 2
	c := parse(t, rates+"- {match: {variant: chat-*}, maxReplicas: 1}").Complete(resourcetest.New(t), []overlay.Pool{h100(64)}, []resource.Workload{w})
	got := c.Fleet.Workloads[0]
	assert.Equal(t, optimizer.Allowed, got.Mixing)
	assert.Equal(t, 5, got.MaxReplicas.Value)
	assert.Equal(t, 2, got.Variants[0].MaxReplicas.Value)
	assert.Equal(t, 4, got.Variants[0].NodesPerReplica)
	assert.Equal(t, []string{overlay.BoundsInvalid, overlay.MixingImpossible}, types(c.Workloads[0].Conditions))
}

// What nodes call an accelerator counts where no pool has the name by which it is declared.
func TestProduct(t *testing.T) {
	discovered := h100(64)
	discovered.Name, discovered.Accelerator = "nodes", "NVIDIA-H100-80GB-HBM3"
	for name, test := range map[string]struct{ overlay, pool string }{
		"nothing is declared": {"", "nodes"},
		"an alias":            {"accelerators: [{name: H100, aliases: [NVIDIA-H100-80GB-HBM3]}]", "nodes"},
		"an alias of another": {"accelerators: [{name: Hopper, aliases: [NVIDIA-H100-80GB-HBM3]}]", "nodes"},
		"a pool of the name":  {"pools: [{name: declared, accelerator: H100}]", "declared"},
	} {
		t.Run(name, func(t *testing.T) {
			w := chat()
			w.Declared[0].Product = "NVIDIA-H100-80GB-HBM3"
			c := parse(t, test.overlay).Complete(resourcetest.New(t), []overlay.Pool{discovered}, []resource.Workload{w})
			require.Len(t, c.Fleet.Workloads, 1)
			require.Len(t, c.Fleet.Workloads[0].Variants[0].Pools, 1)
			assert.Equal(t, test.pool, c.Fleet.Pools[c.Fleet.Workloads[0].Variants[0].Pools[0]].Name)
			assert.Equal(t, "H100", c.Workloads[0].Declared[0].Accelerator)
		})
	}
}

// A variant without a target gets no replicas, whatever is said of the others.
func TestWithoutTarget(t *testing.T) {
	w := chat()
	w.Declared = append(w.Declared, w.Declared[0])
	w.Declared[1].Name, w.Declared[1].Target = "chat-elsewhere", resource.Reference{}
	o := parse(t, "replicas: [{match: {model: llama-70b}, minReplicas: 1, maxReplicas: 9}]")
	c := o.Complete(resourcetest.New(t), []overlay.Pool{h100(64)}, []resource.Workload{w})
	require.Len(t, c.Fleet.Workloads, 1)
	variants := c.Fleet.Workloads[0].Variants
	assert.Equal(t, optimizer.Bound{Limited: true, Value: 9}, variants[0].MaxReplicas)
	assert.Equal(t, 0, variants[1].MinReplicas)
	assert.Equal(t, optimizer.Bound{Limited: true}, variants[1].MaxReplicas)
}

// A variant that may have no replicas, because there is nothing to scale, gets none by what
// is said of all.
func TestBarredVariant(t *testing.T) {
	w := chat()
	w.Declared[0].MaxReplicas = optimizer.Bound{Limited: true}
	c := parse(t, rates+"replicaDefaults: {minReplicas: 1}\nworkloads: []").Complete(resourcetest.New(t), []overlay.Pool{h100(64)}, []resource.Workload{w})
	assert.Zero(t, c.Fleet.Workloads[0].Variants[0].MinReplicas)
	c = parse(t, rates+"- {minReplicas: 1, maxReplicas: 5}").Complete(resourcetest.New(t), []overlay.Pool{h100(64)}, []resource.Workload{w})
	v := c.Fleet.Workloads[0].Variants[0]
	assert.Zero(t, v.MinReplicas)
	assert.Equal(t, optimizer.Bound{Limited: true}, v.MaxReplicas)
	assert.Empty(t, c.Workloads[0].Conditions)
}

// TestIncident05: a type of accelerator without a profile was scaled up. Here such a variant
// keeps its replicas, its condition says why, and another one serves.
func TestIncident05NoProfile(t *testing.T) {
	w := chat()
	second := w.Declared[0]
	second.Name, second.Accelerator, second.Target = "chat-l4", "L4", reference("Deployment", "chat-l4")
	w.Declared = append(w.Declared, second)
	c := parse(t, rates+"pools: [{accelerator: L4, capacity: 64}]").Complete(resourcetest.New(t), []overlay.Pool{h100(64)}, []resource.Workload{w})
	d, _, err := planner.New(lp.Simplex()).Plan(planner.Snapshot{
		Now: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC), Fleet: c.Fleet,
		Observations: []planner.Observation{{
			Workload: "prod/chat", ArrivalRate: planner.Measurement{State: planner.Fresh, Value: 9},
		}},
	}, planner.Memory{}, nil)
	require.NoError(t, err)
	require.Len(t, d.Plans, 1)
	assert.Equal(t, 5, d.Plans[0].Variants[0].Total())
	assert.Equal(t, 2, d.Plans[0].Variants[1].Total())
	assert.Equal(t, planner.ProfileMissing, d.Plans[0].Conditions[0].Type)
}

// The order in which a configuration lists things changes nothing.
// Kthena's batches are for those who ask for them, and for replicas of which nobody knows
// what they sustain.
func TestStrategy(t *testing.T) {
	rate := 150
	for _, test := range []struct {
		text     string
		declared *int
		want     *int
	}{
		{text: "", declared: &rate, want: &rate},
		{text: "replicaDefaults: {capacityRps: 1}", declared: &rate},
		{text: "workloadDefaults: {strategy: OPTIMAL}", declared: &rate},
		{text: "replicaDefaults: {capacityRps: 1}\nworkloadDefaults: {strategy: GREEDY_BATCHES}", declared: &rate, want: &rate},
		{text: "workloadDefaults: {strategy: GREEDY_BATCHES}", want: new(200)},
	} {
		w := chat()
		w.ExpansionRate = test.declared
		c := parse(t, test.text).Complete(resourcetest.New(t), []overlay.Pool{h100(64)}, []resource.Workload{w})
		require.Len(t, c.Fleet.Workloads, 1)
		assert.Equal(t, test.want, c.Fleet.Workloads[0].ExpansionRate, test.text)
	}
}

func TestOrderOfEntries(t *testing.T) {
	m := &poolwrightv1.Overlay{}
	require.NoError(t, document.UnmarshalYAML([]byte(`
replicas:
- {match: {model: llama*}, startup: 1m, maxBatch: 1, minReplicas: 1}
- {match: {model: llama-*}, startup: 2m, maxBatch: 2}
- {match: {model: llama-70b, devices: 4}, startup: 3m}
- {match: {model: llama-70b, accelerator: H100}, capacityRps: 2, maxBatch: 3}
- {match: {model: llama-70b}, startup: 4m, pricePerReplicaHour: 5}
- {match: {variant: chat-h100}, maxReplicas: 8}
- {match: {namespace: pro*}, maxReplicas: 9, minReplicas: 2}
- {match: {namespace: prod}, minReplicas: 3}
- {match: {workload: c*}, switchingCost: {up: 1}}
- {match: {workload: chat, model: llama*}, switchingCost: {up: 2}}
- {match: {workload: chat, model: other}, switchingCost: {up: 3}}
- {nodes: 2}
workloads:
- {match: {namespace: prod}, priority: 2}
- {match: {model: llama-70b}, priority: 3, redundancy: 1}
- {match: {model: llama*, serviceClass: a}, redundancy: 2}
- {redundancy: 3, minReplicas: 4}
`), m))
	var want overlay.Completed
	for round := range 20 {
		o, err := overlay.New(m)
		require.NoError(t, err)
		got := o.Complete(resourcetest.New(t), []overlay.Pool{h100(64)}, []resource.Workload{chat()})
		if round == 0 {
			want = got
			v := want.Fleet.Workloads[0].Variants[0]
			assert.Equal(t, 3*time.Minute, v.Startup, "models and devices before models alone")
			assert.InDelta(t, 2, float64(v.Capacity), 0)
			assert.InDelta(t, 5, v.PricePerReplicaHour, 0)
			assert.Equal(t, 9, v.MaxReplicas.Value, "the namespace before the variant")
			assert.Equal(t, 3, v.MinReplicas)
			assert.InDelta(t, 2, v.SwitchUp, 0)
			assert.Equal(t, 2, v.NodesPerReplica)
			assert.Equal(t, 2, want.Fleet.Workloads[0].Priority)
			assert.Equal(t, 1, want.Fleet.Workloads[0].Redundancy)
			assert.Equal(t, 4, want.Fleet.Workloads[0].MinReplicas)
		}
		assert.Equal(t, want, got)
		random := rand.New(rand.NewPCG(1, uint64(round)))
		random.Shuffle(len(m.Replicas), func(i, j int) { m.Replicas[i], m.Replicas[j] = m.Replicas[j], m.Replicas[i] })
		random.Shuffle(len(m.Workloads), func(i, j int) { m.Workloads[i], m.Workloads[j] = m.Workloads[j], m.Workloads[i] })
	}
}

// FuzzAnnotations: whatever stands in an annotation, it is understood or said not to be, and
// nothing that was known is lost.
func FuzzAnnotations(f *testing.F) {
	for _, seed := range [][2]string{
		{"slo", "{ttft: {p95: 1s}}"},
		{"priority", "2"},
		{"mode", "off"},
		{"metrics", "engine: vllm\nport: 8000"},
		{"devices", "0"},
		{"capacity-rps", "1e400"},
		{"pools", "[a, b]"},
		{"policy", `{"native": {}}`},
		{"profile", "{alphaMs: 1}\nmode: OFF"},
		{"max-batch", "&a 1"},
	} {
		f.Add(seed[0], seed[1])
	}
	f.Fuzz(func(t *testing.T, name, value string) {
		object := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "apps/v1", "kind": "Deployment"}}
		object.SetNamespace("prod")
		object.SetName("chat-h100")
		object.SetAnnotations(map[string]string{resource.AnnotationDomain + name: value})
		view := &cluster{objects: map[string]*unstructured.Unstructured{"prod/chat-h100": object}}
		c := parse(t, rates).Complete(view, []overlay.Pool{h100(64)}, []resource.Workload{chat()})
		require.Len(t, c.Workloads, 1)
		w := c.Fleet.Workloads[0]
		assert.NotEmpty(t, c.Workloads[0].Mode)
		assert.GreaterOrEqual(t, w.Priority, 1)
		assert.NotEmpty(t, w.Variants[0].Pools)
		assert.Positive(t, w.Variants[0].DevicesPerReplica)
		if slices.Contains(types(c.Workloads[0].Conditions), overlay.AnnotationInvalid) && name != "mode" {
			without := parse(t, rates).Complete(resourcetest.New(t), []overlay.Pool{h100(64)}, []resource.Workload{chat()})
			assert.Equal(t, without.Fleet, c.Fleet)
		}
	})
}

func TestNewNamesMistakes(t *testing.T) {
	_, err := overlay.New(&poolwrightv1.Overlay{Replicas: []*poolwrightv1.ReplicaOverlay{{}, {}}})
	require.EqualError(t, err, "replicas[1]: it is for the same as replicas[0]")
}

// A gateway is the one that is said, else the declared one, else that of all workloads.
func TestGateway(t *testing.T) {
	said := parse(t, `
workloads: [{match: {name: chat}, metrics: {gateway: {modelLabel: said}}}]
workloadDefaults: {metrics: {gateway: {modelLabel: byDefault, selector: {a: b}}}}
`)
	byDefault := parse(t, `workloadDefaults: {metrics: {gateway: {modelLabel: byDefault, selector: {a: b}}}}`)
	none := parse(t, `{}`)
	declared := chat()
	declared.Series.Gateway = &resource.Gateway{ModelLabel: "declared"}
	for name, test := range map[string]struct {
		overlay  *overlay.Overlay
		workload resource.Workload
		want     *resource.Gateway
	}{
		"said":       {said, declared, &resource.Gateway{ModelLabel: "said"}},
		"declared":   {byDefault, declared, &resource.Gateway{ModelLabel: "declared"}},
		"by default": {byDefault, chat(), &resource.Gateway{ModelLabel: "byDefault", Selector: map[string]string{"a": "b"}}},
		"none":       {none, chat(), nil},
	} {
		t.Run(name, func(t *testing.T) {
			c := test.overlay.Complete(resourcetest.New(t), []overlay.Pool{h100(64)}, []resource.Workload{test.workload})
			require.Len(t, c.Workloads, 1)
			assert.Equal(t, test.want, c.Workloads[0].Series.Gateway)
		})
	}
}
