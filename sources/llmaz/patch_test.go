package llmaz

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/poolwright/poolwright/internal/resource"
	"github.com/poolwright/poolwright/internal/resource/resourcetest"
)

const twoPlaygrounds = `
apiVersion: llmaz.io/v1alpha1
kind: OpenModel
metadata: {name: m}
---
apiVersion: inference.llmaz.io/v1alpha1
kind: Playground
metadata: {name: begun, namespace: x, uid: u-1, generation: 3}
spec: {modelClaim: {modelName: m}}
status:
  replicas: 1
  conditions:
    - {type: Progressing, status: "True", reason: Pending, message: Waiting, lastTransitionTime: "2026-11-01T00:00:00Z"}
    - {type: poolwright.dev/Waiting, status: "True", reason: Waiting, message: for devices, lastTransitionTime: "2026-11-01T00:00:00Z"}
---
apiVersion: inference.llmaz.io/v1alpha1
kind: Playground
metadata: {name: new, namespace: x, uid: u-2}
spec: {modelClaim: {modelName: m}}
`

func TestPatchesPutConditionsBesideThoseOfLlmaz(t *testing.T) {
	view := resourcetest.New(t, twoPlaygrounds)
	workloads, skipped := Reader{}.Read(view)
	require.Len(t, workloads, 1)
	require.Empty(t, skipped)
	outcome := &resource.Outcome{
		Now:        time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC),
		Conditions: []resource.Condition{{Type: "DemandUnmet", Status: resource.True, Reason: "PoolsExhausted", Message: "2 requests/s of 9"}},
	}
	patches := Reader{}.Patches(view, &workloads[0], outcome)
	require.Len(t, patches, 1, "an object that llmaz has not begun with is left alone")
	assert.Equal(t, "status", patches[0].Subresource)

	view.Apply(t, patches[0])
	object, ok := view.Get(playgroundKind, "x", "begun")
	require.True(t, ok)
	conditions, _, err := unstructured.NestedSlice(object.Object, "status", "conditions")
	require.NoError(t, err)
	var types []any
	for _, c := range conditions {
		types = append(types, c.(map[string]any)["type"])
	}
	assert.Equal(t, []any{"Progressing", "poolwright.dev/DemandUnmet"}, types)

	assert.Empty(t, Reader{}.Patches(view, &workloads[0], outcome), "all is written already")
}

func TestPatchesSpareAnObjectThatTookThePlaceOfTheOneRead(t *testing.T) {
	view := resourcetest.New(t, twoPlaygrounds)
	workloads, _ := Reader{}.Read(view)
	for i := range workloads[0].Declared {
		workloads[0].Declared[i].Object.UID = "gone"
	}
	outcome := &resource.Outcome{Conditions: []resource.Condition{{Type: "Waiting", Status: resource.True}}}
	assert.Empty(t, Reader{}.Patches(view, &workloads[0], outcome))
}
