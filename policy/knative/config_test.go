package knative_test

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/poolwright/poolwright/policy/knative"
)

func TestValidateNamesEveryMistake(t *testing.T) {
	c := knative.DefaultConfig()
	require.NoError(t, c.Validate())
	c.MaxReplicas = 3
	require.NoError(t, c.Validate())

	for want, spoil := range map[string]func(*knative.Config){
		"minReplicas: -1 < 0":                        func(c *knative.Config) { c.MinReplicas = -1 },
		"maxReplicas: 3 is less than minReplicas 4":  func(c *knative.Config) { c.MinReplicas = 4 },
		"target: 0 is not in [0.01,":                 func(c *knative.Config) { c.Target = 0 },
		"target: NaN is not in":                      func(c *knative.Config) { c.Target = math.NaN() },
		"stableWindow: 5s is not in [6s, 1h0m0s]":    func(c *knative.Config) { c.StableWindow = 5 * time.Second },
		"stableWindow: 6.5s is not in whole seconds": func(c *knative.Config) { c.StableWindow = 6500 * time.Millisecond },
		"panicWindowPercent: 101 is not in [1, 100]": func(c *knative.Config) { c.PanicWindowPercent = 101 },
		"panicThresholdPercent: 100 is not in [110,": func(c *knative.Config) { c.PanicThresholdPercent = 100 },
		"maxScaleUpRate: 1 is not in (1, ∞)":         func(c *knative.Config) { c.MaxScaleUpRate = 1 },
		"maxScaleDownRate: +Inf is not in (1, ∞)":    func(c *knative.Config) { c.MaxScaleDownRate = math.Inf(1) },
	} {
		c := c
		spoil(&c)
		require.ErrorContains(t, c.Validate(), "knative: "+want)
	}

	c = knative.Config{}
	assert.Len(t, strings.Split(c.Validate().Error(), "\n"), 6)
}

func TestReasonsHaveNamesAndWords(t *testing.T) {
	for r := knative.NoLoad; r <= knative.WithinBounds; r++ {
		assert.NotContains(t, r.String(), "Reason(")
		assert.Contains(t, r.Text(), " ")
	}
	assert.Equal(t, "Reason(99)", knative.Reason(99).Text())
}
