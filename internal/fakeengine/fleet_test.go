//go:build linux

package fakeengine_test

import (
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes/fake"

	"github.com/poolwright/poolwright/internal/fakeengine"
	"github.com/poolwright/poolwright/metrics"
	"github.com/poolwright/poolwright/queueing"
	"github.com/poolwright/poolwright/simulation/replica"
)

const (
	patience = 30 * time.Second
	tick     = 20 * time.Millisecond
)

var (
	llama = fakeengine.ModelName{Namespace: "chat", Model: "llama"}
	// alone decodes a token in 10 ms, and in 1 ms more for each other request.
	alone = queueing.Replica{Profile: queueing.Profile{Alpha: 0.009, Beta: 0.001}, MaxBatch: 8}
	short = queueing.Shape{InputTokens: 10, OutputTokens: 11}
)

// world is a cluster without anything but pods.
type world struct {
	*testing.T
	client *fake.Clientset
	fleet  *fakeengine.Fleet
	// network are the first bytes of its pods' addresses.
	network string
}

func newWorld(t *testing.T) *world {
	client := fake.NewClientset()
	return &world{T: t, client: client, fleet: fakeengine.New(t, client, "127.0.0.1:0"), network: network()}
}

// network is below those of package internal/controlplane, and hardly ever that of
// another test at the same time.
func network() string { return fmt.Sprintf("127.%d.%d", 1+rand.IntN(15), rand.IntN(256)) }

func (w *world) address(n int) string { return fmt.Sprintf("%s.%d", w.network, n) }

// pod adds a ready pod.
func (w *world) pod(n int, e fakeengine.Engine) {
	w.Helper()
	p := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: "chat", Name: fmt.Sprintf("llama-%d", n), UID: types.UID(fmt.Sprintf("uid-%d", n)),
			Annotations: map[string]string{fakeengine.Annotation: e.String()},
		},
		Status: corev1.PodStatus{
			Phase: corev1.PodRunning, PodIP: w.address(n),
			Conditions: []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}},
		},
	}
	_, err := w.client.CoreV1().Pods("chat").Create(w.Context(), p, metav1.CreateOptions{})
	require.NoError(w, err)
}

// scrape reads the metrics of a pod, of each the first value or the number of samples; nil
// if it doesn't answer.
func (w *world) scrape(n int) map[string]float64 {
	request, err := http.NewRequestWithContext(w.Context(), http.MethodGet, "http://"+w.address(n)+":8000/metrics", http.NoBody)
	require.NoError(w, err)
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil
	}
	defer func() { _ = response.Body.Close() }()
	if response.StatusCode != http.StatusOK {
		return nil
	}
	parser := expfmt.NewTextParser(model.LegacyValidation)
	families, err := parser.TextToMetricFamilies(response.Body)
	require.NoError(w, err)
	values := map[string]float64{}
	for name, f := range families {
		m := f.GetMetric()[0]
		values[name] = m.GetGauge().GetValue() + m.GetCounter().GetValue() + float64(m.GetHistogram().GetSampleCount())
	}
	return values
}

func (w *world) completed() int { return len(w.fleet.Completed(llama, time.Time{})) }

func (w *world) until(condition func() bool) {
	w.Helper()
	require.Eventually(w, condition, patience, tick)
}

func TestPodsFollowTheSimulation(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.pod(1, fakeengine.Engine{Kind: metrics.VLLM, Model: "llama", Replica: alone})
	w.pod(2, fakeengine.Engine{Kind: metrics.VLLM, Model: "llama", Replica: alone})
	w.until(func() bool { return w.scrape(1) != nil && w.scrape(2) != nil })
	// A request arrives every 200 ms and takes 100 ms: none shares a batch.
	require.NoError(t, w.fleet.Offer(llama, 5, short))
	w.until(func() bool { return w.completed() >= 5 })
	for _, c := range w.fleet.Completed(llama, time.Time{}) {
		assert.Equal(t, replica.Completed, c.Outcome)
		assert.InDelta(t, 0.010, float64(c.ITL()), 1e-9)
		assert.Zero(t, c.Wait())
	}
	assert.Empty(t, w.fleet.Completed(llama, time.Now()))
}

func TestOverloadSpreadsAndQueues(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for n := range 2 {
		w.pod(n+1, fakeengine.Engine{Kind: metrics.VLLM, Model: "llama", Replica: alone})
	}
	w.until(func() bool { return w.scrape(1) != nil && w.scrape(2) != nil })
	require.NoError(t, w.fleet.Offer(llama, 500, short))
	for n := range 2 {
		w.until(func() bool {
			values := w.scrape(n + 1)
			return values["vllm:num_requests_running"] == 8 && values["vllm:num_requests_waiting"] > 8
		})
	}
	require.NoError(t, w.fleet.Offer(llama, 0, short))
	w.until(func() bool { return w.fleet.Inside(llama) == 0 })
	counts := w.fleet.Counts(llama)
	assert.Equal(t, counts.Arrived, w.completed())
	assert.Zero(t, counts.Refused+counts.Lost)
}

