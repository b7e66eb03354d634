package llmd_test

import (
	"math"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/poolwright/poolwright/internal/resource"
	"github.com/poolwright/poolwright/internal/resource/resourcetest"
	"github.com/poolwright/poolwright/optimizer"
	"github.com/poolwright/poolwright/planner"
	"github.com/poolwright/poolwright/sources/llmd"
)

var _ resource.Reader = (*llmd.Reader)(nil)

// flat is a cluster with the example of the first shape.
func flat(t *testing.T) *world {
	t.Helper()
	c := newWorld(t, example(t, "config.yaml"), example(t, "flat.yaml"))
	for _, accelerator := range []string{"A100", "MI300X", "G2"} {
		c.addPool(accelerator, 1, 64)
	}
	return c
}

func fresh(rate float64) *seen { return &seen{state: planner.Fresh, rate: rate, out: 178} }

// patches are those after a cycle.
func (c *world) patches(s *seen) []resource.Patch {
	declared, _ := c.reader.Read(c.view)
	workloads, outcomes, _ := c.decide(declared, s)
	var patches []resource.Patch
	for i := range workloads {
		patches = append(patches, c.reader.Patches(c.view, &workloads[i], &outcomes[i])...)
	}
	return patches
}

func field(t *testing.T, p resource.Patch, path ...string) string {
	t.Helper()
	value, ok, err := unstructured.NestedString(p.Merge, append([]string{"status"}, path...)...)
	require.NoError(t, err)
	require.True(t, ok, path)
	return value
}

func TestConfigNamesItsMistakes(t *testing.T) {
	require.NoError(t, llmd.Config{}.Validate())
	require.NoError(t, llmd.Config{CostUnits: 100}.Validate())
	for _, units := range []float64{-1, math.NaN(), math.Inf(1)} {
		require.ErrorContains(t, llmd.Config{CostUnits: units}.Validate(), "llmd: costUnits: ")
	}
}

// Costs in cents become prices in the fleet's currency, and are written back in cents.
func TestCostsInCents(t *testing.T) {
	c := flat(t)
	c.reader = llmd.NewReader(llmd.Config{CostUnits: 100})
	workloads, _ := c.reader.Read(c.view)
	require.Equal(t, 0.4, workloads[0].Declared[0].PricePerReplicaHour)
	patches := c.patches(fresh(0.5))
	require.Len(t, patches, 1)
	assert.Equal(t, "40.00", field(t, patches[0], "currentAlloc", "variantCost"))
}

func TestConfiguredNames(t *testing.T) {
	names := strings.NewReplacer("workload-variant-autoscaler-system", "elsewhere",
		"accelerator-unit-costs", "prices", "service-classes-config", "classes")
	view := resourcetest.New(t, names.Replace(example(t, "config.yaml")), example(t, "flat.yaml"))
	workloads, skipped := llmd.NewReader(llmd.Config{}).Read(view)
	require.Empty(t, workloads)
	require.Len(t, skipped, 1)
	assert.Equal(t, llmd.ServiceClassNotFound, skipped[0].Reason)

	config := llmd.Config{Namespace: "elsewhere", UnitPrices: "prices", ServiceClasses: "classes", ScaleToZero: true}
	workloads, skipped = llmd.NewReader(config).Read(view)
	require.Empty(t, skipped)
	require.Len(t, workloads, 1)
	assert.Equal(t, "Premium", workloads[0].ServiceClass)
	assert.Equal(t, 40.0, workloads[0].Declared[0].PricePerReplicaHour)
	assert.Equal(t, 0, workloads[0].MinReplicas)
}

// The oldest object names the workload, so that another one does not take its history away.
func TestAgeNamesTheWorkload(t *testing.T) {
	text := strings.Replace(example(t, "targetref.yaml"), "name: qwen-l40s\n", "name: qwen-l40s\n  creationTimestamp: \"2026-01-01T00:00:00Z\"\n", 1)
	text = strings.Replace(text, "name: qwen-h100\n", "name: qwen-h100\n  creationTimestamp: \"2026-01-02T00:00:00Z\"\n", 1)
	workloads, _ := llmd.NewReader(llmd.Config{}).Read(resourcetest.New(t, text))
	require.Len(t, workloads, 1)
	assert.Equal(t, "llm-d-prod/qwen-l40s", workloads[0].QualifiedName())
	assert.Equal(t, optimizer.Allowed, workloads[0].Mixing)
}

