package autoscaler_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/poolwright/poolwright/planner"
	"github.com/poolwright/poolwright/queueing"
	"github.com/poolwright/poolwright/simulation/autoscaler"
	"github.com/poolwright/poolwright/simulation/trace"
)

// Two minutes at the same rate, the second of which has outputs that are four times as long,
// need different replicas where lengths are not declared.
func TestScheduleKnowsUndeclaredLengths(t *testing.T) {
	var requests trace.List
	for i := range 2400 {
		r := trace.Request{At: float64(i) / 20, Input: 500, Output: 100}
		if r.At >= 60 {
			r.Output = 400
		}
		requests = append(requests, r)
	}
	f := autoscaler.Future{
		Fleet: planner.Fleet{
			Pools: []planner.Pool{{Name: "H100", Accelerator: "H100", PricePerHour: 1}},
			Workloads: []planner.Workload{{
				Name: "chat", Priority: 1, Shape: queueing.Shape{InputTokens: 500, OutputTokens: 250, ArrivalSCV: 1},
				SLO: queueing.SLO{Limits: []queueing.Limit{{Metric: queueing.TTFT, Quantile: 0.95, Value: 1}}},
				Variants: []planner.Variant{{
					Name: "h100", Pools: []int{0}, DevicesPerReplica: 1, CurrentReplicas: 1,
					Replica: &queueing.Replica{Profile: queueing.Profile{Alpha: 0.02, Beta: 0.0005}, MaxBatch: 32},
				}},
			}},
		},
		Traffic: []trace.Workload{{Name: "chat", Source: requests}}, Seed: 1, Duration: 2 * time.Minute, Window: time.Minute,
	}
	declared, err := f.Schedule(nil)
	require.NoError(t, err)
	assert.Equal(t, declared.Serving[0], declared.Serving[1], "rates are equal")

	f.Undeclared = []bool{true}
	known, err := f.Schedule(nil)
	require.NoError(t, err)
	assert.Less(t, known.Serving[0][0][0], declared.Serving[0][0][0])
	assert.Greater(t, known.Serving[1][0][0], declared.Serving[0][0][0])
	assert.Equal(t, known.Serving[1], known.Static, "the peak is one of work")
}

// A trace ends with the simulation, in the middle of a window.
func TestScheduleKnowsTheRateOfAShortWindow(t *testing.T) {
	var requests trace.List
	for i := range 2100 {
		requests = append(requests, trace.Request{At: float64(i) / 20, Input: 500, Output: 100})
	}
	f := autoscaler.Future{
		Fleet: planner.Fleet{
			Pools: []planner.Pool{{Name: "H100", Accelerator: "H100", PricePerHour: 1}},
			Workloads: []planner.Workload{{Name: "chat", Priority: 1, Variants: []planner.Variant{{
				Name: "h100", Pools: []int{0}, DevicesPerReplica: 1, CurrentReplicas: 1, Capacity: 2,
			}}}},
		},
		Traffic: []trace.Workload{{Name: "chat", Source: requests}}, Seed: 1, Duration: 105 * time.Second, Window: time.Minute,
	}
	s, err := f.Schedule(nil)
	require.NoError(t, err)
	assert.Equal(t, [][][]int{{{10}}, {{10}}}, s.Serving, "20 requests/s throughout")
	f.Traffic[0].Source = nil
	_, err = f.Schedule(nil)
	require.NoError(t, err)
}
