package planner_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/poolwright/poolwright/calibration"
	"github.com/poolwright/poolwright/internal/exact"
	"github.com/poolwright/poolwright/planner"
	"github.com/poolwright/poolwright/queueing"
)

// away takes the workload out of the fleet for some cycles, between two in which it is there.
func away(t *testing.T, cycles int) (l *loop, before, after *planner.WorkloadMemory) {
	t.Helper()
	l = newLoop(t, one(4, planner.Policy{}))
	for range 40 {
		l.cycle(chat(planner.Observation{ArrivalRate: rate(4)}))
	}
	before = l.memory.Workloads["prod/chat"]
	there := l.fleet.Workloads
	l.fleet.Workloads = nil
	for range cycles {
		l.cycle()
	}
	l.fleet.Workloads = there
	l.cycle(chat(planner.Observation{ArrivalRate: rate(4)}))
	return l, before, l.memory.Workloads["prod/chat"]
}

// What was learnt of a workload outlasts a view in which it is missing: history goes on. Windows
// do as after as much time without decisions.
func TestWhatWasLearntOutlastsAnAbsence(t *testing.T) {
	_, before, after := away(t, 1)
	require.NotNil(t, before.Demand.Models)
	assert.Equal(t, before.Demand.First, after.Demand.First)
	assert.NotNil(t, after.Demand.Models)
	assert.Equal(t, before.Policy.Since, after.Policy.Since)

	_, before, after = away(t, 10)
	assert.NotNil(t, after.Demand.Models)
	assert.True(t, after.Policy.Since.After(before.Policy.Since))
}

// Who is gone for a day does not come back, and of many the last seen are remembered.
func TestAbsenceIsBounded(t *testing.T) {
	l, _, _ := away(t, 0)
	l.fleet.Workloads = nil
	l.cycle()
	l.now = l.now.Add(23 * time.Hour)
	l.cycle()
	require.Contains(t, l.memory.Workloads, "prod/chat")
	l.now = l.now.Add(time.Hour)
	l.cycle()
	require.Empty(t, l.memory.Workloads)

	const many = 10_010
	l.memory.Workloads = make(map[string]*planner.WorkloadMemory)
	for k := range many {
		l.memory.Workloads[fmt.Sprintf("prod/%05d", k)] = &planner.WorkloadMemory{At: l.now.Add(-time.Duration(k/20) * time.Second)}
	}
	l.cycle()
	assert.Len(t, l.memory.Workloads, 10_000)
	assert.Contains(t, l.memory.Workloads, "prod/09999")
	assert.NotContains(t, l.memory.Workloads, "prod/10000")
}

// calibrated is a workload of two variants, of which the first was seen to be slower than its profile says.
func calibrated(t *testing.T) *loop {
	t.Helper()
	v, other := profiled("chat-h100", 0), profiled("chat-a100", 1)
	slow := *v.Replica
	slow.Profile.Alpha *= 1.3
	f := twoPools(0, v, other)
	station, err := queueing.NewStation(slow, f.Workloads[0].Shape)
	require.NoError(t, err)
	l := newLoop(t, f)
	known := func(x float64) calibration.Quantity { return calibration.Quantity{Value: x, Known: true} }
	for k := range 20 {
		perf := station.Evaluate(queueing.Rate(8 + k%5))
		l.cycle(chat(planner.Observation{ArrivalRate: rate(20), Variants: []planner.VariantObservation{{
			Variant: "chat-h100",
			Replica: calibration.Observation{
				Window: 60, Rate: known(float64(8 + k%5)), InputTokens: known(512), OutputTokens: known(256),
				ITL: known(float64(perf.ITL.Mean())), TTFT: known(float64(perf.TTFT.Mean())),
			},
		}}}))
	}
	require.NotNil(t, l.memory.Workloads["prod/chat"].Variants[0].Profile)
	return l
}

// without takes the first variant out of the fleet for a time, in a cycle before and one after it.
func without(l *loop, d time.Duration) planner.Decision {
	w := &l.fleet.Workloads[0]
	there := w.Variants
	w.Variants = there[1:]
	l.cycle(chat(planner.Observation{ArrivalRate: rate(20)}))
	l.now = l.now.Add(d)
	l.cycle(chat(planner.Observation{ArrivalRate: rate(20)}))
	w = &l.fleet.Workloads[0]
	w.Variants = append(slices.Clone(there[:1]), w.Variants...)
	return l.cycle(chat(planner.Observation{ArrivalRate: rate(20)}))
}

