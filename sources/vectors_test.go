package sources_test

import (
	"encoding/json"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/poolwright/poolwright/internal/message"
	"github.com/poolwright/poolwright/planner"
	"github.com/poolwright/poolwright/queueing"
	"github.com/poolwright/poolwright/sources"
)

// vector is one choice of the inferno family.
type vector struct {
	ID          string          `json:"id"`
	Accelerator string          `json:"acc"`
	Cents       float64         `json:"acc_cost"`
	Arrivals    float64         `json:"arrival_rate_req_per_min"`
	Input       int             `json:"inTokens"`
	Output      int             `json:"outTokens"`
	MaxBatch    int             `json:"maxBatchSize"`
	MaxQueue    int             `json:"maxQueueSize"`
	Minimum     int             `json:"minNumReplicas"`
	Model       string          `json:"model"`
	Class       string          `json:"class"`
	Profile     json.RawMessage `json:"profile"`
	Target      struct {
		ITL  float64 `json:"itl_ms"`
		TTFT float64 `json:"ttft_ms"`
		TPS  float64 `json:"tps"`
	} `json:"target"`
	Out *struct {
		Cents    float64 `json:"cost"`
		MaxBatch int32   `json:"maxBatch"`
		MaxRPM   float64 `json:"max_rpm_per_replica"`
		Replicas int     `json:"numReplicas"`
	} `json:"out"`
}

// system writes the vector as a system with one server.
func (v vector) system(t *testing.T) []byte {
	t.Helper()
	type object = map[string]any
	data, err := json.Marshal(object{"system": object{
		"acceleratorData": object{"accelerators": []object{{"name": v.Accelerator, "type": v.Accelerator, "multiplicity": 1, "cost": v.Cents}}},
		"modelData":       object{"models": []json.RawMessage{v.Profile}},
		"serviceClassData": object{"serviceClasses": []object{{"name": v.Class, "priority": 1, "modelTargets": []object{
			{"model": v.Model, "slo-itl": v.Target.ITL, "slo-ttft": v.Target.TTFT, "slo-tps": v.Target.TPS},
		}}}},
		"serverData": object{"servers": []object{{
			"name": "s", "class": v.Class, "model": v.Model,
			"minNumReplicas": v.Minimum, "maxBatchSize": v.MaxBatch, "maxQueueSize": v.MaxQueue,
			"currentAlloc": object{"load": object{"arrivalRate": v.Arrivals, "avgInTokens": v.Input, "avgOutTokens": v.Output}},
		}}},
		"optimizerData": object{"optimizer": object{"unlimited": true}},
	}})
	require.NoError(t, err)
	return data
}

// served is the throughput of one replica at the highest rate within the SLO, which
// is what the family divides arrivals by.
func served(t *testing.T, w planner.Workload) float64 {
	t.Helper()
	station, err := queueing.NewStation(*w.Variants[0].Replica, w.Shape)
	require.NoError(t, err)
	capacity, err := station.Capacity(w.SLO)
	require.NoError(t, err)
	return float64(capacity.Served)
}

// An imported system is sized as the family sizes it.
func TestAllocationVectors(t *testing.T) {
	var file struct {
		Allocations []vector `json:"allocations"`
	}
	require.NoError(t, json.Unmarshal(read(t, "testdata/allocation.json"), &file))
	require.NotEmpty(t, file.Allocations)
	for _, v := range file.Allocations {
		t.Run(v.ID, func(t *testing.T) {
			if v.Profile == nil {
				v.Profile = json.RawMessage("null")
			}
			m, err := sources.ReadFleet(v.system(t))
			if string(v.Profile) == "null" {
				require.Error(t, err)
				return
			}
			require.NoError(t, err)
			fleet, err := message.Fleet(m)
			require.NoError(t, err)
			served := served(t, fleet.Workloads[0])
			if v.Out == nil {
				require.Zero(t, served)
				return
			}
			variant := m.GetWorkloads()[0].GetVariants()[0]
			require.Equal(t, v.Minimum, int(m.GetWorkloads()[0].GetMinReplicas()))
			if v.Out.Replicas == 0 {
				require.Zero(t, m.GetWorkloads()[0].GetLoad().GetArrivalRate())
				return
			}
			require.Equal(t, v.Out.MaxBatch, variant.GetMaxBatch())
			require.InEpsilon(t, v.Out.Cents/100, variant.GetPricePerReplicaHour()*float64(v.Out.Replicas), 1e-9)
			if v.Arrivals > 0 {
				require.InEpsilon(t, v.Out.MaxRPM/60, served, 1e-4)
				replicas := math.Ceil(m.GetWorkloads()[0].GetLoad().GetArrivalRate() / served)
				require.Equal(t, v.Out.Replicas, max(v.Minimum, int(replicas)))
			}
		})
	}
}
