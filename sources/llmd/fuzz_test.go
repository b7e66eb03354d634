package llmd_test

import (
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/yaml"

	"github.com/poolwright/poolwright/internal/resource"
	"github.com/poolwright/poolwright/internal/resource/resourcetest"
	"github.com/poolwright/poolwright/queueing"
	"github.com/poolwright/poolwright/sources/llmd"
)

// one is a view with an object of any content, its target and its ConfigMaps.
type one struct {
	*resourcetest.View
	object *unstructured.Unstructured
}

func (o one) List(kind schema.GroupKind) []*unstructured.Unstructured {
	if kind.Kind == "VariantAutoscaling" {
		return []*unstructured.Unstructured{o.object}
	}
	return o.View.List(kind)
}

// FuzzRead: whatever an object, a class and a price hold, the object is read or skipped
// with a reason, and what is read is in the ranges of its types.
func FuzzRead(f *testing.F) {
	for _, name := range []string{"flat.yaml", "perfparms.yaml", "targetref.yaml"} {
		for _, u := range resourcetest.New(f, example(f, name)).List(schema.GroupKind{Group: "llmd.ai", Kind: "VariantAutoscaling"}) {
			text, err := u.MarshalJSON()
			require.NoError(f, err)
			f.Add(string(text), "{name: a, priority: 1, data: [{model: default/default, slo-tpot: 24}]}", `{"cost": "40.00"}`)
		}
	}
	f.Add(`{spec: {modelID: m, sloClassRef: {name: c, key: k}, modelProfile: {accelerators: [{acc: A100, alpha: -1}]}}}`, "data: [{slo-ttw: x}]", "[")
	f.Add(`{spec: {modelID: m, modelProfile: {accelerators: [{acc: A100, accCount: 99999, alpha: 1e9, beta: 1, maxBatchSize: 65536}]}}}`, "", `{"cost": 1e12}`)
	f.Fuzz(func(t *testing.T, text, class, price string) {
		var content map[string]any
		if yaml.Unmarshal([]byte(text), &content) != nil || content == nil {
			return
		}
		u := &unstructured.Unstructured{Object: content}
		u.SetUnstructuredContent(map[string]any{
			"apiVersion": "llmd.ai/v1alpha1", "kind": "VariantAutoscaling",
			"metadata": map[string]any{"name": "v", "namespace": "a"}, "spec": content["spec"], "status": content["status"],
		})
		view := one{resourcetest.New(t, "{apiVersion: apps/v1, kind: Deployment, metadata: {name: v, namespace: a}}"), u}
		view.View.AddObject(configMap("c", map[string]any{"k": class}))
		view.View.AddObject(configMap("accelerator-unit-costs", map[string]any{"A100": price}))

		workloads, skipped := llmd.NewReader(llmd.Config{}).Read(view)
		require.Equal(t, 1, len(workloads)+len(skipped))
		for _, s := range skipped {
			require.NotEmpty(t, s.Reason)
			require.NotEmpty(t, s.Message)
		}
		for i := range workloads {
			checkWorkload(t, &workloads[i])
		}
	})
}

func configMap(name string, data map[string]any) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": name, "namespace": "a"}, "data": data,
	}}
}

func checkWorkload(t *testing.T, w *resource.Workload) {
	t.Helper()
	require.NotEmpty(t, w.Model)
	require.NotEmpty(t, w.Declared)
	shape := queueing.Shape{InputTokens: 100, OutputTokens: 100, InputSCV: 1, OutputSCV: 1, ArrivalSCV: 1}
	var names []string
	for j := range w.Declared {
		v := &w.Declared[j]
		require.NotContains(t, names, v.Name)
		names = append(names, v.Name)
		require.GreaterOrEqual(t, v.DevicesPerReplica, 0)
		require.GreaterOrEqual(t, v.MinReplicas, 0)
		require.True(t, v.PricePerReplicaHour >= 0 && !math.IsInf(v.PricePerReplicaHour, 0))
		if v.Replica != nil && v.Replica.MaxBatch <= 1024 {
			station, err := queueing.NewStation(*v.Replica, shape)
			require.NoError(t, err)
			_, err = station.Capacity(w.SLO)
			require.NoError(t, err)
		}
	}
	require.Len(t, slices.DeleteFunc(w.Declared, func(v resource.Variant) bool { return v.Target.Name == "" }), 1)
}
