package metrics

import (
	"context"
	"flag"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/poolwright/poolwright/planner"
)

const (
	scrapeInterval = 500 * time.Millisecond
	window         = 3 * time.Second
	staleAfter     = 2 * time.Second
	// patience is how long a condition may take to come true on a busy machine, tick how
	// often it is looked at.
	patience = 90 * time.Second
	tick     = 100 * time.Millisecond
)

// podsPerNamespace is the number of targets that Prometheus knows of in each namespace.
const podsPerNamespace = 3

// namespaces are of one test each, so that they can share a Prometheus.
var namespaces = []string{
	"arrivals", "growth", "faster", "typo", "silenttypo", "down", "partial", "reset", "invalid", "versions", "ambiguous", "other",
	"groups", "others", "gateway", "sleeping", "routed", "lengths", "latelengths", "usage", "agree", "beside", "policy", "variants", "pd", "late", "twice", "fleet",
	"engine-vllm", "engine-sglang", "engine-tgi", "engine-llamacpp", "engine-tensorrt-llm", "engine-trtllm-serve",
}

// exporter answers scrapes as engines would, each target for itself.
type exporter struct {
	*httptest.Server
	mu      sync.Mutex
	targets map[string]process
}

// process is what a target has reported after so many seconds.
type process struct {
	began time.Time
	text  func(seconds float64) string
}

func newExporter() *exporter {
	e := &exporter{targets: map[string]process{}}
	e.Server = httptest.NewServer(e)
	return e
}

// ServeHTTP implements [http.Handler]. A target that does not run answers with an
// error, which fails its scrape.
func (e *exporter) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	e.mu.Lock()
	defer e.mu.Unlock()
	t, ok := e.targets[r.URL.Path]
	if !ok {
		http.NotFound(w, r)
		return
	}
	w.Header().Set("Content-Type", "text/plain; version=0.0.4")
	_, _ = fmt.Fprint(w, t.text(time.Since(t.began).Seconds()))
}

// start lets a target report from now on.
func (e *exporter) start(namespace string, pod int, text func(seconds float64) string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.targets[path(namespace, pod)] = process{time.Now(), text}
}

func (e *exporter) stop(namespace string, pod int) {
	e.mu.Lock()
	defer e.mu.Unlock()
	delete(e.targets, path(namespace, pod))
}

func path(namespace string, pod int) string { return fmt.Sprintf("/%s/%d", namespace, pod) }

// server is a running Prometheus and what it scrapes.
type server struct {
	*exporter
	url string
}

// shared is the Prometheus of all tests, started by the first.
var shared = sync.OnceValues(startPrometheus)

// processes are ended when all tests are over.
var processes []func()

func TestMain(m *testing.M) {
	// Tests wait for scrapes most of the time, and do so together.
	flag.Parse()
	if flag.Lookup("test.fuzz").Value.String() == "" {
		if err := flag.Set("test.parallel", "32"); err != nil {
			panic(err)
		}
	}
	code := m.Run()
	for _, end := range processes {
		end()
	}
	os.Exit(code)
}

func prometheus(t testing.TB) *server {
	t.Helper()
	p, err := shared()
	require.NoError(t, err)
	return p
}

func startPrometheus() (*server, error) {
	binary, err := exec.LookPath("prometheus")
	if err != nil {
		return nil, fmt.Errorf("these tests ask a real Prometheus; install it with 'make setup-prometheus' (Debian: apt-get install prometheus): %w", err)
	}
	folder, err := os.MkdirTemp("", "poolwright-prometheus")
	if err != nil {
		return nil, err
	}
	e := newExporter()
	if err := os.WriteFile(filepath.Join(folder, "prometheus.yml"), []byte(e.configuration()), 0o600); err != nil {
		return nil, err
	}
	address, err := freeAddress()
	if err != nil {
		return nil, err
	}
	log, err := os.Create(filepath.Join(folder, "log")) //nolint:gosec // a folder of this test
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(context.Background())
	process := exec.CommandContext(ctx, binary, //nolint:gosec // runs what is installed
		"--config.file="+filepath.Join(folder, "prometheus.yml"), "--storage.tsdb.path="+filepath.Join(folder, "data"),
		"--web.listen-address="+address)
	process.Stderr = log
	if err := process.Start(); err != nil {
		cancel()
		return nil, err
	}
	processes = append(processes, func() {
		cancel()
		_ = process.Wait()
		e.Close()
		_ = log.Close()
		_ = os.RemoveAll(folder)
	})
	return &server{exporter: e, url: "http://" + address}, ready("http://"+address, filepath.Join(folder, "log"))
}