// What is written to a part of a LeaderWorkerSet is reverted, so that all of it is scaled.
func TestTargetIsTheTopmost(t *testing.T) {
	text := strings.Replace(example(t, "targetref.yaml"), "kind: Deployment, name: qwen-h100}", "kind: StatefulSet, name: qwen-h100-0}", 1)
	workloads, _ := llmd.NewReader(llmd.Config{}).Read(resourcetest.New(t, text, `
apiVersion: leaderworkerset.x-k8s.io/v1
kind: LeaderWorkerSet
metadata: {name: qwen, namespace: llm-d-prod, uid: l}
spec: {replicas: 3, leaderWorkerTemplate: {size: 2, workerTemplate: {spec: {containers: [{name: vllm}]}}}}
---
apiVersion: apps/v1
kind: StatefulSet
metadata:
  name: qwen-h100-0
  namespace: llm-d-prod
  ownerReferences: [{apiVersion: leaderworkerset.x-k8s.io/v1, kind: LeaderWorkerSet, name: qwen, uid: l, controller: true}]
spec: {replicas: 1}
`))
	require.Len(t, workloads, 1)
	require.Equal(t, "LeaderWorkerSet llm-d-prod/qwen", workloads[0].Declared[0].Target.String())
	require.Equal(t, 3, workloads[0].Declared[0].CurrentReplicas)
}

// TestIncident18: each of two variants of one model was credited with all of its traffic.
func TestIncident18TrafficCountsOnce(t *testing.T) {
	text := example(t, "perfparms.yaml")
	c := newWorld(t, example(t, "config.yaml"), text, strings.ReplaceAll(text, "llama-8b", "second"))
	c.addPool("A100", 1, 64)
	workloads, _ := c.reader.Read(c.view)
	require.Len(t, workloads, 1)
	require.Len(t, workloads[0].Declared, 2)
	patches := c.patches(&seen{state: planner.Fresh, rate: 30, in: 512, out: 128})
	require.Len(t, patches, 2)
	total := 0.0
	for _, p := range patches {
		rate, err := strconv.ParseFloat(field(t, p, "currentAlloc", "load", "arrivalRate"), 64)
		require.NoError(t, err)
		require.Positive(t, rate)
		total += rate
	}
	assert.InDelta(t, 30*60, total, 0.02)
}

// What was only tried is not applied.
func TestDryRunAppliesNothing(t *testing.T) {
	for mode, applied := range map[string]bool{"APPLY": true, "RECOMMEND": true, "DRY_RUN": false} {
		c := newWorld(t, example(t, "config.yaml"), example(t, "perfparms.yaml"))
		c.addPool("A100", 40, 64)
		c.overlay = "workloadDefaults: {mode: " + mode + "}"
		declared, _ := c.reader.Read(c.view)
		workloads, outcomes, changes := c.decide(declared, &seen{state: planner.Fresh, rate: 60, in: 512, out: 128})
		require.NotEmpty(t, changes)
		patches := c.reader.Patches(c.view, &workloads[0], &outcomes[0])
		require.Len(t, patches, 1)
		value, _, _ := unstructured.NestedBool(patches[0].Merge, "status", "actuation", "applied")
		assert.Equal(t, applied, value, mode)
	}
}

// An object that was deleted and made anew is not the one that was decided on.
func TestAnotherObjectOfTheName(t *testing.T) {
	c := flat(t)
	declared, _ := c.reader.Read(c.view)
	workloads, outcomes, _ := c.decide(declared, fresh(1))
	require.Len(t, c.reader.Patches(c.view, &workloads[0], &outcomes[0]), 1)
	c.view.Add(t, strings.Replace(example(t, "flat.yaml"), "name: vllme-deployment\n", "name: vllme-deployment\n  uid: another\n", 1))
	require.Empty(t, c.reader.Patches(c.view, &workloads[0], &outcomes[0]))
	empty := resourcetest.New(t)
	require.Empty(t, c.reader.Patches(empty, &workloads[0], &outcomes[0]))
}

