package planner_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/poolwright/poolwright/optimizer"
	"github.com/poolwright/poolwright/optimizer/lp"
	"github.com/poolwright/poolwright/planner"
)

// launch is a fleet of two workloads with three scenarios.
func launch(r planner.Robustness) planner.Fleet {
	f := twoPools(8, declared("chat-a100", 1, 4))
	f.Workloads = append(f.Workloads, f.Workloads[0])
	f.Workloads[1].Name, f.Workloads[1].ArrivalRate = "batch", 4
	f.Pools[1].Capacity = optimizer.Bound{}
	f.Scenarios = []planner.Scenario{
		{Name: "usual", Probability: 0.6, Factor: 1},
		{Name: "busy", Probability: 0.3, Factor: 2},
		{Name: "launch", Probability: 0.1, Factor: 1, Rates: []planner.ScenarioRate{{Workload: 0, ArrivalRate: 40}}},
	}
	f.Objective.Robustness = r
	return f
}

func TestRobustPlans(t *testing.T) {
	for _, c := range []struct {
		name     string
		r        planner.Robustness
		replicas []int
		served   float64
	}{
		{"point", planner.Robustness{}, []int{2, 1}, 0.6},
		{"all", planner.Robustness{Service: optimizer.All}, []int{10, 2}, 1},
		{"each", planner.Robustness{Service: optimizer.Each, Probability: 0.7}, []int{4, 1}, 0.6},
		{"joint", planner.Robustness{Service: optimizer.Joint, Probability: 0.9}, []int{4, 2}, 0.9},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := plan(t, planner.Snapshot{Fleet: launch(c.r)})
			replicas := []int{totals(&d, 0)[0], totals(&d, 1)[0]}
			assert.Equal(t, c.replicas, replicas)
			require.NotNil(t, d.Robust)
			assert.InDelta(t, c.served, d.Robust.Exposure.Served, 1e-12)
			assert.InDelta(t, d.PricePerHour, d.Robust.Exposure.Cost, 1e-12)
			if c.r.Service == optimizer.Point {
				assert.Nil(t, d.Robust.Point, "the plan is the point plan")
				return
			}
			assert.InDelta(t, 6, d.Robust.Point.Cost, 1e-12)
			assert.InDelta(t, 32, d.Robust.Point.WorstUnmet, 1e-12)
			assert.Contains(t, d.Notes[0], "planned for")
		})
	}
}

func TestTrailSaysWhatWasPlannedFor(t *testing.T) {
	f := launch(planner.Robustness{Service: optimizer.Joint, Probability: 0.9})
	d := plan(t, planner.Snapshot{Fleet: f})
	assert.Contains(t, d.Trail, planner.Step{
		Stage: "adopt", Subject: "prod/chat", Before: "8 requests/s", After: "16 requests/s",
		Reason: "planned so that all workloads are served at once with probability 0.9",
	})
	assert.InDelta(t, 16, float64(d.Plans[0].Served), 1e-12)
	assert.InDelta(t, 8, float64(f.Workloads[0].ArrivalRate), 0, "the caller's fleet stays as it was")
}

func TestBandsArePlannedAtTheirUpperEnd(t *testing.T) {
	f := twoPools(8, declared("chat-a100", 1, 4))
	f.Workloads[0].ArrivalRateUpper = 18
	f.Objective.Robustness.Service = optimizer.All
	d := plan(t, planner.Snapshot{Fleet: f})
	assert.Equal(t, []int{5}, totals(&d, 0))
	assert.True(t, d.Robust.Bands)
	assert.Equal(t, "upper", d.Robust.Scenarios[0].Name)
	// What is observed above the band counts as well.
	d = plan(t, planner.Snapshot{Fleet: f, Observations: []planner.Observation{
		{Workload: "prod/chat", ArrivalRate: planner.Measurement{State: planner.Fresh, Value: 24}},
	}})
	assert.Equal(t, []int{6}, totals(&d, 0))
}

// Factors are on what is observed, and a workload without observation stays as it is
// in every scenario.
func TestScenariosOfObservedDemand(t *testing.T) {
	f := launch(planner.Robustness{Service: optimizer.All})
	f.Workloads[0].Variants = []planner.Variant{declared("chat-a100", 1, 4)}
	f.Workloads[0].Variants[0].CurrentReplicas = 3
	d := plan(t, planner.Snapshot{Fleet: f, Observations: []planner.Observation{
		{Workload: "prod/batch", ArrivalRate: planner.Measurement{State: planner.Fresh, Value: 10}},
	}})
	assert.Equal(t, []int{3, 5}, []int{totals(&d, 0)[0], totals(&d, 1)[0]})
	assert.Equal(t, []float64{0, 20}, d.Robust.Scenarios[1].Demand)
	assert.InDelta(t, 8*2+5*0.02, d.Robust.Exposure.Cost, 1e-12, "five replicas are added")
	assert.InDelta(t, 1, d.Robust.Exposure.Served, 1e-12)
	assert.Equal(t, []float64{0, 8}, d.Robust.Point.Outcomes[1].Unmet)
}

func TestEvaluateReportsScenarios(t *testing.T) {
	f := launch(planner.Robustness{})
	for i := range f.Workloads {
		f.Workloads[i].Variants = []planner.Variant{declared("v", 1, 4)}
		f.Workloads[i].Variants[0].CurrentReplicas = 3
	}
	d, _, err := planner.New(lp.Simplex()).Evaluate(planner.Snapshot{Fleet: f}, planner.Memory{})
	require.NoError(t, err)
	assert.Equal(t, optimizer.Served, d.Demand)
	assert.InDelta(t, 0.6, d.Robust.Exposure.Served, 1e-12)
	assert.Equal(t, []float64{4, 0}, d.Robust.Exposure.Outcomes[1].Unmet)
}
