package telemetry

import (
	"net/http"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/poolwright/poolwright/controller"
	"github.com/poolwright/poolwright/metrics"
	"github.com/poolwright/poolwright/optimizer"
)

// Config is how the loop is watched.
type Config struct {
	// MostWorkloads is the number of workloads of which there are series; 0 =
	// DefaultMostWorkloads. Of the others there are none but those of the whole fleet.
	MostWorkloads int
}

// DefaultMostWorkloads keeps the series of a large fleet below 100,000.
const DefaultMostWorkloads = 5000

// Loop is the loop's own metrics. Its methods may be called from any goroutine.
type Loop struct {
	config    Config
	described described

	duration prometheus.Histogram
	stages   *prometheus.HistogramVec
	failures prometheus.Counter
	stopped  prometheus.Counter
	changes  *prometheus.CounterVec
	dropped  prometheus.Counter
	demand   *prometheus.CounterVec

	requests                       *prometheus.CounterVec
	queries, pods, observeFailures prometheus.Counter
	warnings                       prometheus.Gauge

	mu    sync.Mutex
	spent map[string]time.Duration // by stage, in this cycle
	state state
}

// Cycle is one cycle of the loop.
type Cycle struct {
	// Entry is zero where nothing was decided.
	Entry controller.Entry
	Err   error
	// At is when it ended, and Took how long it took.
	At   time.Time
	Took time.Duration
	// Interval is the time between cycles, which alerts compare with.
	Interval time.Duration
	Declared
}

// Declared is what objects of a cluster say beyond the decision.
type Declared struct {
	// Conditions are those of workloads beyond those of the decision.
	Conditions []Condition
	// Objects are the names of the objects that declare variants, by which llm-d calls them;
	// those that are not in it have the name of their workload.
	Objects map[Variant]string
	// Advised are the variants whose changes are only published, so that nobody may follow.
	Advised map[Variant]bool
}

// Variant names a variant of a workload.
type Variant struct {
	// Workload is the qualified name.
	Workload, Variant string
}

// Condition is one of a workload.
type Condition struct {
	// Workload is the qualified name.
	Workload, Type string
}

// Directions of changes.
const (
	up   = "up"
	down = "down"
)

// New registers the metrics.
func New(registry prometheus.Registerer, c Config) *Loop {
	if c.MostWorkloads == 0 {
		c.MostWorkloads = DefaultMostWorkloads
	}
	f := promauto.With(registry)
	counter := func(name, help string) prometheus.Counter {
		return f.NewCounter(prometheus.CounterOpts{Name: name, Help: help})
	}
	l := &Loop{
		config: c, described: describe(), spent: map[string]time.Duration{},
		duration: f.NewHistogram(prometheus.HistogramOpts{
			Name: "poolwright_cycle_duration_seconds", Help: "Duration of a cycle of the loop, from reading the fleet to publishing what was decided.",
			Buckets: prometheus.ExponentialBuckets(0.0005, 2, 18),
		}),
		stages: f.NewHistogramVec(prometheus.HistogramOpts{
			Name: "poolwright_cycle_stage_duration_seconds", Help: "Duration of the parts of a cycle.",
			Buckets: prometheus.ExponentialBuckets(0.0005, 4, 9),
		}, []string{"stage"}),
		failures: counter("poolwright_cycle_failures_total", "Cycles of the loop in which something failed."),
		stopped:  counter("poolwright_plans_stopped_total", "Plans whose search was cut short by the time limit."),
		demand: f.NewCounterVec(prometheus.CounterOpts{
			Name: "poolwright_decisions_total", Help: "Decisions, by what their plan serves of the demand.",
		}, []string{"demand"}),
		changes: f.NewCounterVec(prometheus.CounterOpts{
			Name: "poolwright_changes_total", Help: "Changes of replicas asked for.",
		}, []string{"direction"}),
		dropped: counter("poolwright_changes_dropped_total", "Changes that were not carried out, as something had moved or failed."),
		requests: f.NewCounterVec(prometheus.CounterOpts{
			Name: "poolwright_kubernetes_requests_total", Help: "Requests that the API server of the cluster has answered; a watch counts as it begins.",
		}, []string{"code", "method"}),
		queries:         counter("poolwright_observe_queries_total", "Queries asked of Prometheus."),
		pods:            counter("poolwright_observe_pods_total", "Times that a pod was asked for its metrics."),
		observeFailures: counter("poolwright_observe_failures_total", "Queries that failed, and workloads of which a pod did not answer."),
		warnings: f.NewGauge(prometheus.GaugeOpts{
			Name: "poolwright_observe_warnings", Help: "Warnings of the last observation, such as of workloads that nothing tells apart.",
		}),
	}
	for _, demand := range demands {
		l.demand.WithLabelValues(demand)
	}
	l.changes.WithLabelValues(up)
	l.changes.WithLabelValues(down)
	registry.MustRegister(l)
	return l
}

// Observed counts what an observation took. It is what metrics.New reports to.
func (l *Loop) Observed(r metrics.Report) {
	l.queries.Add(float64(r.Queries))
	l.pods.Add(float64(r.Pods))
	l.observeFailures.Add(float64(len(r.Failures)))
	l.warnings.Set(float64(len(r.Warnings)))
}

// Transport counts what is asked of the API server of a cluster.
func (l *Loop) Transport(next http.RoundTripper) http.RoundTripper {
	return promhttp.InstrumentRoundTripperCounter(l.requests, next)
}

// Done counts a cycle and shows it from now on. One that failed to decide counts, and the
// one before it is still shown.
func (l *Loop) Done(c Cycle) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.duration.Observe(c.Took.Seconds())
	l.countStages(c.Took)
	if c.Err != nil || c.Entry.Failure != "" {
		l.failures.Inc()
	}
	if c.Entry.Sequence == 0 {
		return
	}
	d := &c.Entry.Decision
	l.demand.WithLabelValues(demands[d.Demand]).Inc()
	if d.Stopped {
		l.stopped.Inc()
	}
	l.dropped.Add(float64(len(c.Entry.Dropped)))
	for i := range d.Changes {
		if d.Changes[i].To > d.Changes[i].From {
			l.changes.WithLabelValues(up).Inc()
		} else {
			l.changes.WithLabelValues(down).Inc()
		}
	}
	l.state.advance(&c)
}

// Rest shows no cycle any more: another process decides from now on.
func (l *Loop) Rest() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.state = state{}
}

// demands are what a plan may serve.
var demands = map[optimizer.Demand]string{
	optimizer.Served: "served", optimizer.Partial: "partial", optimizer.Infeasible: "infeasible",
}