// forgetful drops what an older definition of the API does not have.
func (c *world) forgetful(t *testing.T, p resource.Patch, dropped ...string) {
	t.Helper()
	for _, name := range dropped {
		delete(p.Merge["status"].(map[string]any), name)
	}
	c.view.Apply(t, p)
}

// The first definition has no conditions, and drops them: that is no reason to write again.
func TestDefinitionWithoutConditions(t *testing.T) {
	c := flat(t)
	patches := c.patches(fresh(1))
	require.Len(t, patches, 1)
	c.forgetful(t, patches[0], "conditions")
	require.Empty(t, c.patches(fresh(1)))
	c.now = c.now.Add(5 * time.Minute)
	require.Len(t, c.patches(fresh(1)), 1, "after five minutes")
	c.now = c.now.Add(-10 * time.Minute)
	require.Len(t, c.patches(fresh(1)), 1, "whichever way the clock went")
}

// Fields of another shape, left behind by a former definition, are no reason to write again.
func TestFieldsOfAnotherShape(t *testing.T) {
	c := flat(t)
	patches := c.patches(fresh(1))
	c.view.Apply(t, patches[0])
	kind := schema.GroupKind{Group: "llmd.ai", Kind: "VariantAutoscaling"}
	object, _ := c.view.Get(kind, "llm-d-sim", "vllme-deployment")
	c.view.Apply(t, resource.Patch{
		Object: resource.ReferenceTo(object), ResourceVersion: object.GetResourceVersion(), Subresource: "status",
		Merge: map[string]any{"status": map[string]any{"currentAlloc": map[string]any{"ttftAverage": "3.00"}}},
	})
	require.Empty(t, c.patches(fresh(1)))
	require.Len(t, c.patches(fresh(1.5)), 1)
}

// A little more or less of what is measured is no reason to write.
func TestNoiseIsNotWritten(t *testing.T) {
	c := flat(t)
	at := &seen{state: planner.Fresh, rate: 0.5, out: 178, itl: 21, waiting: 0.1}
	patches := c.patches(at)
	require.Len(t, patches, 1)
	c.view.Apply(t, patches[0])
	for name, test := range map[string]struct {
		seen  seen
		wrote int
	}{
		"nothing":   {*at, 0},
		"noise":     {seen{state: planner.Fresh, rate: 0.51, out: 180, itl: 21.5, waiting: 0.1}, 0},
		"a change":  {seen{state: planner.Fresh, rate: 0.55, out: 178, itl: 21, waiting: 0.1}, 1},
		"a latency": {seen{state: planner.Fresh, rate: 0.5, out: 178, itl: 23, waiting: 0.1}, 1},
		"a state":   {seen{state: planner.Incomplete, rate: 0.5, out: 178, itl: 21, waiting: 0.1}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			require.Len(t, c.patches(&test.seen), test.wrote)
		})
	}
}

// Whatever is in a status that somebody else wrote, the next one keeps the definition.
func TestMangledStatus(t *testing.T) {
	for _, status := range []string{
		`text`, `[1]`, `{currentAlloc: [], conditions: 5}`, `{conditions: [5, {type: 7}, {type: MetricsAvailable, lastTransitionTime: 3}]}`,
		`{currentAlloc: {load: text, itlAverage: 5}, desiredOptimizedAlloc: {lastRunTime: never, numReplicas: many}}`,
	} {
		c := flat(t)
		object := strings.Split(example(t, "flat.yaml"), "---")[1]
		c.view.Add(t, strings.Replace(object, "spec:\n", "status: "+status+"\nspec:\n", 1))
		patches := c.patches(fresh(1))
		require.Len(t, patches, 1, status)
		require.Empty(t, violations("status", statusSchema(t), patches[0].Merge["status"]), status)
	}
}
