package kthena

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/yaml"

	"github.com/poolwright/poolwright/internal/resource"
	"github.com/poolwright/poolwright/internal/resource/resourcetest"
	"github.com/poolwright/poolwright/planner"
	"github.com/poolwright/poolwright/queueing"
)

// FuzzRead reads what an API server without schemas could have: any object beside those of
// an example. What is read keeps the rules of its types, and can be written about.
func FuzzRead(f *testing.F) {
	for _, release := range []string{"v0.1", "v0.4", "v1.0"} {
		for _, text := range examples(f, release) {
			for document := range strings.SplitSeq(text, "---\n") {
				f.Add(document)
			}
		}
	}
	base := examples(f, "v0.1")
	f.Fuzz(func(t *testing.T, text string) {
		view := withObject(t, base, text)
		if view == nil {
			return
		}
		reader := new(Reader)
		workloads, skipped := reader.Read(view)
		for _, s := range skipped {
			require.NotEmpty(t, s.Reason)
			require.NotEmpty(t, s.Message)
		}
		var names []string
		for i := range workloads {
			w := &workloads[i]
			names = append(names, w.QualifiedName())
			checkWorkload(t, w)
			for _, p := range new(Reader).Patches(view, w, anOutcome(w)) {
				view.Apply(t, p)
			}
		}
		slices.Sort(names)
		require.Len(t, slices.Compact(names), len(workloads), "a name twice")
	})
}

// withObject is a view with one object more; nil if the text is none.
func withObject(t *testing.T, base []string, text string) *resourcetest.View {
	t.Helper()
	json, err := yaml.ToJSON([]byte(text))
	var object unstructured.Unstructured
	if err != nil || object.UnmarshalJSON(json) != nil || object.IsList() || object.GetName() == "" {
		return nil
	}
	return resourcetest.New(t, append(slices.Clone(base), string(json))...)
}

func checkWorkload(t *testing.T, w *resource.Workload) {
	t.Helper()
	require.NotEmpty(t, w.Name)
	require.NotEmpty(t, w.Declared)
	require.NoError(t, w.Policy.Validate())
	seen := make(map[string]bool)
	for j := range w.Declared {
		v := &w.Declared[j]
		require.False(t, seen[v.Name], "%s twice", v.Name)
		seen[v.Name] = true
		require.True(t, v.MaxReplicas.Limited)
		require.GreaterOrEqual(t, v.MaxReplicas.Value, v.MinReplicas)
		for _, n := range []int{v.MinReplicas, v.CurrentReplicas, v.DevicesPerReplica, v.NodesPerReplica} {
			require.GreaterOrEqual(t, n, 0)
		}
		require.LessOrEqual(t, v.NodesPerReplica, v.DevicesPerReplica)
		require.GreaterOrEqual(t, v.PricePerReplicaHour, 0.0)
		require.Equal(t, w.Namespace, v.Target.Namespace)
	}
}

// anOutcome has a ready replica of each variant.
func anOutcome(w *resource.Workload) *resource.Outcome {
	o := &resource.Outcome{Now: time.Unix(0, 0), Workload: &w.Workload, Plan: &planner.WorkloadPlan{}, Conditions: w.Conditions}
	for j := range w.Declared {
		w.Variants = append(w.Variants, w.Declared[j].Variant)
		o.Ready = append(o.Ready, 1)
		o.Plan.Variants = append(o.Plan.Variants, planner.VariantPlan{Size: planner.Size{Capacity: queueing.Rate(1 + j)}, Replicas: []int{1}})
	}
	return o
}
