package metrics

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/prometheus/common/model"

	"github.com/poolwright/poolwright/planner"
)

// Config says where metrics are and how they are read. What is zero has a default,
// but for the address.
type Config struct {
	// URL of Prometheus, or of anything that speaks its query API, with a path if need
	// be; empty = there is none, and pods are asked themselves.
	URL string
	// BearerTokenFile holds a token that is sent with every query. It is read anew each
	// time, and like the headers never shown.
	BearerTokenFile string
	Headers         map[string]string
	// CAFile holds certificates of authorities to trust instead of the system's.
	CAFile string
	// Timeout of a query, and of asking all pods; 0 = 10 s.
	Timeout time.Duration
	// MaxResponseBytes of a query; a longer answer counts as a failed query. 0 = 256 MiB.
	MaxResponseBytes int64
	// ScrapeInterval is that of the engines in Prometheus; 0 = 15 s.
	ScrapeInterval time.Duration
	// StaleAfter is the age from which on a replica counts as silent; 0 = 3 scrape
	// intervals.
	StaleAfter time.Duration
	// Window of rates and means, at least 2 scrape intervals; 0 = 4 of them, and at
	// least a minute.
	Window time.Duration
	// Scraping is how pods are asked themselves.
	Scraping Scraping
	// Selector is label values that all series have, such as that of the cluster.
	Selector Labels
	// ReplicaLabel tells replicas apart; empty = "pod".
	ReplicaLabel string
}

// Scraping says how pods are asked themselves.
type Scraping struct {
	// Timeout of asking one pod; 0 = 2 s.
	Timeout time.Duration
	// Concurrency is the number of pods asked at once; 0 = 64.
	Concurrency int
	// MaxResponseBytes of a pod; a longer answer counts as none. 0 = 16 MiB.
	MaxResponseBytes int64
}

// Labels are values that labels must have.
type Labels map[string]string

// Series says which series are of a workload.
type Series struct {
	// Engine of its replicas; empty where only a gateway reports, or where its metrics are
	// not known and pods are asked for those alone that a policy names.
	Engine Engine
	// Selector is label values of its series. Unless it says otherwise, the label
	// "namespace" has the workload's namespace, if it has one, and ModelLabel its model.
	Selector Labels
	// ModelLabel names the model; empty = the engine's own, if it has one.
	ModelLabel string
	// Variants has further label values, which tell the variants of the workload apart.
	// For variants that are not in it the name of their scale target must begin the name
	// of the replica.
	Variants map[string]Labels
	// Parts are the pods that report of each replica of a variant, where that is not one, or
	// others report beside it. Of the variants that are not in it each replica reports once.
	Parts map[string][]Part
	// Gateway is nil where no gateway counts the requests.
	Gateway *Gateway
	// Scrape is how pods are asked themselves for what the engine reports; nil = Prometheus
	// is asked. Labels don't matter then: all that a pod reports is of its workload.
	Scrape *Scrape
}

// Part is pods of a replica that do the same.
type Part struct {
	// Pods matches the names of such pods, as their series have them, and its first submatch
	// is the name of their replica.
	Pods *regexp.Regexp
	// Count is how many such pods of each replica should report; 0 = they count for nothing.
	Count int
	// Prefill: requests go on to pods of another part, which count them.
	Prefill bool
}

// partsOf are the parts of the replicas of a variant of a workload; none where it is not known.
func (s *Series) partsOf(w *planner.Workload, variant int) []Part {
	if variant < 0 {
		return nil
	}
	return s.Parts[w.Variants[variant].Name]
}

// Gateway says which series of gateways are of a workload, as Series does.
type Gateway struct {
	Selector   Labels
	ModelLabel string
}

// Lookup tells which series are of a workload. Nothing is measured of a workload whose
// series are not valid.
type Lookup func(*planner.Workload) Series

const (
	defaultTimeout          = 10 * time.Second
	defaultMaxResponseBytes = 256 << 20
	defaultScrapeInterval   = 15 * time.Second
	defaultPodTimeout       = 2 * time.Second
	defaultPodConcurrency   = 64
	defaultPodBytes         = 16 << 20
	defaultStaleIntervals   = 3
	defaultWindowIntervals  = 4
	leastDefaultWindow      = time.Minute
	// leastWindowIntervals is what a rate needs: two samples.
	leastWindowIntervals = 2
	// leastWindow and longestDuration are the windows that calibration takes, leastInterval is what
	// Prometheus can tell apart.
	leastWindow     = time.Second
	longestDuration = 24 * time.Hour
	leastInterval   = time.Millisecond

	namespaceLabel      = "namespace"
	jobLabel            = "job"
	defaultReplicaLabel = "pod"
)

// withDefaults fills in what is zero.
func (c Config) withDefaults() Config {
	if c.Timeout == 0 {
		c.Timeout = defaultTimeout
	}
	if c.MaxResponseBytes == 0 {
		c.MaxResponseBytes = defaultMaxResponseBytes
	}
	if c.ScrapeInterval == 0 {
		c.ScrapeInterval = defaultScrapeInterval
	}
	if c.StaleAfter == 0 {
		c.StaleAfter = defaultStaleIntervals * c.ScrapeInterval
	}
	if c.Window == 0 {
		c.Window = max(defaultWindowIntervals*c.ScrapeInterval, leastDefaultWindow)
	}
	if c.ReplicaLabel == "" {
		c.ReplicaLabel = defaultReplicaLabel
	}
	c.Scraping.Timeout = cmp.Or(c.Scraping.Timeout, min(defaultPodTimeout, c.Timeout))
	c.Scraping.Concurrency = cmp.Or(c.Scraping.Concurrency, defaultPodConcurrency)
	c.Scraping.MaxResponseBytes = cmp.Or(c.Scraping.MaxResponseBytes, defaultPodBytes)
	return c
}

