package planner_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/poolwright/poolwright/optimizer"
	"github.com/poolwright/poolwright/optimizer/lp"
	"github.com/poolwright/poolwright/planner"
	"github.com/poolwright/poolwright/queueing"
)

func explain(t *testing.T, s planner.Snapshot) planner.Explanation {
	t.Helper()
	e, _, err := planner.New(lp.Simplex()).Explain(s, planner.Memory{}, nil)
	require.NoError(t, err)
	return e
}

// shortFleet has 8 devices in each pool, which lack 35 requests/s.
func shortFleet() planner.Fleet {
	f := twoPools(123, declared("chat-h100", 0, 7), declared("chat-a100", 1, 4))
	f.Pools[0].PricePerHour = 5
	return f
}

// The raised pools serve all, and any one device less does not.
func TestIncreaseIsEnoughAndLeast(t *testing.T) {
	f := shortFleet()
	e := explain(t, planner.Snapshot{Fleet: f})
	require.NotNil(t, e.Shortage)
	assert.Empty(t, e.Shortage.Hopeless)
	for _, increase := range e.Shortage.Increases {
		require.Equal(t, optimizer.Helps, increase.Verdict, increase.Reason)
		require.False(t, increase.Lifted)
		raised := raise(f, increase.Pools)
		d := plan(t, planner.Snapshot{Fleet: raised})
		assert.Equal(t, optimizer.Served, d.Demand, increase.Reason)
		assert.InDelta(t, increase.PricePerHour, d.PricePerHour, 1e-9)
		for g := range increase.Pools {
			if increase.Pools[g] > 0 {
				raised.Pools[g].Capacity.Value--
				assert.Equal(t, optimizer.Partial, plan(t, planner.Snapshot{Fleet: raised}).Demand)
				raised.Pools[g].Capacity.Value++
			}
		}
	}
	require.Len(t, e.Shortage.Increases, 2)
	fewest, cheapest := e.Shortage.Increases[0], e.Shortage.Increases[1]
	assert.Equal(t, planner.RaisePools, fewest.Raise)
	assert.Equal(t, []int{5, 0}, fewest.Pools, "5 of 7 requests/s")
	assert.Equal(t, planner.RaisePoolsCheaply, cheapest.Raise)
	assert.Equal(t, []int{0, 9}, cheapest.Pools, "18 per hour; 5 of the others cost 25")
	assert.Contains(t, fewest.Reason, "5 devices more in h100, the fewest that do")
}

func raise(f planner.Fleet, devices []int) planner.Fleet {
	f.Pools = append([]planner.Pool(nil), f.Pools...)
	for g := range f.Pools {
		f.Pools[g].Capacity.Value += devices[g]
	}
	return f
}

func TestIncreasesLiftWhatForbidsThem(t *testing.T) {
	f := shortFleet()
	f.Pools[0].Quotas = []planner.Quota{{Namespace: "prod", Devices: 3}}
	f.Pools[1].Quotas = []planner.Quota{{Namespace: "prod", Devices: 3}}
	f.Objective.BudgetPerHour = 30
	e := explain(t, planner.Snapshot{Fleet: f})
	verdicts := map[planner.Raise]planner.Increase{}
	for _, increase := range e.Shortage.Increases {
		verdicts[increase.Raise] = increase
		assert.True(t, increase.Lifted, increase.Reason)
		assert.Equal(t, optimizer.Helps, increase.Verdict, increase.Reason)
	}
	require.Len(t, verdicts, 4)
	assert.Equal(t, []int{5, 0}, verdicts[planner.RaisePools].Pools)
	quotas := verdicts[planner.RaiseQuotas].Quotas
	assert.Equal(t, []int{13, 0}, quotas, "16 of 7 requests/s with 3 of the others")
	assert.InDelta(t, 32, verdicts[planner.RaiseBudget].Budget, 1e-9, "31 of the cheaper variant cost 62")
	assert.Contains(t, verdicts[planner.RaiseQuotas].Reason, "for prod in h100, once the other limits are lifted")
}

func TestHopelessWorkloadsAreNamed(t *testing.T) {
	f := shortFleet()
	f.Workloads[0].MaxReplicas = atMost(10)
	contradiction := f.Workloads[0]
	contradiction.Name, contradiction.ArrivalRate = "contradiction", 1
	contradiction.MaxReplicas = atMost(1)
	contradiction.Variants = []planner.Variant{declared("x", 0, 1)}
	contradiction.Variants[0].MinReplicas = 2
	f.Workloads = append(f.Workloads, contradiction)
	e := explain(t, planner.Snapshot{Fleet: f})
	require.Len(t, e.Shortage.Hopeless, 2)
	assert.Equal(t, 0, e.Shortage.Hopeless[0].Workload)
	assert.InDelta(t, 53, float64(e.Shortage.Hopeless[0].Unmet), 1e-9, "10 replicas serve 70")
	assert.Contains(t, e.Shortage.Hopeless[0].Reason, "53 of its 123 requests/s: its maximums of replicas")
	assert.Equal(t, 1, e.Shortage.Hopeless[1].Shortfall)
	assert.Contains(t, e.Shortage.Hopeless[1].Reason, "1 are missing")
}

