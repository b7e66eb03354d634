//go:build e2e && linux

package kthena

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/poolwright/poolwright/internal/resource"
	"github.com/poolwright/poolwright/internal/resource/resourcetest"
	"github.com/poolwright/poolwright/internal/resource/servertest"
)

// apiServer is a real API server with the definitions of a release and its examples.
type apiServer struct {
	*servertest.Server
	t       *testing.T
	release string
}

func newServer(t *testing.T, release string) *apiServer {
	t.Helper()
	s := &apiServer{servertest.New(t), t, release}
	s.Define("../../deploy/crds/kthena-" + release)
	s.Apply("../../examples/cluster/kthena/" + release)
	return s
}

// decide returns what is to be written of the workload of an object: 2 ready replicas of the
// first variant, which were changed or not, and 1 of the second, each of 3 requests/s.
func (s *apiServer) decide(kind, name, changed string) []resource.Patch {
	s.t.Helper()
	view := s.View(new(Reader).Kinds())
	workloads, skipped := new(Reader).Read(view)
	require.Empty(s.t, skipped)
	for i := range workloads {
		w := &workloads[i]
		if w.Object.Kind != kind || w.Name != name {
			continue
		}
		return new(Reader).Patches(view, w, outcome(s.t, w, time.Now(),
			w.Declared[0].Name+" 2 3 2 "+changed+"\n"+w.Declared[1].Name+" 1 3 1 -"))
	}
	s.t.Fatalf("no %s %s", kind, name)
	return nil
}

// What the API server makes of the examples is read as the files are.
func (s *apiServer) readsLikeFiles() {
	s.t.Helper()
	want := describe(new(Reader).Read(resourcetest.New(s.t, examples(s.t, s.release)...)))
	require.Equal(s.t, want, describe(new(Reader).Read(s.View(new(Reader).Kinds()))))
}

// Weights are accepted, once; who writes on what has changed meanwhile is told.
func (s *apiServer) takesWeights(kind, name string) {
	s.t.Helper()
	patches := s.decide(kind, name, "changed")
	for _, p := range patches {
		require.NoError(s.t, s.Write(p))
	}
	require.Empty(s.t, s.decide(kind, name, "unchanged"), "all is written")
	err := s.Write(patches[len(patches)-1])
	require.True(s.t, apierrors.IsConflict(err), "%v", err)
	require.Contains(s.t, s.Refused("patch", "modelroute", name, "-n", "chat", "--type=merge", "-p", `{"spec":{"modelName":"other"}}`), "modelName is immutable")
}

func TestV01OnAPIServer(t *testing.T) {
	s := newServer(t, "v0.1")
	s.readsLikeFiles()
	require.Equal(t, `NAMESPACE NAME POLICY TARGET TARGETS
chat llama waiting llama-h100
search deepseek latency deepseek`, s.Columns("autoscalingpolicybindings"))
	require.Equal(t, `NAMESPACE NAME MODEL BACKENDS ENGINES ACTIVE
code coder qwen-coder h100 vLLM`, s.Columns("modelboosters"))
	s.takesWeights("AutoscalingPolicyBinding", "llama")
	require.Contains(t, s.Columns("modelroutes"), "chat llama llama llama-h100 67")
	require.Contains(t, s.Refused("scale", "modelserving/llama-h100", "-n", "chat", "--replicas=3"), "NotFound")
	s.refuses()
}

func TestV04OnAPIServer(t *testing.T) {
	s := newServer(t, "v0.4")
	s.readsLikeFiles()
	s.takesWeights("AutoscalingPolicyBinding", "llama")
	s.Do("scale", "modelserving/llama-h100", "-n", "chat", "--replicas=3")
	require.Equal(t, `NAMESPACE NAME DESIRED REPLICAS AVAILABLE UPDATED
chat llama-a100 1
chat llama-h100 3
search deepseek 1`, s.Columns("modelservings"))
	s.refuses()
}

func TestV10OnAPIServer(t *testing.T) {
	s := newServer(t, "v1.0")
	s.readsLikeFiles()
	s.takesWeights("AutoscalingPolicy", "llama")
	require.Equal(t, `NAMESPACE NAME TARGET TARGETS REPLICAS DESIRED READY
chat llama llama-h100 True`, s.Columns("autoscalingpolicies"))
	s.refuses()
}

// refuses tries to apply each document of a file. Its first line says what the API server
// answers.
func (s *apiServer) refuses() {
	s.t.Helper()
	text, err := fs.ReadFile(os.DirFS("testdata/refused"), s.release+".yaml")
	require.NoError(s.t, err)
	for document := range strings.SplitSeq(string(text), "---\n") {
		first, rest, _ := strings.Cut(document, "\n")
		file := filepath.Join(s.t.TempDir(), "document.yaml")
		require.NoError(s.t, os.WriteFile(file, []byte(rest), 0o600))
		require.Contains(s.t, s.Refused("apply", "--server-side", "--dry-run=server", "-f", file), strings.TrimPrefix(first, "# "))
	}
}
