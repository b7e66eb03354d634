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

// declared is a variant of declared capacity in pool p.
func declared(name string, p int, capacity queueing.Rate) planner.Variant {
	return planner.Variant{Name: name, Pools: []int{p}, DevicesPerReplica: 1, NodesPerReplica: 1, Capacity: capacity}
}

// profiled is a variant with a profile, in pool p.
func profiled(name string, p int) planner.Variant {
	v := declared(name, p, 0)
	v.Replica = &queueing.Replica{
		Profile:  queueing.Profile{Alpha: 7e-3, Beta: 6e-5, Delta: 2.4e-6},
		MaxBatch: 256,
	}
	return v
}

// twoPools is a fleet of one workload; H100 costs 4, A100 costs 2.
func twoPools(rate queueing.Rate, variants ...planner.Variant) planner.Fleet {
	return planner.Fleet{
		Pools: []planner.Pool{
			{Name: "h100", Accelerator: "H100", PricePerHour: 4, Capacity: optimizer.Bound{Limited: true, Value: 8}},
			{Name: "a100", Accelerator: "A100", PricePerHour: 2, Capacity: optimizer.Bound{Limited: true, Value: 8}},
		},
		Workloads: []planner.Workload{{
			Namespace: "prod", Name: "chat", Priority: 1, ArrivalRate: rate,
			Shape:    queueing.Shape{InputTokens: 512, OutputTokens: 256, InputSCV: 1, OutputSCV: 1, ArrivalSCV: 1},
			Variants: variants,
		}},
		Objective: planner.Objective{RelativeGap: 0.001},
	}
}

func plan(t *testing.T, s planner.Snapshot) planner.Decision {
	t.Helper()
	d, _, err := planner.New(lp.Simplex()).Plan(s, planner.Memory{}, nil)
	require.NoError(t, err)
	return d
}

func totals(d *planner.Decision, workload int) []int {
	var n []int
	for j := range d.Plans[workload].Variants {
		n = append(n, d.Plans[workload].Variants[j].Total())
	}
	return n
}

func TestPlanChoosesTheCheapestMix(t *testing.T) {
	d := plan(t, planner.Snapshot{Fleet: twoPools(12, declared("chat-h100", 0, 7), declared("chat-a100", 1, 4))})
	assert.Equal(t, []int{0, 3}, totals(&d, 0))
	assert.InDelta(t, 6, d.PricePerHour, 1e-12)
	assert.Equal(t, optimizer.Served, d.Demand)
	p := d.Plans[0]
	assert.Equal(t, "capacityRps", p.Binding)
	assert.Equal(t, "3 × chat-a100 for 12 requests/s, limited by capacityRps", p.Reason)
	assert.Equal(t, "a request/s costs 0.5714 per hour at the margin, against 0.5 on chat-a100", p.Variants[0].Reason)
	assert.InDelta(t, 1, p.Variants[1].Share, 0)
	assert.Nil(t, p.Prediction, "a declared capacity predicts no latency")
}

func TestPlanPredictsInsideTheSLO(t *testing.T) {
	f := twoPools(100, profiled("chat-h100", 0))
	limit := queueing.Limit{Metric: queueing.TTFT, Quantile: 0.95, Value: 0.2}
	f.Workloads[0].SLO.Limits = []queueing.Limit{limit}
	d := plan(t, planner.Snapshot{Fleet: f})
	require.NotNil(t, d.Plans[0].Prediction)
	assert.LessOrEqual(t, float64(d.Plans[0].Prediction.TTFT.P95), limit.Value)
	assert.Less(t, d.Plans[0].Prediction.TTFT.P50, d.Plans[0].Prediction.TTFT.P99)
	one := float64(d.Plans[0].Variants[0].Size.Capacity)
	assert.Equal(t, int(math.Ceil(100/one)), totals(&d, 0)[0])
}

