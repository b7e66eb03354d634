//go:build e2e && linux

package scale

import (
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/poolwright/poolwright/internal/controlplane"
)

const namespace = "scale"

// accelerators are the types of devices, with what nodes call them; every workload has a
// variant on each.
var accelerators = [...]struct{ name, product string }{
	{"h100", "NVIDIA-H100-80GB-HBM3"}, {"a100", "NVIDIA-A100-SXM4-80GB"}, {"l40s", "NVIDIA-L40S"},
}

// The demand of a workload before and after it has grown, in requests/s: one replica on the
// first type of device, and more than one.
const (
	calm  = 2
	grown = 6
)

// fleet is many workloads of plain Deployments, and what their engines would report.
type fleet struct {
	*controlplane.ControlPlane
	client    *kubernetes.Clientset
	workloads int
	began     time.Time

	mu sync.Mutex
	// growing workloads are the first ones, since a time.
	growing int
	since   time.Time
}

func newFleet(t *testing.T, c *controlplane.ControlPlane, workloads int) *fleet {
	t.Helper()
	config := c.Admin()
	config.QPS, config.Burst = 1000, 1000
	client, err := kubernetes.NewForConfig(config)
	require.NoError(t, err)
	f := &fleet{ControlPlane: c, client: client, workloads: workloads, began: time.Now()}
	listener, err := net.Listen("tcp", c.TargetsAddress)
	require.NoError(t, err)
	mux := http.NewServeMux()
	mux.HandleFunc("GET /targets", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = fmt.Fprintf(w, `[{"targets": [%q]}]`, c.TargetsAddress) // Prometheus asks again
	})
	mux.HandleFunc("GET /metrics", func(w http.ResponseWriter, _ *http.Request) { f.report(w) })
	s := &http.Server{Handler: mux, ReadHeaderTimeout: time.Minute}
	go func() { _ = s.Serve(listener) }() // until it is closed
	t.Cleanup(func() { _ = s.Close() })
	return f
}

func modelName(i int) string { return fmt.Sprintf("model-%04d", i) }

// create adds nodes with twice the devices that are needed, and the Deployments: one replica
// on the first type of device, none on the others.
func (f *fleet) create(t *testing.T) {
	t.Helper()
	for _, a := range accelerators {
		for i := range f.workloads/4 + 1 {
			require.NoError(t, f.AddNodes(t.Context(), controlplane.GPUNode(fmt.Sprintf("%s-%d", a.name, i), a.product, 8)))
		}
	}
	_, err := f.client.CoreV1().Namespaces().Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}}, metav1.CreateOptions{})
	require.NoError(t, err)
	var group errgroup.Group
	group.SetLimit(32)
	for i := range f.workloads {
		for k := range accelerators {
			group.Go(func() error {
				_, err := f.client.AppsV1().Deployments(namespace).Create(t.Context(), deployment(i, k), metav1.CreateOptions{})
				return err
			})
		}
	}
	require.NoError(t, group.Wait())
	require.Eventually(t, func() bool {
		list, err := f.client.AppsV1().Deployments(namespace).List(t.Context(), metav1.ListOptions{LabelSelector: "accelerator=" + accelerators[0].name})
		require.NoError(t, err)
		ready := 0
		for i := range list.Items {
			ready += int(list.Items[i].Status.ReadyReplicas)
		}
		return ready == f.workloads
	}, patience, 5*time.Second)
}

func deployment(i, k int) *appsv1.Deployment {
	name := fmt.Sprintf("%s-%s", modelName(i), accelerators[k].name)
	replicas := int32(0)
	if k == 0 {
		replicas = 1
	}
	labels := map[string]string{"app": name, "accelerator": accelerators[k].name}
	return &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: labels, Annotations: map[string]string{
			"poolwright.dev/workload": modelName(i), "poolwright.dev/model": modelName(i),
		}},
		Spec: appsv1.DeploymentSpec{
			Replicas: &replicas,
			Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels},
				Spec: corev1.PodSpec{
					NodeSelector: map[string]string{controlplane.ProductLabel: accelerators[k].product},
					Containers: []corev1.Container{{Name: "engine", Image: "engine", Resources: corev1.ResourceRequirements{
						Limits: corev1.ResourceList{controlplane.DeviceResource: resource.MustParse("1")},
					}}},
				},
			},
		},
	}
}

// grow lets the demand of the first workloads grow from now on.
func (f *fleet) grow(workloads int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.growing, f.since = workloads, time.Now()
}

// report is what the engines count: everything that arrives is served at once, by a pod
// whose name begins with that of its Deployment.
func (f *fleet) report(w io.Writer) {
	f.mu.Lock()
	growing, since := f.growing, f.since
	f.mu.Unlock()
	now := time.Now()
	var text []byte
	for i := range f.workloads {
		requests := calm * now.Sub(f.began).Seconds()
		if i < growing {
			requests += (grown - calm) * now.Sub(since).Seconds()
		}
		labels := fmt.Sprintf(`{namespace=%q,pod="%s-%s-0",model_name=%q}`, namespace, modelName(i), accelerators[0].name, modelName(i))
		for _, m := range []struct {
			name  string
			value float64
		}{
			{"vllm:request_success_total", requests},
			{"vllm:num_requests_running", calm},
			{"vllm:num_requests_waiting", 0},
			{"vllm:request_prompt_tokens_sum", requests * 500},
			{"vllm:request_prompt_tokens_count", requests},
			{"vllm:request_generation_tokens_sum", requests * 200},
			{"vllm:request_generation_tokens_count", requests},
			{"vllm:inter_token_latency_seconds_sum", requests * 200 * 0.01},
			{"vllm:inter_token_latency_seconds_count", requests * 200},
			{"vllm:time_to_first_token_seconds_sum", requests * 0.1},
			{"vllm:time_to_first_token_seconds_count", requests},
		} {
			text = append(append(append(text, m.name...), labels...), ' ')
			text = append(strconv.AppendFloat(text, m.value, 'g', -1, 64), '\n')
		}
	}
	_, _ = w.Write(text) // Prometheus asks again
}

// versions are those of the API server and of Prometheus.
func (f *fleet) versions(t *testing.T) []string {
	t.Helper()
	server, err := f.client.Discovery().ServerVersion()
	require.NoError(t, err)
	response, err := http.Get(f.PrometheusURL + "/api/v1/status/buildinfo")
	require.NoError(t, err)
	defer func() { _ = response.Body.Close() }()
	var build struct{ Data struct{ Version string } }
	require.NoError(t, json.NewDecoder(response.Body).Decode(&build))
	return []string{"kube-apiserver " + server.GitVersion, "Prometheus " + build.Data.Version}
}
