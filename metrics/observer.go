package metrics

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/poolwright/poolwright/planner"
	"github.com/poolwright/poolwright/queueing"
)

// Observer measures the demand of workloads by asking Prometheus, or their pods
// themselves. It implements controller.Observer, and is for one goroutine.
type Observer struct {
	config Config
	lookup Lookup
	report func(Report)
	// client is nil where there is no Prometheus, and scraper where nobody knows pods.
	client  *client
	scraper *scraper
	// asked is when Prometheus was asked for work, and scraped when pods were.
	asked, scraped clock
}

// Report says how a cycle's queries went.
type Report struct {
	// Queries that were asked of Prometheus and Pods that were asked themselves, and the time
	// until all were answered.
	Queries, Pods int
	Duration      time.Duration
	// Failures are of queries that were not answered, and of workloads of whose pods some did
	// not answer; what they were asked for is missing.
	Failures []error
	// Warnings are those of Prometheus, and say which workloads' series are not valid, and
	// which nothing tells apart; what is measured of the latter is invalid.
	Warnings []string
}

// New returns an observer, or every mistake of its configuration. The lookup says which
// series are of a workload. Pods may be nil where no pods are asked themselves. Report is
// called once a cycle; it may be nil.
func New(c Config, lookup Lookup, pods Pods, report func(Report)) (*Observer, error) {
	err := c.Validate()
	if c.URL == "" && pods == nil {
		err = errors.Join(err, errors.New("metrics: url: it is empty, and nobody knows pods to ask"))
	}
	if err != nil {
		return nil, err
	}
	o := &Observer{config: c.withDefaults(), lookup: lookup, report: report}
	if c.URL != "" {
		if o.client, err = newClient(&o.config); err != nil {
			return nil, err
		}
	}
	if pods != nil {
		o.scraper = newScraper(&o.config, pods)
	}
	if report == nil {
		o.report = func(Report) {}
	}
	return o, nil
}

// Observe measures every workload of the fleet. A query that fails leaves missing what
// it asked for; the error is of all of them, where no pod was asked.
//
// What variants were seen to do is measured once per window, so that nothing counts
// twice for a profile.
func (o *Observer) Observe(ctx context.Context, fleet planner.Fleet) ([]planner.Observation, error) {
	c := o.newCycle(&fleet)
	began := time.Now()
	c.asking, c.scraping = o.asked.turn(began, o.config.Window), o.scraped.turn(began, o.config.Window)
	o.ask(ctx, c)
	report := Report{Queries: len(c.queries), Pods: c.scraped, Duration: time.Since(began), Warnings: c.warnings}
	failed := c.take(&report)
	o.report(report)
	if len(failed) > 0 && len(failed) == len(c.queries) && c.scraped == 0 {
		return nil, errors.Join(failed...)
	}
	observations := c.observations()
	o.asked.end(c.asking, began, false)
	// What pods did is not known before they have answered twice.
	o.scraped.end(c.scraping, began, true)
	return observations, nil
}

// ask asks Prometheus and pods at the same time.
func (o *Observer) ask(ctx context.Context, c *cycle) {
	var both errgroup.Group
	if o.scraper != nil {
		both.Go(func() error {
			o.scraper.run(ctx, c)
			return nil
		})
	}
	c.ask(ctx)
	_ = both.Wait() // failures stand in the cycle
}

// cycle is one observation of a fleet.
type cycle struct {
	config *Config
	client *client
	fleet  *planner.Fleet
	// existing knows which pods there are; nil where nobody does.
	existing Pods
	// engines are those that are known; series are of the workloads, groups of those that
	// share queries.
	engines map[Engine]*engine
	series  []Series
	groups  []group
	// reported is what replicas of each workload and its gateways reported; nil where
	// nothing was. Pods are those that were asked themselves.
	reported, gateways []*reported
	pods               [][]podReport
	// asking and scraping are what Prometheus and pods are asked for.
	asking, scraping *turn
	queries          []query
	// warnings are of series that are not valid. Scraped is the number of pods that were
	// asked, failures say which did not answer.
	warnings []string
	scraped  int
	failures []error
}

// podReport is what a pod of a variant has reported.
type podReport struct {
	pod     string
	variant int
	history *history
	// lengths are those since they were asked for last; none where they are not now.
	lengths map[quantity]buckets
}

// engineOf is the engine of a workload; one that reports nothing where none is named.
func (c *cycle) engineOf(i int) *engine {
	if e := c.engines[c.series[i].Engine]; e != nil {
		return e
	}
	return &engine{}
}

// variantOf is the place of a variant of a workload, -1 if there is none of that name.
func (c *cycle) variantOf(i int, name string) int {
	return slices.IndexFunc(c.fleet.Workloads[i].Variants, func(v planner.Variant) bool { return v.Name == name })
}

// take gives answers to the workloads that they are of, and returns the failures of queries.
func (c *cycle) take(report *Report) (failed []error) {
	for i := range c.queries {
		q := &c.queries[i]
		report.Warnings = append(report.Warnings, q.warnings...)
		if q.err != nil {
			failed = append(failed, fmt.Errorf("metrics: %s of %s: %w", q.what, q.group.engine.name, q.err))
			continue
		}
		q.group.take(q.samples)
		q.samples = nil
	}
	for i := range c.groups {
		c.groups[i].settle(c.existing, c.config.StaleAfter.Seconds())
		report.Warnings = append(report.Warnings, c.groups[i].ambiguities(c.fleet)...)
	}
	report.Failures = append(slices.Clone(failed), c.failures...)
	return failed
}

