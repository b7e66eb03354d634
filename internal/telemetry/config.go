package telemetry

import "github.com/prometheus/client_golang/prometheus"

// ConfigValid tells whether a configuration counts as it stands in its file; of is what it
// configures.
func ConfigValid(of string, valid func() bool) prometheus.Collector {
	return prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name:        "poolwright_config_valid",
		Help:        "1 while the configuration counts as it stands in its file; 0 if that is gone, has mistakes or names what has, and the last valid one counts.",
		ConstLabels: prometheus.Labels{"config": of},
	}, func() float64 {
		if valid() {
			return 1
		}
		return 0
	})
}
