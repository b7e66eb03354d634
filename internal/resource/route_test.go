package resource_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/poolwright/poolwright/internal/resource"
	"github.com/poolwright/poolwright/internal/resource/resourcetest"
	"github.com/poolwright/poolwright/planner"
)

// routed has three variants behind a route: a Deployment and a StatefulSet behind
// Services, and a LeaderWorkerSet of a Service of llmaz behind an InferencePool.
const routed = `
apiVersion: apps/v1
kind: Deployment
metadata: {namespace: team, name: chat-h100}
spec: {template: {metadata: {labels: {app: chat, gpu: h100}}}}
---
apiVersion: apps/v1
kind: StatefulSet
metadata: {namespace: team, name: chat-a100}
spec: {template: {metadata: {labels: {app: chat, gpu: a100}}}}
---
apiVersion: inference.llmaz.io/v1alpha1
kind: Service
metadata: {namespace: team, name: chat-l4, uid: s}
---
apiVersion: leaderworkerset.x-k8s.io/v1
kind: LeaderWorkerSet
metadata:
  {namespace: team, name: chat-l4, ownerReferences: [{apiVersion: inference.llmaz.io/v1alpha1, kind: Service, name: chat-l4, uid: s, controller: true}]}
spec: {leaderWorkerTemplate: {leaderTemplate: {metadata: {labels: {gpu: l4, role: leader}}}, workerTemplate: {metadata: {labels: {gpu: l4}}}}}
---
apiVersion: v1
kind: Service
metadata: {namespace: team, name: h100}
spec: {selector: {gpu: h100}}
---
apiVersion: v1
kind: Service
metadata: {namespace: team, name: a100}
spec: {selector: {gpu: a100}}
---
apiVersion: v1
kind: Service
metadata: {namespace: team, name: both}
spec: {selector: {app: chat}}
---
apiVersion: v1
kind: Service
metadata: {namespace: team, name: external}
spec: {externalName: example.org}
---
apiVersion: inference.networking.k8s.io/v1
kind: InferencePool
metadata: {namespace: team, name: l4}
spec: {selector: {matchLabels: {role: leader}}}
`

func route(annotation, refs string) string {
	return `
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: {namespace: team, name: chat, annotations: {poolwright.dev/weights: "` + annotation + `"}}
spec:
  hostnames: [chat.example.org]
  rules:
  - {matches: [{path: {value: /v1}}], backendRefs: ` + refs + `}
  - {filters: [{type: RequestRedirect}]}
`
}

// ready has so many ready replicas of each variant, of which one of h100 sustains 6, of a100
// 2 and of l4 1 requests/s.
func ready(h100, a100, l4 int) (*resource.Workload, *resource.Outcome) {
	w := &resource.Workload{Workload: planner.Workload{Namespace: "team", Name: "chat"}, Declared: []resource.Variant{
		{Variant: planner.Variant{Name: "h100"}, Target: reference("apps/v1", "Deployment", "chat-h100")},
		{Variant: planner.Variant{Name: "a100"}, Target: reference("apps/v1", "StatefulSet", "chat-a100")},
		{Variant: planner.Variant{Name: "l4"}, Target: reference("inference.llmaz.io/v1alpha1", "Service", "chat-l4")},
	}}
	planned := w.Workload
	for _, v := range w.Declared {
		planned.Variants = append(planned.Variants, v.Variant)
	}
	o := &resource.Outcome{Workload: &planned, Plan: &planner.WorkloadPlan{Variants: make([]planner.VariantPlan, 3)}, Ready: []int{h100, a100, l4}}
	o.Plan.Variants[0].Size.Capacity, o.Plan.Variants[1].Size.Capacity, o.Plan.Variants[2].Size.Capacity = 6, 2, 1
	return w, o
}

