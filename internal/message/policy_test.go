package message_test

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/poolwright/poolwright/internal/message"
	"github.com/poolwright/poolwright/planner"
	"github.com/poolwright/poolwright/policy/hpa"
	"github.com/poolwright/poolwright/policy/knative"
	"github.com/poolwright/poolwright/policy/kthena"
)

// followed is a fleet with a policy.
func followed(policy string) string {
	return `
pools: [{accelerator: H100}]
workloads:
- name: chat
  load: {arrivalRate: 1}
  policy: ` + policy + `
  variants: [{name: v, accelerator: H100, capacityRps: 1}]
`
}

// Every field of every policy, with a value that is no default.
var policies = map[string]string{
	"hpa": followed(`{hpa: {downscaleStabilization: 1m, behavior: {
    scaleUp: {stabilizationWindowSeconds: 30, selectPolicy: Min, policies: [{type: Pods, value: 2, periodSeconds: 60}, {type: Percent, value: 50, periodSeconds: 90}]},
    scaleDown: {stabilizationWindowSeconds: 0, selectPolicy: Disabled, policies: [{type: Percent, value: 10, periodSeconds: 1800}]}}}}`),
	"kthena": followed(`{kthena: {behavior: {
    scaleUp: {
      stablePolicy: {instances: 3, percent: 40, period: 30s, selectPolicy: And, stabilizationWindow: 15s},
      panicPolicy: {percent: 500, period: 45s, panicThresholdPercent: 150, panicModeHold: 2m}},
    scaleDown: {instances: 2, percent: 0, period: 0s, selectPolicy: Or, stabilizationWindow: 10m}}}}`),
	"knative": followed(`{knative: {stableWindow: 120s, panicWindowPercent: 5, panicThresholdPercent: 300, maxScaleUpRate: 10, maxScaleDownRate: 1.5}}`),
}

func TestPolicies(t *testing.T) {
	speed := hpa.DefaultConfig()
	behavior := hpa.DefaultBehavior()
	speed.Behavior, speed.DownscaleStabilization = &behavior, time.Minute
	behavior.ScaleUp.StabilizationWindow, behavior.ScaleUp.Select = 30*time.Second, hpa.Min
	behavior.ScaleUp.Policies = []hpa.Policy{
		{Type: hpa.Pods, Value: 2, Period: time.Minute}, {Type: hpa.Percent, Value: 50, Period: 90 * time.Second},
	}
	behavior.ScaleDown.StabilizationWindow, behavior.ScaleDown.Select = 0, hpa.Disabled
	behavior.ScaleDown.Policies = []hpa.Policy{{Type: hpa.Percent, Value: 10, Period: 30 * time.Minute}}

	corrected := kthena.DefaultConfig()
	corrected.ScaleUp = kthena.Stable{Instances: 3, Percent: 40, Period: 30 * time.Second, Select: kthena.And, Window: 15 * time.Second}
	corrected.Panic = kthena.Panic{Percent: 500, Period: 45 * time.Second, ThresholdPercent: 150, Hold: 2 * time.Minute}
	corrected.ScaleDown = kthena.Stable{Instances: 2, Select: kthena.Or, Window: 10 * time.Minute}

	windows := knative.DefaultConfig()
	windows.StableWindow, windows.PanicWindowPercent, windows.PanicThresholdPercent = 2*time.Minute, 5, 300
	windows.MaxScaleUpRate, windows.MaxScaleDownRate = 10, 1.5
	for name, want := range map[string]planner.Policy{"hpa": {HPA: &speed}, "kthena": {Kthena: &corrected}, "knative": {Knative: &windows}} {
		assert.Equal(t, want, translate(t, policies[name]).Workloads[0].Policy)
	}
}

// Sections and fields that are left out have the defaults of each autoscaler.
func TestPoliciesByDefault(t *testing.T) {
	of := func(policy string) planner.Policy { return translate(t, followed(policy)).Workloads[0].Policy }
	plain, behaved := hpa.DefaultConfig(), hpa.DefaultConfig()
	behavior := hpa.DefaultBehavior()
	behaved.Behavior = &behavior
	assert.Equal(t, &plain, of(`{hpa: {}}`).HPA)
	assert.Equal(t, &behaved, of(`{hpa: {behavior: {}}}`).HPA)
	assert.Equal(t, &behaved, of(`{hpa: {behavior: {scaleUp: {}, scaleDown: {}}}}`).HPA)
	webhook, section := kthena.DefaultConfig(), kthena.DefaultConfig()
	assert.Equal(t, &webhook, of(`{kthena: {}}`).Kthena)
	assert.Equal(t, &webhook, of(`{kthena: {behavior: {scaleUp: {}}}}`).Kthena)
	section.ScaleUp, section.Panic = kthena.SectionDefaults()
	section.ScaleDown, section.Panic.Period = section.ScaleUp, time.Minute
	assert.Equal(t, &section, of(`{kthena: {behavior: {scaleUp: {stablePolicy: {}, panicPolicy: {period: 1m}}, scaleDown: {}}}}`).Kthena)
	windows := knative.DefaultConfig()
	assert.Equal(t, &windows, of(`{knative: {}}`).Knative)
}

