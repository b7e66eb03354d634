package message_test

import (
	"encoding/json"
	"math"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/poolwright/poolwright/internal/document"
	"github.com/poolwright/poolwright/internal/message"
	"github.com/poolwright/poolwright/optimizer"
	"github.com/poolwright/poolwright/optimizer/greedy"
	"github.com/poolwright/poolwright/optimizer/lp"
	"github.com/poolwright/poolwright/planner"
	poolwrightv1 "github.com/poolwright/poolwright/proto/poolwright/v1"
	"github.com/poolwright/poolwright/queueing"
)

func read(t *testing.T, text string) *poolwrightv1.Fleet {
	t.Helper()
	var m poolwrightv1.Fleet
	require.NoError(t, document.Unmarshal([]byte(text), &m))
	return &m
}

func translate(t *testing.T, text string) planner.Fleet {
	t.Helper()
	f, err := message.Fleet(read(t, text))
	require.NoError(t, err)
	return f
}

func TestStrategyOfTheObjective(t *testing.T) {
	assert.Equal(t, planner.Objective{
		RelativeGap: 0.001, TimeLimit: time.Second, Strategy: planner.InfernoGreedy,
		Greedy:        greedy.Options{Saturation: greedy.PriorityRoundRobin, DelayedBestEffort: true},
		ExpansionRate: 200,
	}, translate(t, `
pools: [{accelerator: H100}]
workloads: [{name: chat, load: {arrivalRate: 1}, variants: [{name: v, accelerator: H100, capacityRps: 1}]}]
objective: {strategy: INFERNO_GREEDY, saturationPolicy: PRIORITY_ROUND_ROBIN, delayedBestEffort: true}
`).Objective)
}

// Absent is not 0: a rate of 0 fills the cheapest variant up first.
func TestExpansionRateOfTheObjective(t *testing.T) {
	for text, rate := range map[string]int{"": 200, ", costExpansionRatePercent: 0": 0, ", costExpansionRatePercent: 150": 150} {
		assert.Equal(t, rate, translate(t, `
pools: [{accelerator: H100}]
workloads: [{name: chat, load: {arrivalRate: 1}, variants: [{name: v, accelerator: H100, capacityRps: 1}]}]
objective: {strategy: KTHENA`+text+"}").Objective.ExpansionRate)
	}
}

// Every name has its own meaning: none is mapped to the default by omission.
func TestStrategiesAndPoliciesAreDistinct(t *testing.T) {
	fleet := func(o *poolwrightv1.Objective) planner.Objective {
		m := read(t, `
pools: [{accelerator: H100}]
workloads: [{name: chat, load: {arrivalRate: 1}, variants: [{name: v, accelerator: H100, capacityRps: 1}]}]
`)
		m.Objective = o
		f, err := message.Fleet(m)
		require.NoError(t, err)
		return f.Objective
	}
	strategies := map[planner.Strategy]bool{}
	for number := range poolwrightv1.Objective_Strategy_name {
		strategies[fleet(&poolwrightv1.Objective{Strategy: poolwrightv1.Objective_Strategy(number)}).Strategy] = true
	}
	assert.Len(t, strategies, len(poolwrightv1.Objective_Strategy_name))
	policies := map[greedy.Saturation]bool{}
	for number := range poolwrightv1.Objective_SaturationPolicy_name {
		policies[fleet(&poolwrightv1.Objective{SaturationPolicy: poolwrightv1.Objective_SaturationPolicy(number)}).Greedy.Saturation] = true
	}
	assert.Len(t, policies, len(poolwrightv1.Objective_SaturationPolicy_name))
}

// A plan of which nothing is proven says so, without bound and gap.
func TestUnprovenPlan(t *testing.T) {
	d := planner.Decision{
		Objective: 3, PricePerHour: 2,
		Solution: &optimizer.Solution{Proof: optimizer.Unproven, Objective: 3, PricePerHour: 2, Gap: 1},
	}
	m := message.Plan(&d)
	assert.Equal(t, poolwrightv1.Plan_NONE, m.GetProof())
	assert.InDelta(t, 3, m.GetObjective(), 0)
	assert.Zero(t, m.GetBound())
	assert.Zero(t, m.GetGap())
}

