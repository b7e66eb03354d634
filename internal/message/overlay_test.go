package message_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	"github.com/poolwright/poolwright/internal/document"
	"github.com/poolwright/poolwright/internal/message"
	"github.com/poolwright/poolwright/optimizer"
	"github.com/poolwright/poolwright/planner"
	poolwrightv1 "github.com/poolwright/poolwright/proto/poolwright/v1"
	"github.com/poolwright/poolwright/queueing"
)

func parse[M proto.Message](t *testing.T, text string, m M) M {
	t.Helper()
	require.NoError(t, document.UnmarshalYAML([]byte(text), m))
	return m
}

// Every mistake of an overlay comes with its path, all of them at once.
func TestOverlayMistakes(t *testing.T) {
	m := parse(t, `
accelerators:
- {name: H100, aliases: [NVIDIA-H100, A100], device: {count: 2}}
- {name: A100, device: {memoryBandwidth: 2e12}}
- {name: Ours, device: {memoryBandwidth: 2e12}}
pools:
- {accelerator: H100, capacity: 2, committed: 3}
- {accelerator: H100}
models:
- {model: llama, facts: {parameters: 8e9, layers: 32, hiddenSize: 4096}}
- {model: llama, facts: {parameters: 8e9, layers: 32, hiddenSize: 4096, kvBytesPerToken: 1}}
replicas:
- match: {model: llama, accelerator: H100, devices: 1}
  capacityRps: 2
  profile: {alphaMs: 1}
- match: {model: llama, accelerator: NVIDIA-H100, devices: 1}
  accelerator: H100
  devices: 2
- {minReplicas: 3, maxReplicas: 2, serviceModel: LLMD_V0, nodes: 3, devices: 2}
workloads:
- match: {model: llama*}
  model: llama
  load: {arrivalRate: 1, arrivalRateUpper: 2, inputTokens: 5}
- match: {serviceClass: premium}
  serviceClass: premium
  minReplicas: 3
  maxReplicas: 2
- match: {model: llama*}
  policy: {}
- metrics: {engine: vLLM, port: 70000, selector: {a-b: c}, modelLabel: a.b, path: metrics, gateway: {selector: {"": c}, modelLabel: 1a}}
- match: {name: "*", namespace: a*b, model: "**"}
  load: {shapes: [{share: 0.5, inputTokens: 1, outputTokens: 1}]}
- {match: {name: "*"}}
replicaDefaults: {match: {model: x}, maxBatch: 0}
workloadDefaults: {match: {model: x}, priority: 0}
objective: {robustness: {service: JOINT}}
control: {forecast: {slot: 7m}}
`, &poolwrightv1.Overlay{})
	_, err := message.Overlay(m)
	require.EqualError(t, err, `accelerators[0].device.count: it is that of the devices of a replica
accelerators[1].name: "A100" is accelerators[0].aliases[1] too
accelerators[2].device.name: "Ours" is not built in: give memoryBandwidth and flops, or one of `+strings.Join(message.Accelerators(), ", ")+`
control.forecast.slot: 7m0s is not a part of a day
models[0].facts.kvBytesPerToken: give it, or kvHeads and headSize
models[1]: it is for the same as models[0]
objective.robustness.probability: JOINT needs a probability
objective.robustness.service: JOINT needs scenarios
pools[0].committed: 3 is more than the capacity of 2
pools[1].name: "H100" is the name of pools[0] too
replicaDefaults.match: defaults are for all
replicaDefaults.maxBatch: must be greater than or equal to 1 and less than or equal to 65536
replicas[0].capacityRps: give either capacityRps or a profile
replicas[1]: it is for the same as replicas[0]
replicas[1].accelerator: the entry is for one already
replicas[1].devices: the entry is for a number of them already
replicas[2].minReplicas: 3 is more than maxReplicas, which is 2
replicas[2].nodes: 3 nodes for 2 devices
replicas[2].serviceModel: it belongs to a profile, and there is none
workloadDefaults.match: defaults are for all
workloadDefaults.priority: must be greater than or equal to 1 and less than or equal to 1000000
workloads[0].load.arrivalRate: arrivals are measured
workloads[0].load.arrivalRateUpper: arrivals are measured
workloads[0].load.outputTokens: with inputTokens it must be at least 1
workloads[0].model: the entry is for one already
workloads[1].minReplicas: 3 is more than maxReplicas, which is 2
workloads[1].serviceClass: the entry is for one already
workloads[2]: it is for the same as workloads[0]
workloads[2].policy.kind: exactly one field is required in oneof
workloads[3].metrics.engine: must be in list [llamacpp, sglang, tensorrt-llm, tgi, trtllm-serve, vllm]
workloads[3].metrics.gateway.modelLabel: does not match regex pattern `+"`^[a-zA-Z_][a-zA-Z0-9_]*$`"+`
workloads[3].metrics.gateway.selector[""]: does not match regex pattern `+"`^[a-zA-Z_][a-zA-Z0-9_]*$`"+`
workloads[3].metrics.modelLabel: does not match regex pattern `+"`^[a-zA-Z_][a-zA-Z0-9_]*$`"+`
workloads[3].metrics.path: does not have prefix `+"`/`"+`
workloads[3].metrics.port: must be greater than or equal to 1 and less than or equal to 65535
workloads[3].metrics.selector["a-b"]: does not match regex pattern `+"`^[a-zA-Z_][a-zA-Z0-9_]*$`"+`
workloads[4].load.shapes: the shares sum to 0.5, not to 1
workloads[4].match.model: "**" has a * elsewhere than at its end
workloads[4].match.namespace: "a*b" has a * elsewhere than at its end
workloads[5]: it is for the same as workloads[3]`)
}

