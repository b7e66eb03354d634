package resourcetest_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/poolwright/poolwright/internal/resource"
	"github.com/poolwright/poolwright/internal/resource/resourcetest"
)

const objects = `
apiVersion: apps/v1
kind: Deployment
metadata: {namespace: b, name: one}
spec: {replicas: 2}
---
# Nothing but a comment.
---
apiVersion: apps/v1
kind: Deployment
metadata: {namespace: a, name: two}
status: {replicas: 1, conditions: [x], old: true}
---
apiVersion: v1
kind: Node
metadata: {name: node}
`

func deployments() schema.GroupKind { return schema.GroupKind{Group: "apps", Kind: "Deployment"} }

func TestView(t *testing.T) {
	var view resource.View = resourcetest.New(t, objects, "{apiVersion: v1, kind: Node, metadata: {name: node, labels: {a: b}}}")
	list := view.List(deployments())
	require.Len(t, list, 2)
	require.Equal(t, "two", list[0].GetName())
	require.Equal(t, "one", list[1].GetName())
	require.Equal(t, int64(2), list[1].Object["spec"].(map[string]any)["replicas"])
	require.Empty(t, view.List(schema.GroupKind{Kind: "Pod"}))

	node, ok := view.Get(schema.GroupKind{Kind: "Node"}, "", "node")
	require.True(t, ok)
	require.Equal(t, map[string]string{"a": "b"}, node.GetLabels())
	_, ok = view.Get(deployments(), "a", "one")
	require.False(t, ok)
}

func TestApply(t *testing.T) {
	view := resourcetest.New(t, objects)
	before, _ := view.Get(deployments(), "a", "two")
	view.Apply(t, resource.Patch{
		Object: resource.ReferenceTo(before), ResourceVersion: "1", Subresource: "status",
		Merge: map[string]any{
			"spec":   map[string]any{"replicas": int64(9)},
			"status": map[string]any{"replicas": int64(3), "old": nil, "new": map[string]any{"deep": "yes"}},
		},
	})
	after, ok := view.Get(deployments(), "a", "two")
	require.True(t, ok)
	require.Equal(t, map[string]any{
		"replicas": int64(3), "conditions": []any{"x"}, "new": map[string]any{"deep": "yes"},
	}, after.Object["status"])
	require.NotContains(t, after.Object, "spec", "a patch of the status changes nothing else")
	require.Equal(t, "2", after.GetResourceVersion())
	require.Equal(t, int64(1), before.Object["status"].(map[string]any)["replicas"], "a view's objects never change")
}