func TestDefaults(t *testing.T) {
	f := translate(t, `
pools: [{accelerator: H100}]
workloads:
- name: chat
  load: {arrivalRate: 1, outputTokens: 10}
  variants:
  - {name: v, accelerator: H100, profile: {alphaMs: 7}, maxBatch: 8}
`)
	assert.Equal(t, planner.Objective{RelativeGap: 0.001, TimeLimit: time.Second, ExpansionRate: 200}, f.Objective)
	assert.Equal(t, planner.Pool{Name: "H100", Accelerator: "H100"}, f.Pools[0])
	w := f.Workloads[0]
	assert.Equal(t, "chat", w.QualifiedName())
	assert.Equal(t, 1, w.Priority)
	assert.False(t, w.Penalized)
	assert.Equal(t, optimizer.Bound{}, w.MaxReplicas)
	assert.Equal(t, queueing.Shape{OutputTokens: 10, InputSCV: 1, OutputSCV: 1, ArrivalSCV: 1}, w.Shape)
	v := w.Variants[0]
	assert.Equal(t, []int{0}, v.Pools)
	assert.Equal(t, 1, v.DevicesPerReplica)
	assert.Equal(t, 1, v.NodesPerReplica)
	assert.False(t, v.Replica.MaxQueue.Limited, "an absent queue length is unlimited")
	assert.InDelta(t, 0.007, v.Replica.Profile.Alpha, 1e-15)
}

func TestAbsentIsNotZero(t *testing.T) {
	f := translate(t, `
pools: [{accelerator: H100, capacity: 0}]
workloads:
- name: chat
  maxReplicas: 0
  unmetPenaltyPerRps: 0
  load: {arrivalRate: 1, outputTokens: 10, inputTokensScv: 0}
  variants:
  - {name: v, accelerator: H100, profile: {alphaMs: 7}, maxBatch: 8, maxQueue: 0, maxReplicas: 0, pricePerReplicaHour: 0}
objective: {relativeGap: 0}
`)
	assert.Equal(t, optimizer.Bound{Limited: true}, f.Pools[0].Capacity)
	w := f.Workloads[0]
	assert.Equal(t, optimizer.Bound{Limited: true}, w.MaxReplicas)
	assert.True(t, w.Penalized)
	assert.Zero(t, w.Shape.InputSCV)
	assert.Equal(t, queueing.Waiting{Limited: true}, w.Variants[0].Replica.MaxQueue)
	assert.Equal(t, optimizer.Bound{Limited: true}, w.Variants[0].MaxReplicas)
	assert.True(t, w.Variants[0].Priced)
	assert.Zero(t, f.Objective.RelativeGap)
}

func TestVariantTakesEveryPoolOfItsAccelerator(t *testing.T) {
	f := translate(t, `
pools:
- {name: spot, accelerator: H100}
- {name: other, accelerator: A100}
- {name: reserved, accelerator: H100}
workloads:
- name: chat
  load: {arrivalRate: 1}
  variants:
  - {name: any, accelerator: H100, capacityRps: 1}
  - {name: one, pools: [reserved], capacityRps: 1}
`)
	assert.Equal(t, []int{0, 2}, f.Workloads[0].Variants[0].Pools)
	assert.Equal(t, []int{2}, f.Workloads[0].Variants[1].Pools)
}

// The mix has the mean and the variance of its parts: mean 0.75·100 + 0.25·500,
// and with exponential lengths in each part E[x²] = 2·(0.75·100² + 0.25·500²).
func TestShapesAreSummedUpByMoments(t *testing.T) {
	f := translate(t, `
pools: [{accelerator: H100}]
workloads:
- name: chat
  load: {arrivalRate: 1, shapes: [{share: 0.75, inputTokens: 100, outputTokens: 10}, {share: 0.25, inputTokens: 500, outputTokens: 10}]}
  variants: [{name: v, accelerator: H100, capacityRps: 1}]
`)
	w := f.Workloads[0]
	require.Len(t, w.Shapes, 2)
	assert.InDelta(t, 0.75, w.Shapes[0].Share, 0)
	assert.Equal(t, queueing.Shape{InputTokens: 500, InputSCV: 1, OutputTokens: 10, OutputSCV: 1, ArrivalSCV: 1}, w.Shapes[1].Shape)
	assert.InDelta(t, 200, float64(w.Shape.InputTokens), 1e-9)
	assert.InDelta(t, 2*(0.75*1e4+0.25*25e4)/4e4-1, w.Shape.InputSCV, 1e-12)
	assert.InDelta(t, 10, float64(w.Shape.OutputTokens), 1e-12)
	assert.InDelta(t, 1, w.Shape.OutputSCV, 1e-12)
}

