//go:build e2e && linux

package kthena

import (
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"

	"github.com/poolwright/poolwright/internal/controlplane"
	"github.com/poolwright/poolwright/internal/resource"
	"github.com/poolwright/poolwright/internal/resource/resourcetest"
)

// apiServer is a real API server with the definitions of a release and its examples.
type apiServer struct {
	*controlplane.ControlPlane
	t       *testing.T
	release string
}

func newServer(t *testing.T, release string) *apiServer {
	t.Helper()
	s := &apiServer{controlplane.New(t, controlplane.Config{}), t, release}
	folder := "../../deploy/crds/kthena-" + release
	s.kubectl("apply", "--server-side", "-f", folder)
	s.kubectl("wait", "--for=condition=Established", "--timeout=60s", "-f", folder)
	s.kubectl("apply", "--server-side", "-f", "../../examples/cluster/kthena/"+release)
	return s
}

func (s *apiServer) kubectl(arguments ...string) string {
	s.t.Helper()
	out, err := s.Kubectl(s.t.Context(), arguments...)
	require.NoError(s.t, err)
	return out
}

// refused asks for something that must not be accepted, and returns why it was not.
func (s *apiServer) refused(arguments ...string) string {
	s.t.Helper()
	out, err := s.Kubectl(s.t.Context(), arguments...)
	require.Error(s.t, err, "accepted: %s", out)
	return err.Error()
}

// view is all objects of Kthena.
func (s *apiServer) view() *resourcetest.View {
	s.t.Helper()
	var texts []string
	for _, kind := range (Reader{}).Kinds() {
		if kind == bindingKind && s.release == "v1.0" {
			continue
		}
		var list struct{ Items []json.RawMessage }
		text := s.kubectl("get", kind.Kind+"."+kind.Group, "-A", "-o", "json")
		require.NoError(s.t, json.Unmarshal([]byte(text), &list))
		for _, item := range list.Items {
			texts = append(texts, string(item))
		}
	}
	return resourcetest.New(s.t, texts...)
}

// columns is what `kubectl get` shows, without ages and with single spaces.
func (s *apiServer) columns(arguments ...string) string {
	s.t.Helper()
	text := s.kubectl(append([]string{"get", "-A"}, arguments...)...)
	text = regexp.MustCompile(`(?m) +\S+$`).ReplaceAllString(strings.TrimRight(text, "\n"), "")
	return regexp.MustCompile(` +`).ReplaceAllString(text, " ")
}

// write patches an object as the actuator does.
func (s *apiServer) write(p resource.Patch) error {
	s.t.Helper()
	client, err := dynamic.NewForConfig(s.Admin())
	require.NoError(s.t, err)
	p.Merge["metadata"] = map[string]any{"resourceVersion": p.ResourceVersion}
	text, err := json.Marshal(p.Merge)
	require.NoError(s.t, err)
	plurals := map[string]string{"AutoscalingPolicy": "autoscalingpolicies", "ModelBooster": "modelboosters", "ModelRoute": "modelroutes"}
	var subresources []string
	if p.Subresource != "" {
		subresources = append(subresources, p.Subresource)
	}
	_, err = client.Resource(p.Object.GroupVersion().WithResource(plurals[p.Object.Kind])).Namespace(p.Object.Namespace).
		Patch(s.t.Context(), p.Object.Name, types.MergePatchType, text, metav1.PatchOptions{}, subresources...)
	return err
}

// decide returns what is to be written of the workload of an object: 2 ready replicas of the
// first variant, which were changed or not, and 1 of the second, each of 3 requests/s.
func (s *apiServer) decide(kind, name, changed string) []resource.Patch {
	s.t.Helper()
	view := s.view()
	workloads, skipped := Reader{}.Read(view)
	require.Empty(s.t, skipped)
	for i := range workloads {
		w := &workloads[i]
		if w.Object.Kind != kind || w.Name != name {
			continue
		}
		return Reader{}.Patches(view, w, outcome(s.t, w, time.Now(),
			w.Declared[0].Name+" 2 3 2 "+changed+"\n"+w.Declared[1].Name+" 1 3 1 -"))
	}
	s.t.Fatalf("no %s %s", kind, name)
	return nil
}

// What the API server makes of the examples is read as the files are.
func (s *apiServer) readsLikeFiles() {
	s.t.Helper()
	want := describe(Reader{}.Read(resourcetest.New(s.t, examples(s.t, s.release)...)))
	require.Equal(s.t, want, describe(Reader{}.Read(s.view())))
}

// Weights are accepted, once; who writes on what has changed meanwhile is told.
func (s *apiServer) takesWeights(kind, name string) {
	s.t.Helper()
	patches := s.decide(kind, name, "changed")
	for _, p := range patches {
		require.NoError(s.t, s.write(p))
	}
	require.Empty(s.t, s.decide(kind, name, "unchanged"), "all is written")
	err := s.write(patches[len(patches)-1])
	require.True(s.t, apierrors.IsConflict(err), "%v", err)
	require.Contains(s.t, s.refused("patch", "modelroute", name, "-n", "chat", "--type=merge", "-p", `{"spec":{"modelName":"other"}}`), "modelName is immutable")
}

func TestV01OnAPIServer(t *testing.T) {
	s := newServer(t, "v0.1")
	s.readsLikeFiles()
	require.Equal(t, `NAMESPACE NAME POLICY TARGET TARGETS
chat llama waiting llama-h100
search deepseek latency deepseek`, s.columns("autoscalingpolicybindings"))
	require.Equal(t, `NAMESPACE NAME MODEL BACKENDS ENGINES ACTIVE
code coder qwen-coder h100 vLLM`, s.columns("modelboosters"))
	s.takesWeights("AutoscalingPolicyBinding", "llama")
	require.Contains(t, s.columns("modelroutes"), "chat llama llama llama-h100 67")
	require.Contains(t, s.refused("scale", "modelserving/llama-h100", "-n", "chat", "--replicas=3"), "NotFound")
	s.refuses()
}

func TestV04OnAPIServer(t *testing.T) {
	s := newServer(t, "v0.4")
	s.readsLikeFiles()
	s.takesWeights("AutoscalingPolicyBinding", "llama")
	s.kubectl("scale", "modelserving/llama-h100", "-n", "chat", "--replicas=3")
	require.Equal(t, `NAMESPACE NAME DESIRED REPLICAS AVAILABLE UPDATED
chat llama-a100 1
chat llama-h100 3
search deepseek 1`, s.columns("modelservings"))
	s.refuses()
}

func TestV10OnAPIServer(t *testing.T) {
	s := newServer(t, "v1.0")
	s.readsLikeFiles()
	s.takesWeights("AutoscalingPolicy", "llama")
	require.Equal(t, `NAMESPACE NAME TARGET TARGETS REPLICAS DESIRED READY
chat llama llama-h100 True`, s.columns("autoscalingpolicies"))
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
		require.Contains(s.t, s.refused("apply", "--server-side", "--dry-run=server", "-f", file), strings.TrimPrefix(first, "# "))
	}
}
