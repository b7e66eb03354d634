package metrics

import (
	"regexp"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// good is the least configuration.
func good() Config { return Config{URL: "http://prometheus:9090"} }

func TestValidateNamesEachMistake(t *testing.T) {
	require.NoError(t, good().Validate())
	for want, spoil := range map[string]func(*Config){
		`metrics: url: "ftp://x" is no http or https URL`:                func(c *Config) { c.URL = "ftp://x" },
		`metrics: url: holds a password; use bearerTokenFile or headers`: func(c *Config) { c.URL = "http://a:b@x" },
		`metrics: url: holds a password; use bearerTokenFile`:            func(c *Config) { c.URL = "htps://a:b@x" },
		`metrics: url: is no URL`:                                        func(c *Config) { c.URL = "http://a:pass word@x" },
		`metrics: timeout: -1s is not in [1ms, 24h0m0s]`:                 func(c *Config) { c.Timeout = -time.Second },
		`metrics: scrapeInterval: -1s is not in [1ms, 24h0m0s]`:          func(c *Config) { c.ScrapeInterval, c.StaleAfter, c.Window = -time.Second, time.Second, time.Second },
		`metrics: staleAfter: 5s is not in [15s, 24h0m0s]`:               func(c *Config) { c.StaleAfter = 5 * time.Second },
		`metrics: window: 20s is not in [30s, 24h0m0s]`:                  func(c *Config) { c.Window = 20 * time.Second },
		`metrics: maxResponseBytes: -1 < 0`:                              func(c *Config) { c.MaxResponseBytes = -1 },
		`metrics: replicaLabel: "a-b" is no name of a label`:             func(c *Config) { c.ReplicaLabel = "a-b" },
		`metrics: selector: "__name__" is no name of a label`:            func(c *Config) { c.Selector = Labels{"__name__": "x"} },
		`metrics: scraping.timeout: 11s is not in [1ms, timeout 10s]`:    func(c *Config) { c.Scraping.Timeout = 11 * time.Second },
		`metrics: scraping.concurrency: -1 < 1`:                          func(c *Config) { c.Scraping.Concurrency = -1 },
		`metrics: scraping.maxResponseBytes: -1 < 1`:                     func(c *Config) { c.Scraping.MaxResponseBytes = -1 },
	} {
		c := good()
		spoil(&c)
		require.ErrorContains(t, c.Validate(), want)
		_, err := New(c, everywhere(Series{}), nil, nil)
		require.ErrorContains(t, err, want)
	}
}

func TestSeriesNameEachMistake(t *testing.T) {
	require.NoError(t, Series{Engine: VLLM}.Validate("ns/w"))
	for want, spoil := range map[string]func(*Series){
		`metrics: ns/w.engine: "vLLM" is not one of`:                          func(s *Series) { s.Engine = "vLLM" },
		`metrics: ns/w.engine: neither an engine nor a gateway is named`:      func(s *Series) { *s = Series{ModelLabel: "model"} },
		`metrics: ns/w.scrape.port: 65536 is not in [0, 65535]`:               func(s *Series) { s.Scrape = &Scrape{Port: 65536} },
		`metrics: ns/w.scrape.path: "metrics" does not begin with a slash`:    func(s *Series) { s.Scrape = &Scrape{Path: "metrics"} },
		`metrics: ns/w.engine: "gateway" is not one of`:                       func(s *Series) { s.Engine = gateway },
		`metrics: ns/w.selector: "poolwright_quantity" is no name of a label`: func(s *Series) { s.Selector = Labels{quantityLabel: "x"} },
		`metrics: ns/w.modelLabel: "1" is no name of a label`:                 func(s *Series) { s.ModelLabel = "1" },
		`metrics: ns/w.variants[a]: "b{}" is no name of a label`:              func(s *Series) { s.Variants = map[string]Labels{"a": {"b{}": "c"}} },
		`metrics: ns/w.parts[a][0].pods: <nil> has no submatch`:               func(s *Series) { s.Parts = map[string][]Part{"a": {{}}} },
		`metrics: ns/w.parts[a][0].pods: a-.* has no submatch`: func(s *Series) {
			s.Parts = map[string][]Part{"a": {{Pods: regexp.MustCompile("a-.*")}}}
		},
		`metrics: ns/w.parts[a][1].count: -1 < 0`: func(s *Series) {
			s.Parts = map[string][]Part{"a": {entries("decode", 1, false), entries("prefill", -1, true)}}
		},
		`metrics: ns/w.gateway.selector: "" is no name of a label`:             func(s *Series) { s.Gateway = &Gateway{Selector: Labels{"": "x"}} },
		`metrics: ns/w.gateway.modelLabel: "model name" is no name of a label`: func(s *Series) { s.Gateway = &Gateway{ModelLabel: "model name"} },
	} {
		s := Series{Engine: VLLM}
		spoil(&s)
		require.ErrorContains(t, s.Validate("ns/w"), want)
	}
}

func TestValidateReportsAllMistakes(t *testing.T) {
	err := Config{URL: "x", MaxResponseBytes: -1, Timeout: -1}.Validate()
	for _, path := range []string{"url: ", "timeout: ", "maxResponseBytes: "} {
		require.ErrorContains(t, err, "metrics: "+path)
	}
}

func TestSomethingMustSayWhatToAsk(t *testing.T) {
	_, err := New(Config{}, everywhere(Series{}), nil, nil)
	require.EqualError(t, err, "metrics: url: it is empty, and nobody knows pods to ask")
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
