package main

import (
	"math"

	"github.com/poolwright/poolwright/benchmarks/internal/table"
	"github.com/poolwright/poolwright/queueing"
)

// condition is a replica under load.
type condition struct {
	replica queueing.Replica
	shape   queueing.Shape
	// rate is the arrival rate that was observed, in requests per second.
	rate float64
}

// station returns the condition's station with the given profile.
func (c *condition) station(p queueing.Profile) (*queueing.Station, error) {
	r := c.replica
	r.Profile = p
	return queueing.NewStation(r, c.shape)
}

// observed are the mean and quantiles of a latency in seconds. interval is half the
// width of the 95 % confidence interval of the mean.
type observed struct{ mean, p50, p95, p99, interval float64 }

// point is a steady state: what was observed and what is predicted.
type point struct {
	condition
	// load is the rate as a share of the observed saturation rate.
	load           float64
	ttft, itl, e2e observed
	// running is the mean number of requests in the batch, blocked the share of
	// arrivals that were rejected.
	running, blocked float64
	predicted        queueing.Performance
	// capacity is the rate at which the predicted mean TTFT is the observed one, the
	// others are those at the ends of its interval.
	capacity, capacityLower, capacityUpper float64
}

// mostInterval is the widest interval, as a share of the mean, with which a point is
// judged by its mean.
const mostInterval = 0.05

// precise tells whether a point is judged by its mean TTFT.
func (p *point) precise() bool { return p.ttft.interval <= mostInterval*p.ttft.mean }

// predict fills in what the model says with a profile.
func (p *point) predict(profile queueing.Profile) error {
	s, err := p.station(profile)
	if err != nil {
		return err
	}
	p.predicted = s.Evaluate(queueing.Rate(p.rate))
	for _, c := range []struct {
		rate *float64
		ttft float64
	}{
		{&p.capacity, p.ttft.mean},
		{&p.capacityLower, p.ttft.mean - p.ttft.interval},
		{&p.capacityUpper, p.ttft.mean + p.ttft.interval},
	} {
		if *c.rate, err = sustained(s, c.ttft); err != nil {
			return err
		}
	}
	return nil
}

// sustained returns the highest rate at which the mean TTFT is at most a limit.
func sustained(s *queueing.Station, limit float64) (float64, error) {
	if !(limit > 0) {
		return 0, nil
	}
	c, err := s.Capacity(queueing.SLO{Limits: []queueing.Limit{{Metric: queueing.TTFT, Value: limit}}})
	return float64(c.Rate), err
}

// metric is a quantity that points are judged by.
type metric struct {
	name string
	// error returns the relative error, NaN where a point does not have the metric.
	error func(*point) float64
}

// Metrics that targets and tables name.
const (
	meanITL  = "ITL mean"
	meanTTFT = "TTFT mean"
	p95TTFT  = "TTFT p95"
	rate     = "rate"
	highRate = "rate, load ≥ 0.7"
)

// highLoad is the load from which on mean TTFT says something about the rate: below,
// it hardly depends on it.
const highLoad = 0.7

// metrics lists the quantities in the order of the tables.
func metrics() []metric {
	all := latencyMetrics("ITL",
		func(p *point) *observed { return &p.itl }, func(p *point) *queueing.Latency { return &p.predicted.ITL })
	all = append(all, latencyMetrics("TTFT",
		func(p *point) *observed { return &p.ttft }, func(p *point) *queueing.Latency { return &p.predicted.TTFT })...)
	all = append(all, latencyMetrics("E2E",
		func(p *point) *observed { return &p.e2e }, func(p *point) *queueing.Latency { return &p.predicted.E2E })...)
	return append(all,
		metric{"running", func(p *point) float64 { return relative(p.predicted.Running, p.running) }},
		metric{rate, func(p *point) float64 { return relative(p.capacity, p.rate) }},
		metric{highRate, func(p *point) float64 {
			if p.load < highLoad {
				return math.NaN()
			}
			return relative(p.capacity, p.rate)
		}},
	)
}

// latencyMetrics are the mean and quantiles of one latency; one that is 0 was not
// observed.
func latencyMetrics(name string, was func(*point) *observed, is func(*point) *queueing.Latency) []metric {
	compare := func(predicted queueing.Seconds, observed float64) float64 {
		if observed == 0 {
			return math.NaN()
		}
		return relative(float64(predicted), observed)
	}
	return []metric{
		{name + " mean", func(p *point) float64 { return compare(is(p).Mean(), was(p).mean) }},
		{name + " p50", func(p *point) float64 { return compare(is(p).Quantile(0.5), was(p).p50) }},
		{name + " p95", func(p *point) float64 { return compare(is(p).Quantile(0.95), was(p).p95) }},
		{name + " p99", func(p *point) float64 { return compare(is(p).Quantile(0.99), was(p).p99) }},
	}
}

// errorsOf returns the errors by metric over points; points without a metric are
// left out of it.
func errorsOf(points []*point) map[string]deviations {
	all := map[string]deviations{}
	for _, m := range metrics() {
		for _, p := range points {
			if e := m.error(p); !math.IsNaN(e) {
				all[m.name] = append(all[m.name], e)
			}
		}
	}
	return all
}

// errorTable summarises the errors of points by metric.
func errorTable(title string, points []*point) table.Table {
	t := table.Table{Title: title + ", %", Columns: table.Columns("metric", "points", "median", "p90", "largest", "bias")}
	all := errorsOf(points)
	for _, m := range metrics() {
		if d := all[m.name]; len(d) > 0 {
			t.Add(m.name, count(len(d)), percent(d.quantile(0.5)), percent(d.quantile(0.9)),
				percent(d.quantile(1)), signedPercent(d.bias()))
		}
	}
	return t
}

// errorRow returns the errors of one point by metric, ready to print.
func errorRow(p *point) map[string]string {
	row := map[string]string{}
	for _, m := range metrics() {
		row[m.name] = signedPercent(m.error(p))
	}
	return row
}
