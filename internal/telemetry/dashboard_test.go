package telemetry_test

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	grpcprometheus "github.com/grpc-ecosystem/go-grpc-middleware/providers/prometheus"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// dashboard is deploy/grafana/poolwright.json.
type dashboard struct {
	Title, UID string
	Panels     []struct {
		ID         int
		Type       string
		Title      string
		GridPos    struct{ X, Y, W, H int }
		Datasource struct{ UID string }
		Targets    []struct{ RefID, Expr string }
	}
	Templating struct {
		List []struct{ Name, Definition string }
	}
}

// filled has what Grafana fills in.
var filled = strings.NewReplacer("$job", "poolwright", "$workload", "prod/chat", "$__rate_interval", "5m")

// libraries have the metrics that dashboards name beside our own.
func libraries() prometheus.Collector {
	return collected{grpcprometheus.NewServerMetrics(grpcprometheus.WithServerHandlingTimeHistogram()), collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{})}
}

type collected []prometheus.Collector

func (c collected) Describe(out chan<- *prometheus.Desc) {
	for _, one := range c {
		one.Describe(out)
	}
}

func (collected) Collect(chan<- prometheus.Metric) {}

// described are the names of what a collector has.
func described(c prometheus.Collector) map[string]bool {
	out := make(chan *prometheus.Desc)
	go func() {
		defer close(out)
		c.Describe(out)
	}()
	names := map[string]bool{}
	for d := range out {
		names[regexp.MustCompile(`fqName: "([^"]+)"`).FindStringSubmatch(d.String())[1]] = true
	}
	return names
}

var (
	quoted     = regexp.MustCompile(`"[^"]*"`)
	metricName = regexp.MustCompile(`\b(?:poolwright|inferno|grpc|go|process)_[a-z_]+\b`)
	labelNames = []string{"grpc_method", "grpc_code", "grpc_type", "grpc_service"}
)

// The dashboard asks for metrics that there are, all of our own but those for others, in
// queries that Prometheus understands, in panels that do not cover one another.
func TestDashboard(t *testing.T) {
	var d dashboard
	require.NoError(t, json.Unmarshal([]byte(text(t, "deploy/grafana/poolwright.json")), &d))
	page, others := text(t, "docs/metrics.md"), described(libraries())
	shown, ids, area := map[string]bool{}, map[int]bool{}, map[[2]int]string{}
	var rules strings.Builder
	rules.WriteString("groups:\n- name: dashboard\n  rules:\n")
	for _, p := range d.Panels {
		require.False(t, ids[p.ID], "%d: %s", p.ID, p.Title)
		ids[p.ID] = true
		for x := p.GridPos.X; x < p.GridPos.X+p.GridPos.W; x++ {
			for y := p.GridPos.Y; y < p.GridPos.Y+p.GridPos.H; y++ {
				require.Empty(t, area[[2]int{x, y}], "%s is on it", p.Title)
				require.Less(t, x, 24, p.Title)
				area[[2]int{x, y}] = p.Title
			}
		}
		if p.Type == "row" {
			continue
		}
		assert.Equal(t, "${datasource}", p.Datasource.UID, p.Title)
		assert.NotEmpty(t, p.Targets, p.Title)
		for i, target := range p.Targets {
			for _, name := range metricName.FindAllString(quoted.ReplaceAllString(target.Expr, ""), -1) {
				of := regexp.MustCompile(`_(bucket|count|sum)$`).ReplaceAllString(name, "")
				shown[of], shown[name] = true, true
				known := others[of] || others[name] || strings.Contains(page, "| `"+of+"` |") || strings.Contains(page, "| `"+name+"` |")
				assert.True(t, known || strings.Contains(strings.Join(labelNames, " "), name), "%s: there is no %s", p.Title, name)
			}
			assert.NotContains(t, filled.Replace(target.Expr), "$", p.Title)
			fmt.Fprintf(&rules, "  - record: dashboard:panel:p%d_%d\n    expr: |\n      %s\n", p.ID, i, filled.Replace(target.Expr))
		}
	}
	for _, row := range regexp.MustCompile("(?m)^\\| `(poolwright_[a-z_]+)` \\|").FindAllStringSubmatch(page, -1) {
		if row[1] != "poolwright_cycle_timestamp_seconds" {
			assert.True(t, shown[row[1]], "no panel shows %s", row[1])
		}
	}
	for _, variable := range d.Templating.List {
		for _, name := range metricName.FindAllString(variable.Definition, -1) {
			assert.Contains(t, page, "| `"+name+"` |", variable.Name)
		}
	}
	understood(t, rules.String())
}

// understood checks recording rules by promtool.
func understood(t *testing.T, rules string) {
	t.Helper()
	promtool, err := exec.LookPath("promtool")
	require.NoError(t, err, "install it with 'make setup-prometheus' (Debian: apt-get install prometheus)")
	file := filepath.Join(t.TempDir(), "rules.yaml")
	require.NoError(t, os.WriteFile(file, []byte(rules), 0o600))
	out, err := exec.CommandContext(t.Context(), promtool, "check", "rules", file).CombinedOutput() //nolint:gosec // Prometheus's own tool
	require.NoError(t, err, string(out))
}
