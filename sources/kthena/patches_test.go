package kthena

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"
	"github.com/stretchr/testify/require"

	"github.com/poolwright/poolwright/internal/resource"
	"github.com/poolwright/poolwright/internal/resource/resourcetest"
	"github.com/poolwright/poolwright/planner"
	"github.com/poolwright/poolwright/queueing"
)

// What is written of decisions, told in files. "decided" has a line for each variant of the
// only workload: its name, ready replicas, capacity of one, replicas planned, and whether
// they were changed. What is written once is not written again.
func TestPatches(t *testing.T) {
	datadriven.Walk(t, "testdata/patches", func(t *testing.T, path string) {
		var view *resourcetest.View
		now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			switch d.Cmd {
			case "cluster":
				view = resourcetest.New(t, d.Input)
				return ""
			case "decided":
				now = now.Add(time.Minute)
				return writeDecided(t, view, now, d.Input)
			}
			t.Fatalf("unknown command %s", d.Cmd)
			return ""
		})
	})
}

func writeDecided(t *testing.T, view *resourcetest.View, now time.Time, decided string) string {
	t.Helper()
	reader := new(Reader)
	workloads, _ := reader.Read(view)
	require.Len(t, workloads, 1)
	w := &workloads[0]
	o := outcome(t, w, now, decided)
	var b strings.Builder
	for _, p := range reader.Patches(view, w, o) {
		text, err := json.MarshalIndent(p.Merge, "", "  ")
		require.NoError(t, err)
		fmt.Fprintf(&b, "%v %s\n%s\n", p.Object, p.Subresource, text)
		view.Apply(t, p)
	}
	o.Changes, o.Now = nil, now.Add(time.Second)
	require.Empty(t, new(Reader).Patches(view, w, o), "all is written already")
	return b.String()
}

// What is only recommended is so in every cycle, and numbers in messages change: neither is a
// reason to write.
func TestStatusIsNotWrittenInEveryCycle(t *testing.T) {
	view := resourcetest.New(t, `
apiVersion: workload.serving.volcano.sh/v1alpha1
kind: ModelServing
metadata: {namespace: chat, name: h100}
spec: {replicas: 2, template: {roles: [{name: leader, workerReplicas: 0}]}}
---
apiVersion: workload.serving.volcano.sh/v1alpha1
kind: AutoscalingPolicy
metadata: {namespace: chat, name: llama, generation: 4}
spec:
  metrics: [{name: m, targetValue: 1}]
  homogeneousTarget: {minReplicas: 1, maxReplicas: 8, target: {targetRef: {name: h100}}}
`)
	workloads, _ := new(Reader).Read(view)
	require.Len(t, workloads, 1)
	o := outcome(t, &workloads[0], time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC), "h100 2 3 5 changed")
	o.Advised = []bool{true}
	for cycle, unmet := range []string{"3.2", "3.4", "11"} {
		o.Now = o.Now.Add(time.Minute)
		o.Conditions = []resource.Condition{{Type: "DemandUnmet", Status: resource.True, Reason: "DemandUnmet", Message: unmet + " requests/s"}}
		patches := new(Reader).Patches(view, &workloads[0], o)
		require.Equal(t, cycle == 0, len(patches) > 0, "cycle %d", cycle)
		for _, p := range patches {
			view.Apply(t, p)
		}
	}
	object, _ := view.Get(policyKind, "chat", "llama")
	require.Empty(t, lastScaled(object, "h100"))
}

func outcome(t *testing.T, w *resource.Workload, now time.Time, decided string) *resource.Outcome {
	t.Helper()
	o := &resource.Outcome{Now: now, Workload: &w.Workload, Plan: &planner.WorkloadPlan{}, Conditions: w.Conditions}
	for j, line := range strings.Split(decided, "\n") {
		var name, changed string
		var ready, replicas int
		var capacity float64
		_, err := fmt.Sscan(line+" -", &name, &ready, &capacity, &replicas, &changed)
		require.NoError(t, err)
		require.Equal(t, name, w.Declared[j].Name)
		w.Variants = append(w.Variants, w.Declared[j].Variant)
		o.Ready = append(o.Ready, ready)
		o.Plan.Variants = append(o.Plan.Variants, planner.VariantPlan{
			Size: planner.Size{Capacity: queueing.Rate(capacity)}, Replicas: []int{replicas},
		})
		if changed == "changed" {
			o.Changes = append(o.Changes, planner.Change{Workload: w.QualifiedName(), Variant: name, To: replicas})
		}
	}
	return o
}

// What is read again is what is there now, though objects that did not change are known.
func TestReadAgain(t *testing.T) {
	view := resourcetest.New(t, examples(t, "v0.4")...)
	reader := new(Reader)
	reader.Read(view)
	object, ok := view.Get(servingKind, "chat", "llama-h100")
	require.True(t, ok)
	view.Apply(t, resource.Patch{
		Object: resource.ReferenceTo(object), ResourceVersion: object.GetResourceVersion(),
		Merge: map[string]any{"spec": map[string]any{"replicas": int64(7)}},
	})
	again, _ := reader.Read(view)
	fresh, _ := new(Reader).Read(view)
	require.Equal(t, fresh, again)
	require.Equal(t, 7, again[0].Declared[0].CurrentReplicas)
}