// Counters of requests that every engine has, by what docs/metrics.md says of them.
func TestEnginesReport(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	counters := map[metrics.Engine]string{
		metrics.VLLM: "vllm:request_success_total", metrics.SGLang: "sglang:num_requests_total",
		metrics.TGI: "tgi_request_success", metrics.LlamaCPP: "llamacpp:tokens_predicted_total",
		metrics.TensorRTLLM: "nv_inference_request_success", metrics.TRTLLMServe: "trtllm_request_success_total",
	}
	for n, kind := range metrics.Engines() {
		w.pod(n+1, fakeengine.Engine{Kind: kind, Model: "llama", Replica: alone})
	}
	for n, kind := range metrics.Engines() {
		w.until(func() bool { return w.scrape(n+1) != nil })
		if kind == metrics.SGLang || kind == metrics.TGI || kind == metrics.TRTLLMServe {
			assert.NotContains(t, w.scrape(n+1), counters[kind], "it appears with its first event")
		}
	}
	require.NoError(t, w.fleet.Offer(llama, 200, short))
	for n, kind := range metrics.Engines() {
		w.until(func() bool { return w.scrape(n + 1)[counters[kind]] > 0 })
	}
}

func TestFaults(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for n := range 2 {
		w.pod(n+1, fakeengine.Engine{Kind: metrics.VLLM, Model: "llama", Replica: alone})
	}
	w.until(func() bool { return w.scrape(1) != nil && w.scrape(2) != nil })
	require.NoError(t, w.fleet.Offer(llama, 100, short))
	first := func(place int) bool { return place == 0 }

	w.fleet.Break(llama, fakeengine.Silent, first)
	assert.Nil(t, w.scrape(1))
	assert.NotNil(t, w.scrape(2))

	w.fleet.Break(llama, fakeengine.NotANumber, first)
	assert.True(t, math.IsNaN(w.scrape(1)["vllm:num_requests_running"]))

	w.fleet.Break(llama, fakeengine.None, first)
	w.until(func() bool { return w.scrape(1)["vllm:request_success_total"] > 10 })
	w.fleet.Restart(llama)
	assert.Less(t, w.scrape(1)["vllm:request_success_total"], 10.0)

	// What ran is lost.
	w.until(func() bool {
		w.fleet.Restart(llama)
		return w.fleet.Counts(llama).Dropped > 0
	})
	require.NoError(t, w.fleet.Offer(llama, 0, short))
	w.until(func() bool { return w.fleet.Inside(llama) == 0 })
	counts := w.fleet.Counts(llama)
	assert.Equal(t, counts.Arrived-counts.Dropped, w.completed())
}

func TestHangingPodAnswersNever(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.pod(1, fakeengine.Engine{Kind: metrics.VLLM, Model: "llama", Replica: alone})
	w.until(func() bool { return w.scrape(1) != nil })
	w.fleet.Break(llama, fakeengine.Hanging, func(int) bool { return true })
	client := http.Client{Timeout: 300 * time.Millisecond}
	_, err := client.Get("http://" + w.address(1) + ":8000/metrics") //nolint:bodyclose // there is none
	require.ErrorContains(t, err, "Client.Timeout exceeded")
}

// A pod that is deleted ends its requests; without another, new ones are lost, which a
// gateway counts.
func TestDeletedPod(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.fleet.Gateway("chat")
	w.pod(1, fakeengine.Engine{Kind: metrics.VLLM, Model: "llama", Replica: alone})
	w.until(func() bool { return w.scrape(1) != nil })
	require.NoError(t, w.fleet.Offer(llama, 100, short))
	w.until(func() bool { return w.completed() > 0 })
	require.NoError(t, w.client.CoreV1().Pods("chat").Delete(t.Context(), "llama-1", metav1.DeleteOptions{}))
	w.until(func() bool { return w.fleet.Counts(llama).Lost > 0 && w.fleet.Inside(llama) == 0 })
	counts := w.fleet.Counts(llama)
	assert.Equal(t, counts.Arrived, w.completed())
	assert.Nil(t, w.scrape(1))
	assert.NotContains(t, w.get(w.fleet.Targets()), w.address(1))
	gateway := w.get("http://" + hostOf(w.fleet.Targets()) + "/gateway/chat")
	assert.Contains(t, gateway, fmt.Sprintf("inference_objective_request_total{model_name=\"llama\"} %d\n", counts.Arrived))
	assert.Regexp(t, `inference_objective_request_error_total{model_name="llama",error_code="ServiceUnavailable"} [1-9]`, gateway)
}

func hostOf(url string) string { return url[len("http://") : len(url)-len("/targets")] }

func (w *world) get(url string) string {
	request, err := http.NewRequestWithContext(w.Context(), http.MethodGet, url, http.NoBody)
	require.NoError(w, err)
	response, err := http.DefaultClient.Do(request)
	require.NoError(w, err)
	defer func() { _ = response.Body.Close() }()
	text, err := io.ReadAll(response.Body)
	require.NoError(w, err)
	return string(text)
}

func TestUnknownEngineFails(t *testing.T) {
	t.Parallel()
	client := fake.NewClientset()
	fleet, err := fakeengine.Start(client, "127.0.0.1:0")
	require.NoError(t, err)
	w := &world{T: t, client: client, fleet: fleet, network: network()}
	w.pod(1, fakeengine.Engine{Kind: "steam", Model: "llama", Replica: alone})
	w.pod(2, fakeengine.Engine{Kind: metrics.VLLM, Model: "llama"})
	w.until(func() bool {
		err := w.fleet.Err()
		return err != nil && strings.Contains(err.Error(), "llama-2")
	})
	require.ErrorContains(t, w.fleet.Stop(), `kind: "steam" is not known (pod chat/llama-1)`)
}
