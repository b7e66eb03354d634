package resource_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/poolwright/poolwright/internal/resource"
	"github.com/poolwright/poolwright/internal/resource/resourcetest"
)

const withConditions = `
apiVersion: example.org/v1
kind: Thing
metadata: {namespace: a, name: one, generation: 7}
status:
  conditions:
  - {type: Ready, status: "True", reason: Fine, message: theirs, lastTransitionTime: "2025-01-01T00:00:00Z"}
  - {type: poolwright.dev/Waiting, status: "True", reason: Waiting, message: for devices, lastTransitionTime: "2025-01-02T00:00:00Z"}
  - {type: poolwright.dev/Paused, status: "True", reason: Paused, message: by a person, lastTransitionTime: "2025-01-03T00:00:00Z"}
`

func TestConditionsPatch(t *testing.T) {
	kind := schema.GroupKind{Group: "example.org", Kind: "Thing"}
	view := resourcetest.New(t, withConditions)
	now := time.Date(2026, 1, 2, 3, 4, 5, 6, time.UTC)
	conditions := []resource.Condition{
		resource.Condition{Type: "Waiting", Status: resource.True, Reason: "Waiting", Message: "for replicas"}.Qualified(),
		{Type: resource.Accepted, Status: resource.False},
		{Type: resource.Accepted, Status: resource.True, Message: "the first of a type counts"},
	}

	object, _ := view.Get(kind, "a", "one")
	patch, changed := resource.ConditionsPatch(object, conditions, now)
	require.True(t, changed)
	view.Apply(t, patch)
	object, _ = view.Get(kind, "a", "one")
	require.Equal(t, []any{
		map[string]any{"type": "Ready", "status": "True", "reason": "Fine", "message": "theirs", "lastTransitionTime": "2025-01-01T00:00:00Z"},
		map[string]any{
			"type": "poolwright.dev/Waiting", "status": "True", "reason": "Waiting", "message": "for replicas",
			"lastTransitionTime": "2025-01-02T00:00:00Z", "observedGeneration": int64(7),
		},
		map[string]any{
			"type": "poolwright.dev/Accepted", "status": "False", "reason": "Accepted", "message": "",
			"lastTransitionTime": "2026-01-02T03:04:05Z", "observedGeneration": int64(7),
		},
	}, object.Object["status"].(map[string]any)["conditions"])

	_, changed = resource.ConditionsPatch(object, conditions, now.Add(time.Hour))
	require.False(t, changed, "all is written already")

	conditions[1].Message = "for 3 replicas"
	patch, changed = resource.ConditionsPatch(object, conditions, now)
	require.True(t, changed)
	view.Apply(t, patch)
	object, _ = view.Get(kind, "a", "one")
	conditions[1].Message = "for 12.5 replicas"
	_, changed = resource.ConditionsPatch(object, conditions, now)
	require.False(t, changed, "numbers alone are not written")

	conditions[1].Status = resource.True
	patch, changed = resource.ConditionsPatch(object, conditions, now.Add(time.Hour))
	require.True(t, changed)
	view.Apply(t, patch)
	object, _ = view.Get(kind, "a", "one")
	last := object.Object["status"].(map[string]any)["conditions"].([]any)[2].(map[string]any)
	require.Equal(t, "2026-01-02T04:04:05Z", last["lastTransitionTime"])
}

func TestConditionsWithoutAny(t *testing.T) {
	view := resourcetest.New(t, "{apiVersion: v1, kind: Node, metadata: {name: node}}")
	object, _ := view.Get(schema.GroupKind{Kind: "Node"}, "", "node")
	_, changed := resource.ConditionsPatch(object, nil, time.Time{})
	require.False(t, changed)

	long := resource.Condition{Type: "Long", Status: resource.True, Message: strings.Repeat("ä", 20_000)}
	list := resource.MergeConditions(object, []resource.Condition{long}, time.Time{})
	require.Len(t, list, 1)
	message := list[0].(map[string]any)["message"].(string)
	require.LessOrEqual(t, len(message), 32768)
	require.Equal(t, strings.Repeat("ä", 16384), message)
	require.NotContains(t, list[0], "observedGeneration")
}

func TestAddCondition(t *testing.T) {
	first := []resource.Condition{{Type: "A", Status: resource.True, Reason: "R", Message: "one"}}
	both := resource.AddCondition(first, resource.Condition{Type: "A", Status: resource.True, Reason: "S", Message: "two"})
	assert.Equal(t, []resource.Condition{{Type: "A", Status: resource.True, Reason: "R", Message: "one; two"}}, both)
	assert.Equal(t, "one", first[0].Message, "the given list is not changed")
	assert.Len(t, resource.AddCondition(first, resource.Condition{Type: "A", Status: resource.False}), 2)
	assert.Equal(t, resource.ConditionDomain+"A", resource.Qualified(first)[0].Type)
}