// Merging takes over every field, and only those that are open.
func TestMergeOverlays(t *testing.T) {
	for _, m := range []struct {
		full, empty, other proto.Message
		merge              func(to, from proto.Message)
	}{
		{
			full: parse(t, fullReplicas, &poolwrightv1.ReplicaOverlay{}), empty: &poolwrightv1.ReplicaOverlay{},
			other: &poolwrightv1.ReplicaOverlay{CapacityRps: proto.Float64(9), MaxBatch: proto.Int32(1)},
			merge: func(to, from proto.Message) {
				message.MergeReplica(to.(*poolwrightv1.ReplicaOverlay), from.(*poolwrightv1.ReplicaOverlay))
			},
		},
		{
			full: parse(t, fullWorkloads, &poolwrightv1.WorkloadOverlay{}), empty: &poolwrightv1.WorkloadOverlay{},
			other: &poolwrightv1.WorkloadOverlay{Priority: proto.Int32(9), Metrics: &poolwrightv1.MetricSeries{Engine: "tgi"}},
			merge: func(to, from proto.Message) {
				message.MergeWorkload(to.(*poolwrightv1.WorkloadOverlay), from.(*poolwrightv1.WorkloadOverlay))
			},
		},
	} {
		fields := m.full.ProtoReflect().Descriptor().Fields()
		for i := range fields.Len() {
			f := fields.Get(i)
			open := f.Name() == "match" || f.Name() == "capacity_rps"
			assert.Equal(t, !open, m.full.ProtoReflect().Has(f), "the example should set %s", f.Name())
		}
		m.merge(m.empty, m.full)
		assert.True(t, proto.Equal(m.full, m.empty), "%v", m.empty)
		before := proto.Clone(m.full)
		m.merge(m.full, m.other)
		assert.True(t, proto.Equal(before, m.full), "%v", m.full)
	}
}

const fullReplicas = `
accelerator: H100
devices: 4
nodes: 2
pools: [a, b]
profile: {alphaMs: 10}
serviceModel: LLMD_V1
maxBatch: 64
kvCacheTokens: 1e5
maxQueue: 100
prefillMode: BLOCKING
maxBatchedTokens: 2048
speculativeAcceptedTokens: 1.5
kvTransfer: {base: 5ms}
minReplicas: 1
maxReplicas: 9
pricePerReplicaHour: 12
startup: 3m
switchingCost: {up: 0.5, down: 0.25}
`

const fullWorkloads = `
model: llama
serviceClass: premium
priority: 2
slo: {ttft: {p95: 1s}}
load: {inputTokens: 1000, outputTokens: 200, prefixHitRatio: 0.5}
mixing: SINGLE
strategy: GREEDY_BATCHES
redundancy: 1
minReplicas: 2
maxReplicas: 20
unmetPenaltyPerRps: 7
policy: {native: {zeroGrace: 1h}}
mode: RECOMMEND
takeOver: true
metrics: {engine: vllm, selector: {a: b}, modelLabel: m, port: 8100, path: /m, gateway: {selector: {g: h}, modelLabel: n}}
`

// Metrics are merged field by field, and nothing that went in is changed.
func TestMergeMetrics(t *testing.T) {
	specific := parse(t, `metrics: {port: 1, selector: {a: b}}`, &poolwrightv1.WorkloadOverlay{})
	general := parse(t, fullWorkloads, &poolwrightv1.WorkloadOverlay{})
	metrics := specific.Metrics
	message.MergeWorkload(specific, general)
	want := parse(t, "engine: vllm\nselector: {a: b}\nmodelLabel: m\nport: 1\npath: /m\ngateway: {selector: {g: h}, modelLabel: n}", &poolwrightv1.MetricSeries{})
	assert.True(t, proto.Equal(want, specific.Metrics), "%v", specific.Metrics)
	assert.Empty(t, metrics.Engine)
	assert.Equal(t, "b", general.Metrics.Selector["a"])
}

