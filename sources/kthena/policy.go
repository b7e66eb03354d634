package kthena

import (
	"errors"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/poolwright/poolwright/policy/kthena"
)

// policySpec is the part of an AutoscalingPolicySpec that says how fast to scale and by
// what. What is absent is nil: defaults depend on whether its section is there.
type policySpec struct {
	TolerancePercent *int32   `json:"tolerancePercent"`
	Metrics          []metric `json:"metrics"`
	Behavior         struct {
		ScaleUp struct {
			StablePolicy *stableSpec `json:"stablePolicy"`
			PanicPolicy  *panicSpec  `json:"panicPolicy"`
		} `json:"scaleUp"`
		ScaleDown *stableSpec `json:"scaleDown"`
	} `json:"behavior"`
}

// metric has its name in MetricName, or in Name since v1.0.
type metric struct {
	MetricName  string            `json:"metricName"`
	Name        string            `json:"name"`
	TargetValue resource.Quantity `json:"targetValue"`
}

type stableSpec struct {
	Instances           *int32           `json:"instances"`
	Percent             *int32           `json:"percent"`
	Period              *metav1.Duration `json:"period"`
	SelectPolicy        *string          `json:"selectPolicy"`
	StabilizationWindow *metav1.Duration `json:"stabilizationWindow"`
}

type panicSpec struct {
	Percent               *int32           `json:"percent"`
	Period                *metav1.Duration `json:"period"`
	PanicThresholdPercent *int32           `json:"panicThresholdPercent"`
	PanicModeHold         *metav1.Duration `json:"panicModeHold"`
}

// config is the policy of a target without bounds, which are those of its variant. The
// error lists every mistake.
func (s *policySpec) config() (*kthena.Config, error) {
	c := kthena.DefaultConfig()
	c.MaxReplicas = kthena.MostReplicas
	set(&c.TolerancePercent, s.TolerancePercent)
	for _, m := range s.Metrics {
		c.Metrics = append(c.Metrics, kthena.Metric{Name: m.name(), Target: m.TargetValue.AsApproximateFloat64()})
	}
	stable, panics := kthena.SectionDefaults()
	var errs []error
	if up := s.Behavior.ScaleUp.StablePolicy; up != nil {
		c.ScaleUp = up.over(stable)
		errs = append(errs, up.validate("behavior.scaleUp.stablePolicy"))
	}
	if down := s.Behavior.ScaleDown; down != nil {
		c.ScaleDown = down.over(stable)
		errs = append(errs, down.validate("behavior.scaleDown"))
	}
	if p := s.Behavior.ScaleUp.PanicPolicy; p != nil {
		c.Panic = p.over(panics)
	}
	return &c, errors.Join(append(errs, c.Validate())...)
}

func (m *metric) name() string {
	if m.MetricName != "" {
		return m.MetricName
	}
	return m.Name
}

// over is the section with what it leaves out taken from defaults.
func (s *stableSpec) over(defaults kthena.Stable) kthena.Stable {
	set(&defaults.Instances, s.Instances)
	set(&defaults.Percent, s.Percent)
	setDuration(&defaults.Period, s.Period)
	setDuration(&defaults.Window, s.StabilizationWindow)
	if s.SelectPolicy != nil {
		defaults.Select = selects()[*s.SelectPolicy]
	}
	return defaults
}

// selects are the values of selectPolicy.
func selects() map[string]kthena.Select {
	return map[string]kthena.Select{"": kthena.Unlimited, "Or": kthena.Or, "And": kthena.And}
}

func (s *stableSpec) validate(path string) error {
	if s.SelectPolicy == nil {
		return nil
	}
	if _, known := selects()[*s.SelectPolicy]; !known {
		return fmt.Errorf("kthena: %s.selectPolicy: %q is not Or, And or empty", path, *s.SelectPolicy)
	}
	return nil
}

func (p *panicSpec) over(defaults kthena.Panic) kthena.Panic {
	set(&defaults.Percent, p.Percent)
	set(&defaults.ThresholdPercent, p.PanicThresholdPercent)
	setDuration(&defaults.Period, p.Period)
	setDuration(&defaults.Hold, p.PanicModeHold)
	return defaults
}

func set(to *int, given *int32) {
	if given != nil {
		*to = int(*given)
	}
}

func setDuration(to *time.Duration, given *metav1.Duration) {
	if given != nil {
		*to = given.Duration
	}
}
