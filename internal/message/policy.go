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

// policy is zero where none is given.
func (t *translation) policy(m *poolwrightv1.Policy, path string) planner.Policy {
	switch m.GetKind().(type) {
	case *poolwrightv1.Policy_Native:
		return planner.Policy{Native: native(m.GetNative())}
	case *poolwrightv1.Policy_Hpa:
		return planner.Policy{HPA: hpaPolicy(m.GetHpa())}
	case *poolwrightv1.Policy_Kthena:
		return planner.Policy{Kthena: kthenaPolicy(m.GetKthena())}
	case *poolwrightv1.Policy_Knative:
		return planner.Policy{Knative: t.knativePolicy(m.GetKnative(), path+".knative")}
	}
	return planner.Policy{}
}

func native(m *poolwrightv1.NativePolicy) *policy.Native {
	p := policy.DefaultNative()
	if d := m.GetScaleDownWindow(); d != nil {
		p.ScaleDownWindow = new(d.AsDuration())
	}
	setDuration(&p.ZeroGrace, m.GetZeroGrace())
	setDuration(&p.MinInterval, m.GetMinInterval())
	set(&p.Tolerance, m.Tolerance)
	return &p
}

// Names as the manifests of the autoscalers have them.
var (
	hpaSelects    = map[string]hpa.Select{"Max": hpa.Max, "Min": hpa.Min, "Disabled": hpa.Disabled}
	hpaTypes      = map[string]hpa.PolicyType{"Pods": hpa.Pods, "Percent": hpa.Percent}
	kthenaSelects = map[string]kthena.Select{"Or": kthena.Or, "And": kthena.And}
)

func hpaPolicy(m *poolwrightv1.HpaPolicy) *hpa.Config {
	c := hpa.DefaultConfig()
	setDuration(&c.DownscaleStabilization, m.GetDownscaleStabilization())
	if b := m.GetBehavior(); b != nil {
		behavior := hpa.DefaultBehavior()
		setRules(&behavior.ScaleUp, b.GetScaleUp())
		setRules(&behavior.ScaleDown, b.GetScaleDown())
		c.Behavior = &behavior
	}
	return &c
}

// setRules replaces defaults by what is given.
func setRules(to *hpa.Rules, m *poolwrightv1.HpaRules) {
	if m == nil {
		return
	}
	if name := m.GetSelectPolicy(); name != "" {
		to.Select = hpaSelects[name]
	}
	if m.StabilizationWindowSeconds != nil {
		to.StabilizationWindow = time.Duration(m.GetStabilizationWindowSeconds()) * time.Second
	}
	if len(m.GetPolicies()) == 0 {
		return
	}
	to.Policies = nil
	for _, p := range m.GetPolicies() {
		to.Policies = append(to.Policies, hpa.Policy{
			Type: hpaTypes[p.GetType()], Value: p.GetValue(), Period: time.Duration(p.GetPeriodSeconds()) * time.Second,
		})
	}
}

// kthenaPolicy has the defaults of Kthena's webhook for sections that are absent, and those
// of its schema for fields that are absent in a section.
func kthenaPolicy(m *poolwrightv1.KthenaPolicy) *kthena.Config {
	c := kthena.DefaultConfig()
	stable, panics := kthena.SectionDefaults()
	up, down := m.GetBehavior().GetScaleUp(), m.GetBehavior().GetScaleDown()
	if rules := up.GetStablePolicy(); rules != nil {
		c.ScaleUp = kthenaRules(stable, rules)
	}
	if down != nil {
		c.ScaleDown = kthenaRules(stable, down)
	}
	if p := up.GetPanicPolicy(); p != nil {
		setInt(&panics.Percent, p.Percent)
		setInt(&panics.ThresholdPercent, p.PanicThresholdPercent)
		setDuration(&panics.Period, p.GetPeriod())
		setDuration(&panics.Hold, p.GetPanicModeHold())
		c.Panic = panics
	}
	return &c
}

func kthenaRules(s kthena.Stable, m *poolwrightv1.KthenaRules) kthena.Stable {
	setInt(&s.Instances, m.Instances)
	setInt(&s.Percent, m.Percent)
	setDuration(&s.Period, m.GetPeriod())
	setDuration(&s.Window, m.GetStabilizationWindow())
	if name := m.GetSelectPolicy(); name != "" {
		s.Select = kthenaSelects[name]
	}
	return s
}

func (t *translation) knativePolicy(m *poolwrightv1.KnativePolicy, path string) *knative.Config {
	c := knative.DefaultConfig()
	setDuration(&c.StableWindow, m.GetStableWindow())
	set(&c.PanicWindowPercent, m.PanicWindowPercent)
	set(&c.PanicThresholdPercent, m.PanicThresholdPercent)
	set(&c.MaxScaleUpRate, m.MaxScaleUpRate)
	set(&c.MaxScaleDownRate, m.MaxScaleDownRate)
	if c.StableWindow%time.Second != 0 {
		t.violations.add(path+".stableWindow", "%s is not in whole seconds", c.StableWindow)
	}
	return &c
}

// set replaces a default by what is given.
func set[T any](to, given *T) {
	if given != nil {
		*to = *given
	}
}

func setInt(to *int, given *int32) {
	if given != nil {
		*to = int(*given)
	}
}

func setDuration(to *time.Duration, given *durationpb.Duration) {
	if given != nil {
		*to = given.AsDuration()
	}
}