func TestImpossibleSLOIsExplained(t *testing.T) {
	f := twoPools(1, profiled("chat-h100", 0))
	f.Workloads[0].SLO.Limits = []queueing.Limit{{Metric: queueing.ITL, Value: 0.001}}
	d := plan(t, planner.Snapshot{Fleet: f})
	assert.Equal(t, optimizer.Partial, d.Demand)
	assert.Equal(t, "itl.mean", d.Plans[0].Binding)
	assert.Contains(t, d.Plans[0].Reason, "no arrival rate holds itl.mean 1 ms: the best is 7")
	assert.Equal(t, []int{0}, totals(&d, 0), "an impossible SLO is not answered with replicas")
}

func TestShortageNamesThePool(t *testing.T) {
	d := plan(t, planner.Snapshot{Fleet: twoPools(100, declared("chat-h100", 0, 7))})
	assert.Equal(t, optimizer.Partial, d.Demand)
	assert.InDelta(t, 100-8*7, float64(d.Plans[0].Unmet), 1e-6)
	assert.Equal(t, "pool/h100", d.Plans[0].Binding)
}

func TestObservedDemandReplacesDeclared(t *testing.T) {
	f := twoPools(12, declared("chat-a100", 1, 4))
	d := plan(t, planner.Snapshot{Fleet: f, Observations: []planner.Observation{
		{Workload: "prod/chat", ArrivalRate: planner.Measurement{State: planner.Fresh, Value: 20}},
	}})
	assert.Equal(t, []int{5}, totals(&d, 0))
	assert.InDelta(t, 12, float64(f.Workloads[0].ArrivalRate), 0, "the caller's fleet stays as it was")
	assert.Equal(t, planner.Step{
		Stage: "observe", Subject: "prod/chat", Before: "12 requests/s", After: "20 requests/s", Reason: "observed",
	}, d.Trail[0])
}

func TestReplicasHoldWithoutObservation(t *testing.T) {
	for name, measured := range map[string]planner.Measurement{
		"missing":  {},
		"stale":    {State: planner.Stale, Value: 1},
		"invalid":  {State: planner.Invalid},
		"NaN":      {State: planner.Fresh, Value: math.NaN()},
		"negative": {State: planner.Fresh, Value: -1},
	} {
		t.Run(name, func(t *testing.T) {
			v := declared("chat-a100", 1, 4)
			v.CurrentReplicas, v.MinReplicas = 2, 1
			d := plan(t, planner.Snapshot{Fleet: twoPools(28, v), Observations: []planner.Observation{
				{Workload: "prod/chat", ArrivalRate: measured},
			}})
			assert.Equal(t, []int{2}, totals(&d, 0))
			assert.Equal(t, "observation", d.Plans[0].Binding)
		})
	}
}

// A fleet that stands still keeps its plan.
func TestMemoryChangesNoPlan(t *testing.T) {
	f := twoPools(100, profiled("chat-h100", 0), profiled("chat-a100", 1))
	p := planner.New(lp.Simplex())
	first, memory, err := p.Plan(planner.Snapshot{Fleet: f}, planner.Memory{}, nil)
	require.NoError(t, err)
	second, _, err := p.Plan(planner.Snapshot{Fleet: f}, memory, nil)
	require.NoError(t, err)
	assert.Equal(t, first.Plans, second.Plans)
	assert.Equal(t, first.Trail, second.Trail)
}

func TestEvaluateTakesTheFleetAsItStands(t *testing.T) {
	v := profiled("chat-h100", 0)
	v.CurrentReplicas = 3
	f := twoPools(60, v)
	f.Workloads[0].SLO.Limits = []queueing.Limit{{Metric: queueing.TTFT, Value: 1}}
	d, _, err := planner.New(lp.Simplex()).Evaluate(planner.Snapshot{Fleet: f}, planner.Memory{})
	require.NoError(t, err)
	assert.Nil(t, d.Solution)
	assert.Equal(t, []int{3}, totals(&d, 0))
	assert.InDelta(t, 12, d.PricePerHour, 1e-12)
	assert.Equal(t, optimizer.Served, d.Demand)
	station, err := queueing.NewStation(*v.Replica, f.Workloads[0].Shape)
	require.NoError(t, err)
	assert.InDelta(t, float64(station.Evaluate(20).TTFT.Mean()), float64(d.Plans[0].Prediction.TTFT.Mean), 1e-12)
}

