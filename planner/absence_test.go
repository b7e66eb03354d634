package planner_test

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/poolwright/poolwright/planner"
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
