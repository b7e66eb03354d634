package actuator_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/poolwright/poolwright/actuator"
	"github.com/poolwright/poolwright/internal/resource"
)

func statusPatch(name, version string, replicas int64) resource.Patch {
	return resource.Patch{
		Object: target(modelServing, name).Object, ResourceVersion: version, Subresource: "status",
		Merge: map[string]any{"status": map[string]any{"replicas": replicas}},
	}
}

func TestPatches(t *testing.T) {
	s, client := newAPIServer(t)
	o := s.add(modelServings+"chat", 2)
	a := actuator.New(actuator.Config{Client: client})
	publish := func(p resource.Patch) error { return a.Publish(t.Context(), []resource.Patch{p}, nil) }

	require.NoError(t, publish(statusPatch("chat", "1", 7)))
	require.Equal(t, []string{"PATCH " + modelServings + "chat/status?fieldManager=poolwright"}, s.asked())
	require.Equal(t, map[string]any{
		"metadata": map[string]any{"resourceVersion": "1"}, "status": map[string]any{"replicas": 7.0},
	}, o.merged[0])

	require.NoError(t, publish(statusPatch("chat", "1", 7)))
	require.NoError(t, publish(statusPatch("chat", "2", 7)))
	require.Empty(t, s.asked(), "written already, whether the reader has seen it or not")

	require.NoError(t, publish(statusPatch("chat", "2", 8)))
	require.NoError(t, publish(statusPatch("chat", "3", 7)))
	require.Len(t, s.asked(), 2)
	o.version = 9
	require.NoError(t, publish(statusPatch("chat", "9", 7)))
	require.Len(t, s.asked(), 1, "somebody changed the object since")

	p := statusPatch("chat", "10", 0)
	p.Subresource, p.Merge = "", map[string]any{"spec": map[string]any{"x": "y"}}
	require.NoError(t, publish(p))
	require.Equal(t, []string{"PATCH " + modelServings + "chat?fieldManager=poolwright"}, s.asked())
	require.NotContains(t, p.Merge, "metadata", "what was given is not changed")

	p.Merge = nil
	require.NoError(t, publish(p))
	require.Empty(t, s.asked())
}

func TestPatchesOfWhatHasChangedAreLeftToTheNextCycle(t *testing.T) {
	s, client := newAPIServer(t)
	o := s.add(modelServings+"chat", 2)
	o.version = 5
	a := actuator.New(actuator.Config{Client: client})
	require.NoError(t, a.Publish(t.Context(), []resource.Patch{statusPatch("chat", "4", 7), statusPatch("gone", "1", 7)}, nil))
	require.Empty(t, o.merged)
	require.Len(t, s.asked(), 2)

	require.NoError(t, a.Publish(t.Context(), []resource.Patch{statusPatch("chat", "5", 7)}, nil))
	require.Len(t, o.merged, 1)
}

func TestPatchesThatFail(t *testing.T) {
	s, client := newAPIServer(t)
	a := actuator.New(actuator.Config{Client: client})
	s.fault = func(*http.Request) *apierrors.StatusError {
		return apierrors.NewForbidden(schema.GroupResource{}, "chat", fmt.Errorf("no rule"))
	}
	err := a.Publish(t.Context(), []resource.Patch{statusPatch("chat", "1", 7)}, nil)
	require.ErrorContains(t, err, "ModelServing team/chat: patch status")
	require.ErrorContains(t, err, `the service account needs the verb patch on modelservings/status in the API group "workload.serving.volcano.sh"`)

	s.fault = func(*http.Request) *apierrors.StatusError {
		return apierrors.NewGenericServerResponse(http.StatusNotFound, "PATCH", schema.GroupResource{Resource: "modelservings"}, "chat", "404 page not found", 0, true)
	}
	err = a.Publish(t.Context(), []resource.Patch{statusPatch("chat", "1", 7)}, nil)
	require.ErrorContains(t, err, "its custom resource definition has no such subresource")

	var patches []resource.Patch
	for i := range 40 {
		patches = append(patches, statusPatch(fmt.Sprintf("chat-%d", i), "1", 7))
	}
	err = a.Publish(t.Context(), patches, nil)
	require.Equal(t, 10, strings.Count(err.Error(), "no such subresource"))
	require.ErrorContains(t, err, "30 more could not be written")
}