// configuration has all targets of all namespaces.
func (e *exporter) configuration() string {
	var b strings.Builder
	fmt.Fprintf(&b, "global: {scrape_interval: %s, scrape_timeout: %[1]s}\nscrape_configs:\n- job_name: engines\n  static_configs:\n", duration(scrapeInterval))
	for _, namespace := range namespaces {
		e.configure(&b, namespace)
	}
	b.WriteString("- job_name: again\n  static_configs:\n")
	e.configure(&b, "twice")
	return b.String()
}

func (e *exporter) configure(b *strings.Builder, namespace string) {
	for pod := range podsPerNamespace {
		fmt.Fprintf(b, "  - {targets: [%q], labels: {__metrics_path__: %q, namespace: %q, pod: %q, tier: %q, cluster: here}}\n",
			e.Listener.Addr(), path(namespace, pod), namespace, podName(namespace, pod), tiers[pod])
	}
}

// podName is that of a pod of one of two Deployments, or of a ServingGroup of Kthena.
func podName(namespace string, pod int) string {
	if namespace == "groups" || namespace == "others" {
		return []string{"pair-0-prefill-0-0", "pair-0-decode-0-0", "pair-0-decode-1-0"}[pod]
	}
	return []string{"big-5d8f-a", "big-small-77c4-b", "big-5d8f-c"}[pod]
}

var tiers = []string{"gold", "silver", "gold"}

func freeAddress() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	defer func() { _ = l.Close() }()
	return l.Addr().String(), nil
}

// ready waits until Prometheus answers.
func ready(url, log string) error {
	deadline := time.Now().Add(patience)
	ticker := time.NewTicker(tick)
	defer ticker.Stop()
	for ; time.Now().Before(deadline); <-ticker.C {
		response, err := http.Get(url + "/-/ready")
		if err != nil {
			continue
		}
		_ = response.Body.Close()
		if response.StatusCode == http.StatusOK {
			return nil
		}
	}
	text, _ := os.ReadFile(log) //nolint:gosec // a folder of this test
	return fmt.Errorf("prometheus is not ready after %s; it says:\n%s", patience, text)
}

// setup is a configuration, and which series are of workloads.
type setup struct {
	Config
	series Lookup
}

// everywhere says that all workloads have the same series.
func everywhere(s Series) Lookup { return func(*planner.Workload) Series { return s } }

// config is how tests read what is scraped here.
func (p *server) config(s Series) setup {
	return setup{Config{URL: p.url, ScrapeInterval: scrapeInterval, Window: window, StaleAfter: staleAfter}, everywhere(s)}
}

// until observes workloads until what is observed of the first of them satisfies each its
// condition, and returns what is observed of all.
func until(t *testing.T, c setup, fleet planner.Fleet, conditions ...func(o *planner.Observation) bool) []planner.Observation {
	t.Helper()
	o, err := New(c.Config, c.series, nil, nil)
	require.NoError(t, err)
	var last []planner.Observation
	require.Eventually(t, func() bool {
		last, err = o.Observe(t.Context(), fleet)
		for i, condition := range conditions {
			if err != nil || !condition(&last[i]) {
				return false
			}
		}
		return true
	}, patience, tick, "last: %v", stringer(func() string { return fmt.Sprintf("%+v %v", last, err) }))
	return last
}

// stringer is formatted when it is printed, not when it is passed.
type stringer func() string

func (s stringer) String() string { return s() }

// fleetOf is one workload of model m with so many ready replicas.
func fleetOf(namespace string, ready int) planner.Fleet {
	return planner.Fleet{Workloads: []planner.Workload{workload(namespace, "w", ready)}}
}

func workload(namespace, name string, ready int) planner.Workload {
	return planner.Workload{
		Namespace: namespace, Name: name, Model: "m",
		Variants: []planner.Variant{{Name: "only", CurrentReplicas: ready}},
	}
}

// ask is the answer to a query of one number, 0 if there is none.
func (p *server) ask(query string) float64 {
	c := p.config(Series{Engine: VLLM}).withDefaults()
	client, err := newClient(&c)
	if err != nil {
		return 0
	}
	answer, _, err := client.query(context.Background(), query)
	if err != nil || len(answer) != 1 {
		return 0
	}
	return answer[0].value
}