func TestSLO(t *testing.T) {
	f := translate(t, `
pools: [{accelerator: H100}]
workloads:
- name: chat
  load: {arrivalRate: 1}
  slo:
    ttft: {mean: 1s, p99: 2500ms, quantiles: [{q: 0.999, limit: 1m}]}
    itl: {p50: 0.05s, p90: 60ms, p95: 70ms}
    tokensPerSecond: 20
  variants: [{name: v, accelerator: H100, capacityRps: 1}]
`)
	assert.Equal(t, []queueing.Limit{
		{Metric: queueing.TTFT, Value: 1},
		{Metric: queueing.TTFT, Quantile: 0.99, Value: 2.5},
		{Metric: queueing.TTFT, Quantile: 0.999, Value: 60},
		{Metric: queueing.ITL, Quantile: 0.5, Value: 0.05},
		{Metric: queueing.ITL, Quantile: 0.9, Value: 0.06},
		{Metric: queueing.ITL, Quantile: 0.95, Value: 0.07},
		{Metric: queueing.TokensPerSecond, Value: 20},
	}, f.Workloads[0].SLO.Limits)
}

// sound is a fleet without mistakes; each case spoils it.
func sound() *poolwrightv1.Fleet {
	return &poolwrightv1.Fleet{
		Pools: []*poolwrightv1.Pool{{Accelerator: "H100", Capacity: proto.Int32(8)}, {Name: "a", Accelerator: "A100"}},
		Workloads: []*poolwrightv1.Workload{{
			Name: "chat", Load: &poolwrightv1.Load{ArrivalRate: 1, OutputTokens: 10},
			Variants: []*poolwrightv1.Variant{{
				Name: "v", Accelerator: "H100", Profile: &poolwrightv1.Profile{AlphaMs: 7}, MaxBatch: proto.Int32(8),
			}},
		}},
	}
}

