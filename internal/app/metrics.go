package app

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"

	"github.com/poolwright/poolwright/planner"
)

// loopMetrics are the loop's own metrics.
type loopMetrics struct {
	duration prometheus.Histogram
	failures prometheus.Counter
	changes  prometheus.Counter
	price    prometheus.Gauge
	gap      prometheus.Gauge
	replicas *prometheus.GaugeVec
	devices  *prometheus.GaugeVec
}

func newLoopMetrics(registry *prometheus.Registry) *loopMetrics {
	f := promauto.With(registry)
	return &loopMetrics{
		duration: f.NewHistogram(prometheus.HistogramOpts{
			Name:    "poolwright_cycle_duration_seconds",
			Help:    "Duration of a cycle of the loop: observe, plan, act.",
			Buckets: prometheus.ExponentialBuckets(0.0005, 2, 16),
		}),
		failures: f.NewCounter(prometheus.CounterOpts{
			Name: "poolwright_cycle_failures_total", Help: "Cycles of the loop that failed.",
		}),
		changes: f.NewCounter(prometheus.CounterOpts{
			Name: "poolwright_changes_total", Help: "Changes of replicas asked for.",
		}),
		price: f.NewGauge(prometheus.GaugeOpts{
			Name: "poolwright_plan_price_per_hour", Help: "Price of the planned replicas per hour.",
		}),
		gap: f.NewGauge(prometheus.GaugeOpts{
			Name: "poolwright_plan_gap_ratio", Help: "Proven gap of the plan.",
		}),
		replicas: f.NewGaugeVec(prometheus.GaugeOpts{
			Name: "poolwright_planned_replicas", Help: "Planned replicas.",
		}, []string{"workload", "variant"}),
		devices: f.NewGaugeVec(prometheus.GaugeOpts{
			Name: "poolwright_planned_devices", Help: "Devices of a pool that the plan uses.",
		}, []string{"pool"}),
	}
}

func (m *loopMetrics) observe(d *planner.Decision, changes int, took time.Duration) {
	m.duration.Observe(took.Seconds())
	m.changes.Add(float64(changes))
	m.price.Set(d.PricePerHour)
	m.gap.Set(d.Solution.Gap)
	for i := range d.Plans {
		w := &d.Fleet.Workloads[i]
		for j := range d.Plans[i].Variants {
			m.replicas.WithLabelValues(w.QualifiedName(), w.Variants[j].Name).Set(float64(d.Plans[i].Variants[j].Total()))
		}
	}
	for i, use := range d.Pools {
		m.devices.WithLabelValues(d.Fleet.Pools[i].Name).Set(float64(use.Used))
	}
}
