package planner_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/poolwright/poolwright/optimizer"
	"github.com/poolwright/poolwright/optimizer/lp"
	"github.com/poolwright/poolwright/planner"
	"github.com/poolwright/poolwright/queueing"
)

func atMost(n int) optimizer.Bound { return optimizer.Bound{Limited: true, Value: n} }

// Whatever limits say, a workload without an observation keeps its replicas, and
// the others plan with what is left.
func TestHeldReplicasHoldUnderEveryLimit(t *testing.T) {
	limits := map[string]func(*planner.Fleet){
		"none":       func(*planner.Fleet) {},
		"mixing":     func(f *planner.Fleet) { f.Workloads[0].Mixing = optimizer.Single },
		"pool":       func(f *planner.Fleet) { f.Pools[0].Capacity, f.Pools[1].Capacity = atMost(1), atMost(1) },
		"quota":      func(f *planner.Fleet) { f.Pools[0].Quotas = []planner.Quota{{Namespace: "prod", Devices: 1}} },
		"budget":     func(f *planner.Fleet) { f.Objective.BudgetPerHour = 1 },
		"redundancy": func(f *planner.Fleet) { f.Workloads[0].Redundancy = 9 },
		"maximum":    func(f *planner.Fleet) { f.Workloads[0].MaxReplicas = atMost(1) },
	}
	for name, limit := range limits {
		t.Run(name, func(t *testing.T) {
			h, a := declared("chat-h100", 0, 7), declared("chat-a100", 1, 4)
			h.CurrentReplicas, a.CurrentReplicas = 2, 3
			f := twoPools(28, h, a)
			other := f.Workloads[0]
			other.Name, other.Variants = "other", []planner.Variant{declared("other-a100", 1, 4)}
			f.Workloads = append(f.Workloads, other)
			limit(&f)
			d := plan(t, planner.Snapshot{Fleet: f, Observations: []planner.Observation{
				{Workload: "prod/other", ArrivalRate: planner.Measurement{State: planner.Fresh, Value: 8}},
			}})
			assert.True(t, d.Plans[0].Held)
			assert.Equal(t, []int{2, 3}, totals(&d, 0))
			assert.Equal(t, 2, d.Pools[0].Used)
			left := 8 - 3
			if c := f.Pools[1].Capacity; c.Value < 3 {
				left = 0
			}
			assert.LessOrEqual(t, totals(&d, 1)[0], left)
			assert.InDelta(t, 2*4+3*2+2*float64(totals(&d, 1)[0]), d.PricePerHour, 1e-9)
		})
	}
}

// A declared minimum holds without data, as far as the pools have room.
func TestMinimumsHoldWithoutObservation(t *testing.T) {
	for minimum, want := range map[int][]int{6: {2, 4}, 50: {2, 8}} {
		h, a := declared("chat-h100", 0, 7), declared("chat-a100", 1, 4)
		h.CurrentReplicas, h.MaxReplicas, a.CurrentReplicas = 2, atMost(2), 3
		f := twoPools(28, h, a)
		f.Workloads[0].MinReplicas = minimum
		d := plan(t, planner.Snapshot{Fleet: f, Observations: []planner.Observation{}})
		assert.Equal(t, want, totals(&d, 0))
		require.Len(t, d.Changes, 1)
		assert.Equal(t, want[1], d.Changes[0].To)
	}
}

func TestHeldUseIsTakenFromOthers(t *testing.T) {
	held := declared("chat-a100", 1, 4)
	held.CurrentReplicas = 6
	f := twoPools(28, held)
	other := f.Workloads[0]
	other.Name, other.Variants = "other", []planner.Variant{declared("other-a100", 1, 4)}
	f.Workloads = append(f.Workloads, other)
	d := plan(t, planner.Snapshot{Fleet: f, Observations: []planner.Observation{
		{Workload: "prod/other", ArrivalRate: planner.Measurement{State: planner.Fresh, Value: 20}},
	}})
	assert.Equal(t, []int{2}, totals(&d, 1), "8 devices less 6 held")
	assert.Equal(t, 8, d.Pools[1].Used)
	assert.Equal(t, "pool/a100", d.Plans[1].Binding)
}

func TestShortageNamesItsCause(t *testing.T) {
	causes := map[string]func(*planner.Fleet, *planner.Workload){
		"pool/h100":                func(*planner.Fleet, *planner.Workload) {},
		"maxReplicas":              func(_ *planner.Fleet, w *planner.Workload) { w.MaxReplicas = atMost(2) },
		"maxReplicas of chat-h100": func(_ *planner.Fleet, w *planner.Workload) { w.Variants[0].MaxReplicas = atMost(2) },
		"quota/prod/h100": func(f *planner.Fleet, _ *planner.Workload) {
			f.Pools[0].Quotas = []planner.Quota{{Namespace: "prod", Devices: 3}}
		},
		"budget":             func(f *planner.Fleet, _ *planner.Workload) { f.Objective.BudgetPerHour = 2 },
		"unmetPenaltyPerRps": func(_ *planner.Fleet, w *planner.Workload) { w.Penalized, w.UnmetPenalty = true, 0.01 },
		"redundancy": func(f *planner.Fleet, w *planner.Workload) {
			w.Redundancy = 2
			f.Pools[0].Capacity = atMost(2)
		},
	}
	for cause, limit := range causes {
		t.Run(cause, func(t *testing.T) {
			f := twoPools(100, declared("chat-h100", 0, 7))
			limit(&f, &f.Workloads[0])
			d := plan(t, planner.Snapshot{Fleet: f})
			require.Positive(t, float64(d.Plans[0].Unmet))
			assert.Equal(t, cause, d.Plans[0].Binding)
			assert.Contains(t, d.Plans[0].Reason, "unmet because of "+cause)
		})
	}
}

