package message_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/poolwright/poolwright/forecast"
	"github.com/poolwright/poolwright/internal/message"
	"github.com/poolwright/poolwright/optimizer"
	"github.com/poolwright/poolwright/planner"
	"github.com/poolwright/poolwright/policy"
	poolwrightv1 "github.com/poolwright/poolwright/proto/poolwright/v1"
)

const controlled = `
pools: [{accelerator: H100}]
workloads:
- name: chat
  load: {arrivalRate: 1}
  policy: {native: {minInterval: 1m}}
  variants: [{name: v, pools: [H100], capacityRps: 1, currentReplicas: 3, startingReplicas: 2, leavingReplicas: 4, poolReplicas: [6]}]
control:
  cycle: 30s
  policy: {native: {scaleDownWindow: 0s, tolerance: 0}}
  forecast: {slot: 10m, days: 14, quantile: 0.95}
  backlogDrain: 1m
  devicesPerCycle: 0
`

func TestControl(t *testing.T) {
	f := translate(t, controlled)
	fleets := policy.DefaultNative()
	fleets.ScaleDownWindow, fleets.Tolerance = new(time.Duration(0)), 0
	assert.Equal(t, planner.Control{
		Cycle: 30 * time.Second, Policy: planner.Policy{Native: &fleets},
		Forecast:     forecast.Config{Slot: 10 * time.Minute, Days: 14, Quantile: 0.95},
		BacklogDrain: time.Minute, DevicesPerCycle: optimizer.Bound{Limited: true},
	}, f.Control)
	own := policy.DefaultNative()
	own.MinInterval = time.Minute
	assert.Equal(t, planner.Policy{Native: &own}, f.Workloads[0].Policy)
	v := &f.Workloads[0].Variants[0]
	assert.Equal(t, [3]int{3, 2, 4}, [3]int{v.CurrentReplicas, v.StartingReplicas, v.LeavingReplicas})
	assert.Equal(t, []int{6}, v.PoolReplicas)
}

func TestControlByDefault(t *testing.T) {
	f := translate(t, `
pools: [{accelerator: H100}]
workloads: [{name: chat, load: {arrivalRate: 1}, variants: [{name: v, accelerator: H100, capacityRps: 1}]}]
`)
	assert.Zero(t, f.Control)
	assert.Zero(t, f.Workloads[0].Policy)
}

func TestMistakesInControl(t *testing.T) {
	m := read(t, controlled)
	c := m.GetControl()
	c.Cycle = durationpb.New(time.Millisecond)
	c.Policy = &poolwrightv1.Policy{}
	c.Forecast.Slot = durationpb.New(7 * time.Minute)
	c.Forecast.Days = proto.Int32(2)
	c.Forecast.Quantile = proto.Float64(1)
	c.BacklogDrain = durationpb.New(time.Second - 1)
	c.DevicesPerCycle = proto.Int32(-1)
	m.Workloads[0].Policy.GetNative().Tolerance = proto.Float64(0.6)
	m.Workloads[0].Variants[0].StartingReplicas = 5
	m.Workloads[0].Variants[0].PoolReplicas = []int32{1, 2}
	_, err := message.Fleet(m)
	var violations message.Violations
	require.ErrorAs(t, err, &violations)
	var paths []string
	for _, v := range violations {
		paths = append(paths, v.Path)
	}
	assert.Equal(t, []string{
		"control.backlogDrain", "control.cycle", "control.devicesPerCycle", "control.forecast.days", "control.forecast.quantile",
		"control.forecast.slot", "control.policy.kind", "workloads[0].policy.native.tolerance", "workloads[0].variants[0].poolReplicas", "workloads[0].variants[0].startingReplicas",
	}, paths)
}

// What the schema accepts at the ends of its ranges the core accepts too.
func TestRangesOfControl(t *testing.T) {
	for _, text := range []string{
		`{backlogDrain: 1s, forecast: {slot: 60s, days: 3, quantile: 0.5}, policy: {native: {scaleDownWindow: 0s, tolerance: 0, zeroGrace: 0s, minInterval: 0s}}}`,
		`{backlogDrain: 24h, forecast: {slot: 3600s, days: 28, quantile: 0.999}, policy: {native: {scaleDownWindow: 24h, tolerance: 0.5, zeroGrace: 168h, minInterval: 24h}}}`,
	} {
		f := translate(t, `
pools: [{accelerator: H100}]
workloads: [{name: chat, load: {arrivalRate: 1}, variants: [{name: v, accelerator: H100, capacityRps: 1}]}]
control: `+text)
		require.NoError(t, f.Control.Forecast.Validate())
		require.NoError(t, f.Control.Policy.Validate())
	}
}
