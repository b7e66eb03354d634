//go:build e2e && linux

package packaging

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/poolwright/poolwright/internal/controlplane"
	"github.com/poolwright/poolwright/internal/handbook"
)

// A reader who follows the page word for word gets what it says. The pods are played.
func TestInstallIsFollowed(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	require.NoError(t, c.AddNodes(t.Context(), controlplane.GPUNode("node-0", "none", 0), controlplane.GPUNode("node-1", "none", 0)))
	blocks := handbook.Follow(t, "../../docs/install.md", handbook.Place{
		Folder: checkout(t), Env: c.Environment(), Patience: patience,
		// The workloads of the reader.
		First: "kubectl create namespace inference && kubectl create deployment chat --namespace inference --image=example/engine",
		Here: []string{
			// No engine for containers is there, and TestReleaseIsReproducible makes a release.
			"make image IMAGE=registry.example.com/poolwright:0.1.0", "true",
			"make dist", "true", "cd dist && sha256sum --check SHA256SUMS && cd ..", "true",
		},
	})
	assert.Equal(t, 11, blocks)
	assert.NotContains(t, c.kubectl("get", "clusterrole,clusterrolebinding,namespace"), "poolwright", "nothing is left")
	assert.Contains(t, c.kubectl("get", "deployment", "chat", "--namespace=inference", "--output=yaml"), "poolwright.dev/mode: apply", "but what is the reader's")
}

// checkout is a folder with what the page needs of the repository.
func checkout(t *testing.T) string {
	t.Helper()
	folder := t.TempDir()
	out, err := run(t, "cp", "--recursive", filepath.Join("..", "..", "deploy"), folder)
	require.NoError(t, err, out)
	program, err := filepath.Abs(binary)
	require.NoError(t, err)
	require.NoError(t, os.Mkdir(filepath.Join(folder, "bin"), 0o700))
	require.NoError(t, os.Symlink(program, filepath.Join(folder, "bin", "poolwright")))
	return folder
}

// The API server takes all that the chart and the kustomizations make, as it stands, and so do
// the rules for pods of the namespace.
func TestManifestsAreAccepted(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	for _, namespace := range []string{"poolwright", "inference", "batch"} {
		c.kubectl("create", "namespace", namespace)
	}
	c.kubectl("label", "namespace", "poolwright", "pod-security.kubernetes.io/enforce=restricted", "pod-security.kubernetes.io/warn=restricted")
	manifests := map[string]string{base: kustomize(t, base), namespaced: kustomize(t, namespaced), chart: template(t)}
	for _, values := range valueSets(t) {
		manifests[values] = template(t, "--values", values)
	}
	for name, text := range manifests {
		file := filepath.Join(t.TempDir(), "manifests.yaml")
		require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
		out := c.kubectl("apply", "--server-side", "--dry-run=server", "--validate=strict", "-f", file)
		assert.Contains(t, out, "deployment.apps/poolwright", name)
		assert.NotContains(t, out, "Warning", name)
	}
}

// As it is installed, the program encrypts, tells anybody that it lives, and all else only those
// whom the API server knows and allows it.
func TestDefaultsAreSafe(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	// A pod knows its namespace, a process beside the cluster does not.
	c.install("--set=config.metrics.url="+c.PrometheusURL, "--set=config.cluster.leaderElection.namespace=poolwright")
	c.certify()
	c.kubectl("create", "serviceaccount", "--namespace=default", "somebody")
	account, err := c.ServiceAccount(t.Context(), "default", "somebody")
	require.NoError(t, err)
	p := c.start()
	becomes := func(status int, path, token string) {
		p.until(t, patience, func() error {
			if got, answer := c.ask(p, path, token); got != status {
				return fmt.Errorf("%s: %d, not %d: %s", path, got, status, answer)
			}
			return nil
		})
	}
	becomes(http.StatusOK, "/readyz", "")
	becomes(http.StatusOK, "/healthz", "")
	becomes(http.StatusOK, "/v1/fleet", c.Admin().BearerToken)
	for path, token := range map[string]string{"/v1/fleet": "", "/metrics": "", "/v1/decisions": "made up"} {
		status, answer := c.ask(p, path, token)
		assert.Contains(t, []int{http.StatusUnauthorized, http.StatusForbidden}, status, "%s: %s", path, answer)
	}
	for _, path := range []string{"/v1/fleet", "/metrics"} {
		status, answer := c.ask(p, path, account.BearerToken)
		assert.Equal(t, http.StatusForbidden, status, "%s: %s", path, answer)
	}
	c.kubectl("create", "clusterrole", "scraper", "--verb=get", "--non-resource-url=/metrics")
	c.kubectl("create", "clusterrolebinding", "scraper", "--clusterrole=scraper", "--serviceaccount=default:somebody")
	becomes(http.StatusOK, "/metrics", account.BearerToken)
	p.stop(t)
}