func TestApplyReplica(t *testing.T) {
	before := planner.Variant{Name: "v", Role: optimizer.Prefill, CurrentReplicas: 3}
	v := before
	message.ApplyReplica(&poolwrightv1.ReplicaOverlay{}, &v)
	assert.Equal(t, before, v, "nothing said, nothing changed")

	message.ApplyReplica(parse(t, fullReplicas, &poolwrightv1.ReplicaOverlay{}), &v)
	assert.Equal(t, planner.Variant{
		Name: "v", Role: optimizer.Prefill, CurrentReplicas: 3, DevicesPerReplica: 4, NodesPerReplica: 2,
		MinReplicas: 1, MaxReplicas: optimizer.Bound{Limited: true, Value: 9}, PricePerReplicaHour: 12, Priced: true,
		Startup: 180e9, SwitchUp: 0.5, SwitchDown: 0.25, Transfer: queueing.Transfer{Base: 0.005},
		Replica: &queueing.Replica{
			Model: queueing.LLMDV1, Profile: queueing.Profile{Alpha: 0.01}, MaxBatch: 64, KVCacheTokens: 1e5,
			MaxBatchedTokens: 2048, AcceptedTokens: 1.5, PrefillMode: queueing.Blocking,
			MaxQueue: queueing.Waiting{Limited: true, Places: 100},
		},
	}, v)

	declared := v.Replica
	message.ApplyReplica(&poolwrightv1.ReplicaOverlay{MaxBatch: proto.Int32(8)}, &v)
	assert.Equal(t, 8, v.Replica.MaxBatch)
	assert.InDelta(t, 0.01, v.Replica.Profile.Alpha, 0, "the profile stays")
	assert.Equal(t, 64, declared.MaxBatch, "what was declared is not changed")
	message.ApplyReplica(&poolwrightv1.ReplicaOverlay{CapacityRps: proto.Float64(2)}, &v)
	assert.Nil(t, v.Replica, "a capacity takes the place of a profile")
	assert.InDelta(t, 2, float64(v.Capacity), 0)
}

func TestApplyWorkload(t *testing.T) {
	before := planner.Workload{Namespace: "ns", Name: "w", Model: "m", Priority: 4}
	w := before
	message.ApplyWorkload(&poolwrightv1.WorkloadOverlay{}, &w)
	assert.Equal(t, before, w, "nothing said, nothing changed")

	message.ApplyWorkload(parse(t, fullWorkloads, &poolwrightv1.WorkloadOverlay{}), &w)
	require.NotNil(t, w.Policy.Native)
	assert.InDelta(t, 1, w.Policy.Native.ZeroGrace.Hours(), 0)
	w.Policy = planner.Policy{}
	rate := 200
	assert.Equal(t, planner.Workload{
		Namespace: "ns", Name: "w", Model: "llama", ServiceClass: "premium", Priority: 2,
		Shape:  queueing.Shape{InputTokens: 1000, OutputTokens: 200, InputSCV: 1, OutputSCV: 1, ArrivalSCV: 1, PrefixHitRatio: 0.5},
		SLO:    queueing.SLO{Limits: []queueing.Limit{{Metric: queueing.TTFT, Quantile: 0.95, Value: 1}}},
		Mixing: optimizer.Single, Redundancy: 1, MinReplicas: 2, MaxReplicas: optimizer.Bound{Limited: true, Value: 20},
		UnmetPenalty: 7, Penalized: true, ExpansionRate: &rate,
	}, w)

	rate = 150
	w.ExpansionRate = &rate
	message.ApplyWorkload(&poolwrightv1.WorkloadOverlay{Strategy: poolwrightv1.WorkloadOverlay_GREEDY_BATCHES.Enum()}, &w)
	assert.Equal(t, 150, *w.ExpansionRate, "the declared rate")
	message.ApplyWorkload(&poolwrightv1.WorkloadOverlay{}, &w)
	assert.Equal(t, 150, *w.ExpansionRate, "nothing said, nothing changed")
	message.ApplyWorkload(&poolwrightv1.WorkloadOverlay{Strategy: poolwrightv1.WorkloadOverlay_OPTIMAL.Enum()}, &w)
	assert.Nil(t, w.ExpansionRate)
}
