package metrics

import (
	"context"
	"errors"
	"fmt"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/poolwright/poolwright/planner"
	"github.com/poolwright/poolwright/queueing"
)

// Observer measures the demand of workloads by asking Prometheus. It implements
// controller.Observer, and is for one goroutine.
type Observer struct {
	config Config
	lookup Lookup
	report func(Report)
	client *client
	// worked is when work was asked for last, and works how often. What it said of the
	// lengths of requests, by workload, holds until it is asked for again.
	worked  time.Time
	works   int
	lengths map[string]lengths
}

// Report says how a cycle's queries went.
type Report struct {
	// Queries that were asked, and the time until all were answered.
	Queries  int
	Duration time.Duration
	// Failures are of queries that were not answered; what they ask for is missing.
	Failures []error
	// Warnings are those of Prometheus, and say which workloads' series are not valid, and
	// which nothing tells apart; what is measured of the latter is invalid.
	Warnings []string
}

// New returns an observer, or every mistake of its configuration. The lookup says which
// series are of a workload; nil = the configuration does. Report is called once a
// cycle; it may be nil.
func New(c Config, lookup Lookup, report func(Report)) (*Observer, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	c = c.withDefaults()
	client, err := newClient(&c)
	if err != nil {
		return nil, err
	}
	if lookup == nil {
		lookup = c.Lookup
	}
	if report == nil {
		report = func(Report) {}
	}
	return &Observer{config: c, lookup: lookup, report: report, client: client}, nil
}

// Observe measures every workload of the fleet. A query that fails leaves missing what
// it asked for; the error is of all of them.
//
// What variants were seen to do is measured once per window, so that nothing counts
// twice for a profile.
func (o *Observer) Observe(ctx context.Context, fleet planner.Fleet) ([]planner.Observation, error) {
	c := o.newCycle(&fleet)
	began := time.Now()
	c.work = o.worked.IsZero() || began.Sub(o.worked) >= o.config.Window
	c.variation = c.work && o.works%variationWindows == 0
	c.last, c.lengths = o.lengths, o.lengths
	c.ask(ctx)
	report := Report{Queries: len(c.queries), Duration: time.Since(began), Warnings: c.warnings}
	for i := range c.queries {
		q := &c.queries[i]
		report.Warnings = append(report.Warnings, q.warnings...)
		if q.err != nil {
			report.Failures = append(report.Failures, fmt.Errorf("metrics: %s of %s: %w", q.what, q.group.engine.name, q.err))
			continue
		}
		q.group.take(q.samples)
		q.samples = nil
	}
	if c.work {
		o.worked, c.lengths = began, make(map[string]lengths)
		o.works++
	}
	for i := range c.groups {
		c.groups[i].settle(o.config.StaleAfter.Seconds())
		report.Warnings = append(report.Warnings, c.groups[i].ambiguities(&fleet)...)
	}
	o.report(report)
	if len(report.Failures) > 0 && len(report.Failures) == len(c.queries) {
		return nil, errors.Join(report.Failures...)
	}
	observations := c.observations()
	o.lengths = c.lengths
	return observations, nil
}

// cycle is one observation of a fleet.
type cycle struct {
	config *Config
	client *client
	fleet  *planner.Fleet
	// series are of the workloads; groups of those that share queries.
	series []Series
	groups []group
	// work and variation are asked for in this cycle. Lengths are by workload, those last
	// known and those that hold now.
	work, variation bool
	last, lengths   map[string]lengths
	queries         []query
	// warnings are of series that are not valid.
	warnings []string
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
		if c.work && len(g.engine.work) > 0 {
			c.queries = append(c.queries, query{group: g, what: "work", text: g.workQuery(c.variation)})
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
	byEngine := make(map[Engine]*group, len(c.groups))
	for i := range c.groups {
		byEngine[c.groups[i].engine.name] = &c.groups[i]
	}
	all := make([]planner.Observation, len(c.fleet.Workloads))
	for i := range c.fleet.Workloads {
		w, s := &c.fleet.Workloads[i], &c.series[i]
		o := &all[i]
		o.Workload = w.QualifiedName()
		if g := byEngine[s.Engine]; g != nil {
			c.observeEngine(o, g, i)
		}
		if s.Gateway != nil {
			c.observeGateway(o, byEngine[gateway], i)
		}
	}
	return all
}

func (c *cycle) observeEngine(o *planner.Observation, g *group, i int) {
	w := &c.fleet.Workloads[i]
	s := scope{reported: g.reported[i], workload: w, staleAfter: c.config.StaleAfter.Seconds()}
	for k := range g.engine.demand {
		m := &g.engine.demand[k]
		switch measured := s.measure(m); m.quantity {
		case arrivals:
			o.ArrivalRate = measured
		case completions:
			o.CompletionRate = measured
		case generation:
			o.CompletionRate = requestsOf(measured, w.Shape.OutputTokens)
		case running:
			o.Running = measured
		case waiting:
			o.Waiting = measured
		}
	}
	if c.work {
		o.Variants = s.variants(queueing.Seconds(c.config.Window.Seconds()))
		measured := s.lengths(&g.engine)
		if last := c.last[o.Workload]; !c.variation {
			measured.inputSCV, measured.outputSCV = last.inputSCV, last.outputSCV
		}
		c.lengths[o.Workload] = measured
	}
	known := c.lengths[o.Workload]
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
func (c *cycle) observeGateway(o *planner.Observation, g *group, i int) {
	s := scope{reported: g.reported[i], workload: &c.fleet.Workloads[i], staleAfter: c.config.StaleAfter.Seconds(), gateway: true}
	for k := range g.engine.demand {
		m := &g.engine.demand[k]
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
			if c.series[i].Engine == "" {
				o.Waiting = measured
			} else if measured.State == planner.Fresh {
				o.Waiting.Value += measured.Value
			}
		}
	}
	if engines := (&lengths{input: o.InputTokens, output: o.OutputTokens}); !engines.known() {
		counted := s.lengths(&g.engine)
		counted.into(o)
	}
}
