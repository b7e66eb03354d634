package kthena

import (
	"errors"
	"fmt"
	"math"
	"time"
)

// mistakes collects what is wrong, each with its path.
type mistakes []error

func (m *mistakes) check(ok bool, path, format string, args ...any) {
	if !ok {
		*m = append(*m, fmt.Errorf("kthena: %s: %s", path, fmt.Sprintf(format, args...)))
	}
}

func (m *mistakes) within(path string, value, low, high int) {
	m.check(value >= low && value <= high, path, "%d is not in [%d, %d]", value, low, high)
}

func (m *mistakes) duration(path string, d time.Duration) {
	m.check(d >= 0 && d <= LongestTime, path, "%v is not in [0s, %v]", d, LongestTime)
}

// Validate returns every mistake, each with its path as a manifest has it.
func (c *Config) Validate() error {
	var m mistakes
	m.within("minReplicas", c.MinReplicas, 0, MostReplicas)
	m.within("maxReplicas", c.MaxReplicas, 1, MostReplicas)
	m.check(c.MaxReplicas >= c.MinReplicas, "maxReplicas", "%d is less than minReplicas %d", c.MaxReplicas, c.MinReplicas)
	m.within("tolerancePercent", c.TolerancePercent, 0, 100)
	names := map[string]bool{}
	for i, metric := range c.Metrics {
		path := fmt.Sprintf("metrics[%d]", i)
		m.check(metric.Name != "", path+".metricName", "is empty")
		m.check(!names[metric.Name], path+".metricName", "%q is there twice", metric.Name)
		m.check(metric.Target > 0 && !math.IsInf(metric.Target, 1), path+".targetValue", "%v is not in (0, ∞)", metric.Target)
		names[metric.Name] = true
	}
	m.check(c.Readings == PerReplica || c.Readings == Upstream, "readings", "%d is not PerReplica or Upstream", int(c.Readings))
	c.ScaleUp.validate(&m, "behavior.scaleUp.stablePolicy")
	c.Panic.validate(&m, "behavior.scaleUp.panicPolicy")
	c.ScaleDown.validate(&m, "behavior.scaleDown")
	return errors.Join(m...)
}

func (s Stable) validate(m *mistakes, path string) {
	m.duration(path+".stabilizationWindow", s.Window)
	m.within(path+".instances", s.Instances, 0, math.MaxInt32)
	m.within(path+".percent", s.Percent, 0, MostPercent)
	m.duration(path+".period", s.Period)
	m.check(s.Select >= Unlimited && s.Select <= And, path+".selectPolicy", "%d is not Or, And or empty", int(s.Select))
}

func (p Panic) validate(m *mistakes, path string) {
	m.within(path+".panicThresholdPercent", p.ThresholdPercent, leastPanic, MostPercent)
	m.duration(path+".panicModeHold", p.Hold)
	m.within(path+".percent", p.Percent, 0, MostPercent)
	m.duration(path+".period", p.Period)
}