// query is one question and its answer.
type query struct {
	group    *group
	what     string
	text     string
	samples  []sample
	warnings []string
	err      error
}

// concurrency is the number of queries asked at once.
const concurrency = 4

// ask asks all queries.
func (c *cycle) ask(ctx context.Context) {
	for i := range c.groups {
		g := &c.groups[i]
		c.queries = append(c.queries, query{group: g, what: "demand", text: g.demandQuery()})
		if c.asking.work && len(g.engine.work) > 0 {
			c.queries = append(c.queries, query{group: g, what: "work", text: g.workQuery(c.asking.variation)})
		}
	}
	var group errgroup.Group
	group.SetLimit(concurrency)
	for i := range c.queries {
		q := &c.queries[i]
		group.Go(func() error {
			q.samples, q.warnings, q.err = c.client.query(ctx, q.text)
			return nil
		})
	}
	_ = group.Wait() // failures stand with their queries
}

// observations puts together what was measured of each workload.
func (c *cycle) observations() []planner.Observation {
	all := make([]planner.Observation, len(c.fleet.Workloads))
	for i := range c.fleet.Workloads {
		s, o := &c.series[i], &all[i]
		o.Workload = c.fleet.Workloads[i].QualifiedName()
		if s.Engine != "" || s.Scrape != nil {
			c.observeEngine(o, i)
		}
		if s.Gateway != nil {
			c.observeGateway(o, i)
		}
		if o.ArrivalRate.State != planner.Missing || o.CompletionRate.State != planner.Missing {
			o.Window = c.config.Window
		}
	}
	return all
}

func (c *cycle) observeEngine(o *planner.Observation, i int) {
	w, e := &c.fleet.Workloads[i], c.engineOf(i)
	s := scope{reported: c.reported[i], workload: w, parts: c.series[i].Parts, staleAfter: c.config.StaleAfter.Seconds()}
	for k := range e.demand {
		m := &e.demand[k]
		switch measured := s.measure(m); m.quantity {
		case arrivals:
			o.ArrivalRate = measured
		case completions:
			o.CompletionRate, o.RecentCompletionRate = measured, c.recent(&s, m, measured)
		case generation:
			o.CompletionRate = requestsOf(measured, w.Shape.OutputTokens)
			o.RecentCompletionRate = requestsOf(c.recent(&s, m, measured), w.Shape.OutputTokens)
		case running:
			o.Running = measured
		case waiting:
			o.Waiting = measured
		}
	}
	o.Age = s.age()
	t := c.asking
	if c.series[i].Scrape != nil {
		t = c.scraping
	}
	s.observeWork(o, e, t, queueing.Seconds(c.config.Window.Seconds()))
	s.observeMetrics(o, c.metricsOf(i))
}

// recent is what was measured of completions since about the last cycle: over the window, where
// that is no longer.
func (c *cycle) recent(s *scope, m *metric, measured planner.Measurement) planner.Measurement {
	if c.config.recentWindow(c.fleet) == 0 {
		return measured
	}
	return s.measure(m.of(recentCompletions))
}

// observeWork measures what replicas do, where it is their turn; the lengths of requests
// hold until the next.
func (s *scope) observeWork(o *planner.Observation, e *engine, t *turn, window queueing.Seconds) {
	if t.work {
		o.Variants = s.variants(window)
		measured := s.lengths(e)
		if last := t.last[o.Workload]; !t.variation {
			measured.inputSCV, measured.outputSCV = last.inputSCV, last.outputSCV
		}
		t.lengths[o.Workload] = measured
		t.measured = t.measured || measured.known()
	}
	known := t.lengths[o.Workload]
	known.into(o)
}

// requestsOf is the rate of requests of an engine that counts their tokens only.
func requestsOf(generated planner.Measurement, each queueing.Tokens) planner.Measurement {
	if each <= 0 {
		return planner.Measurement{State: planner.Missing}
	}
	generated.Value /= float64(each)
	return generated
}

// observeGateway takes arrivals from where requests come in, those that it had to reject
// included, and adds those that wait there to those that wait in engines. Where engines don't
// tell the lengths of requests, it does.
func (c *cycle) observeGateway(o *planner.Observation, i int) {
	e := c.engines[gateway]
	s := scope{reported: c.gateways[i], workload: &c.fleet.Workloads[i], staleAfter: c.config.StaleAfter.Seconds(), gateway: true}
	for k := range e.demand {
		m := &e.demand[k]
		switch measured := s.measure(m); m.quantity {
		case arrivals:
			o.ArrivalRate = measured
		case rejections:
			if o.ArrivalRate.State == planner.Missing {
				o.ArrivalRate = measured
			} else if measured.State == planner.Fresh {
				o.ArrivalRate.Value += measured.Value
			}
		case waiting:
			switch {
			case c.series[i].Engine == "":
				o.Waiting = measured
			case measured.State == planner.Fresh:
				o.Waiting.Value += measured.Value
			case measured.State != planner.Missing && o.Waiting.State == planner.Fresh:
				o.Waiting.State = planner.Incomplete
			}
		}
	}
	if engines := (&lengths{input: o.InputTokens, output: o.OutputTokens}); !engines.known() {
		counted := s.lengths(e)
		counted.into(o)
	}
}
