package config_test

import (
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/poolwright/poolwright/config"
	"github.com/poolwright/poolwright/internal/election"
	"github.com/poolwright/poolwright/internal/kube"
	"github.com/poolwright/poolwright/metrics"
	poolwrightv1 "github.com/poolwright/poolwright/proto/poolwright/v1"
	"github.com/poolwright/poolwright/sources/llmd"
)

func TestDefaults(t *testing.T) {
	c, err := config.Read([]byte("metrics: {url: http://prometheus:9090}"))
	require.NoError(t, err)
	require.Equal(t, config.Cluster{
		Sources: []config.Source{
			poolwrightv1.Cluster_LLMD, poolwrightv1.Cluster_KTHENA, poolwrightv1.Cluster_LLMAZ, poolwrightv1.Cluster_PLAIN,
		},
		Election: config.Election{Config: election.Config{
			Name: "poolwright", LeaseDuration: 15 * time.Second, RenewDeadline: 10 * time.Second, RetryPeriod: time.Second,
		}},
	}, c.Cluster)
	require.Equal(t, "http://prometheus:9090", c.Metrics.URL)
	require.Equal(t, 15*time.Second, c.Cycle)
}

func TestEverySetting(t *testing.T) {
	c, err := config.Read([]byte(`
cluster:
  kubeconfig: /etc/kubeconfig
  context: there
  namespaces: [team-a, team-b]
  sources: [PLAIN, LLMD]
  requestsPerSecond: 50
  burst: 70
  leaderElection: {disabled: true, namespace: here, name: mine, leaseDuration: 9s, renewDeadline: 6s, retryPeriod: 1s}
  llmd: {namespace: n, unitPrices: u, serviceClasses: s, costUnits: 100, scaleToZero: true}
  fieldManager: poolwright-b
  scalerHosts: [scaler.example.org]
metrics:
  url: https://thanos/api
  bearerTokenFile: token
  headers: {X-Scope-OrgID: a}
  caFile: ca.pem
  timeout: 3s
  maxResponseBytes: 1000
  scrapeInterval: 5s
  staleAfter: 20s
  window: 30s
  selector: {cluster: east}
  replicaLabel: pod_name
  scraping: {timeout: 1s, concurrency: 9, maxResponseBytes: 99}
fleet:
  control: {cycle: 7s}
`))
	require.NoError(t, err)
	require.Equal(t, config.Cluster{
		Kube:       kube.Config{Kubeconfig: "/etc/kubeconfig", Context: "there", QPS: 50, Burst: 70},
		Namespaces: []string{"team-a", "team-b"},
		Sources:    []config.Source{poolwrightv1.Cluster_PLAIN, poolwrightv1.Cluster_LLMD},
		Election: config.Election{Disabled: true, Config: election.Config{
			Namespace: "here", Name: "mine", LeaseDuration: 9 * time.Second, RenewDeadline: 6 * time.Second, RetryPeriod: time.Second,
		}},
		LLMD:         llmd.Config{Namespace: "n", UnitPrices: "u", ServiceClasses: "s", CostUnits: 100, ScaleToZero: true},
		FieldManager: "poolwright-b", ScalerHosts: []string{"scaler.example.org"},
	}, c.Cluster)
	require.Equal(t, "token", c.Metrics.BearerTokenFile)
	require.Equal(t, map[string]string{"X-Scope-OrgID": "a"}, c.Metrics.Headers)
	require.Equal(t, "ca.pem", c.Metrics.CAFile)
	require.Equal(t, 3*time.Second, c.Metrics.Timeout)
	require.EqualValues(t, 1000, c.Metrics.MaxResponseBytes)
	require.Equal(t, 5*time.Second, c.Metrics.ScrapeInterval)
	require.Equal(t, 20*time.Second, c.Metrics.StaleAfter)
	require.Equal(t, 30*time.Second, c.Metrics.Window)
	require.Equal(t, "east", c.Metrics.Selector["cluster"])
	require.Equal(t, "pod_name", c.Metrics.ReplicaLabel)
	require.Equal(t, metrics.Scraping{Timeout: time.Second, Concurrency: 9, MaxResponseBytes: 99}, c.Metrics.Scraping)
	require.Equal(t, 7*time.Second, c.Cycle)
}

