package llmd

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/poolwright/poolwright/internal/resource"
	"github.com/poolwright/poolwright/planner"
)

// Without lengths of requests there is demand, and not enough to plan it.
func TestUnknownLengthsAreMissingMetrics(t *testing.T) {
	o := &resource.Outcome{Plan: &planner.WorkloadPlan{
		Conditions: []planner.Condition{{Type: planner.LengthsUnknown, Message: "no lengths"}},
	}}
	assert.Equal(t, resource.Condition{Type: metricsAvailable, Status: resource.False, Reason: metricsMissing, Message: "no lengths"}, metrics(o))
	assert.Equal(t, resource.Condition{Type: optimizationReady, Status: resource.False, Reason: noMetrics, Message: "no lengths"},
		(&allocation{}).optimization(o, nil))
}