func TestMistakesHavePaths(t *testing.T) {
	_, err := message.Fleet(sound())
	require.NoError(t, err)
	cases := map[string]func(*poolwrightv1.Fleet, *poolwrightv1.Workload, *poolwrightv1.Variant){
		"pools[0].accelerator": func(f *poolwrightv1.Fleet, _ *poolwrightv1.Workload, v *poolwrightv1.Variant) {
			f.Pools[0].Accelerator, v.Accelerator = "", "A100"
		},
		"pools[0].pricePerHour": func(f *poolwrightv1.Fleet, _ *poolwrightv1.Workload, _ *poolwrightv1.Variant) {
			f.Pools[0].PricePerHour = math.NaN()
		},
		"pools[0].committed": func(f *poolwrightv1.Fleet, _ *poolwrightv1.Workload, _ *poolwrightv1.Variant) {
			f.Pools[0].Committed = 9
		},
		"pools[0].growable.max": func(f *poolwrightv1.Fleet, _ *poolwrightv1.Workload, _ *poolwrightv1.Variant) {
			f.Pools[0].Growable = &poolwrightv1.Growth{Max: 7}
		},
		`pools[0].quotas["prod"]`: func(f *poolwrightv1.Fleet, _ *poolwrightv1.Workload, _ *poolwrightv1.Variant) {
			f.Pools[0].Quotas = map[string]int32{"prod": -1}
		},
		"pools[1].name": func(f *poolwrightv1.Fleet, _ *poolwrightv1.Workload, _ *poolwrightv1.Variant) {
			f.Pools[1].Name = "H100"
		},
		"workloads[0].priority": func(_ *poolwrightv1.Fleet, w *poolwrightv1.Workload, _ *poolwrightv1.Variant) {
			w.Priority = proto.Int32(0)
		},
		"workloads[0].load": func(_ *poolwrightv1.Fleet, w *poolwrightv1.Workload, _ *poolwrightv1.Variant) {
			w.Load = nil
		},
		"workloads[0].load.arrivalRate": func(_ *poolwrightv1.Fleet, w *poolwrightv1.Workload, _ *poolwrightv1.Variant) {
			w.Load.ArrivalRate = math.Inf(1)
		},
		"workloads[0].load.outputTokens": func(_ *poolwrightv1.Fleet, w *poolwrightv1.Workload, _ *poolwrightv1.Variant) {
			w.Load.OutputTokens = 0
		},
		"workloads[0].load.shapes": func(_ *poolwrightv1.Fleet, w *poolwrightv1.Workload, _ *poolwrightv1.Variant) {
			w.Load.OutputTokens = 0
			w.Load.Shapes = []*poolwrightv1.RequestShape{{Share: 0.5, OutputTokens: 1}}
		},
		"workloads[0].slo.ttft.quantiles[0].limit": func(_ *poolwrightv1.Fleet, w *poolwrightv1.Workload, _ *poolwrightv1.Variant) {
			w.Slo = &poolwrightv1.SLO{Ttft: &poolwrightv1.LatencyLimits{Quantiles: []*poolwrightv1.QuantileLimit{{Q: 0.5}}}}
		},
		"workloads[0].slo.itl.mean": func(_ *poolwrightv1.Fleet, w *poolwrightv1.Workload, _ *poolwrightv1.Variant) {
			w.Slo = &poolwrightv1.SLO{Itl: &poolwrightv1.LatencyLimits{Mean: durationpb.New(-time.Second)}}
		},
		"workloads[0].minReplicas": func(_ *poolwrightv1.Fleet, w *poolwrightv1.Workload, _ *poolwrightv1.Variant) {
			w.MinReplicas, w.MaxReplicas = 2, proto.Int32(1)
		},
		"workloads[0].variants[0].minReplicas": func(_ *poolwrightv1.Fleet, _ *poolwrightv1.Workload, v *poolwrightv1.Variant) {
			v.MinReplicas, v.MaxReplicas = 2, proto.Int32(1)
		},
		"workloads[0].variants[0].nodesPerReplica": func(_ *poolwrightv1.Fleet, _ *poolwrightv1.Workload, v *poolwrightv1.Variant) {
			v.NodesPerReplica = proto.Int32(2)
		},
		"workloads[0].variants[0].role": func(_ *poolwrightv1.Fleet, _ *poolwrightv1.Workload, v *poolwrightv1.Variant) {
			v.Role = poolwrightv1.Variant_PREFILL
		},
		"workloads[0].variants[0].kvTransfer": func(_ *poolwrightv1.Fleet, _ *poolwrightv1.Workload, v *poolwrightv1.Variant) {
			v.KvTransfer = &poolwrightv1.KVTransfer{Base: durationpb.New(time.Millisecond)}
		},
		"workloads[0].variants[0].profile": func(_ *poolwrightv1.Fleet, w *poolwrightv1.Workload, v *poolwrightv1.Variant) {
			v.Role = poolwrightv1.Variant_PREFILL
			w.Variants = append(w.Variants, &poolwrightv1.Variant{Name: "other", Accelerator: "H100", CapacityRps: 1, Role: poolwrightv1.Variant_DECODE})
		},
		"workloads[0].variants[1].role": func(_ *poolwrightv1.Fleet, w *poolwrightv1.Workload, _ *poolwrightv1.Variant) {
			w.Mixing = poolwrightv1.Workload_SINGLE
			w.Variants = append(w.Variants, &poolwrightv1.Variant{Name: "other", Accelerator: "H100", CapacityRps: 1, Role: poolwrightv1.Variant_DECODE})
		},
		"workloads[0].variants[0].serviceModel": func(_ *poolwrightv1.Fleet, _ *poolwrightv1.Workload, v *poolwrightv1.Variant) {
			v.ServiceModel = 99
		},
		"workloads[0].variants[0].accelerator": func(_ *poolwrightv1.Fleet, _ *poolwrightv1.Workload, v *poolwrightv1.Variant) {
			v.Accelerator = "B200"
		},
		"workloads[0].variants[0].pools": func(_ *poolwrightv1.Fleet, _ *poolwrightv1.Workload, v *poolwrightv1.Variant) {
			v.Pools = []string{"a"}
		},
		"workloads[0].variants[0].pools[1]": func(_ *poolwrightv1.Fleet, _ *poolwrightv1.Workload, v *poolwrightv1.Variant) {
			v.Accelerator, v.Pools = "", []string{"H100", "a"}
		},
		"workloads[0].variants[0]": func(_ *poolwrightv1.Fleet, _ *poolwrightv1.Workload, v *poolwrightv1.Variant) {
			v.Profile = nil
		},
		"workloads[0].variants[0].capacityRps": func(_ *poolwrightv1.Fleet, _ *poolwrightv1.Workload, v *poolwrightv1.Variant) {
			v.CapacityRps = 1
		},
		"workloads[0].variants[0].maxBatch": func(_ *poolwrightv1.Fleet, _ *poolwrightv1.Workload, v *poolwrightv1.Variant) {
			v.MaxBatch = nil
		},
		"workloads[0].variants[0].profile.alphaMs": func(_ *poolwrightv1.Fleet, _ *poolwrightv1.Workload, v *poolwrightv1.Variant) {
			v.Profile.AlphaMs = -1
		},
		"objective.relativeGap": func(f *poolwrightv1.Fleet, _ *poolwrightv1.Workload, _ *poolwrightv1.Variant) {
			f.Objective = &poolwrightv1.Objective{RelativeGap: proto.Float64(1)}
		},
	}
	for path, spoil := range cases {
		t.Run(path, func(t *testing.T) {
			f := sound()
			spoil(f, f.Workloads[0], f.Workloads[0].Variants[0])
			_, err := message.Fleet(f)
			var violations message.Violations
			require.ErrorAs(t, err, &violations)
			require.Len(t, violations, 1, "%v", err)
			assert.Equal(t, path, violations[0].Path)
			assert.NotEmpty(t, violations[0].Message)
		})
	}
}