func TestMistakesInPolicies(t *testing.T) {
	for text, paths := range map[string][]string{
		`{}`: {"kind"},
		`{hpa: {downscaleStabilization: 2h, behavior: {scaleUp: {stabilizationWindowSeconds: 3601, selectPolicy: Largest,
      policies: [{type: Nodes, value: 0, periodSeconds: 0}]}}}}`: {
			"hpa.behavior.scaleUp.policies[0].periodSeconds", "hpa.behavior.scaleUp.policies[0].type", "hpa.behavior.scaleUp.policies[0].value",
			"hpa.behavior.scaleUp.selectPolicy", "hpa.behavior.scaleUp.stabilizationWindowSeconds", "hpa.downscaleStabilization",
		},
		`{kthena: {behavior: {scaleUp: {stablePolicy: {instances: -1, percent: 1001, period: 31m, selectPolicy: Any, stabilizationWindow: 31m},
      panicPolicy: {percent: -1, panicThresholdPercent: 100, panicModeHold: 31m}}}}}`: {
			"kthena.behavior.scaleUp.panicPolicy.panicModeHold", "kthena.behavior.scaleUp.panicPolicy.panicThresholdPercent",
			"kthena.behavior.scaleUp.panicPolicy.percent", "kthena.behavior.scaleUp.panicPolicy.period",
			"kthena.behavior.scaleUp.stablePolicy.instances", "kthena.behavior.scaleUp.stablePolicy.percent",
			"kthena.behavior.scaleUp.stablePolicy.period", "kthena.behavior.scaleUp.stablePolicy.selectPolicy",
			"kthena.behavior.scaleUp.stablePolicy.stabilizationWindow",
		},
		`{knative: {stableWindow: 6.5s, panicWindowPercent: 0, panicThresholdPercent: 100, maxScaleUpRate: 1, maxScaleDownRate: 1}}`: {
			"knative.maxScaleDownRate", "knative.maxScaleUpRate", "knative.panicThresholdPercent", "knative.panicWindowPercent", "knative.stableWindow",
		},
	} {
		_, err := message.Fleet(read(t, followed(text)))
		var violations message.Violations
		require.ErrorAs(t, err, &violations)
		var found []string
		for _, v := range violations {
			found = append(found, v.Path)
		}
		var want []string
		for _, path := range paths {
			want = append(want, "workloads[0].policy."+path)
		}
		assert.Equal(t, want, found, text)
	}
}

// What the schema accepts at the ends of its ranges the core accepts too.
func TestRangesOfPolicies(t *testing.T) {
	for _, text := range []string{
		`{native: {}}`,
		`{hpa: {downscaleStabilization: 1h, behavior: {scaleUp: {stabilizationWindowSeconds: 3600, policies: [{type: Pods, value: 2147483647, periodSeconds: 1800}]},
      scaleDown: {policies: [{type: Percent, value: 1, periodSeconds: 1}]}}}}`,
		`{kthena: {behavior: {scaleUp: {stablePolicy: {instances: 2147483647, percent: 1000, period: 30m, stabilizationWindow: 30m},
      panicPolicy: {percent: 1000, period: 30m, panicThresholdPercent: 1000, panicModeHold: 30m}}}}}`,
		`{kthena: {behavior: {scaleUp: {stablePolicy: {instances: 0, percent: 0, period: 0s, stabilizationWindow: 0s},
      panicPolicy: {percent: 0, period: 0s, panicThresholdPercent: 110, panicModeHold: 0s}}}}}`,
		`{knative: {stableWindow: 6s, panicWindowPercent: 1, panicThresholdPercent: 110, maxScaleUpRate: 1.0000000000000002, maxScaleDownRate: 1000000}}`,
		`{knative: {stableWindow: 1h, panicWindowPercent: 100, panicThresholdPercent: 1000, maxScaleUpRate: 1000000, maxScaleDownRate: 1.0000000000000002}}`,
	} {
		require.NoError(t, translate(t, followed(text)).Workloads[0].Policy.Validate(), text)
	}
	wrong := planner.Policy{HPA: &hpa.Config{Tolerance: math.NaN()}, Kthena: &kthena.Config{}, Knative: &knative.Config{}}
	require.ErrorContains(t, wrong.Validate(), "3 of native, hpa, kthena and knative")
}