func TestEvaluateNamesWhatFails(t *testing.T) {
	v := profiled("chat-h100", 0)
	v.CurrentReplicas = 1
	f := twoPools(60, v)
	f.Workloads[0].SLO.Limits = []queueing.Limit{{Metric: queueing.TTFT, Value: 1}}
	d, _, err := planner.New(lp.Simplex()).Evaluate(planner.Snapshot{Fleet: f}, planner.Memory{})
	require.NoError(t, err)
	assert.Equal(t, optimizer.Partial, d.Demand)
	assert.True(t, d.Plans[0].Prediction.Saturated)
	assert.Positive(t, float64(d.Plans[0].Unmet))
	assert.Equal(t, "ttft.mean", d.Plans[0].Binding)
}

func TestEvaluateWithoutReplicas(t *testing.T) {
	d, _, err := planner.New(lp.Simplex()).Evaluate(
		planner.Snapshot{Fleet: twoPools(60, declared("chat-h100", 0, 7))}, planner.Memory{})
	require.NoError(t, err)
	assert.Equal(t, "currentReplicas", d.Plans[0].Binding)
	assert.InDelta(t, 60, float64(d.Plans[0].Unmet), 0)
}

func TestEveryVariantThatCannotBeSizedIsNamed(t *testing.T) {
	bad := profiled("bad", 0)
	bad.Replica.MaxBatch = 0
	worse := profiled("worse", 0)
	worse.Replica.Profile.Alpha = math.NaN()
	_, _, err := planner.New(lp.Simplex()).Plan(
		planner.Snapshot{Fleet: twoPools(1, bad, profiled("good", 0), worse)}, planner.Memory{}, nil)
	require.ErrorContains(t, err, "workloads[0].variants[0]")
	require.ErrorContains(t, err, "workloads[0].variants[2]")
	assert.NotContains(t, err.Error(), "variants[1]")
}

func TestSharesFollowCapacity(t *testing.T) {
	h, a := declared("chat-h100", 0, 6), declared("chat-a100", 1, 2)
	h.CurrentReplicas, a.CurrentReplicas = 1, 3
	d, _, err := planner.New(lp.Simplex()).Evaluate(planner.Snapshot{Fleet: twoPools(10, h, a)}, planner.Memory{})
	require.NoError(t, err)
	assert.InDelta(t, 0.5, d.Plans[0].Variants[0].Share, 1e-12)
	assert.InDelta(t, 0.5, d.Plans[0].Variants[1].Share, 1e-12)
}

func TestNotesSayWhatIsNotUsed(t *testing.T) {
	f := twoPools(1, declared("chat-h100", 0, 7))
	f.Pools[0].Committed = 3
	f.Pools[1].Growth = &planner.Growth{Max: 16}
	f.Workloads[0].Shapes = []planner.ShapeShare{{Share: 0.5}, {Share: 0.5}}
	d := plan(t, planner.Snapshot{Fleet: f})
	assert.Equal(t, []string{
		"pool h100: the 3 committed devices are priced like the others",
		"pool a100: planned with its capacity now, not with growth to 16",
		"workload prod/chat: each of its 2 shapes is routed by itself, in the shares of the allocations",
	}, d.Notes)
}

// Without waiting places some arrivals are lost at the highest rate inside the SLO;
// the plan counts what is served, so that lost requests need replicas too.
func TestPlanCountsWhatIsServed(t *testing.T) {
	v := profiled("chat-h100", 0)
	v.Replica.Model = queueing.LLMDV3
	v.Replica.MaxBatch = 8
	v.Replica.MaxQueue = queueing.Waiting{Limited: true}
	f := twoPools(10, v)
	d := plan(t, planner.Snapshot{Fleet: f})
	size := d.Plans[0].Variants[0].Size
	require.Less(t, float64(size.Served), 0.9*float64(size.Capacity))
	assert.Equal(t, int(math.Ceil(10/float64(size.Served))), totals(&d, 0)[0])
}