func TestRouteWeights(t *testing.T) {
	for name, test := range map[string]struct {
		refs           string
		h100, a100, l4 int
		weights        []int64
		annotation     string
	}{
		"in proportion": {refs: `[{name: h100, port: 80}, {name: a100, port: 80}]`, h100: 2, a100: 2, weights: []int64{75, 25}},
		"inference pool": {
			refs: `[{name: h100}, {group: inference.networking.k8s.io, kind: InferencePool, name: l4}]`,
			h100: 1, l4: 2, weights: []int64{75, 25},
		},
		"two variants behind one backend": {
			refs: `[{name: both}, {group: inference.networking.k8s.io, kind: InferencePool, name: l4}]`,
			h100: 1, a100: 1, l4: 2, weights: []int64{80, 20},
		},
		"nothing ready behind one": {refs: `[{name: h100}, {name: a100}]`, a100: 1, weights: []int64{0, 100}},
		"nothing ready at all":     {refs: `[{name: h100}, {name: a100}]`},
		"as it is":                 {refs: `[{name: h100, weight: 75}, {name: a100, weight: 25}]`, h100: 1, a100: 1},
		"another's backend":        {refs: `[{name: h100}, {name: external}]`, h100: 1},
		"missing backend":          {refs: `[{name: h100}, {name: nothing}]`, h100: 1},
		"another namespace":        {refs: `[{name: h100, namespace: other}]`, h100: 1},
		"nonsense":                 {refs: `[1, {name: 2}]`, h100: 1},
		"no backends":              {refs: `[]`, h100: 1},
		"not asked for":            {refs: `[{name: h100}, {name: a100}]`, h100: 1, a100: 1, annotation: "false"},
	} {
		t.Run(name, func(t *testing.T) {
			annotation := "true"
			if test.annotation != "" {
				annotation = test.annotation
			}
			v := resourcetest.New(t, routed, route(annotation, test.refs))
			w, o := ready(test.h100, test.a100, test.l4)
			patches := resource.NewRoutes(v).Patches(w, o)
			if test.weights == nil {
				require.Empty(t, patches)
				return
			}
			require.Len(t, patches, 1)
			v.Apply(t, patches[0])
			object, _ := v.Get(schema.GroupKind{Group: "gateway.networking.k8s.io", Kind: "HTTPRoute"}, "team", "chat")
			rules, _, _ := unstructured.NestedSlice(object.Object, "spec", "rules")
			require.Len(t, rules, 2, "all rules are written")
			require.Contains(t, rules[0], "matches")
			require.Contains(t, object.Object["spec"], "hostnames")
			var weights []int64
			for _, ref := range rules[0].(map[string]any)["backendRefs"].([]any) {
				weights = append(weights, ref.(map[string]any)["weight"].(int64))
			}
			require.Equal(t, test.weights, weights)
			require.Empty(t, resource.NewRoutes(v).Patches(w, o), "once written, there is nothing to write")
		})
	}
}

// Where nothing in the cluster is to change, neither do the weights of routes.
func TestWeightsByMode(t *testing.T) {
	view := resourcetest.New(t, routed+"---"+route("true", `[{name: h100}, {name: a100}]`))
	for mode, written := range map[resource.Mode]int{
		resource.Apply: 1, resource.Recommend: 1, resource.DryRun: 0, resource.Off: 0,
	} {
		w, o := ready(1, 1, 0)
		w.Mode = mode
		require.Len(t, resource.NewRoutes(view).Patches(w, o), written, mode)
	}
}

// A route may be in another namespace than what it leads to, and lead to other workloads by
// other rules, whose weights it keeps.
func TestRoutesOfOtherNamespaces(t *testing.T) {
	view := resourcetest.New(t, routed, `
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: {namespace: edge, name: all, annotations: {poolwright.dev/weights: "true"}}
spec:
  rules:
  - {backendRefs: [{namespace: team, name: h100}, {namespace: team, name: a100}]}
  - {backendRefs: [{namespace: other, name: h100, weight: 3}]}
---
apiVersion: apps/v1
kind: Deployment
metadata: {namespace: other, name: chat-h100}
spec: {template: {metadata: {labels: {gpu: h100}}}}
---
apiVersion: v1
kind: Service
metadata: {namespace: other, name: h100}
spec: {selector: {gpu: h100}}
`)
	w, o := ready(1, 1, 0)
	patches := resource.NewRoutes(view).Patches(w, o)
	require.Len(t, patches, 1)
	require.Equal(t, map[string]any{"spec": map[string]any{"rules": []any{
		map[string]any{"backendRefs": []any{
			map[string]any{"namespace": "team", "name": "h100", "weight": int64(75)}, map[string]any{"namespace": "team", "name": "a100", "weight": int64(25)},
		}},
		map[string]any{"backendRefs": []any{map[string]any{"namespace": "other", "name": "h100", "weight": int64(3)}}},
	}}}, patches[0].Merge)

	w.Namespace = "elsewhere"
	require.Empty(t, resource.NewRoutes(view).Patches(w, o), "its targets are none of its namespace")
}
