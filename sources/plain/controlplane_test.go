//go:build e2e && linux

package plain_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/poolwright/poolwright/internal/controlplane"
	"github.com/poolwright/poolwright/internal/resource"
	"github.com/poolwright/poolwright/internal/resource/resourcetest"
	"github.com/poolwright/poolwright/sources/plain"
)

// The example on a real API server, which fills in its defaults, and with what its
// controllers make of it: the same is read.
func TestOnAPIServer(t *testing.T) {
	cluster := controlplane.New(t, controlplane.Config{})
	kubectl := func(arguments ...string) string {
		t.Helper()
		out, err := cluster.Kubectl(t.Context(), arguments...)
		require.NoError(t, err, out)
		return out
	}
	require.NoError(t, cluster.AddNodes(t.Context(),
		controlplane.GPUNode("a100-0", "NVIDIA-A100-SXM4-80GB", 8), controlplane.GPUNode("h100-0", "NVIDIA-H100-80GB-HBM3", 8),
	))
	kubectl("apply", "--server-side", "-f", examples+"/chat.yaml")
	kubectl("-n", "plain", "wait", "--for=condition=Available", "--timeout=60s", "deployment/chat-h100")
	view := resourcetest.New(t,
		kubectl("-n", "plain", "get", "deployment", "chat-h100", "-o", "yaml"),
		kubectl("-n", "plain", "get", "statefulset", "chat-a100", "-o", "yaml"),
	)
	workloads, skipped := plain.Reader{}.Read(view)
	require.Empty(t, skipped)
	require.Len(t, workloads, 1)
	want := exampleWorkload(t)
	for j := range workloads[0].Declared {
		v := &workloads[0].Declared[j]
		require.NotEmpty(t, v.Target.UID)
		v.Target.UID, v.Target.Generation, v.Object = "", 0, resource.Reference{}
		want.Declared[j].Object = resource.Reference{}
	}
	assert.Equal(t, want.Declared, workloads[0].Declared)
}
