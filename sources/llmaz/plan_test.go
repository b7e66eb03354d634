package llmaz

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/poolwright/poolwright/internal/document"
	"github.com/poolwright/poolwright/internal/resource"
	"github.com/poolwright/poolwright/internal/resource/resourcetest"
	"github.com/poolwright/poolwright/optimizer/lp"
	"github.com/poolwright/poolwright/planner"
	poolwrightv1 "github.com/poolwright/poolwright/proto/poolwright/v1"
	"github.com/poolwright/poolwright/sources/overlay"
)

// plan reads objects, completes them by a configuration, and plans one cycle in which the same
// was seen of each workload.
func plan(t *testing.T, config string, seen planner.Observation, objects ...string) (planner.Decision, []resource.Workload) {
	t.Helper()
	view := resourcetest.New(t, objects...)
	workloads, skipped := Reader{}.Read(view)
	require.Empty(t, skipped)
	var m poolwrightv1.Overlay
	require.NoError(t, document.UnmarshalYAML([]byte(config), &m))
	o, err := overlay.New(&m)
	require.NoError(t, err)
	c := o.Complete(view, nil, workloads)
	require.Empty(t, c.Skipped)
	s := planner.Snapshot{Now: time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC), Fleet: c.Fleet}
	for i := range c.Fleet.Workloads {
		seen.Workload = c.Fleet.Workloads[i].QualifiedName()
		s.Observations = append(s.Observations, seen)
	}
	decision, _, err := planner.New(lp.Simplex()).Plan(s, planner.Memory{}, nil)
	require.NoError(t, err)
	return decision, c.Workloads
}

// arriving is that so many requests/s arrive.
func arriving(rate float64) planner.Observation {
	return planner.Observation{ArrivalRate: planner.Measurement{State: planner.Fresh, Value: rate}}
}

const asleep = `
apiVersion: llmaz.io/v1alpha1
kind: OpenModel
metadata: {name: m}
spec:
  inferenceConfig:
    flavors:
      - {name: %s, limits: {nvidia.com/gpu: 1}}
      - {name: %s, limits: {nvidia.com/gpu: 1}}
---
apiVersion: inference.llmaz.io/v1alpha1
kind: BackendRuntime
metadata: {name: vllm}
spec: {image: vllm/vllm-openai}
---
apiVersion: inference.llmaz.io/v1alpha1
kind: Playground
metadata: {name: one, namespace: x, annotations: {poolwright.dev/accelerator: H100}}
spec: {replicas: 0, modelClaim: {modelName: m, inferenceFlavors: [h100]}}
---
apiVersion: inference.llmaz.io/v1alpha1
kind: Playground
metadata: {name: two, namespace: x, annotations: {poolwright.dev/accelerator: A100}}
spec: {replicas: 0, modelClaim: {modelName: m, inferenceFlavors: [a100]}, elasticConfig: {minReplicas: 0}}
`

const equal = `
pools: [{name: A, accelerator: A100, pricePerHour: 2, capacity: 8}, {name: H, accelerator: H100, pricePerHour: 2, capacity: 8}]
replicas: [{match: {model: m}, capacityRps: 2, minReplicas: 0}]
`

// TestIncident27: a model at zero replicas was never woken. Here requests that the gateway
// sees wake the Playground; and of two that cost the same, the one whose flavor the model
// prefers.
func TestIncident27PlaygroundWakesFromZero(t *testing.T) {
	for preferred, flavors := range map[string][]any{"one": {"h100", "a100"}, "two": {"a100", "h100"}} {
		decision, workloads := plan(t, equal, arriving(3), fmt.Sprintf(asleep, flavors...))
		require.Len(t, workloads, 1)
		assert.Equal(t, resource.Apply, workloads[0].Mode)
		require.Len(t, decision.Changes, 1)
		change := decision.Changes[0]
		assert.Equal(t, planner.ScaleTarget{APIVersion: "inference.llmaz.io/v1alpha1", Kind: "Playground", Name: preferred}, change.Target)
		assert.Equal(t, 0, change.From)
		assert.Equal(t, 2, change.To)

		decision, _ = plan(t, equal, arriving(0), fmt.Sprintf(asleep, flavors...))
		assert.Empty(t, decision.Changes, "nothing arrives")
	}
}

// Without the configuration's word a minimum of 0 counts as 1, as llmaz has it.
func TestPlaygroundsStayAwakeUnlessTold(t *testing.T) {
	decision, workloads := plan(t, strings.Replace(equal, ", minReplicas: 0", "", 1), arriving(0), fmt.Sprintf(asleep, "h100", "a100"))
	for _, c := range workloads[0].Conditions {
		assert.NotEqual(t, overlay.MinimumAssumed, c.Type, "it is llmaz's")
	}
	require.Len(t, decision.Changes, 2)
	for _, change := range decision.Changes {
		assert.Equal(t, 1, change.To)
	}
}

const triggered = `
apiVersion: llmaz.io/v1alpha1
kind: OpenModel
metadata: {name: m}
spec: {inferenceConfig: {flavors: [{name: h100, limits: {nvidia.com/gpu: 1}, nodeSelector: {nvidia.com/gpu.product: H100}}]}}
---
apiVersion: inference.llmaz.io/v1alpha1
kind: BackendRuntime
metadata: {name: vllm}
spec: {image: vllm/vllm-openai}
---
apiVersion: inference.llmaz.io/v1alpha1
kind: Playground
metadata: {name: p, namespace: x}
spec:
  modelClaim: {modelName: m}
  elasticConfig:
    maxReplicas: 8
    scaleTrigger: {hpa: {metrics: [{type: Pods, pods: {metric: {name: waiting}, target: {type: AverageValue, averageValue: 5}}}]}}
`

// What a scale trigger asks for is recommended, and carried out once the Playground is taken
// over; where a profile is known the plan takes its place.
func TestScaleTriggers(t *testing.T) {
	const pool = "pools: [{name: H100, accelerator: H100, pricePerHour: 2, capacity: 8}]\n"
	waiting := arriving(1)
	waiting.Variants = []planner.VariantObservation{{Variant: "p", Metrics: []planner.MetricValues{{Name: "waiting", Values: []float64{14}}}}}
	for _, test := range []struct {
		config string
		mode   resource.Mode
		want   int
	}{
		{"", resource.Recommend, 3},
		{"workloads: [{match: {name: m}, takeOver: true}]", resource.Apply, 3},
		{"workloads: [{match: {name: m}, takeOver: true}]\nreplicas: [{match: {model: m}, capacityRps: 0.5}]", resource.Apply, 2},
	} {
		decision, workloads := plan(t, pool+test.config, waiting, triggered)
		assert.Equal(t, test.mode, workloads[0].Mode)
		require.Len(t, decision.Changes, 1)
		assert.Equal(t, test.want, decision.Changes[0].To)
	}
}