// At the factor found all is served, at the one below it is not.
func TestRelaxationIsTheSmallest(t *testing.T) {
	f := twoPools(400, profiled("chat-h100", 0), profiled("chat-a100", 1))
	f.Workloads[0].SLO.Limits = []queueing.Limit{
		{Metric: queueing.ITL, Value: 0.0125}, {Metric: queueing.TokensPerSecond, Value: 60},
	}
	other := f.Workloads[0]
	other.Name, other.Priority, other.ArrivalRate = "other", 2, 100
	f.Workloads = append(f.Workloads, other)
	d := plan(t, planner.Snapshot{Fleet: f})
	require.Equal(t, optimizer.Partial, d.Demand, d.Plans[0].Reason)
	e := explain(t, planner.Snapshot{Fleet: f})
	require.NotEmpty(t, e.Shortage.Relaxations)
	all := e.Shortage.Relaxations[0]
	require.Equal(t, planner.AllWorkloads, all.Workload)
	require.True(t, all.Possible, all.Reason)
	assert.LessOrEqual(t, all.Factor.High, all.Factor.Low*1.01)
	assert.Equal(t, optimizer.Served, plan(t, planner.Snapshot{Fleet: relaxed(f, all.Factor.High)}).Demand)
	assert.Equal(t, optimizer.Partial, plan(t, planner.Snapshot{Fleet: relaxed(f, all.Factor.Low)}).Demand)
	require.Len(t, e.Shortage.Relaxations, 2)
	alone := e.Shortage.Relaxations[1]
	require.Equal(t, 1, alone.Workload, "the first is served")
	assert.GreaterOrEqual(t, alone.Factor.High, all.Factor.Low, "relaxing one is not better than relaxing all")
}

func relaxed(f planner.Fleet, factor float64) planner.Fleet {
	f.Workloads = append([]planner.Workload(nil), f.Workloads...)
	for i := range f.Workloads {
		w := &f.Workloads[i]
		w.SLO.Limits = append([]queueing.Limit(nil), w.SLO.Limits...)
		for k := range w.SLO.Limits {
			if w.SLO.Limits[k].Metric == queueing.TokensPerSecond {
				w.SLO.Limits[k].Value /= factor
			} else {
				w.SLO.Limits[k].Value *= factor
			}
		}
	}
	return f
}

// Just inside a range the plan is still optimal, just outside another is cheaper.
func TestPricesMoveWithinTheirRanges(t *testing.T) {
	f := twoPools(20, declared("chat-h100", 0, 7), declared("chat-a100", 1, 4))
	f.Objective.RelativeGap = 0
	f.Pools[1].Accelerator = f.Pools[0].Accelerator
	e := explain(t, planner.Snapshot{Fleet: f})
	require.Equal(t, []int{0, 5}, totals(&e.Decision, 0))
	require.Len(t, e.Prices, 3)
	cost := func(h100, a100 float64) float64 {
		changed := raise(f, []int{0, 0})
		changed.Pools[0].PricePerHour += h100
		changed.Pools[1].PricePerHour += a100
		return plan(t, planner.Snapshot{Fleet: changed}).Objective
	}
	h100, a100, both := e.Prices[0].Range, e.Prices[1].Range, e.Prices[2]
	fall, rise := h100.Fall.High, a100.Rise.High
	assert.InDelta(t, 10, cost(-fall+1e-4, 0), 1e-6)
	assert.Less(t, cost(-fall-1e-4, 0), 10-1e-6)
	assert.InDelta(t, 10+5*(rise-1e-4), cost(0, rise-1e-4), 1e-6)
	assert.Less(t, cost(0, rise+1e-4), 10+5*(rise+1e-4)-1e-6)
	assert.True(t, math.IsInf(h100.Rise.High, 1), "what is not used may cost anything")
	assert.Equal(t, planner.AllPools, both.Pool)

	require.Len(t, e.Unused, 1)
	require.NotNil(t, e.Unused[0].Fall)
	assert.InDelta(t, fall, e.Unused[0].Fall.High, 1e-6, "a replica is one device")
	assert.InDelta(t, 0.5, e.Unused[0].MarginalFall, 1e-9, "from 4 to 7 × 0.5")
}

func TestChangesTellOfMinimums(t *testing.T) {
	f := twoPools(10, declared("chat-h100", 0, 7))
	f.Pools = f.Pools[:1]
	f.Workloads[0].Variants[0].MinReplicas = 10
	for capacity, want := range map[int][2]string{
		8: {
			"1 device fewer in h100: 3 in place of 2 replicas are missing from minimums",
			"1 device more in h100: 1 in place of 2 replicas are missing from minimums",
		},
		9:  {"1 device fewer in h100: 2 in place of 1 replicas are missing from minimums", "1 device more in h100: minimums hold then"},
		10: {"1 device fewer in h100: minimums no longer hold", "1 device more in h100 saves nothing"},
	} {
		f.Pools[0].Capacity.Value = capacity
		e := explain(t, planner.Snapshot{Fleet: f})
		require.Len(t, e.Changes, 2)
		for k, change := range e.Changes {
			assert.Equal(t, want[k], change.Reason)
			assert.Equal(t, max(0, 10-capacity-change.Devices), change.Shortfall)
		}
	}
}