// A penalty too low to pay for a replica is the cause, also where none would fit.
func TestShortageOfWhatIsNotWorthItsPrice(t *testing.T) {
	v := declared("chat", 0, 7)
	v.DevicesPerReplica = 6
	f := twoPools(10, v)
	f.Pools[0].Capacity, f.Pools[0].DevicesPerNode = atMost(13), 8
	f.Workloads[0].Penalized = true
	for penalty, cause := range map[float64]string{4: "unmetPenaltyPerRps", 20: "nodes of pool/h100"} {
		f.Workloads[0].UnmetPenalty = penalty
		d := plan(t, planner.Snapshot{Fleet: f})
		require.Equal(t, []int{1}, totals(&d, 0), "a replica costs 24, and the second would serve 3 requests/s")
		assert.Equal(t, cause, d.Plans[0].Binding)
	}
}

// All limits that one more replica breaks are named: raising one of them does not help.
func TestShortageNamesAllLimits(t *testing.T) {
	f := twoPools(100, declared("chat-h100", 0, 7))
	f.Workloads[0].Variants[0].MaxReplicas = f.Pools[0].Capacity
	f.Objective.BudgetPerHour = f.Pools[0].PricePerHour * float64(f.Pools[0].Capacity.Value)
	d := plan(t, planner.Snapshot{Fleet: f})
	assert.Equal(t, "maxReplicas of chat-h100, pool/h100, budget", d.Plans[0].Binding)
}

// A variant that may have no replicas at all stands for none that could be added.
func TestShortageLeavesOutWhatMayHaveNoReplicas(t *testing.T) {
	for name, order := range map[string][2]int{"before": {0, 1}, "after": {1, 0}} {
		t.Run(name, func(t *testing.T) {
			variants := [2]planner.Variant{declared("chat-h100", 0, 7), declared("chat-a100", 1, 7)}
			variants[1].MaxReplicas = atMost(0)
			f := twoPools(100, variants[order[0]], variants[order[1]])
			d := plan(t, planner.Snapshot{Fleet: f})
			assert.Equal(t, "pool/h100", d.Plans[0].Binding)

			for j := range f.Workloads[0].Variants {
				f.Workloads[0].Variants[j].MaxReplicas = atMost(0)
			}
			d = plan(t, planner.Snapshot{Fleet: f})
			assert.Equal(t, "maxReplicas of chat-a100", d.Plans[0].Binding)
		})
	}
}

// A phase with room is of no use where the other has none.
func TestShortageOfOnePhase(t *testing.T) {
	prefill, decode := declared("prefill", 0, 7), declared("decode", 1, 7)
	prefill.Role, decode.Role = optimizer.Prefill, optimizer.Decode
	f := twoPools(20, prefill, decode)
	f.Pools[1].Capacity = atMost(1)
	d := plan(t, planner.Snapshot{Fleet: f})
	assert.Equal(t, []int{1, 1}, totals(&d, 0))
	assert.Equal(t, "pool/a100", d.Plans[0].Binding)
}

// A shape that nothing serves is the cause where more replicas could run.
func TestShortageOfOneShape(t *testing.T) {
	short := estimate("h", 0)
	short.Replica.KVCacheTokens = 4000
	d := plan(t, planner.Snapshot{Fleet: shaped(2, []planner.ShapeShare{{Share: 0.5, Shape: lengths(100, 100)}, {Share: 0.5, Shape: lengths(8000, 100)}}, short)})
	require.InDelta(t, 1, float64(d.Plans[0].Unmet), 1e-9)
	require.Less(t, d.Pools[0].Used, 8)
	assert.Equal(t, "kvCacheTokens", d.Plans[0].Binding)
}

// Where one device is left a phase lacks the other.
func TestShortageOfAPair(t *testing.T) {
	prefill, decode := declared("prefill", 0, 7), declared("decode", 0, 7)
	prefill.Role, decode.Role = optimizer.Prefill, optimizer.Decode
	f := twoPools(20, prefill, decode)
	f.Pools[0].Capacity = atMost(3)
	d := plan(t, planner.Snapshot{Fleet: f})
	assert.Equal(t, []int{1, 1}, totals(&d, 0))
	assert.Equal(t, "phases", d.Plans[0].Binding)
}

