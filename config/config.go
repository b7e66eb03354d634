package config

import (
	"cmp"
	"errors"
	"strings"
	"time"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/poolwright/poolwright/internal/document"
	"github.com/poolwright/poolwright/internal/election"
	"github.com/poolwright/poolwright/internal/kube"
	"github.com/poolwright/poolwright/internal/message"
	"github.com/poolwright/poolwright/metrics"
	"github.com/poolwright/poolwright/planner"
	poolwrightv1 "github.com/poolwright/poolwright/proto/poolwright/v1"
	"github.com/poolwright/poolwright/sources/llmd"
	"github.com/poolwright/poolwright/sources/overlay"
)

// Config of the loop over a cluster.
type Config struct {
	Cluster Cluster
	Metrics metrics.Config
	Overlay *overlay.Overlay
	// Cycle is the time between decisions, > 0.
	Cycle time.Duration
}

// Cluster is what counts from the start of the process to its end.
type Cluster struct {
	Kube kube.Config
	// Namespaces that are watched; none = all.
	Namespaces []string
	// Sources that are read, in order.
	Sources  []Source
	Election Election
	LLMD     llmd.Config
	// FieldManager owns what is written; empty = poolwright.
	FieldManager string
	// ScalerHosts are where KEDA reaches the external scaler; none = poolwright.NAMESPACE.
	ScalerHosts []string
}

// Source is a family of objects that declare workloads.
type Source = poolwrightv1.Cluster_Source

// Election is how one of several processes is chosen to plan. Without a namespace, that of
// the process is meant.
type Election struct {
	Disabled bool
	election.Config
}

const (
	defaultLease         = "poolwright"
	defaultLeaseDuration = 15 * time.Second
	defaultRenewDeadline = 10 * time.Second
	defaultRetryPeriod   = time.Second
)

// Read reads a configuration from YAML or JSON. The error names every mistake.
func Read(data []byte) (Config, error) {
	m := &poolwrightv1.Config{}
	return read(data, m, func() (Config, error) { return configOf(m) })
}

// read reads a document into a message, and then what that means. The error names the mistakes of
// both.
func read[C any](data []byte, m proto.Message, meaning func() (C, error)) (C, error) {
	var none C
	tree, err := document.Parse(data)
	if err != nil {
		return none, err
	}
	text := document.Decode(tree, m)
	c, err := meaning()
	if text != nil {
		return none, message.CompleteWith(text, func() error { return err })
	}
	return c, err
}

func configOf(m *poolwrightv1.Config) (Config, error) {
	c := Config{Cluster: clusterOf(m.GetCluster()), Metrics: metricsOf(m.GetMetrics())}
	mistakes := c.check(m)
	var err error
	if c.Overlay, err = overlay.New(m.GetFleet()); err != nil {
		mistakes = append(mistakes, below("fleet", err)...)
	}
	if len(mistakes) > 0 {
		return Config{}, mistakes
	}
	c.Cycle = cmp.Or(c.Overlay.Fleet.Control.Cycle, planner.DefaultCycle)
	return c, nil
}

// check reports what is wrong beside the overlay, which is checked with its own rules.
// What breaks a rule of the schema is not looked at any further.
func (c *Config) check(m *poolwrightv1.Config) message.Violations {
	err := message.Config(&poolwrightv1.Config{Cluster: m.GetCluster(), Metrics: m.GetMetrics()})
	if err == nil {
		if m.GetMetrics().GetUrl() == "" && m.GetMetrics().GetScraping() == nil {
			err = errors.New("metrics: url: there is none, and no scraping that does without")
		}
		err = errors.Join(err, c.Cluster.Election.Validate(), c.Cluster.LLMD.Validate(), c.Metrics.Validate())
		return located(err)
	}
	var mistakes message.Violations
	errors.As(err, &mistakes)
	return mistakes
}

