package simulation_test

import (
	"context"
	"iter"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/poolwright/poolwright/optimizer"
	"github.com/poolwright/poolwright/planner"
	"github.com/poolwright/poolwright/queueing"
	"github.com/poolwright/poolwright/simulation"
	"github.com/poolwright/poolwright/simulation/trace"
)

// h100 is a replica of 512/256 tokens that sustains 44 requests/s.
func h100() *queueing.Replica {
	return &queueing.Replica{
		Profile:  queueing.Profile{Alpha: 0.00683, Beta: 0.000057, Delta: 0.0000024},
		MaxBatch: 256, MaxBatchedTokens: 2048, KVCacheTokens: 420_000,
	}
}

// chat is one workload with one variant in a pool of so many devices.
func chat(devices, replicas int) planner.Fleet {
	return planner.Fleet{
		Pools: []planner.Pool{{Name: "h100", Accelerator: "H100", PricePerHour: 3600, Capacity: optimizer.Bound{Limited: true, Value: devices}}},
		Workloads: []planner.Workload{{
			Name: "chat", Priority: 1,
			Shape: queueing.Shape{InputTokens: 512, OutputTokens: 256, ArrivalSCV: 1},
			SLO: queueing.SLO{Limits: []queueing.Limit{
				{Metric: queueing.TTFT, Quantile: 0.95, Value: 1}, {Metric: queueing.ITL, Value: 0.05},
			}},
			Variants: []planner.Variant{{
				Name: "chat-h100", Pools: []int{0}, DevicesPerReplica: 1, NodesPerReplica: 1,
				Replica: h100(), CurrentReplicas: replicas, Startup: 30 * time.Second,
			}},
		}},
	}
}

// poisson arrivals of 512/256 tokens at a rate, for so many seconds.
func poisson(seed uint64, rate, seconds float64) iter.Seq[trace.Request] {
	return func(yield func(trace.Request) bool) {
		random := rand.New(rand.NewPCG(seed, 0))
		for at := random.ExpFloat64() / rate; at < seconds; at += random.ExpFloat64() / rate {
			if !yield(trace.Request{At: at, Input: 512, Output: 256}) {
				return
			}
		}
	}
}

// scaler calls a function at an interval.
type scaler struct {
	interval time.Duration
	scale    func(now time.Time)
}

func (s scaler) Interval() time.Duration { return s.interval }

func (s scaler) Scale(_ context.Context, now time.Time) error {
	s.scale(now)
	return nil
}

// run simulates for so many seconds and returns the windows.
func run(t *testing.T, c *simulation.Cluster, a simulation.Autoscaler, seconds int) []simulation.Window {
	t.Helper()
	var windows []simulation.Window
	require.NoError(t, c.Run(t.Context(), a, midnight.Add(time.Duration(seconds)*time.Second), func(w simulation.Window) {
		windows = append(windows, w)
	}))
	return windows
}

func newCluster(t *testing.T, config simulation.Config) *simulation.Cluster {
	t.Helper()
	config.Start = midnight
	if config.Requests == nil {
		config.Requests = slices.Values[[]trace.Request](nil)
	}
	c, err := simulation.New(config)
	require.NoError(t, err)
	return c
}

func TestEveryRequestEnds(t *testing.T) {
	records := 0
	c := newCluster(t, simulation.Config{
		Fleet: chat(4, 2), Requests: poisson(1, 40, 300), Gateway: simulation.DefaultGateway(),
		OnRequest: func(r simulation.Record) {
			records++
			assert.Equal(t, simulation.Completed, r.Outcome)
		},
	})
	windows := run(t, c, nil, 300)
	require.Len(t, windows, 5)
	arrived, completed, cost := 0, 0, 0.0
	for i, w := range windows {
		assert.Equal(t, i, w.Index)
		of := w.Workloads[0]
		arrived += of.Arrived
		completed += of.Completed
		cost += w.Cost()
		assert.LessOrEqual(t, of.Attained, of.Arrived)
		assert.InDelta(t, 2, of.Variants[0].Serving, 1e-9)
		assert.InDelta(t, 2, of.Variants[0].Paid, 1e-9)
		assert.InDelta(t, 0.05, of.TTFT.Mean(), 0.05)
	}
	assert.Equal(t, records, arrived)
	assert.Equal(t, records, completed)
	assert.InDelta(t, 300*2, cost, 1e-6, "a device costs one per second")
}

// 45 windows of 1.4 s are 63 s, though 45 × 1.4 is less in floating point.
func TestWindowsOfAFractionOfASecond(t *testing.T) {
	windows := run(t, newCluster(t, simulation.Config{
		Fleet: chat(1, 1), Requests: poisson(1, 5, 63), Window: 1400 * time.Millisecond,
	}), nil, 63)
	require.Len(t, windows, 45)
	for _, w := range windows {
		assert.Equal(t, 1400*time.Millisecond, w.End.Sub(w.Start))
	}
}
