package planner_test

import (
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/poolwright/poolwright/optimizer"
	"github.com/poolwright/poolwright/optimizer/lp"
	"github.com/poolwright/poolwright/planner"
)

// after returns a stop function that fires when it was asked often enough.
func after(asked int64) func() bool {
	var n atomic.Int64
	return func() bool { return n.Add(1) > asked }
}

// A decision whose search was stopped is made again from what the solver answered, and so
// is the decision after it.
func TestReplanRepeatsAStoppedDecision(t *testing.T) {
	p := planner.New(lp.Simplex())
	f := contested()
	stopped := 0
	for asked := range int64(40) {
		d, m, err := p.Plan(planner.Snapshot{Fleet: f}, planner.Memory{}, after(asked))
		require.NoError(t, err)
		if d.Answers == nil {
			continue
		}
		stopped++
		again, after, err := p.Replan(planner.Snapshot{Fleet: f}, planner.Memory{}, d.Answers)
		require.NoError(t, err)
		assert.Equal(t, d, again)
		next, _, err := p.Plan(planner.Snapshot{Fleet: f}, m, nil)
		require.NoError(t, err)
		nextAgain, _, err := p.Plan(planner.Snapshot{Fleet: f}, after, nil)
		require.NoError(t, err)
		assert.Equal(t, next, nextAgain)
	}
	assert.Positive(t, stopped)
}

// contested is a fleet that takes a search: workloads of different worth share two pools.
func contested() planner.Fleet {
	f := twoPools(0)
	w := f.Workloads[0]
	f.Workloads = nil
	for i, name := range []string{"a", "b", "c", "d", "e", "f", "g"} {
		w.Name, w.ArrivalRate, w.Priority = name, 11, 1+i%3
		w.Variants = []planner.Variant{declared("h100", 0, 5), declared("a100", 1, 2.9)}
		f.Workloads = append(f.Workloads, w)
	}
	f.Objective.RelativeGap = 0
	return f
}

func TestReplanRefusesWhatDoesNotFit(t *testing.T) {
	p := planner.New(lp.Simplex())
	other, _, err := p.Plan(planner.Snapshot{Fleet: twoPools(1, declared("h100", 0, 5))}, planner.Memory{}, after(0))
	require.NoError(t, err)
	for want, answers := range map[string][]*optimizer.RobustSolution{
		"no recorded answer is left":       nil,
		"a recorded answer is empty":       {nil},
		"a recorded answer does not fit: ": {{}},
		"does not fit: optimizer: start: ": other.Answers,
	} {
		_, _, err := p.Replan(planner.Snapshot{Fleet: contested()}, planner.Memory{}, answers)
		require.ErrorContains(t, err, "planner: solve: ", want)
		require.ErrorContains(t, err, want)
	}
}
