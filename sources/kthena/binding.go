package kthena

import (
	"cmp"
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/poolwright/poolwright/internal/resource"
	"github.com/poolwright/poolwright/optimizer/greedy"
)

// targetsSpec is where a binding, or since v1.0 a policy, names what is scaled. The first
// generation has other names for the same fields.
type targetsSpec struct {
	HomogeneousTarget      *homogeneous   `json:"homogeneousTarget"`
	HeterogeneousTarget    *heterogeneous `json:"heterogeneousTarget"`
	ScalingConfiguration   *homogeneous   `json:"scalingConfiguration"`
	OptimizerConfiguration *heterogeneous `json:"optimizerConfiguration"`
	DisaggregatedTarget    *struct{}      `json:"disaggregatedTarget"`
}

type homogeneous struct {
	Target targetSpec `json:"target"`
	bounds `json:",inline"`
}

type heterogeneous struct {
	Params []struct {
		Target targetSpec `json:"target"`
		bounds `json:",inline"`
		Cost   int `json:"cost"`
	} `json:"params"`
	CostExpansionRatePercent *int `json:"costExpansionRatePercent"`
}

// binding reads an AutoscalingPolicyBinding.
func (r *reading) binding(object *unstructured.Unstructured) (*declaration, *problem) {
	var b struct {
		Spec struct {
			targetsSpec `json:",inline"`
			PolicyRef   struct {
				Name string `json:"name"`
			} `json:"policyRef"`
		} `json:"spec"`
	}
	if err := decode(object, &b); err != nil {
		return nil, err
	}
	d, err := b.Spec.declaration(object)
	if err != nil {
		return nil, err
	}
	name := b.Spec.PolicyRef.Name
	found, ok := r.view.Get(policyKind, object.GetNamespace(), name)
	if !ok {
		return nil, &problem{PolicyNotFound, fmt.Sprintf("there is no AutoscalingPolicy %q in %s", name, object.GetNamespace())}
	}
	var p struct {
		Spec policySpec `json:"spec"`
	}
	if err := decode(found, &p); err != nil {
		return nil, &problem{err.reason, fmt.Sprintf("AutoscalingPolicy %q: %s", name, err.message)}
	}
	err = d.follow(&p.Spec, fmt.Sprintf("AutoscalingPolicy %q: ", name))
	return d, err
}

// autoscalingPolicy reads an AutoscalingPolicy, which declares a workload if it has a target.
func autoscalingPolicy(object *unstructured.Unstructured) (*declaration, *problem) {
	var p struct {
		Spec struct {
			targetsSpec `json:",inline"`
			policySpec  `json:",inline"`
		} `json:"spec"`
	}
	if err := decode(object, &p); err != nil {
		return nil, err
	}
	if p.Spec.targetsSpec == (targetsSpec{}) {
		return nil, nil
	}
	d, err := p.Spec.declaration(object)
	if err != nil {
		return nil, err
	}
	err = d.follow(&p.Spec.policySpec, "")
	return d, err
}

// follow takes over a policy. A target may say under which name its pods report a metric.
func (d *declaration) follow(s *policySpec, where string) *problem {
	config, err := s.config()
	if err != nil {
		return &problem{resource.InvalidSpec, where + sentence(err)}
	}
	for i := range config.Metrics {
		m := &config.Metrics[i]
		if len(d.targets) > 0 && d.targets[0].MetricSources[m.Name].Pod != nil {
			m.Name = cmp.Or(d.targets[0].MetricSources[m.Name].Pod.Name, m.Name)
		}
	}
	d.policy = config
	return nil
}

// declaration is what the targets say.
func (s *targetsSpec) declaration(object *unstructured.Unstructured) (*declaration, *problem) {
	if s.DisaggregatedTarget != nil {
		return nil, &problem{TargetUnsupported, "spec.disaggregatedTarget: the roles of a ModelServing have no scale of their own"}
	}
	var found []*declaration
	for _, h := range [...]struct {
		field string
		*homogeneous
	}{{"scalingConfiguration", s.ScalingConfiguration}, {"homogeneousTarget", s.HomogeneousTarget}} {
		if h.homogeneous != nil {
			found = append(found, h.declaration("spec."+h.field))
		}
	}
	for _, h := range [...]struct {
		field string
		*heterogeneous
	}{{"optimizerConfiguration", s.OptimizerConfiguration}, {"heterogeneousTarget", s.HeterogeneousTarget}} {
		if h.heterogeneous != nil {
			found = append(found, h.declaration("spec."+h.field))
		}
	}
	if len(found) != 1 {
		return nil, &problem{resource.InvalidSpec, fmt.Sprintf("spec: %d of scalingConfiguration, optimizerConfiguration, homogeneousTarget and heterogeneousTarget are set, of which one must be", len(found))}
	}
	found[0].object = object
	return found[0], nil
}

func (h *homogeneous) declaration(path string) *declaration {
	return &declaration{single: true, targets: []target{{path: path, targetSpec: h.Target, bounds: h.bounds}}}
}

func (h *heterogeneous) declaration(path string) *declaration {
	d := &declaration{expansionRate: greedy.DefaultExpansionRate}
	if h.CostExpansionRatePercent != nil {
		d.expansionRate = *h.CostExpansionRatePercent
	}
	for i, p := range h.Params {
		d.targets = append(d.targets, target{
			path: fmt.Sprintf("%s.params[%d]", path, i), targetSpec: p.Target, bounds: p.bounds, cost: p.Cost,
		})
	}
	return d
}