func TestExample(t *testing.T) {
	text, err := os.ReadFile("../examples/cluster/poolwright.yaml")
	require.NoError(t, err)
	c, err := config.Read(text)
	require.NoError(t, err)
	require.Equal(t, "http://prometheus.monitoring:9090", c.Metrics.URL)
	require.Equal(t, "H100", c.Overlay.Accelerator("NVIDIA-H100-80GB-HBM3"))
}

// Every mistake is named at once, with its path.
func TestMistakes(t *testing.T) {
	for name, test := range map[string]struct{ text, mistakes string }{
		"syntax": {"metrics: {ur: x}", "metrics.ur: unknown field; did you mean url? (line 1, column 11)\nmetrics.url: there is none, and no scraping that does without"},
		"empty":  {"{}", "metrics: value is required"},
		"rules": {
			"cluster: {namespaces: [A, b, b], burst: -1}\nmetrics: {}\nfleet: {accelerators: [{}]}",
			`cluster.burst: must be greater than or equal to 0 and less than or equal to 10000
cluster.namespaces: repeated value must contain unique items
cluster.namespaces[0]: does not match regex pattern ` + "`^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$`" + `
fleet.accelerators[0].name: must be at least 1 characters`,
		},
		"secrets": {
			"metrics: {url: 'http://p', headers: {Authorization: 123456, X: [secret]}}",
			`metrics.headers["Authorization"]: expected a string, got something else: put it in quotes (line 1, column 53)
metrics.headers["X"]: expected a string, got something else (line 1, column 64)`,
		},
		"no secrets": {"metrics: {url: 'http://p', headers: secret}", "metrics.headers: expected an object, got something else (line 1, column 37)"},
		"text and meaning": {
			"foo: 1\nmetrics: {url: 'ftp://p', window: soon}\nfleet: {control: {cycle: 0s}, workloadDefaults: {mode: FOO}}",
			`fleet.control.cycle: must be greater than or equal to 1s and less than or equal to 3600s
fleet.workloadDefaults.mode: expected APPLY, RECOMMEND, DRY_RUN or OFF, got the string "FOO" (line 3, column 56)
foo: unknown field; must be cluster, metrics or fleet (line 1, column 1)
metrics.url: "ftp://p" is no http or https URL
metrics.window: expected a duration such as "50ms", "1m30s" or "0.05s", got the string "soon" (line 2, column 35)`,
		},
		"no document": {"metrics: [", "line 1: not YAML: did not find expected node content"},
		"no metrics":  {"metrics: {scrapeInterval: 5s}", "metrics.url: there is none, and no scraping that does without"},
		"meaning": {
			"cluster: {leaderElection: {leaseDuration: 1500ms}}\nmetrics: {url: prometheus, window: 1s}\nfleet: {objective: {relativeGap: -1}}",
			`cluster.leaderElection.leaseDuration: 1.5s is not of whole seconds, as a Lease has them
cluster.leaderElection.leaseDuration: 1.5s is not longer than the renew deadline of 10s
metrics.url: "prometheus" is no http or https URL
metrics.window: 1s is not in [30s, 24h0m0s]
fleet.objective.relativeGap: must be greater than or equal to 0 and less than 1`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := config.Read([]byte(test.text))
			require.EqualError(t, err, test.mistakes)
		})
	}
}

func FuzzRead(f *testing.F) {
	f.Add([]byte("metrics: {url: http://prometheus:9090}\nfleet: {control: {cycle: 7s}}"))
	f.Add([]byte(`{"metrics": {"url": ""}, "cluster": {"leaderElection": {"retryPeriod": "0s"}}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		c, err := config.Read(data)
		if err != nil {
			require.NotEmpty(t, err.Error())
			return
		}
		require.NotNil(t, c.Overlay)
		require.Positive(t, c.Cycle)
	})
}