// Validate reports every mistake with its path.
func (c Config) Validate() error {
	c = c.withDefaults()
	var v violations
	v.address(c.URL)
	v.between("timeout", c.Timeout, leastInterval)
	v.between("scrapeInterval", c.ScrapeInterval, leastInterval)
	v.between("staleAfter", c.StaleAfter, c.ScrapeInterval)
	v.between("window", c.Window, max(leastWindow, leastWindowIntervals*c.ScrapeInterval))
	if c.MaxResponseBytes < 0 {
		v.add("maxResponseBytes", "%d < 0", c.MaxResponseBytes)
	}
	v.scraping(&c)
	v.label("replicaLabel", c.ReplicaLabel)
	v.labels("selector", c.Selector)
	return errors.Join(v...)
}

// Validate reports every mistake with its path, which begins as given.
func (s Series) Validate(path string) error {
	var v violations
	v.series(path, &s)
	return errors.Join(v...)
}

// violations are mistakes, each with its path.
type violations []error

func (v *violations) add(path, format string, arguments ...any) {
	*v = append(*v, fmt.Errorf("metrics: %s: %s", path, fmt.Sprintf(format, arguments...)))
}

func (v *violations) between(path string, d, least time.Duration) {
	if d < least || d > longestDuration {
		v.add(path, "%s is not in [%s, %s]", d, least, longestDuration)
	}
}

func (v *violations) address(text string) {
	switch u, err := url.Parse(text); {
	case text == "":
	case err != nil: // which would say what stands in it
		v.add("url", "is no URL")
	case u.User != nil:
		v.add("url", "holds a password; use bearerTokenFile or headers")
	case u.Host == "" || (u.Scheme != "http" && u.Scheme != "https"):
		v.add("url", "%q is no http or https URL", text)
	}
}

func (v *violations) scraping(c *Config) {
	s := &c.Scraping
	if s.Timeout < leastInterval || s.Timeout > c.Timeout {
		v.add("scraping.timeout", "%s is not in [%s, timeout %s]", s.Timeout, leastInterval, c.Timeout)
	}
	if s.Concurrency < 1 {
		v.add("scraping.concurrency", "%d < 1", s.Concurrency)
	}
	if s.MaxResponseBytes < 1 {
		v.add("scraping.maxResponseBytes", "%d < 1", s.MaxResponseBytes)
	}
}

func (v *violations) series(path string, s *Series) {
	if s.Engine == "" && s.Gateway == nil && s.Scrape == nil {
		v.add(path+".engine", "neither an engine nor a gateway is named; engines are %q", Engines())
	} else if s.Engine != "" && !slices.Contains(Engines(), s.Engine) {
		v.add(path+".engine", "%q is not one of %q", s.Engine, Engines())
	}
	v.labels(path+".selector", s.Selector)
	v.optionalLabel(path+".modelLabel", s.ModelLabel)
	for _, name := range slices.Sorted(maps.Keys(s.Variants)) {
		v.labels(fmt.Sprintf("%s.variants[%s]", path, name), s.Variants[name])
	}
	for _, name := range slices.Sorted(maps.Keys(s.Parts)) {
		v.parts(fmt.Sprintf("%s.parts[%s]", path, name), s.Parts[name])
	}
	if s.Scrape != nil {
		if s.Scrape.Port < 0 || s.Scrape.Port > mostPort {
			v.add(path+".scrape.port", "%d is not in [0, %d]", s.Scrape.Port, mostPort)
		}
		if s.Scrape.Path != "" && !strings.HasPrefix(s.Scrape.Path, "/") {
			v.add(path+".scrape.path", "%q does not begin with a slash", s.Scrape.Path)
		}
	}
	if s.Gateway != nil {
		v.labels(path+".gateway.selector", s.Gateway.Selector)
		v.optionalLabel(path+".gateway.modelLabel", s.Gateway.ModelLabel)
	}
}

func (v *violations) parts(path string, parts []Part) {
	for k, p := range parts {
		if p.Pods == nil || p.Pods.NumSubexp() == 0 {
			v.add(fmt.Sprintf("%s[%d].pods", path, k), "%v has no submatch for the name of the replica", p.Pods)
		}
		if p.Count < 0 {
			v.add(fmt.Sprintf("%s[%d].count", path, k), "%d < 0", p.Count)
		}
	}
}

func (v *violations) labels(path string, labels Labels) {
	for _, name := range slices.Sorted(maps.Keys(labels)) {
		v.label(path, name)
	}
}

func (v *violations) optionalLabel(path, name string) {
	if name != "" {
		v.label(path, name)
	}
}

func (v *violations) label(path, name string) {
	if !isLabel(name) {
		v.add(path, "%q is no name of a label", name)
	}
}

// isLabel tells whether a name is one that every version of Prometheus takes, and not
// one of those that this package gives a meaning.
func isLabel(name string) bool {
	return model.LegacyValidation.IsValidLabelName(name) && name != quantityLabel && name != bucketLabel && name != model.MetricNameLabel
}

// Engines are those whose metrics are known, by name.
func Engines() []Engine {
	return []Engine{LlamaCPP, SGLang, TensorRTLLM, TGI, TRTLLMServe, VLLM}
}
