package kthena_test

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/poolwright/poolwright/policy/kthena"
)

// valid wants five waiting requests per replica, between 1 and 20 replicas.
func valid() kthena.Config {
	c := kthena.DefaultConfig()
	c.MinReplicas, c.MaxReplicas = 1, 20
	c.Metrics = []kthena.Metric{{Name: "num_requests_waiting", Target: 5}}
	return c
}

func TestValidateNamesEveryMistake(t *testing.T) {
	c := valid()
	require.NoError(t, c.Validate())

	for want, spoil := range map[string]func(*kthena.Config){
		"minReplicas: -1 is not in [0, 1000000]":                            func(c *kthena.Config) { c.MinReplicas = -1 },
		"maxReplicas: 0 is not in [1, 1000000]":                             func(c *kthena.Config) { c.MaxReplicas = 0 },
		"maxReplicas: 20 is less than minReplicas 30":                       func(c *kthena.Config) { c.MinReplicas = 30 },
		"tolerancePercent: 101 is not in [0, 100]":                          func(c *kthena.Config) { c.TolerancePercent = 101 },
		"metrics[0].metricName: is empty":                                   func(c *kthena.Config) { c.Metrics[0].Name = "" },
		`metrics[1].metricName: "num_requests_waiting" is there twice`:      func(c *kthena.Config) { c.Metrics = append(c.Metrics, c.Metrics[0]) },
		"metrics[0].targetValue: +Inf is not in":                            func(c *kthena.Config) { c.Metrics[0].Target = math.Inf(1) },
		"metrics[0].targetValue: NaN is not in":                             func(c *kthena.Config) { c.Metrics[0].Target = math.NaN() },
		"readings: 2 is not":                                                func(c *kthena.Config) { c.Readings = 2 },
		"behavior.scaleUp.stablePolicy.stabilizationWindow: -1s is not in":  func(c *kthena.Config) { c.ScaleUp.Window = -time.Second },
		"behavior.scaleUp.stablePolicy.instances: -1 is not in":             func(c *kthena.Config) { c.ScaleUp.Instances = -1 },
		"behavior.scaleDown.percent: 1001 is not in [0, 1000]":              func(c *kthena.Config) { c.ScaleDown.Percent = 1001 },
		"behavior.scaleDown.period: 1h0m0s is not in [0s, 30m0s]":           func(c *kthena.Config) { c.ScaleDown.Period = time.Hour },
		"behavior.scaleDown.selectPolicy: 3 is not":                         func(c *kthena.Config) { c.ScaleDown.Select = 3 },
		"behavior.scaleUp.panicPolicy.panicThresholdPercent: 100 is not in": func(c *kthena.Config) { c.Panic.ThresholdPercent = 100 },
		"behavior.scaleUp.panicPolicy.panicModeHold: -1ns is not in":        func(c *kthena.Config) { c.Panic.Hold = -1 },
		"behavior.scaleUp.panicPolicy.percent: -1 is not in":                func(c *kthena.Config) { c.Panic.Percent = -1 },
		"behavior.scaleUp.panicPolicy.period: 1h0m0s is not in":             func(c *kthena.Config) { c.Panic.Period = time.Hour },
	} {
		c := valid()
		spoil(&c)
		require.ErrorContains(t, c.Validate(), "kthena: "+want)
	}

	c = valid()
	c.Metrics[0].Target, c.TolerancePercent, c.Panic.Hold = 0, -1, time.Hour
	assert.Len(t, strings.Split(c.Validate().Error(), "\n"), 3)
}

func TestReasonsHaveNamesAndWords(t *testing.T) {
	for r := kthena.BelowMinimum; r <= kthena.WithinBounds; r++ {
		assert.NotContains(t, r.String(), "Reason(")
		assert.Contains(t, r.Text(), " ")
	}
	assert.Equal(t, "Reason(99)", kthena.Reason(99).Text())
}