func TestViolationsAreOrderedByIndex(t *testing.T) {
	f := sound()
	for range 11 {
		f.Pools = append(f.Pools, &poolwrightv1.Pool{})
	}
	_, err := message.Fleet(f)
	var violations message.Violations
	require.ErrorAs(t, err, &violations)
	require.Len(t, violations, 11)
	assert.Equal(t, "pools[2].accelerator", violations[0].Path)
	assert.Equal(t, "pools[12].accelerator", violations[10].Path)
}

// The sizing vectors of the llm-d family hold through the whole translation, from
// milliseconds in a message to the capacity in an answer.
func TestVectorsThroughMessages(t *testing.T) {
	var vectors struct {
		Size []struct {
			ID, Model                 string
			Alpha, Beta, Gamma, Delta float64
			InTokens, OutTokens       float64
			MaxBatch, MaxQueue        int32
			TargetITL, TargetTPS      float64
			TargetTTFT                float64
			Ref64                     struct {
				Rate float64 `json:"max_rate_rps"`
			}
		}
	}
	data, err := os.ReadFile("../../queueing/testdata/queueing.json")
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(data, &vectors))
	require.NotEmpty(t, vectors.Size)
	models := map[string]poolwrightv1.Variant_ServiceModel{
		"v1": poolwrightv1.Variant_LLMD_V1, "v2": poolwrightv1.Variant_LLMD_V2, "v3": poolwrightv1.Variant_LLMD_V3,
	}
	for _, c := range vectors.Size {
		t.Run(c.ID, func(t *testing.T) {
			f := sound()
			w, v := f.Workloads[0], f.Workloads[0].Variants[0]
			w.Load.InputTokens, w.Load.OutputTokens = c.InTokens, c.OutTokens
			w.Slo = &poolwrightv1.SLO{TokensPerSecond: c.TargetTPS}
			milliseconds := func(ms float64) *poolwrightv1.LatencyLimits {
				if ms == 0 {
					return nil
				}
				return &poolwrightv1.LatencyLimits{Mean: durationpb.New(queueing.Seconds(ms / 1e3).Duration())}
			}
			w.Slo.Ttft, w.Slo.Itl = milliseconds(c.TargetTTFT), milliseconds(c.TargetITL)
			v.ServiceModel, v.MaxBatch, v.MaxQueue = models[c.Model], &c.MaxBatch, &c.MaxQueue
			v.Profile = &poolwrightv1.Profile{AlphaMs: c.Alpha, BetaMs: c.Beta, GammaMs: c.Gamma, DeltaMs: c.Delta}
			fleet, err := message.Fleet(f)
			require.NoError(t, err)
			sizes, err := planner.New(lp.Simplex()).Capacities(fleet)
			require.NoError(t, err)
			answer := message.Capacities(&fleet, sizes)
			assert.InEpsilon(t, c.Ref64.Rate, answer.GetVariants()[0].GetCapacityRps(), 1e-9)
		})
	}
}
