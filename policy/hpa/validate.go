package hpa

import (
	"errors"
	"fmt"
	"time"
)

// mistakes collects what is wrong, each with its path.
type mistakes []error

func (m *mistakes) check(ok bool, path, format string, args ...any) {
	if !ok {
		*m = append(*m, fmt.Errorf("hpa: %s: %s", path, fmt.Sprintf(format, args...)))
	}
}

func (m *mistakes) window(path string, d time.Duration) {
	m.check(d >= 0 && d <= MaxStabilizationWindow, path, "%v is not in [0s, %v]", d, MaxStabilizationWindow)
}

// Validate returns every mistake, each with its path as a manifest has it.
func (c *Config) Validate() error {
	var m mistakes
	m.check(c.MinReplicas >= 0, "minReplicas", "%d < 0", c.MinReplicas)
	m.check(c.MaxReplicas >= 1, "maxReplicas", "%d < 1", c.MaxReplicas)
	m.check(c.MaxReplicas >= c.MinReplicas, "maxReplicas", "%d is less than minReplicas %d", c.MaxReplicas, c.MinReplicas)
	withoutPods := len(c.Metrics) == 0
	for i, metric := range c.Metrics {
		metric.validate(&m, fmt.Sprintf("metrics[%d]", i))
		withoutPods = withoutPods || metric.Source == Object || metric.Source == External
	}
	m.check(c.MinReplicas != 0 || withoutPods, "metrics", "minReplicas 0 needs an Object or External metric")
	if c.Behavior != nil {
		c.Behavior.ScaleUp.validate(&m, "behavior.scaleUp")
		c.Behavior.ScaleDown.validate(&m, "behavior.scaleDown")
	}
	m.check(c.Tolerance >= 0, "tolerance", "%v is not in [0, ∞)", c.Tolerance)
	m.window("downscaleStabilization", c.DownscaleStabilization)
	m.window("cpuInitializationPeriod", c.CPUInitializationPeriod)
	m.window("initialReadinessDelay", c.InitialReadinessDelay)
	return errors.Join(m...)
}

func (r Rules) validate(m *mistakes, path string) {
	m.window(path+".stabilizationWindowSeconds", r.StabilizationWindow)
	m.check(r.Select >= Max && r.Select <= Disabled, path+".selectPolicy", "%d is not Max, Min or Disabled", int(r.Select))
	m.check(len(r.Policies) > 0, path+".policies", "at least one is needed")
	m.check(r.Tolerance >= 0, path+".tolerance", "%v is not in [0, ∞)", r.Tolerance)
	for i, p := range r.Policies {
		path := fmt.Sprintf("%s.policies[%d]", path, i)
		m.check(p.Type == Pods || p.Type == Percent, path+".type", "%d is not Pods or Percent", int(p.Type))
		m.check(p.Value > 0, path+".value", "%d ≤ 0", p.Value)
		m.check(p.Period > 0 && p.Period <= MaxPeriod, path+".periodSeconds", "%v is not in (0s, %v]", p.Period, MaxPeriod)
	}
}

func (m Metric) validate(found *mistakes, path string) {
	found.check(m.Source >= Resource && m.Source <= External, path+".type", "unknown source %d", int(m.Source))
	found.check(m.Name != "", path+".name", "is empty")
	found.check((m.Container != "") == (m.Source == ContainerResource), path+".container",
		"belongs to ContainerResource, and only there")
	found.check(m.Target.Value > 0, path+".target.value", "%d ≤ 0", m.Target.Value)
	var permitted bool
	switch m.Target.Type {
	case Utilization:
		permitted = m.Source == Resource || m.Source == ContainerResource
	case AverageValue:
		permitted = true
	case Value:
		permitted = m.Source == Object || m.Source == External
	}
	found.check(permitted, path+".target.type", "does not go with this type of metric")
}
