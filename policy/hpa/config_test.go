package hpa_test

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/poolwright/poolwright/policy/hpa"
)

// valid follows the use of CPU between 2 and 10 replicas, within Kubernetes' default
// behavior.
func valid() hpa.Config {
	behavior := hpa.DefaultBehavior()
	c := hpa.DefaultConfig()
	c.MinReplicas, c.MaxReplicas, c.Behavior = 2, 10, &behavior
	c.Metrics = []hpa.Metric{{Source: hpa.Resource, Name: "cpu", Target: hpa.Target{Type: hpa.Utilization, Value: 50}}}
	return c
}

func TestValidateNamesEveryMistake(t *testing.T) {
	c := valid()
	require.NoError(t, c.Validate())

	for want, spoil := range map[string]func(*hpa.Config){
		"minReplicas: -1 < 0":                                   func(c *hpa.Config) { c.MinReplicas = -1 },
		"maxReplicas: 1 is less than minReplicas 2":             func(c *hpa.Config) { c.MaxReplicas = 1 },
		"metrics: minReplicas 0 needs an Object or External":    func(c *hpa.Config) { c.MinReplicas = 0 },
		"metrics[0].type: unknown source 9":                     func(c *hpa.Config) { c.Metrics[0].Source = 9 },
		"metrics[0].name: is empty":                             func(c *hpa.Config) { c.Metrics[0].Name = "" },
		"metrics[0].container: belongs to ContainerResource":    func(c *hpa.Config) { c.Metrics[0].Container = "a" },
		"metrics[0].target.value: 0 ≤ 0":                        func(c *hpa.Config) { c.Metrics[0].Target.Value = 0 },
		"metrics[0].target.type: does not go with":              func(c *hpa.Config) { c.Metrics[0].Target.Type = hpa.Value },
		"tolerance: NaN":                                        func(c *hpa.Config) { c.Tolerance = math.NaN() },
		"downscaleStabilization: -1s is not in":                 func(c *hpa.Config) { c.DownscaleStabilization = -time.Second },
		"cpuInitializationPeriod: 2h0m0s is not in":             func(c *hpa.Config) { c.CPUInitializationPeriod = 2 * time.Hour },
		"initialReadinessDelay: -1s is not in":                  func(c *hpa.Config) { c.InitialReadinessDelay = -time.Second },
		"behavior.scaleUp.stabilizationWindowSeconds: 2h0m0s":   func(c *hpa.Config) { c.Behavior.ScaleUp.StabilizationWindow = 2 * time.Hour },
		"behavior.scaleDown.selectPolicy: 7 is not":             func(c *hpa.Config) { c.Behavior.ScaleDown.Select = 7 },
		"behavior.scaleDown.policies: at least one is needed":   func(c *hpa.Config) { c.Behavior.ScaleDown.Policies = nil },
		"behavior.scaleUp.tolerance: -1 is not in":              func(c *hpa.Config) { c.Behavior.ScaleUp.Tolerance = -1 },
		"behavior.scaleUp.policies[0].periodSeconds: 0s is not": func(c *hpa.Config) { c.Behavior.ScaleUp.Policies[0].Period = 0 },
		"behavior.scaleUp.policies[1].value: -3 ≤ 0":            func(c *hpa.Config) { c.Behavior.ScaleUp.Policies[1].Value = -3 },
		"behavior.scaleDown.policies[0].type: 2 is not":         func(c *hpa.Config) { c.Behavior.ScaleDown.Policies[0].Type = 2 },
	} {
		c := valid()
		spoil(&c)
		require.ErrorContains(t, c.Validate(), "hpa: "+want)
	}

	c = valid()
	c.MinReplicas, c.MaxReplicas, c.Metrics[0].Name = -1, 0, ""
	assert.Len(t, strings.Split(c.Validate().Error(), "\n"), 3)
}
