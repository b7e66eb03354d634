//go:build e2e && linux

package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/poolwright/poolwright/internal/controlplane"
	"github.com/poolwright/poolwright/internal/fakeengine"
	"github.com/poolwright/poolwright/internal/handbook"
	"github.com/poolwright/poolwright/metrics"
	"github.com/poolwright/poolwright/proto/externalscaler"
	"github.com/poolwright/poolwright/queueing"
)

// A reader who follows the tutorials word for word, on a cluster such as they describe,
// gets what they show.
func TestTutorials(t *testing.T) {
	t.Parallel()
	const rate queueing.Rate = 170
	for page, tutorial := range map[string]struct {
		blocks int
		model  string
		engine metrics.Engine
	}{
		"deployments.md": {blocks: 8, model: "chat", engine: metrics.VLLM},
		"keda.md":        {blocks: 6, model: "chat", engine: metrics.VLLM},
		"kthena.md":      {blocks: 5, model: "translate", engine: metrics.VLLM},
		"llmaz.md":       {blocks: 6, model: "code", engine: metrics.SGLang},
		"llmd.md":        {blocks: 7, model: "summarize", engine: metrics.VLLM},
	} {
		t.Run(page, func(t *testing.T) {
			t.Parallel()
			c := newCluster(t, controlplane.Config{})
			c.nodes("h100", 4)
			c.nodes("a100", 8)
			c.operate()
			c.playAll(tutorial.engine, tutorial.model)
			require.NoError(t, c.engines.Offer(fakeengine.ModelName{Namespace: namespace, Model: tutorial.model}, rate, shape))
			addresses, err := c.FreeAddresses(2)
			require.NoError(t, err)
			if page == "keda.md" {
				c.playKEDA(addresses[1])
			}
			assert.Equal(t, tutorial.blocks, handbook.Follow(t, "../../docs/tutorials/"+page, c.terminal(addresses)))
		})
	}
}

// What the pages about the loop and about alerts ask of a cluster is answered.
func TestPagesAboutTheLoop(t *testing.T) {
	t.Parallel()
	c := newCluster(t, controlplane.Config{})
	c.nodes("h100", 4)
	c.nodes("a100", 8)
	addresses, err := c.FreeAddresses(2)
	require.NoError(t, err)
	place := c.terminal(addresses)
	const ready = "curl -sf --retry 60 --retry-connrefused --retry-delay 1 localhost:8080/readyz"
	loop := place
	// As it is installed, but that it runs here.
	place.First = strings.Join([]string{
		"kubectl apply -f examples/tutorials/deployments.yaml -f deploy/kubernetes/rbac.yaml",
		"openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 1 -keyout tls.key -out tls.crt" +
			" -subj /CN=poolwright -addext subjectAltName=DNS:poolwright,IP:127.0.0.1 2> openssl.log",
		"kubectl create secret tls poolwright-tls --namespace poolwright --cert tls.crt --key tls.key",
		"sed 's|/etc/poolwright/tls/||' deploy/kubernetes/server.yaml > server.yaml",
		"sed 's/^cluster:/&\\n  leaderElection: {namespace: poolwright}/' examples/tutorials/poolwright.yaml > poolwright.yaml",
		"bin/poolwright serve --config poolwright.yaml --server-config server.yaml > poolwright.log 2>&1 &",
		"until grep -q 'msg=decided' poolwright.log; do sleep 1; done",
	}, "\n")
	place.Here = append(slices.Clone(place.Here), `kubectl -n poolwright port-forward "pod/${leader%%_*}" 8080 > /dev/null &`, "true")
	assert.Greater(t, handbook.Follow(t, "../../docs/alerts.md", place), 20)

	place = loop
	place.Here = append(place.Here, "# here, with your own kubeconfig", "> poolwright.log 2>&1 & "+strings.Replace(ready, "localhost:8080", addresses[0], 1))
	assert.Equal(t, 1, handbook.Follow(t, "../../docs/serve.md", place))
}

// terminal is where a reader sits who may do everything: in the repository, after make
// build. The program answers HTTP and gRPC on the addresses.
func (c *cluster) terminal(addresses []string) handbook.Place {
	c.t.Helper()
	folder := c.t.TempDir()
	for _, name := range []string{"bin", "deploy"} {
		original, err := filepath.Abs("../../" + name)
		require.NoError(c.t, err)
		require.NoError(c.t, os.Symlink(original, filepath.Join(folder, name)))
	}
	// Where Prometheus is, readers are told to say.
	require.NoError(c.t, os.CopyFS(filepath.Join(folder, "examples"), os.DirFS("../../examples")))
	const address = "http://localhost:9091"
	config := filepath.Join(folder, "examples", "tutorials", "poolwright.yaml")
	text, err := os.ReadFile(config) //nolint:gosec // of this test
	require.NoError(c.t, err)
	require.Contains(c.t, string(text), address)
	require.NoError(c.t, os.WriteFile(config, []byte(strings.Replace(string(text), address, c.PrometheusURL, 1)), 0o600)) //nolint:gosec // of this test
	kubeconfig, err := c.Kubeconfig("reader", c.Admin())
	require.NoError(c.t, err)
	return handbook.Place{
		Folder:   folder,
		Env:      append(os.Environ(), "KUBECONFIG="+kubeconfig, "PATH="+c.Programs()+":"+os.Getenv("PATH")),
		Patience: 5 * patience(),
		Here: []string{
			"poolwright serve", "poolwright serve --http-address " + addresses[0] + " --grpc-address " + addresses[1],
			"localhost:8080", addresses[0], "localhost:9090", addresses[1], address, c.PrometheusURL,
		},
		Update: os.Getenv("UPDATE_SCRIPTS") != "",
	}
}

