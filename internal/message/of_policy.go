package message

import (
	"time"

	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/poolwright/poolwright/planner"
	"github.com/poolwright/poolwright/policy"
	"github.com/poolwright/poolwright/policy/hpa"
	"github.com/poolwright/poolwright/policy/knative"
	"github.com/poolwright/poolwright/policy/kthena"
	poolwrightv1 "github.com/poolwright/poolwright/proto/poolwright/v1"
)

// ofPolicy is nil where there is none.
func ofPolicy(p planner.Policy) *poolwrightv1.Policy {
	switch {
	case p.Native != nil:
		return &poolwrightv1.Policy{Kind: &poolwrightv1.Policy_Native{Native: ofNative(*p.Native)}}
	case p.HPA != nil:
		return &poolwrightv1.Policy{Kind: &poolwrightv1.Policy_Hpa{Hpa: ofHPA(p.HPA)}}
	case p.Kthena != nil:
		return &poolwrightv1.Policy{Kind: &poolwrightv1.Policy_Kthena{Kthena: ofKthena(*p.Kthena)}}
	case p.Knative != nil:
		return &poolwrightv1.Policy{Kind: &poolwrightv1.Policy_Knative{Knative: ofKnative(*p.Knative)}}
	}
	return nil
}

func ofNative(n policy.Native) *poolwrightv1.NativePolicy {
	m := &poolwrightv1.NativePolicy{
		Tolerance: &n.Tolerance, ZeroGrace: durationpb.New(n.ZeroGrace), MinInterval: durationpb.New(n.MinInterval),
	}
	if n.ScaleDownWindow != nil {
		m.ScaleDownWindow = durationpb.New(*n.ScaleDownWindow)
	}
	return m
}

func ofHPA(c *hpa.Config) *poolwrightv1.HpaPolicy {
	m := &poolwrightv1.HpaPolicy{DownscaleStabilization: durationpb.New(c.DownscaleStabilization)}
	if b := c.Behavior; b != nil {
		m.Behavior = &poolwrightv1.HpaBehavior{ScaleUp: ofRules(&b.ScaleUp), ScaleDown: ofRules(&b.ScaleDown)}
	}
	return m
}

func ofRules(r *hpa.Rules) *poolwrightv1.HpaRules {
	window := inSeconds(r.StabilizationWindow)
	m := &poolwrightv1.HpaRules{StabilizationWindowSeconds: &window, SelectPolicy: nameOf(hpaSelects, r.Select)}
	for _, p := range r.Policies {
		m.Policies = append(m.Policies, &poolwrightv1.HpaRule{
			Type: nameOf(hpaTypes, p.Type), Value: p.Value, PeriodSeconds: inSeconds(p.Period),
		})
	}
	return m
}

func inSeconds(d time.Duration) int32 { return count(int(d / time.Second)) }

// ofKthena writes every section, so that no default of another applies.
func ofKthena(c kthena.Config) *poolwrightv1.KthenaPolicy {
	percent, threshold := count(c.Panic.Percent), count(c.Panic.ThresholdPercent)
	return &poolwrightv1.KthenaPolicy{Behavior: &poolwrightv1.KthenaBehavior{
		ScaleUp: &poolwrightv1.KthenaScaleUp{
			StablePolicy: ofKthenaRules(c.ScaleUp),
			PanicPolicy: &poolwrightv1.KthenaPanic{
				Percent: &percent, Period: durationpb.New(c.Panic.Period),
				PanicThresholdPercent: &threshold, PanicModeHold: durationpb.New(c.Panic.Hold),
			},
		},
		ScaleDown: ofKthenaRules(c.ScaleDown),
	}}
}

func ofKthenaRules(s kthena.Stable) *poolwrightv1.KthenaRules {
	if s.Select == kthena.Unlimited {
		s.Period = 0 // the same, and has a name
	}
	instances, percent := count(s.Instances), count(s.Percent)
	return &poolwrightv1.KthenaRules{
		Instances: &instances, Percent: &percent, Period: durationpb.New(s.Period),
		SelectPolicy: nameOf(kthenaSelects, s.Select), StabilizationWindow: durationpb.New(s.Window),
	}
}

func ofKnative(c knative.Config) *poolwrightv1.KnativePolicy {
	return &poolwrightv1.KnativePolicy{
		StableWindow: durationpb.New(c.StableWindow), PanicWindowPercent: &c.PanicWindowPercent,
		PanicThresholdPercent: &c.PanicThresholdPercent,
		MaxScaleUpRate:        &c.MaxScaleUpRate, MaxScaleDownRate: &c.MaxScaleDownRate,
	}
}