func clusterOf(m *poolwrightv1.Cluster) Cluster {
	c := Cluster{
		Kube: kube.Config{
			Kubeconfig: m.GetKubeconfig(), Context: m.GetContext(),
			QPS: float32(m.GetRequestsPerSecond()), Burst: int(m.GetBurst()),
		},
		Namespaces: m.GetNamespaces(),
		Sources:    m.GetSources(),
		Election:   electionOf(m.GetLeaderElection()),
		LLMD: llmd.Config{
			Namespace: m.GetLlmd().GetNamespace(), UnitPrices: m.GetLlmd().GetUnitPrices(), ServiceClasses: m.GetLlmd().GetServiceClasses(),
			CostUnits: m.GetLlmd().GetCostUnits(), ScaleToZero: m.GetLlmd().GetScaleToZero(),
		},
		FieldManager: m.GetFieldManager(),
		ScalerHosts:  m.GetScalerHosts(),
	}
	if len(c.Sources) == 0 {
		c.Sources = []Source{poolwrightv1.Cluster_LLMD, poolwrightv1.Cluster_KTHENA, poolwrightv1.Cluster_LLMAZ, poolwrightv1.Cluster_PLAIN}
	}
	return c
}

func electionOf(m *poolwrightv1.LeaderElection) Election {
	return Election{m.GetDisabled(), election.Config{
		Namespace: m.GetNamespace(), Name: cmp.Or(m.GetName(), defaultLease),
		LeaseDuration: duration(m.GetLeaseDuration(), defaultLeaseDuration),
		RenewDeadline: duration(m.GetRenewDeadline(), defaultRenewDeadline),
		RetryPeriod:   duration(m.GetRetryPeriod(), defaultRetryPeriod),
	}}
}

func duration(m *durationpb.Duration, absent time.Duration) time.Duration {
	if m == nil {
		return absent
	}
	return m.AsDuration()
}

func metricsOf(m *poolwrightv1.Metrics) metrics.Config {
	return metrics.Config{
		URL:              m.GetUrl(),
		BearerTokenFile:  m.GetBearerTokenFile(),
		Headers:          m.GetHeaders(),
		CAFile:           m.GetCaFile(),
		Timeout:          m.GetTimeout().AsDuration(),
		MaxResponseBytes: m.GetMaxResponseBytes(),
		ScrapeInterval:   m.GetScrapeInterval().AsDuration(),
		StaleAfter:       m.GetStaleAfter().AsDuration(),
		Window:           m.GetWindow().AsDuration(),
		Selector:         m.GetSelector(),
		ReplicaLabel:     m.GetReplicaLabel(),
		Scraping: metrics.Scraping{
			Timeout:          m.GetScraping().GetTimeout().AsDuration(),
			Concurrency:      int(m.GetScraping().GetConcurrency()),
			MaxResponseBytes: m.GetScraping().GetMaxResponseBytes(),
		},
	}
}

// below puts a path before those of violations.
func below(path string, err error) message.Violations {
	var found message.Violations
	if !errors.As(err, &found) {
		return message.Violations{{Path: path, Message: err.Error()}}
	}
	for i := range found {
		found[i].Path = path + "." + found[i].Path
	}
	return found
}

// sections are where what a package complains about stands; "" = at the top.
var sections = map[string]string{"election": "cluster.leaderElection", "llmd": "cluster.llmd", "metrics": "metrics"}

// located turns the complaints of packages, each "package: path: what is wrong", into
// violations.
func located(err error) message.Violations {
	if err == nil {
		return nil
	}
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		var all message.Violations
		for _, e := range joined.Unwrap() {
			all = append(all, located(e)...)
		}
		return all
	}
	name, text, _ := strings.Cut(err.Error(), ": ")
	path, what, _ := strings.Cut(text, ": ")
	return message.Violations{{Path: strings.TrimPrefix(sections[name]+"."+path, "."), Message: what}}
}
