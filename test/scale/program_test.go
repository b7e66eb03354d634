//go:build e2e && linux

package scale

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
	"github.com/stretchr/testify/require"
)

const binary = "../../bin/poolwright"

const config = `
cluster:
  kubeconfig: %s
  namespaces: [%s]
  sources: [PLAIN]
  requestsPerSecond: 500
  burst: 1000
  leaderElection: {disabled: true}
metrics: {url: %q, scrapeInterval: %s, window: %s}
fleet:
  control: {cycle: %s}
  accelerators:
  - {name: h100, aliases: [NVIDIA-H100-80GB-HBM3], pricePerHour: 4}
  - {name: a100, aliases: [NVIDIA-A100-SXM4-80GB], pricePerHour: 4}
  - {name: l40s, aliases: [NVIDIA-L40S], pricePerHour: 4}
  pools:
  - {accelerator: h100, capacity: %[7]d}
  - {accelerator: a100, capacity: %[7]d}
  - {accelerator: l40s, capacity: %[7]d}
  replicas:
  - {match: {accelerator: h100}, profile: {alphaMs: 8, betaMs: 0.25}, maxBatch: 8, startup: 10s}
  - {match: {accelerator: a100}, profile: {alphaMs: 12, betaMs: 0.5}, maxBatch: 8, startup: 10s}
  - {match: {accelerator: l40s}, profile: {alphaMs: 20, betaMs: 1}, maxBatch: 8, startup: 10s}
  workloadDefaults: {minReplicas: 1, slo: {itl: {mean: 40ms}, ttft: {p95: 2s}}, metrics: {engine: vllm}}
`

// program is a running bin/poolwright.
type program struct {
	command *exec.Cmd
	http    string
	// cycles that have ended, seconds that they took in all, and the longest of them.
	cycles, seconds, longest float64
}

func (f *fleet) start(t *testing.T) *program {
	t.Helper()
	kubeconfig, err := f.Kubeconfig("poolwright", f.Admin())
	require.NoError(t, err)
	file := filepath.Join(t.TempDir(), "poolwright.yaml")
	text := fmt.Sprintf(config, kubeconfig, namespace, f.PrometheusURL, interval, 4*interval, cycle, 2*f.workloads)
	require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
	log, err := os.Create(filepath.Join(t.TempDir(), "log"))
	require.NoError(t, err)
	p := &program{command: exec.Command(binary, "serve", "--config", file, "--http-address", "127.0.0.1:0", "--grpc-address", "127.0.0.1:0")} //nolint:gosec // the program under test
	p.command.Stdout, p.command.Stderr = log, log
	p.command.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	require.NoError(t, p.command.Start())
	read := func() []byte {
		text, err := os.ReadFile(log.Name())
		require.NoError(t, err)
		return text
	}
	t.Cleanup(func() {
		_ = p.command.Process.Kill()
		_ = p.command.Wait() // killed
		if text := read(); t.Failed() {
			t.Logf("%s", text[max(0, len(text)-6000):])
		}
	})
	require.Eventually(t, func() bool {
		if m := listening.FindSubmatch(read()); m != nil {
			p.http = "http://" + string(m[1])
		}
		return p.http != ""
	}, patience, tick, "to listen")
	return p
}

// listening is what the program logs once it does.
var listening = regexp.MustCompile(`msg=listening .*http=(\S+)`)

// sample is what the program reports of itself, by name and the value of its first label.
type sample map[string]float64

func (p *program) read(t *testing.T) sample {
	t.Helper()
	response, err := http.Get(p.http + "/metrics")
	if err != nil {
		return sample{} // it begins
	}
	defer func() { _ = response.Body.Close() }()
	text, err := io.ReadAll(response.Body)
	require.NoError(t, err)
	parser := expfmt.NewTextParser(model.UTF8Validation)
	families, err := parser.TextToMetricFamilies(bytes.NewReader(text))
	require.NoError(t, err)
	s := sample{}
	for name, family := range families {
		for _, m := range family.GetMetric() {
			s.add(name, m)
		}
	}
	return s
}

func (s sample) add(name string, m *dto.Metric) {
	if l := m.GetLabel(); len(l) > 0 {
		name += " " + l[0].GetValue()
	}
	if h := m.GetHistogram(); h != nil {
		s[name+"_sum"], s[name+"_count"] = h.GetSampleSum(), float64(h.GetSampleCount())
		return
	}
	s[name] += m.GetCounter().GetValue() + m.GetGauge().GetValue()
}

// requests are those to the API server, whatever it answered.
func (s sample) requests() float64 {
	sum := 0.0
	for name, n := range s {
		if strings.HasPrefix(name, "poolwright_kubernetes_requests_total ") {
			sum += n
		}
	}
	return sum
}

// wait returns the first sample that is as it should be.
func (p *program) wait(t *testing.T, what string, is func(sample) bool) sample {
	t.Helper()
	var s sample
	require.Eventually(t, func() bool {
		s = p.read(t)
		p.follow(s)
		return is(s)
	}, patience, tick, what)
	return s
}

const (
	cycleCount = "poolwright_cycle_duration_seconds_count"
	cycleSum   = "poolwright_cycle_duration_seconds_sum"
)

// follow takes down how long the cycles took that have ended since the last sample: one, or two
// after a long one, which then count as one.
func (p *program) follow(s sample) {
	if s[cycleCount] > p.cycles {
		p.longest = max(p.longest, s[cycleSum]-p.seconds)
		p.cycles, p.seconds = s[cycleCount], s[cycleSum]
	}
}

// passed is true once so many more cycles have.
func (p *program) passed(n float64) func(sample) bool {
	until := p.cycles + n
	return func(s sample) bool { return s[cycleCount] >= until }
}

// peak is the most memory that the program has taken, in bytes.
func (p *program) peak(t *testing.T) uint64 {
	t.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.command.Process.Pid))
	require.NoError(t, err)
	for line := range strings.Lines(string(status)) {
		if value, ok := strings.CutPrefix(line, "VmHWM:"); ok {
			kib, err := strconv.ParseUint(strings.TrimSuffix(strings.TrimSpace(value), " kB"), 10, 64)
			require.NoError(t, err)
			return kib << 10
		}
	}
	require.Fail(t, "the kernel says no peak of memory")
	return 0
}