// playAll lets every pod on a node be an engine with a model, as fast as its node.
func (c *cluster) playAll(kind metrics.Engine, model string) {
	c.again(func(ctx context.Context) error { return c.play(ctx, kind, model) })
}

// again does something every now and then until the test ends; what fails is tried again.
func (c *cluster) again(do func(context.Context) error) {
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	c.t.Cleanup(func() {
		cancel()
		running.Wait()
	})
	running.Go(func() {
		ticker := time.NewTicker(tick)
		defer ticker.Stop()
		for ctx.Err() == nil {
			select {
			case <-ctx.Done():
			case <-ticker.C:
				_ = do(ctx)
			}
		}
	})
}

func (c *cluster) play(ctx context.Context, kind metrics.Engine, model string) error {
	pods, err := c.typed.CoreV1().Pods(namespace).List(ctx, metav1.ListOptions{})
	if err != nil {
		return err
	}
	for i := range pods.Items {
		p := &pods.Items[i]
		accelerator, _, _ := strings.Cut(p.Spec.NodeName, "-")
		replica, known := engines[accelerator]
		if !known || p.Annotations[fakeengine.Annotation] != "" {
			continue
		}
		engine := fakeengine.Engine{Kind: kind, Model: model, Port: 8000, Replica: replica}
		patch, err := json.Marshal(map[string]any{"metadata": map[string]any{"annotations": map[string]string{fakeengine.Annotation: engine.String()}}})
		if err != nil {
			return err
		}
		if _, err := c.typed.CoreV1().Pods(namespace).Patch(ctx, p.Name, types.MergePatchType, patch, metav1.PatchOptions{}); err != nil {
			return fmt.Errorf("pod %s: %w", p.Name, err)
		}
	}
	return nil
}

var scaledObjects = schema.GroupVersionResource{Group: "keda.sh", Version: "v1alpha1", Resource: "scaledobjects"}

// playKEDA installs KEDA's ScaledObjects, and scales their targets to what the external
// scaler answers.
func (c *cluster) playKEDA(scaler string) {
	c.t.Helper()
	const module = "github.com/kedacore/keda/v2"
	out, err := exec.CommandContext(c.t.Context(), "go", "-C", "../keda", "mod", "download", "-json", module).Output()
	require.NoError(c.t, err)
	var downloaded struct{ Dir string }
	require.NoError(c.t, json.Unmarshal(out, &downloaded))
	c.kubectl("create", "-f", filepath.Join(downloaded.Dir, "config", "crd", "bases", "keda.sh_scaledobjects.yaml"))
	connection, err := grpc.NewClient(scaler, grpc.WithTransportCredentials(insecure.NewCredentials()))
	require.NoError(c.t, err)
	c.t.Cleanup(func() { _ = connection.Close() })
	client := externalscaler.NewExternalScalerClient(connection)
	c.again(func(ctx context.Context) error {
		objects, err := c.dynamic.Resource(scaledObjects).Namespace(namespace).List(ctx, metav1.ListOptions{})
		if err != nil {
			return err
		}
		for i := range objects.Items {
			if err := c.scaleAsKEDA(ctx, client, &objects.Items[i]); err != nil {
				return err
			}
		}
		return nil
	})
}

func (c *cluster) scaleAsKEDA(ctx context.Context, client externalscaler.ExternalScalerClient, object *unstructured.Unstructured) error {
	var spec kedaSpec
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, &spec); err != nil {
		return err
	}
	answer, err := client.GetMetrics(ctx, &externalscaler.GetMetricsRequest{
		ScaledObjectRef: &externalscaler.ScaledObjectRef{Name: object.GetName(), Namespace: namespace, ScalerMetadata: spec.Spec.Triggers[0].Metadata},
		MetricName:      "poolwright_desired_replicas",
	})
	if err != nil {
		return err
	}
	targets := c.typed.AppsV1().Deployments(namespace)
	scale, err := targets.GetScale(ctx, spec.Spec.ScaleTargetRef.Name, metav1.GetOptions{})
	if err != nil {
		return err
	}
	wanted := int32(answer.GetMetricValues()[0].GetMetricValueFloat())
	if scale.Spec.Replicas == wanted {
		return nil
	}
	scale.Spec.Replicas = wanted
	_, err = targets.UpdateScale(ctx, scale.Name, scale, metav1.UpdateOptions{})
	return err
}

// kedaSpec is what counts here of a ScaledObject.
type kedaSpec struct {
	Spec struct {
		ScaleTargetRef struct {
			Name string `json:"name"`
		} `json:"scaleTargetRef"`
		Triggers []struct {
			Metadata map[string]string `json:"metadata"`
		} `json:"triggers"`
	} `json:"spec"`
}
