//go:build e2e && linux

package llmaz

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/poolwright/poolwright/internal/resource"
	"github.com/poolwright/poolwright/internal/resource/resourcetest"
	"github.com/poolwright/poolwright/internal/resource/servertest"
)

// The definitions and examples on a real API server: what is read there, scaled and written.
func TestOnAPIServer(t *testing.T) {
	server := servertest.New(t)
	for _, name := range []string{"llmaz.io_openmodels", "inference.llmaz.io_playgrounds", "inference.llmaz.io_services", "inference.llmaz.io_backendruntimes"} {
		server.Define("../../deploy/crds/" + name + ".yaml")
	}
	server.Apply("../../examples/cluster/llmaz")
	read := func() (*resourcetest.View, []resource.Workload) {
		view := server.View(Reader{}.Kinds())
		workloads, skipped := Reader{}.Read(view)
		require.Empty(t, skipped)
		return view, workloads
	}

	t.Run("the examples are read as from their files", func(t *testing.T) {
		fromFiles := describe(Reader{}.Read(resourcetest.New(t, examples(t)...)))
		_, workloads := read()
		assert.Equal(t, fromFiles, describe(workloads, nil))
	})

	t.Run("both kinds are scaled by their subresource", func(t *testing.T) {
		s := server.In(t)
		s.Do("-n", "chat", "scale", "playgrounds.inference.llmaz.io/llama3-70b-h100", "--replicas=4")
		s.Do("-n", "batch", "scale", "services.inference.llmaz.io/llama3-70b-wide", "--replicas=0")
		_, workloads := read()
		require.Len(t, workloads, 3)
		assert.Equal(t, 0, workloads[0].Declared[0].CurrentReplicas)
		assert.Equal(t, 4, workloads[1].Declared[1].CurrentReplicas)
	})

	t.Run("conditions are written and shown", func(t *testing.T) {
		s := server.In(t)
		s.Do("-n", "chat", "patch", "playground", "llama3-70b-h100", "--subresource=status", "--type=merge", "-p",
			`{"status": {"replicas": 3, "selector": "a=b", "conditions": [{"type": "Available", "status": "True", "reason": "PlaygroundReady",
				"message": "Playground is ready", "lastTransitionTime": "2026-11-21T12:00:00Z"}]}}`)
		outcome := &resource.Outcome{Now: time.Now(), Conditions: []resource.Condition{
			{Type: "DemandUnmet", Status: resource.True, Message: "2 requests/s of 9"},
		}}
		view, workloads := read()
		patches := Reader{}.Patches(view, &workloads[1], outcome)
		require.Len(t, patches, 1)
		require.NoError(t, s.Write(patches[0]))
		view, workloads = read()
		assert.Empty(t, Reader{}.Patches(view, &workloads[1], outcome), "all is written already")
		assert.Equal(t, `NAMESPACE NAME MODEL FLAVORS DESIRED CREATED MIN MAX AVAILABLE UNMET
chat llama3-70b-a100 llama3-70b ["a100"] 2 1 8
chat llama3-70b-h100 llama3-70b ["h100"] 4 3 1 8 True True
code llama3-70b 1 1 4`, s.Columns("playgrounds"))
		assert.Contains(t, s.Columns("playgrounds", "-o", "wide"), "code llama3-70b 1 1 4 llama3-70b")
		assert.Equal(t, `NAMESPACE NAME MODEL FLAVORS PODS DESIRED CREATED AVAILABLE UNMET
batch llama3-70b-wide llama3-70b ["h100"] 2 0`, s.Columns("services.inference.llmaz.io"))
		assert.Equal(t, "NAME FAMILY MODEL PREFERRED\nllama3-1b llama3 meta-llama/Llama-3.2-1B-Instruct\nllama3-70b llama3 meta-llama/Llama-3.1-70B-Instruct a100", s.Columns("openmodels"))
		assert.Equal(t, "NAME IMAGE VERSION\nvllm vllm/vllm-openai v0.11.0", s.Columns("backendruntimes"))
	})

	t.Run("what is not valid is refused", func(t *testing.T) {
		why := server.In(t).Refused("-n", "chat", "patch", "playground", "llama3-70b-h100", "--type=merge", "-p",
			`{"spec": {"modelClaims": {"models": [{"name": "llama3-70b"}]}}}`)
		assert.Contains(t, why, "one of modelClaim and modelClaims is needed")
	})
}
