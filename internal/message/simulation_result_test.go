package message_test

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"

	"github.com/poolwright/poolwright/internal/message"
	poolwrightv1 "github.com/poolwright/poolwright/proto/poolwright/v1"
	"github.com/poolwright/poolwright/simulation/study"
)

// of is an estimate of one seed.
func of(mean float64) study.Estimate {
	return study.Estimate{Mean: mean, Lower: math.Inf(-1), Upper: math.Inf(1)}
}

func TestSimulationResult(t *testing.T) {
	none := of(math.NaN())
	result := study.Result{
		Name: "day", Duration: time.Hour, Warmup: time.Minute, Window: time.Minute, Seeds: []uint64{7}, HindsightCost: []float64{8},
		Demand: []study.DemandSeries{{Workload: "chat", ArrivalRate: []float64{1, 2}}},
		Autoscalers: []study.AutoscalerResult{{
			Name: "poolwright", Cost: study.Estimate{Mean: 9, Lower: 8, Upper: 10}, DeviceHours: of(3), Attainment: of(0.5), UnmetRequests: of(1),
			ScaleEvents: of(4), Regret: &study.Estimate{Mean: 0.125, Lower: math.Inf(-1), Upper: math.Inf(1)},
			Classes: []study.ClassResult{{ServiceClass: "gold", Requests: 2, Attainment: of(0.5), UnmetRequests: of(1), Objective: 0.95}},
			Workloads: []study.WorkloadResult{{
				Workload: "chat", ServiceClass: "gold", Requests: 2, Attainment: of(0.5), UnmetRequests: of(1), Objective: 0.95,
				TTFT: study.LatencyEstimate{Mean: of(0.1), P50: of(0.2), P95: of(0.3), P99: of(0.4), Limit: 1},
				ITL:  study.LatencyEstimate{Mean: none, P50: none, P95: none, P99: none},
			}},
			Runs: []study.SimulationRun{{Seed: 7, Cost: 9, DeviceHours: 3, Attainment: 0.5, Requests: 2, UnmetRequests: 1, ScaleEvents: 4, Processor: 1500 * time.Millisecond}},
			Replicas: []study.ReplicaSeries{{
				Workload: "chat", Variant: "v", Accelerator: "H100", Serving: []float64{1, 1}, Paid: []float64{1, 2}, DevicesPerReplica: 4, Capacity: 6,
			}},
			Latencies: []study.LatencySeries{{
				Workload: "chat", TTFTMean: []float64{0.1, 0.2}, TTFTP95: []float64{0.3, 0.4}, ITLMean: []float64{0.5, 0.6}, Attainment: []float64{1, 0},
			}},
			CostPerHour: []float64{4, 8},
		}},
	}
	want := &poolwrightv1.SimulationResult{}
	require.NoError(t, protojson.Unmarshal([]byte(`{
	  "name": "day", "duration": "3600s", "warmup": "60s", "window": "60s", "seeds": ["7"], "hindsightCost": [8],
	  "demand": [{"workload": "chat", "arrivalRate": [1, 2]}],
	  "autoscalers": [{
	    "name": "poolwright", "cost": {"mean": 9, "lower": 8, "upper": 10}, "deviceHours": {"mean": 3}, "attainment": {"mean": 0.5},
	    "unmetRequests": {"mean": 1}, "scaleEvents": {"mean": 4}, "regret": {"mean": 0.125},
	    "classes": [{"serviceClass": "gold", "requests": 2, "attainment": {"mean": 0.5}, "unmetRequests": {"mean": 1}, "objective": 0.95}],
	    "workloads": [{
	      "workload": "chat", "serviceClass": "gold", "requests": 2, "attainment": {"mean": 0.5}, "unmetRequests": {"mean": 1}, "objective": 0.95,
	      "ttft": {"mean": {"mean": 0.1}, "p50": {"mean": 0.2}, "p95": {"mean": 0.3}, "p99": {"mean": 0.4}, "limit": 1}, "itl": {}
	    }],
	    "runs": [{"seed": "7", "cost": 9, "deviceHours": 3, "attainment": 0.5, "requests": "2", "unmetRequests": "1", "scaleEvents": "4", "processorSeconds": 1.5}],
	    "replicas": [{"workload": "chat", "variant": "v", "accelerator": "H100", "serving": [1, 1], "paid": [1, 2], "devicesPerReplica": 4, "capacityRps": 6}],
	    "latencies": [{"workload": "chat", "ttftMean": [0.1, 0.2], "ttftP95": [0.3, 0.4], "itlMean": [0.5, 0.6], "attainment": [1, 0]}],
	    "costPerHour": [4, 8]
	  }]
	}`), want))
	got := message.SimulationResult(&result)
	assert.True(t, proto.Equal(want, got), "want %v\ngot  %v", want, got)
}

// What is not known is absent and never 0 or infinite.
func TestSimulationResultWithoutValues(t *testing.T) {
	none := of(math.NaN())
	m := message.SimulationResult(&study.Result{Autoscalers: []study.AutoscalerResult{{
		Cost: none, Attainment: of(1),
		Workloads: []study.WorkloadResult{{Attainment: none}},
		Replicas:  []study.ReplicaSeries{{Variant: "v"}},
	}}}).GetAutoscalers()[0]
	assert.Nil(t, m.GetCost())
	assert.Nil(t, m.GetRegret())
	assert.Nil(t, m.GetAttainment().Lower)
	assert.Nil(t, m.GetAttainment().Upper)
	assert.Nil(t, m.GetWorkloads()[0].GetAttainment())
	assert.Nil(t, m.GetWorkloads()[0].Objective)
	assert.Nil(t, m.GetReplicas()[0].CapacityRps)
}
