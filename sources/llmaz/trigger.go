package llmaz

import (
	"fmt"
	"math"
	"time"

	autoscaling "k8s.io/api/autoscaling/v2"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/poolwright/poolwright/policy/hpa"
)

// scaleTrigger is what llmaz makes a HorizontalPodAutoscaler of.
type scaleTrigger struct {
	HPA *struct {
		Metrics  []autoscaling.MetricSpec                     `json:"metrics"`
		Behavior *autoscaling.HorizontalPodAutoscalerBehavior `json:"behavior"`
	} `json:"hpa"`
}

// config is the autoscaler that llmaz makes within bounds, with what Kubernetes fills in.
func (t *scaleTrigger) config(b bounds) (*hpa.Config, error) {
	c := hpa.DefaultConfig()
	c.MinReplicas, c.MaxReplicas = b.min, math.MaxInt32
	if b.max != nil {
		c.MaxReplicas = *b.max
	}
	for i := range t.HPA.Metrics {
		m, err := metric(&t.HPA.Metrics[i])
		if err != nil {
			return nil, fmt.Errorf("metrics[%d]: %w", i, err)
		}
		c.Metrics = append(c.Metrics, m)
	}
	if len(c.Metrics) == 0 {
		c.Metrics = []hpa.Metric{{Source: hpa.Resource, Name: "cpu", Target: hpa.Target{Type: hpa.Utilization, Value: 80}}}
	}
	if b := t.HPA.Behavior; b != nil {
		behavior := hpa.DefaultBehavior()
		overrule(&behavior.ScaleUp, b.ScaleUp)
		overrule(&behavior.ScaleDown, b.ScaleDown)
		c.Behavior = &behavior
	}
	return &c, c.Validate()
}

func metric(m *autoscaling.MetricSpec) (hpa.Metric, error) {
	switch {
	case m.Type == autoscaling.ResourceMetricSourceType && m.Resource != nil:
		return hpa.Metric{Source: hpa.Resource, Name: string(m.Resource.Name), Target: target(&m.Resource.Target)}, nil
	case m.Type == autoscaling.ContainerResourceMetricSourceType && m.ContainerResource != nil:
		r := m.ContainerResource
		return hpa.Metric{Source: hpa.ContainerResource, Name: string(r.Name), Container: r.Container, Target: target(&r.Target)}, nil
	case m.Type == autoscaling.PodsMetricSourceType && m.Pods != nil:
		return hpa.Metric{Source: hpa.PodsMetric, Name: m.Pods.Metric.Name, Target: target(&m.Pods.Target)}, nil
	case m.Type == autoscaling.ObjectMetricSourceType && m.Object != nil:
		return hpa.Metric{Source: hpa.Object, Name: m.Object.Metric.Name, Target: target(&m.Object.Target)}, nil
	case m.Type == autoscaling.ExternalMetricSourceType && m.External != nil:
		return hpa.Metric{Source: hpa.External, Name: m.External.Metric.Name, Target: target(&m.External.Target)}, nil
	}
	return hpa.Metric{}, fmt.Errorf("type %q without what belongs to it", m.Type)
}

// target is what counts of a target: Kubernetes ignores the values of other types.
func target(t *autoscaling.MetricTarget) hpa.Target {
	switch {
	case t.Type == autoscaling.UtilizationMetricType && t.AverageUtilization != nil:
		return hpa.Target{Type: hpa.Utilization, Value: int64(*t.AverageUtilization)}
	case t.Type == autoscaling.ValueMetricType:
		return hpa.Target{Type: hpa.Value, Value: milli(t.Value)}
	default:
		return hpa.Target{Type: hpa.AverageValue, Value: milli(t.AverageValue)}
	}
}

func milli(q *resource.Quantity) int64 {
	if q == nil {
		return 0
	}
	return q.MilliValue()
}

// overrule replaces defaults of a direction by what is declared.
func overrule(r *hpa.Rules, declared *autoscaling.HPAScalingRules) {
	if declared == nil {
		return
	}
	if s := declared.StabilizationWindowSeconds; s != nil {
		r.StabilizationWindow = time.Duration(*s) * time.Second
	}
	if s := declared.SelectPolicy; s != nil {
		r.Select = map[autoscaling.ScalingPolicySelect]hpa.Select{
			autoscaling.MinChangePolicySelect: hpa.Min,
			autoscaling.DisabledPolicySelect:  hpa.Disabled,
			autoscaling.MaxChangePolicySelect: hpa.Max,
		}[*s]
	}
	if declared.Tolerance != nil {
		r.Tolerance = float64(milli(declared.Tolerance)) / 1000
	}
	if len(declared.Policies) == 0 {
		return
	}
	r.Policies = nil
	for _, p := range declared.Policies {
		kind := hpa.Pods
		if p.Type == autoscaling.PercentScalingPolicy {
			kind = hpa.Percent
		}
		r.Policies = append(r.Policies, hpa.Policy{Type: kind, Value: p.Value, Period: time.Duration(p.PeriodSeconds) * time.Second})
	}
}
