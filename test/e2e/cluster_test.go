//go:build e2e && linux

package e2e

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
	"text/template"
	"time"

	"github.com/stretchr/testify/require"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"

	"github.com/poolwright/poolwright/internal/controlplane"
	"github.com/poolwright/poolwright/internal/fakeengine"
)

// tick is how often a condition is looked at.
const tick = 100 * time.Millisecond

// patience is how long a condition may take to come true on a busy machine where it is not
// the time that is tested.
func patience() time.Duration { return newPace().cycles(60) }

// cluster is a control plane with engines and the controllers of the ecosystems.
type cluster struct {
	*controlplane.ControlPlane
	t       *testing.T
	engines *fakeengine.Fleet
	typed   kubernetes.Interface
	dynamic dynamic.Interface
}

// newCluster has the resources of all ecosystems and no nodes.
func newCluster(t *testing.T, config controlplane.Config) *cluster {
	t.Helper()
	c := &cluster{t: t, ControlPlane: controlplane.New(t, config)}
	c.typed = kubernetes.NewForConfigOrDie(c.Admin())
	c.dynamic = dynamic.NewForConfigOrDie(c.Admin())
	c.engines = fakeengine.New(t, c.typed, c.TargetsAddress)
	// Kthena's first release, whose ModelServings have no scale subresource.
	c.kubectl("create", "-f", "../../deploy/crds", "-f", "../../deploy/crds/kthena-v0.1")
	c.kubectl("wait", "--for=condition=Established", "--timeout=60s", "crd", "--all")
	return c
}

// nodes adds nodes of eight devices each; the name of a node begins with its accelerator.
func (c *cluster) nodes(accelerator string, devices int) {
	c.t.Helper()
	node := controlplane.GPUNode(accelerator+"-0", products[accelerator], devices)
	require.NoError(c.t, c.AddNodes(c.t.Context(), node))
}

// products are what nodes call accelerators.
var products = map[string]string{"h100": "NVIDIA-H100-80GB-HBM3", "a100": "NVIDIA-A100-SXM4-80GB"}

// kubectl runs kubectl and returns what it prints.
func (c *cluster) kubectl(arguments ...string) string {
	c.t.Helper()
	out, err := c.Kubectl(c.t.Context(), arguments...)
	require.NoError(c.t, err)
	return out
}

// fill writes a template of testdata with its data filled in, and returns the file.
func (c *cluster) fill(name string, data any) string {
	c.t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", name)) //nolint:gosec // files of this test
	require.NoError(c.t, err)
	parsed, err := template.New(filepath.Base(name)).Funcs(template.FuncMap{"engine": engineAnnotation}).Parse(string(text))
	require.NoError(c.t, err)
	var b bytes.Buffer
	require.NoError(c.t, parsed.Execute(&b, data))
	file := filepath.Join(c.t.TempDir(), filepath.Base(name))
	require.NoError(c.t, os.WriteFile(file, b.Bytes(), 0o600))
	return file
}

// until waits for a condition that is no matter of time.
func (c *cluster) until(condition func() bool, message string, arguments ...any) {
	c.t.Helper()
	require.Eventually(c.t, condition, patience(), tick, append([]any{message}, arguments...)...)
}