// A full pool is not the cause where another still has room, at a price.
func TestShortageLooksAtEveryPool(t *testing.T) {
	v := declared("chat", 0, 7)
	v.Pools = []int{0, 1}
	f := twoPools(1000, v)
	f.Pools[0].Capacity = atMost(1)
	f.Workloads[0].Penalized, f.Workloads[0].UnmetPenalty = true, 0.4
	d := plan(t, planner.Snapshot{Fleet: f})
	require.Equal(t, 8, d.Pools[1].Used, "a replica there costs 2 and serves 7 × 0.4")
	require.Zero(t, d.Pools[0].Used, "a replica here costs 4")
	assert.Equal(t, "unmetPenaltyPerRps", d.Plans[0].Binding)
}

func evaluate(t *testing.T, f planner.Fleet) planner.Decision {
	t.Helper()
	d, _, err := planner.New(lp.Simplex()).Evaluate(planner.Snapshot{Fleet: f}, planner.Memory{})
	require.NoError(t, err)
	return d
}

func TestEvaluateSaysWhatIsBroken(t *testing.T) {
	broken := map[string]func(*planner.Fleet){
		"devices in use": func(f *planner.Fleet) { f.Pools[0].Capacity = atMost(1) },
		"quota":          func(f *planner.Fleet) { f.Pools[0].Quotas = []planner.Quota{{Namespace: "prod", Devices: 1}} },
		"budget":         func(f *planner.Fleet) { f.Objective.BudgetPerHour = 1 },
		"maximum":        func(f *planner.Fleet) { f.Workloads[0].MaxReplicas = atMost(1) },
		"only one may":   func(f *planner.Fleet) { f.Workloads[0].Mixing = optimizer.Single },
	}
	for words, breaking := range broken {
		t.Run(words, func(t *testing.T) {
			h, a := declared("chat-h100", 0, 7), declared("chat-a100", 1, 4)
			h.CurrentReplicas, a.CurrentReplicas = 2, 3
			f := twoPools(20, h, a)
			require.Equal(t, optimizer.Served, evaluate(t, f).Demand)
			breaking(&f)
			d := evaluate(t, f)
			assert.Equal(t, optimizer.Infeasible, d.Demand)
			require.Len(t, d.Notes, 1)
			assert.Contains(t, d.Notes[0], words)
		})
	}
}

func TestEvaluateCountsMinimumsRedundancyAndPenalties(t *testing.T) {
	v := declared("chat-h100", 0, 7)
	v.CurrentReplicas = 3
	f := twoPools(20, v)
	f.Workloads[0].MinReplicas = 4
	d := evaluate(t, f)
	assert.Equal(t, optimizer.Infeasible, d.Demand)
	assert.Equal(t, "minReplicas", d.Plans[0].Binding)

	f = twoPools(20, v)
	f.Workloads[0].Redundancy = 1
	f.Workloads[0].Penalized, f.Workloads[0].UnmetPenalty = true, 10
	d = evaluate(t, f)
	assert.Equal(t, optimizer.Partial, d.Demand)
	assert.InDelta(t, 6, float64(d.Plans[0].Unmet), 1e-9, "one of three replicas failed leaves 14")
	assert.InDelta(t, 3*4+6*10, d.Objective, 1e-9)
}

// Evaluating a plan as the fleet that runs agrees with the optimizer about price,
// service and performance.
func TestEvaluateAgreesWithPlan(t *testing.T) {
	f := twoPools(100, profiled("chat-h100", 0), profiled("chat-a100", 1))
	f.Workloads[0].SLO.Limits = []queueing.Limit{{Metric: queueing.TTFT, Quantile: 0.95, Value: 0.2}}
	planned := plan(t, planner.Snapshot{Fleet: f})
	for j := range f.Workloads[0].Variants {
		f.Workloads[0].Variants[j].CurrentReplicas = planned.Plans[0].Variants[j].Total()
	}
	d := evaluate(t, f)
	assert.Equal(t, planned.Demand, d.Demand)
	assert.InDelta(t, planned.PricePerHour, d.PricePerHour, 1e-9)
	assert.Equal(t, planned.Plans[0].Prediction, d.Plans[0].Prediction)
	assert.Equal(t, planned.Plans[0].Served, d.Plans[0].Served)
}

// Without waiting places the default model keeps the share of lost requests small,
// and says what binds.
func TestLimitedQueueBindsCapacity(t *testing.T) {
	v := profiled("chat-h100", 0)
	v.Replica.MaxQueue = queueing.Waiting{Limited: true}
	d := plan(t, planner.Snapshot{Fleet: twoPools(100, v)})
	assert.Equal(t, "maxQueue", d.Plans[0].Binding)
	assert.LessOrEqual(t, d.Plans[0].Prediction.BlockedShare, 0.01+1e-9)
}

func TestAbsurdDemandIsUnmetNotAnError(t *testing.T) {
	f := twoPools(1e9, declared("chat-h100", 0, 1))
	f.Pools[0].Capacity = optimizer.Bound{}
	d := plan(t, planner.Snapshot{Fleet: f})
	assert.Equal(t, optimizer.Partial, d.Demand)
	assert.Contains(t, d.Plans[0].Variants[0].Reason, "more than a million")
}
