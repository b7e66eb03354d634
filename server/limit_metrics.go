package server

import (
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"
)

// Reasons why calls are not answered.
const (
	shedQueue       = "queue"
	shedRate        = "rate"
	shedStreams     = "streams"
	shedSimulations = "simulations"
	shedMemory      = "memory"
	shedDeadline    = "deadline"
	shedLeft        = "left"
)

// limitMetrics are those of calls and their limits.
type limitMetrics struct {
	computing, waiting prometheus.Gauge
	wait               prometheus.Histogram
	sheds              *prometheus.CounterVec
}

func newLimitMetrics(registry prometheus.Registerer) *limitMetrics {
	f := promauto.With(registry)
	m := &limitMetrics{
		computing: f.NewGauge(prometheus.GaugeOpts{
			Name: "poolwright_calls_computing", Help: "Calls that are computed now.",
		}),
		waiting: f.NewGauge(prometheus.GaugeOpts{
			Name: "poolwright_calls_waiting", Help: "Calls that wait for their turn now.",
		}),
		wait: f.NewHistogram(prometheus.HistogramOpts{
			Name: "poolwright_call_wait_seconds", Help: "How long calls waited for their turn before they were computed or left.",
			Buckets: prometheus.ExponentialBuckets(0.0005, 4, 9),
		}),
		sheds: f.NewCounterVec(prometheus.CounterOpts{
			Name: "poolwright_calls_shed_total", Help: "Calls that were refused or left before they were computed, by reason.",
		}, []string{"reason"}),
	}
	for _, reason := range []string{shedQueue, shedRate, shedStreams, shedSimulations, shedMemory, shedDeadline, shedLeft} {
		m.sheds.WithLabelValues(reason)
	}
	return m
}

// shed counts a call that was not computed.
func (m *limitMetrics) shed(reason string) { m.sheds.WithLabelValues(reason).Inc() }
