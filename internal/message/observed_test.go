package message

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/poolwright/poolwright/calibration"
	"github.com/poolwright/poolwright/planner"
	poolwrightv1 "github.com/poolwright/poolwright/proto/poolwright/v1"
)

func TestObserved(t *testing.T) {
	plan := &poolwrightv1.Plan{Workloads: []*poolwrightv1.WorkloadPlan{
		{Name: "prod/chat", Variants: []*poolwrightv1.VariantPlan{{Name: "h100"}, {Name: "a100"}, {Name: "idle"}, {Name: "unseen"}}},
		{Name: "prod/code", Variants: []*poolwrightv1.VariantPlan{{Name: "h100"}}},
	}}
	Observed(plan, []planner.Observation{{Workload: "prod/chat", Variants: []planner.VariantObservation{
		{Variant: "a100", Replica: calibration.Observation{Window: 60, ITL: calibration.Of(0.02)}},
		{Variant: "h100", Replica: calibration.Observation{Window: 60, TTFT: calibration.Of(0.25), ITL: calibration.Of(0.0125)}},
		{Variant: "idle", Replica: calibration.Observation{Window: 60}},
		{Variant: "gone", Replica: calibration.Observation{Window: 60, TTFT: calibration.Of(1)}},
	}}})
	variants := plan.GetWorkloads()[0].GetVariants()
	both := variants[0].GetObserved()
	assert.Equal(t, time.Minute, both.GetWindow().AsDuration())
	assert.Equal(t, 250*time.Millisecond, both.GetTtft().AsDuration())
	assert.Equal(t, 12500*time.Microsecond, both.GetItl().AsDuration())
	assert.Nil(t, variants[1].GetObserved().GetTtft(), "missing is never zero")
	assert.Equal(t, 20*time.Millisecond, variants[1].GetObserved().GetItl().AsDuration())
	assert.Nil(t, variants[2].GetObserved())
	assert.Nil(t, variants[3].GetObserved())
	assert.Nil(t, plan.GetWorkloads()[1].GetVariants()[0].GetObserved(), "a variant of another workload")
}