// What was learnt of a variant outlasts a time in which it is missing alone, and who makes it anew with other replicas is
// not blamed for them.
func TestWhatWasLearntOutlastsTheAbsenceOfAVariant(t *testing.T) {
	for _, d := range []time.Duration{0, 23 * time.Hour} {
		l := calibrated(t)
		before := l.memory.Workloads["prod/chat"].Variants[0]
		l.variant("prod/chat", "chat-h100").CurrentReplicas += 3
		decision := without(l, d)
		after := l.memory.Workloads["prod/chat"]
		require.Equal(t, "chat-h100", after.Variants[0].Name)
		assert.Equal(t, before.Profile, after.Variants[0].Profile)
		assert.Equal(t, before.Filter, after.Variants[0].Filter)
		assert.Empty(t, after.Missing)
		for _, condition := range decision.Plans[0].Conditions {
			assert.NotEqual(t, planner.ExternalChange, condition.Type)
		}
	}

	l := calibrated(t)
	without(l, 24*time.Hour)
	after := l.memory.Workloads["prod/chat"]
	assert.Nil(t, after.Variants[0].Profile, "it was away for longer than it is remembered")
	assert.Empty(t, after.Missing)
}

// Of many variants that are missing those last seen are remembered.
func TestAbsenceOfVariantsIsBounded(t *testing.T) {
	l := calibrated(t)
	without(l, 0)
	many := *l.memory.Workloads["prod/chat"]
	for k := range 10_010 {
		many.Missing = append(many.Missing, planner.MissingVariant{
			At: l.now.Add(-time.Duration(k/20) * time.Second), Learnt: planner.VariantMemory{Name: fmt.Sprintf("%05d", k), Filter: &calibration.FilterState{}},
		})
	}
	l.memory.Workloads["prod/chat"] = &many
	l.cycle(chat(planner.Observation{ArrivalRate: rate(20)}))
	missing := l.memory.Workloads["prod/chat"].Missing
	require.Len(t, missing, 10_000)
	assert.Equal(t, "09999", missing[9999].Learnt.Name)
}

// A checkpoint has variants that are missing.
func TestCheckpointHasVariantsThatAreMissing(t *testing.T) {
	l := calibrated(t)
	w := &l.fleet.Workloads[0]
	there := w.Variants
	w.Variants = there[1:]
	l.cycle(chat(planner.Observation{ArrivalRate: rate(20)}))
	text, err := exact.Marshal(l.memory.Checkpoint())
	require.NoError(t, err)
	var read planner.Checkpoint
	require.NoError(t, exact.Unmarshal(text, &read))
	next := *l
	next.memory = read.Memory()
	o := chat(planner.Observation{ArrivalRate: rate(20)})
	for _, of := range []*loop{l, &next} {
		of.fleet.Workloads = slices.Clone(of.fleet.Workloads)
		of.fleet.Workloads[0].Variants = slices.Clone(there)
	}
	assert.Equal(t, l.cycle(o), next.cycle(o))
	assert.Equal(t, l.memory.Workloads, next.memory.Workloads)
	assert.NotNil(t, l.memory.Workloads["prod/chat"].Variants[0].Profile)
}

// A checkpoint has those that are missing: whoever goes on from it decides the same on their return.
func TestCheckpointHasWhoIsMissing(t *testing.T) {
	l, _, _ := away(t, 0)
	there := l.fleet.Workloads
	l.fleet.Workloads = nil
	l.cycle()
	text, err := json.Marshal(l.memory.Checkpoint())
	require.NoError(t, err)
	var read planner.Checkpoint
	require.NoError(t, json.Unmarshal(text, &read))
	next := *l
	next.memory = read.Memory()
	for _, of := range []*loop{l, &next} {
		of.fleet.Workloads = there
	}
	o := chat(planner.Observation{ArrivalRate: rate(4)})
	assert.Equal(t, l.cycle(o), next.cycle(o))
	assert.Equal(t, l.memory.Workloads, next.memory.Workloads)
	assert.NotNil(t, l.memory.Workloads["prod/chat"].Demand.Models)
}
