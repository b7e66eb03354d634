package knative

import (
	"errors"
	"fmt"
	"math"
	"time"
)

// Config is how a revision is scaled. Start from [DefaultConfig]; a zero is a zero, not
// a default.
type Config struct {
	// MinReplicas ≥ 0.
	MinReplicas int
	// MaxReplicas is at least MinReplicas; 0 is no maximum, as in Knative.
	MaxReplicas int
	// Target is the load per replica, in requests or requests per second; ≥ 0.01.
	Target float64
	// StableWindow is in whole seconds, from 6 to 3600.
	StableWindow time.Duration
	// PanicWindowPercent is the panic window as a share of the stable window, in
	// [1, 100]. It is rounded to whole seconds, at least one.
	PanicWindowPercent float64
	// PanicThresholdPercent is how many replicas the panic window must ask for, in
	// percent of those that there are, for a panic; in [110, 1000].
	PanicThresholdPercent float64
	// MaxScaleUpRate and MaxScaleDownRate are by which factor replicas may change at
	// once; > 1.
	MaxScaleUpRate, MaxScaleDownRate float64
}

const (
	leastTarget    = 0.01
	leastWindow    = 6 * time.Second
	longestWindow  = time.Hour
	leastThreshold = 110
	mostThreshold  = 1000
)

// DefaultConfig returns Knative's defaults (config-autoscaler), without a maximum. The
// target is 70 % of 100 requests.
func DefaultConfig() Config {
	return Config{
		Target:                70,
		StableWindow:          time.Minute,
		PanicWindowPercent:    10,
		PanicThresholdPercent: 200,
		MaxScaleUpRate:        1000,
		MaxScaleDownRate:      2,
	}
}

// mistakes collects what is wrong, each with its path.
type mistakes []error

func (m *mistakes) check(ok bool, path, format string, args ...any) {
	if !ok {
		*m = append(*m, fmt.Errorf("knative: %s: %s", path, fmt.Sprintf(format, args...)))
	}
}

func (m *mistakes) within(path string, value, low, high float64) {
	m.check(value >= low && value <= high, path, "%v is not in [%v, %v]", value, low, high)
}

// Validate returns every mistake, each with its path.
func (c *Config) Validate() error {
	var m mistakes
	m.check(c.MinReplicas >= 0, "minReplicas", "%d < 0", c.MinReplicas)
	m.check(c.MaxReplicas == 0 || c.MaxReplicas >= c.MinReplicas, "maxReplicas", "%d is less than minReplicas %d", c.MaxReplicas, c.MinReplicas)
	m.within("target", c.Target, leastTarget, math.MaxFloat64)
	m.check(c.StableWindow >= leastWindow && c.StableWindow <= longestWindow, "stableWindow",
		"%v is not in [%v, %v]", c.StableWindow, leastWindow, longestWindow)
	m.check(c.StableWindow%time.Second == 0, "stableWindow", "%v is not in whole seconds", c.StableWindow)
	m.within("panicWindowPercent", c.PanicWindowPercent, 1, 100)
	m.within("panicThresholdPercent", c.PanicThresholdPercent, leastThreshold, mostThreshold)
	for _, rate := range []struct {
		path  string
		value float64
	}{{"maxScaleUpRate", c.MaxScaleUpRate}, {"maxScaleDownRate", c.MaxScaleDownRate}} {
		m.check(rate.value > 1 && !math.IsInf(rate.value, 1), rate.path, "%v is not in (1, ∞)", rate.value)
	}
	return errors.Join(m...)
}

// stableSeconds is the length of the stable window.
func (c *Config) stableSeconds() int { return int(c.StableWindow / time.Second) }

// panicSeconds is the length of the panic window.
func (c *Config) panicSeconds() int {
	return max(1, int(math.Round(c.StableWindow.Seconds()*c.PanicWindowPercent/100)))
}
