package servertest

import (
	"encoding/json"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/restmapper"

	"github.com/poolwright/poolwright/internal/controlplane"
	"github.com/poolwright/poolwright/internal/resource"
	"github.com/poolwright/poolwright/internal/resource/resourcetest"
)

// Server is a control plane in a test.
type Server struct {
	*controlplane.ControlPlane
	t *testing.T
}

// New starts a control plane, which ends with the test.
func New(t *testing.T) *Server {
	t.Helper()
	return &Server{controlplane.New(t, controlplane.Config{}), t}
}

// In is the same server in a part of the test.
func (s *Server) In(t *testing.T) *Server { return &Server{s.ControlPlane, t} }

// Define applies files or folders of CustomResourceDefinitions, and waits until they can be
// used.
func (s *Server) Define(paths ...string) {
	s.t.Helper()
	for _, path := range paths {
		s.Do("apply", "--server-side", "--force-conflicts", "-f", path)
		s.Do("wait", "--for=condition=Established", "--timeout=60s", "-f", path)
	}
}

// Apply applies files or folders.
func (s *Server) Apply(paths ...string) {
	s.t.Helper()
	for _, path := range paths {
		s.Do("apply", "--server-side", "-f", path)
	}
}

// Do has kubectl do something, and returns what it prints.
func (s *Server) Do(arguments ...string) string {
	s.t.Helper()
	out, err := s.Kubectl(s.t.Context(), arguments...)
	require.NoError(s.t, err)
	return out
}

// Refused asks kubectl for something that must not be accepted, and returns why it was not.
func (s *Server) Refused(arguments ...string) string {
	s.t.Helper()
	out, err := s.Kubectl(s.t.Context(), arguments...)
	require.Error(s.t, err, "accepted: %s", out)
	return err.Error()
}

// Columns is what `kubectl get` shows in all namespaces, without ages and with single spaces.
func (s *Server) Columns(arguments ...string) string {
	s.t.Helper()
	text := s.Do(append([]string{"get", "-A"}, arguments...)...)
	text = regexp.MustCompile(`(?m) +\S+$`).ReplaceAllString(strings.TrimRight(text, "\n"), "")
	return regexp.MustCompile(` +`).ReplaceAllString(text, " ")
}

// View is what there is of some kinds now: nothing of those that are not installed.
func (s *Server) View(kinds []schema.GroupKind) *resourcetest.View {
	s.t.Helper()
	client, mapper := s.clients()
	var texts []string
	for _, kind := range kinds {
		mapping, err := mapper.RESTMapping(kind)
		if meta.IsNoMatchError(err) {
			continue
		}
		require.NoError(s.t, err)
		list, err := client.Resource(mapping.Resource).List(s.t.Context(), metav1.ListOptions{})
		require.NoError(s.t, err)
		for i := range list.Items {
			text, err := list.Items[i].MarshalJSON()
			require.NoError(s.t, err)
			texts = append(texts, string(text))
		}
	}
	return resourcetest.New(s.t, texts...)
}

// Write writes a patch as the loop does: on the version that was read.
func (s *Server) Write(p resource.Patch) error {
	s.t.Helper()
	client, mapper := s.clients()
	mapping, err := mapper.RESTMapping(p.Object.GroupKind())
	require.NoError(s.t, err)
	body := map[string]any{"metadata": map[string]any{"resourceVersion": p.ResourceVersion}}
	for field, value := range p.Merge {
		body[field] = value
	}
	text, err := json.Marshal(body)
	require.NoError(s.t, err)
	var subresources []string
	if p.Subresource != "" {
		subresources = append(subresources, p.Subresource)
	}
	_, err = client.Resource(mapping.Resource).Namespace(p.Object.Namespace).
		Patch(s.t.Context(), p.Object.Name, types.MergePatchType, text, metav1.PatchOptions{}, subresources...)
	return err
}

// clients know the definitions that there are now.
func (s *Server) clients() (dynamic.Interface, meta.RESTMapper) {
	s.t.Helper()
	groups, err := restmapper.GetAPIGroupResources(discovery.NewDiscoveryClientForConfigOrDie(s.Admin()))
	require.NoError(s.t, err)
	return dynamic.NewForConfigOrDie(s.Admin()), restmapper.NewDiscoveryRESTMapper(groups)
}