// With a node less as much is unserved, but of a higher priority.
func TestChangesTellOfPriorities(t *testing.T) {
	f := twoPools(4, declared("chat-h100", 0, 4))
	f.Pools = f.Pools[:1]
	f.Pools[0].Capacity.Value, f.Pools[0].DevicesPerNode = 4, 2
	f.Workloads[0].Variants[0].DevicesPerReplica, f.Workloads[0].Variants[0].NodesPerReplica = 4, 2
	batch := f.Workloads[0]
	batch.Name, batch.Priority, batch.Variants = "batch", 2, []planner.Variant{declared("batch-h100", 0, 4)}
	batch.Variants[0].DevicesPerReplica = 2
	f.Workloads = append(f.Workloads, batch)
	e := explain(t, planner.Snapshot{Fleet: f})
	require.Len(t, e.Changes, 2)
	assert.Equal(t, "2 devices (1 node) fewer in h100 serve 4 requests/s less of priority 1", e.Changes[0].Reason)
	assert.InDelta(t, 8, e.Changes[0].Saving.High, 1e-6, "that costs less is not made out to be none")
	assert.Equal(t, "2 devices (1 node) more in h100 serve 4 requests/s more", e.Changes[1].Reason)
}

func TestChangesAndCurvesAgreeWithPlans(t *testing.T) {
	f := twoPools(40, declared("chat-h100", 0, 7), declared("chat-a100", 1, 4))
	f.Objective.RelativeGap = 0
	f.Pools[0].Committed = 3
	e := explain(t, planner.Snapshot{Fleet: f})
	require.Len(t, e.Changes, 4)
	for _, change := range e.Changes {
		devices := []int{0, 0}
		devices[change.Pool] = change.Devices
		d := plan(t, planner.Snapshot{Fleet: raise(f, devices)})
		assert.InDelta(t, e.Decision.Objective-d.Objective, change.Saving.Low, 1e-6, change.Reason)
		assert.InDelta(t, e.Decision.Objective-d.Objective, change.Saving.High, 1e-6, change.Reason)
	}
	last := 0.0
	for _, point := range e.Curves[0].Points {
		changed := f
		changed.Workloads = append([]planner.Workload(nil), f.Workloads...)
		changed.Workloads[0].ArrivalRate *= queueing.Rate(point.Factor)
		d := plan(t, planner.Snapshot{Fleet: changed})
		assert.InDelta(t, d.Objective, point.Objective.High, 1e-6)
		assert.GreaterOrEqual(t, point.Objective.High, last)
		last = point.Objective.Low
	}
	require.Len(t, e.Commitments, 1)
	assert.Equal(t, 1, e.Commitments[0].Idle)
	assert.InDelta(t, 4, e.Commitments[0].IdlePricePerHour, 1e-9)
	assert.Contains(t, e.Commitments[0].Reason, "1 of 3 committed devices are idle")
}

// Held workloads keep their replicas; questions are about the others.
func TestExplanationLeavesHeldWorkloadsAlone(t *testing.T) {
	f := shortFleet()
	f.Workloads[0].Variants[0].CurrentReplicas = 5
	other := f.Workloads[0]
	other.Name, other.Variants = "other", []planner.Variant{declared("other-h100", 0, 1)}
	f.Workloads = append(f.Workloads, other)
	e := explain(t, planner.Snapshot{Fleet: f, Observations: []planner.Observation{
		{Workload: "prod/other", ArrivalRate: planner.Measurement{State: planner.Fresh, Value: 5}},
	}})
	require.True(t, e.Decision.Plans[0].Held)
	require.Len(t, e.Shortage.Increases, 1)
	assert.Equal(t, []int{2, 0}, e.Shortage.Increases[0].Pools, "8 devices, 5 held, 5 needed")
	assert.InDelta(t, 10*5, e.Shortage.Increases[0].PricePerHour, 1e-9, "held and planned replicas")
	assert.Empty(t, e.Unused)
}

func TestExplanationEndsInTime(t *testing.T) {
	calls := 0
	e, _, err := planner.New(lp.Simplex()).Explain(planner.Snapshot{Fleet: shortFleet()}, planner.Memory{}, func() bool {
		calls++
		return calls > 40
	})
	require.NoError(t, err)
	assert.NotEmpty(t, e.Decision.Plans)
	require.NotEmpty(t, e.LeftOut)
	assert.Equal(t, "cost over the demand of single workloads", e.LeftOut[len(e.LeftOut)-1])
}

func TestGreedyPlansAreNotExplained(t *testing.T) {
	f := shortFleet()
	f.Objective.Strategy = planner.Kthena
	e := explain(t, planner.Snapshot{Fleet: f})
	require.Len(t, e.LeftOut, 1)
	assert.Contains(t, e.LeftOut[0], "not proven")
	assert.Nil(t, e.Shortage)
}
