package metrics

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/poolwright/poolwright/planner"
)

// good is the least configuration.
func good() Config { return Config{URL: "http://prometheus:9090", Default: Series{Engine: VLLM}} }

func TestValidateNamesEachMistake(t *testing.T) {
	require.NoError(t, good().Validate())
	for want, spoil := range map[string]func(*Config){
		`metrics: url: "ftp://x" is no http or https URL`:                         func(c *Config) { c.URL = "ftp://x" },
		`metrics: url: holds a password; use bearerTokenFile or headers`:          func(c *Config) { c.URL = "http://a:b@x" },
		`metrics: timeout: -1s is not in [1ms, 24h0m0s]`:                          func(c *Config) { c.Timeout = -time.Second },
		`metrics: scrapeInterval: -1s is not in [1ms, 24h0m0s]`:                   func(c *Config) { c.ScrapeInterval, c.StaleAfter, c.Window = -time.Second, time.Second, time.Second },
		`metrics: staleAfter: 5s is not in [15s, 24h0m0s]`:                        func(c *Config) { c.StaleAfter = 5 * time.Second },
		`metrics: window: 20s is not in [30s, 24h0m0s]`:                           func(c *Config) { c.Window = 20 * time.Second },
		`metrics: maxResponseBytes: -1 < 0`:                                       func(c *Config) { c.MaxResponseBytes = -1 },
		`metrics: replicaLabel: "a-b" is no name of a label`:                      func(c *Config) { c.ReplicaLabel = "a-b" },
		`metrics: selector: "__name__" is no name of a label`:                     func(c *Config) { c.Selector = Labels{"__name__": "x"} },
		`metrics: default.engine: "vLLM" is not one of`:                           func(c *Config) { c.Default.Engine = "vLLM" },
		`metrics: default.engine: neither an engine nor a gateway is named`:       func(c *Config) { c.Default = Series{ModelLabel: "model"} },
		`metrics: default.scrape.port: 65536 is not in [0, 65535]`:                func(c *Config) { c.Default.Scrape = &Scrape{Port: 65536} },
		`metrics: default.scrape.path: "metrics" does not begin with a slash`:     func(c *Config) { c.Default.Scrape = &Scrape{Path: "metrics"} },
		`metrics: scraping.timeout: 11s is not in [1ms, timeout 10s]`:             func(c *Config) { c.Scraping.Timeout = 11 * time.Second },
		`metrics: scraping.concurrency: -1 < 1`:                                   func(c *Config) { c.Scraping.Concurrency = -1 },
		`metrics: scraping.maxResponseBytes: -1 < 1`:                              func(c *Config) { c.Scraping.MaxResponseBytes = -1 },
		`metrics: workloads[ns/w].engine: "gateway" is not one of`:                func(c *Config) { c.Workloads = map[string]Series{"ns/w": {Engine: gateway}} },
		`metrics: default.selector: "poolwright_quantity" is no name of a label`:  func(c *Config) { c.Default.Selector = Labels{quantityLabel: "x"} },
		`metrics: default.modelLabel: "1" is no name of a label`:                  func(c *Config) { c.Default.ModelLabel = "1" },
		`metrics: default.variants[a]: "b{}" is no name of a label`:               func(c *Config) { c.Default.Variants = map[string]Labels{"a": {"b{}": "c"}} },
		`metrics: default.gateway.selector: "" is no name of a label`:             func(c *Config) { c.Default.Gateway = &Gateway{Selector: Labels{"": "x"}} },
		`metrics: default.gateway.modelLabel: "model name" is no name of a label`: func(c *Config) { c.Default.Gateway = &Gateway{ModelLabel: "model name"} },
	} {
		c := good()
		spoil(&c)
		require.ErrorContains(t, c.Validate(), want)
		_, err := New(c, nil, nil, nil)
		require.ErrorContains(t, err, want)
	}
}

func TestValidateReportsAllMistakes(t *testing.T) {
	err := Config{URL: "x", MaxResponseBytes: -1, Timeout: -1, Default: Series{ModelLabel: "m"}}.Validate()
	for _, path := range []string{"url: ", "timeout: ", "maxResponseBytes: ", "default.engine: "} {
		require.ErrorContains(t, err, "metrics: "+path)
	}
}

func TestSomethingMustSayWhatToAsk(t *testing.T) {
	_, err := New(Config{}, nil, nil, nil)
	require.EqualError(t, err, "metrics: url: it is empty, and nobody knows pods to ask\n"+
		"metrics: default: nothing says where the series of any workload are")
}

func TestDefaults(t *testing.T) {
	c := good().withDefaults()
	assert.Equal(t, 15*time.Second, c.ScrapeInterval)
	assert.Equal(t, 45*time.Second, c.StaleAfter)
	assert.Equal(t, time.Minute, c.Window)
	c = Config{ScrapeInterval: time.Minute}.withDefaults()
	assert.Equal(t, 4*time.Minute, c.Window)
}

func TestEnginesAreThoseOfTheTable(t *testing.T) {
	var names []Engine
	for _, e := range engines() {
		if e.name != gateway {
			names = append(names, e.name)
		}
	}
	assert.Equal(t, names, Engines())
	assert.IsIncreasing(t, names)
}

func TestLookup(t *testing.T) {
	c := Config{Default: Series{Engine: VLLM}, Workloads: map[string]Series{"a/w": {Engine: TGI}}}
	assert.Equal(t, TGI, c.Lookup(&planner.Workload{Namespace: "a", Name: "w"}).Engine)
	assert.Equal(t, VLLM, c.Lookup(&planner.Workload{Namespace: "b", Name: "w"}).Engine)
}
