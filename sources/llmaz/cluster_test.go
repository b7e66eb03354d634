//go:build e2e && linux

package llmaz

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/json"
	"k8s.io/client-go/dynamic"

	"github.com/poolwright/poolwright/internal/controlplane"
	"github.com/poolwright/poolwright/internal/resource"
)

// serverView is what a real API server has.
type serverView struct {
	t      *testing.T
	client dynamic.Interface
}

func (v serverView) resourceOf(kind schema.GroupKind) dynamic.NamespaceableResourceInterface {
	version := "v1alpha1"
	if kind.Group == "" {
		version = "v1"
	}
	return v.client.Resource(schema.GroupVersionResource{Group: kind.Group, Version: version, Resource: strings.ToLower(kind.Kind) + "s"})
}

func (v serverView) List(kind schema.GroupKind) []*unstructured.Unstructured {
	list, err := v.resourceOf(kind).List(v.t.Context(), metav1.ListOptions{})
	require.NoError(v.t, err)
	var objects []*unstructured.Unstructured
	for i := range list.Items {
		objects = append(objects, &list.Items[i])
	}
	return objects
}

func (v serverView) Get(kind schema.GroupKind, namespace, name string) (*unstructured.Unstructured, bool) {
	object, err := v.resourceOf(kind).Namespace(namespace).Get(v.t.Context(), name, metav1.GetOptions{})
	return object, err == nil
}

// The definitions and examples on a real API server: what is read there, scaled and written.
func TestOnAPIServer(t *testing.T) {
	cluster := controlplane.New(t, controlplane.Config{})
	kubectl := func(arguments ...string) string {
		t.Helper()
		out, err := cluster.Kubectl(t.Context(), arguments...)
		require.NoError(t, err, out)
		return out
	}
	for _, name := range []string{"llmaz.io_openmodels", "inference.llmaz.io_playgrounds", "inference.llmaz.io_services", "inference.llmaz.io_backendruntimes"} {
		kubectl("apply", "-f", "../../deploy/crds/"+name+".yaml")
	}
	kubectl("wait", "--for=condition=Established", "--timeout=30s", "crd", "--all")
	kubectl("apply", "-f", "../../examples/cluster/llmaz")
	view := serverView{t, dynamic.NewForConfigOrDie(cluster.Admin())}

	t.Run("the examples are read as without defaults", func(t *testing.T) {
		workloads, skipped := Reader{}.Read(view)
		assert.Empty(t, skipped)
		var names []string
		for i := range workloads {
			names = append(names, workloads[i].QualifiedName())
		}
		assert.Equal(t, []string{"batch/llama3-70b", "chat/llama3-70b", "code/llama3-70b"}, names)
	})

	t.Run("both kinds are scaled by their subresource", func(t *testing.T) {
		kubectl("-n", "chat", "scale", "playgrounds.inference.llmaz.io/llama3-70b-h100", "--replicas=4")
		kubectl("-n", "batch", "scale", "services.inference.llmaz.io/llama3-70b-wide", "--replicas=0")
		workloads, _ := Reader{}.Read(view)
		require.Len(t, workloads, 3)
		assert.Equal(t, 0, workloads[0].Declared[0].CurrentReplicas)
		assert.Equal(t, 4, workloads[1].Declared[1].CurrentReplicas)
	})

	t.Run("conditions are written and shown", func(t *testing.T) {
		kubectl("-n", "chat", "patch", "playground", "llama3-70b-h100", "--subresource=status", "--type=merge", "-p",
			`{"status": {"replicas": 3, "selector": "a=b", "conditions": [{"type": "Available", "status": "True", "reason": "PlaygroundReady",
				"message": "Playground is ready", "lastTransitionTime": "2026-11-21T12:00:00Z"}]}}`)
		workloads, _ := Reader{}.Read(view)
		outcome := &resource.Outcome{Now: time.Now(), Conditions: []resource.Condition{
			{Type: "DemandUnmet", Status: resource.True, Message: "2 requests/s of 9"},
		}}
		patches := Reader{}.Patches(view, &workloads[1], outcome)
		require.Len(t, patches, 1)
		view.apply(t.Context(), &patches[0])
		assert.Empty(t, Reader{}.Patches(view, &workloads[1], outcome), "all is written already")

		table := strings.Fields(kubectl("-n", "chat", "get", "playground", "llama3-70b-h100"))
		assert.Equal(t, []string{"NAME", "MODEL", "FLAVORS", "DESIRED", "CREATED", "MIN", "MAX", "AVAILABLE", "UNMET", "AGE"}, table[:10])
		assert.Equal(t, []string{"llama3-70b-h100", "llama3-70b", `["h100"]`, "4", "3", "1", "8", "True", "True"}, table[10:19])
	})

	t.Run("what is not valid is refused", func(t *testing.T) {
		out, err := cluster.Kubectl(t.Context(), "-n", "chat", "patch", "playground", "llama3-70b-h100", "--type=merge", "-p",
			`{"spec": {"modelClaims": {"models": [{"name": "llama3-70b"}]}}}`)
		require.Error(t, err)
		assert.Contains(t, out+err.Error(), "one of modelClaim and modelClaims is needed")
	})
}

// apply writes a patch of a status as the actuator does.
func (v serverView) apply(ctx context.Context, p *resource.Patch) {
	v.t.Helper()
	p.Merge["metadata"] = map[string]any{"resourceVersion": p.ResourceVersion}
	body, err := json.Marshal(p.Merge)
	require.NoError(v.t, err)
	_, err = v.resourceOf(p.Object.GroupKind()).Namespace(p.Object.Namespace).
		Patch(ctx, p.Object.Name, types.MergePatchType, body, metav1.PatchOptions{}, p.Subresource)
	require.NoError(v.t, err)
}
