package kthena

import (
	"cmp"
	"fmt"
	"reflect"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/poolwright/poolwright/internal/resource"
	"github.com/poolwright/poolwright/optimizer/greedy"
	"github.com/poolwright/poolwright/policy/kthena"
)

// boosterSpec is a ModelBoosterSpec. Backend takes the place of Backends since v0.4.
type boosterSpec struct {
	Name                     string        `json:"name"`
	Backends                 []backendSpec `json:"backends"`
	Backend                  *backendSpec  `json:"backend"`
	AutoscalingPolicy        *policySpec   `json:"autoscalingPolicy"`
	CostExpansionRatePercent *int          `json:"costExpansionRatePercent"`
}

type backendSpec struct {
	Name                   string           `json:"name"`
	Type                   string           `json:"type"`
	MinReplicas            *int             `json:"minReplicas"`
	MaxReplicas            *int             `json:"maxReplicas"`
	ScalingCost            int              `json:"scalingCost"`
	ScaleToZeroGracePeriod *metav1.Duration `json:"scaleToZeroGracePeriod"`
	AutoscalingPolicy      *policySpec      `json:"autoscalingPolicy"`
}

// booster reads a ModelBooster: a workload whose variants are the ModelServings that
// Kthena makes of its backends. Without bounds, since v1.0, it declares no workload.
func booster(object *unstructured.Unstructured) (*declaration, *problem) {
	var b struct {
		Spec boosterSpec `json:"spec"`
	}
	if err := decode(object, &b); err != nil {
		return nil, err
	}
	s := &b.Spec
	if s.Backend != nil {
		s.Backends = []backendSpec{*s.Backend}
	}
	d := &declaration{
		object: object, model: cmp.Or(s.Name, object.GetName()),
		single: len(s.Backends) == 1, expansionRate: greedy.DefaultExpansionRate,
	}
	if s.CostExpansionRatePercent != nil {
		d.expansionRate = *s.CostExpansionRatePercent
	}
	for i := range s.Backends {
		backend := &s.Backends[i]
		if backend.MinReplicas == nil || backend.MaxReplicas == nil {
			return nil, nil
		}
		d.targets = append(d.targets, backend.target(object.GetName(), i))
		d.engines = append(d.engines, backend.Type)
		if grace := backend.ScaleToZeroGracePeriod; grace != nil {
			if grace.Duration < 0 {
				return nil, &problem{resource.InvalidSpec, fmt.Sprintf("%s.scaleToZeroGracePeriod: %v < 0", d.targets[i].path, grace.Duration)}
			}
			d.grace = max(d.grace, grace.Duration)
		}
	}
	err := d.followBackends(s)
	return d, err
}

// target is the ModelServing that Kthena makes of a backend.
func (b *backendSpec) target(booster string, index int) target {
	t := target{path: fmt.Sprintf("spec.backends[%d]", index), cost: b.ScalingCost}
	t.bounds = bounds{*b.MinReplicas, *b.MaxReplicas}
	t.TargetRef.Name = booster + "-" + b.Name
	return t
}

// followBackends takes over the policy of the model, or the one that all backends have.
func (d *declaration) followBackends(s *boosterSpec) *problem {
	if s.AutoscalingPolicy != nil {
		return d.follow(s.AutoscalingPolicy, "spec.autoscalingPolicy: ")
	}
	var common *kthena.Config
	for i := range s.Backends {
		if s.Backends[i].AutoscalingPolicy == nil {
			continue
		}
		where := d.targets[i].path + ".autoscalingPolicy: "
		if err := d.follow(s.Backends[i].AutoscalingPolicy, where); err != nil {
			return err
		}
		if common != nil && !reflect.DeepEqual(common, d.policy) {
			d.policy = nil
			d.conditions = append(d.conditions, resource.Condition{
				Type: PolicyIgnored, Status: resource.True, Reason: "BackendsDiffer",
				Message: "the policies of the backends differ; their replicas serve one demand, and follow the policy of the configuration",
			})
			return nil
		}
		common = d.policy
	}
	return nil
}
