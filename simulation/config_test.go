package simulation_test

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
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

func TestNewNamesEveryMistake(t *testing.T) {
	fleet := chat(-1, 0)
	fleet.Pools = append(fleet.Pools, planner.Pool{Name: "h100", DevicesPerNode: -8})
	w := &fleet.Workloads[0]
	w.Variants[0].Pools = []int{0, 2}
	w.Variants[0].CurrentReplicas, w.Variants[0].Startup = -1, -time.Second
	slow := w.Variants[0]
	slow.Pools, slow.Replica, slow.Role = nil, nil, optimizer.Prefill
	wrong := w.Variants[0]
	wrong.Replica = &queueing.Replica{Model: queueing.LLMDV1, MaxBatch: 1, Profile: queueing.Profile{Alpha: 1}}
	shapeless := w.Variants[0]
	w.Variants = append(w.Variants, slow, wrong, shapeless)
	w.Shape.InputTokens = -5
	fleet.Workloads = append(fleet.Workloads, planner.Workload{Name: "none"})
	_, err := simulation.New(simulation.Config{
		Fleet: fleet, StartupSCV: math.NaN(), Routing: 7, Window: time.Millisecond,
		Gateway:     simulation.Gateway{MostHeld: -1, Timeout: -1},
		Disruptions: []simulation.Disruption{{At: -1, Pool: "x", ReturnsAfter: -1, Notice: -1}},
	})
	require.Error(t, err)
	for _, path := range []string{
		"requests", "startupSCV", "routing", "window", "gateway.mostHeld", "gateway.timeout",
		"disruptions[0].at", "disruptions[0].pool", "disruptions[0].devices", "disruptions[0].returnsAfter", "disruptions[0].notice",
		"fleet.pools[0].capacity", "fleet.pools[1].name", "fleet.pools[1].devicesPerNode",
		"fleet.workloads[0].variants[0].pools[1]", "fleet.workloads[0].variants[0].currentReplicas", "fleet.workloads[0].variants[0].startup",
		"fleet.workloads[0].variants[1].pools", "fleet.workloads[0].variants[1].profile",
		"fleet.workloads[0].variants[2].profile", "fleet.workloads[0].variants[3]",
		"fleet.workloads[0].variants: one role", "fleet.workloads[1].variants",
	} {
		require.ErrorContains(t, err, "simulation: "+path)
	}
	assert.Equal(t, strings.Count(err.Error(), "\n")+1, strings.Count(err.Error(), "simulation: "), "a line each")
}

func TestReplicasAreBounded(t *testing.T) {
	_, err := simulation.New(simulation.Config{Fleet: chat(1, 100_001), Requests: slices.Values[[]trace.Request](nil)})
	require.EqualError(t, err, "simulation: fleet.workloads: 100001 replicas at the start are more than the 100000 that a cluster may have")
	c := newCluster(t, simulation.Config{Fleet: chat(1, 1)})
	greedy := scaler{time.Minute, func(time.Time) { c.SetReplicas(0, 0, 1<<30) }}
	require.ErrorContains(t, c.Run(t.Context(), greedy, midnight.Add(time.Hour), nil), "make more than the 100000 that a cluster may have")
}

func TestWrongRequestsEndTheSimulation(t *testing.T) {
	good := trace.Request{At: 1, Input: 10, Output: 10}
	for name, wrong := range map[string]trace.Request{
		"comes after":         {At: 0.5, Input: 10, Output: 10},
		"request at NaN":      {At: math.NaN(), Input: 10, Output: 10},
		"workload 1 of 1":     {At: 2, Workload: 1, Input: 10, Output: 10},
		"-1 input":            {At: 2, Input: -1, Output: 10},
		"0 output":            {At: 2, Input: 10},
		"0 tokens in a block": {At: 2, Input: 10, Output: 10, Prefix: []uint64{1}},
	} {
		c := newCluster(t, simulation.Config{Fleet: chat(1, 1), Requests: slices.Values([]trace.Request{good, wrong})})
		require.ErrorContains(t, c.Run(t.Context(), nil, midnight.Add(time.Minute), nil), name)
	}
}

// failing fails.
type failing struct{ err error }

func (failing) Interval() time.Duration                  { return time.Second }
func (f failing) Scale(context.Context, time.Time) error { return f.err }

func TestRunReportsFailures(t *testing.T) {
	end := midnight.Add(time.Hour)
	broken := errors.New("broken")
	c := newCluster(t, simulation.Config{Fleet: chat(1, 1)})
	require.ErrorIs(t, c.Run(t.Context(), failing{broken}, end, nil), broken)
	require.ErrorContains(t, c.Run(t.Context(), nil, end, nil), "runs once")
	require.ErrorContains(t, newCluster(t, simulation.Config{Fleet: chat(1, 1)}).Run(t.Context(), nil, midnight, nil), "is not after the start")

	require.ErrorContains(t, newCluster(t, simulation.Config{Fleet: chat(1, 1)}).Run(t.Context(), scaler{}, end, nil), "interval is 0s")

	ctx, cancel := context.WithCancel(t.Context())
	c = newCluster(t, simulation.Config{Fleet: chat(1, 1), Requests: poisson(1, 10, 3600)})
	windows := 0
	require.ErrorIs(t, c.Run(ctx, nil, end, func(simulation.Window) {
		if windows++; windows == 3 {
			cancel()
		}
	}), context.Canceled)
	assert.Less(t, windows, 6)
}

func TestLimitsOfAnSLO(t *testing.T) {
	none := math.Inf(1)
	limits := func(l ...queueing.Limit) simulation.Limits { return simulation.LimitsOf(queueing.SLO{Limits: l}) }
	assert.Equal(t, simulation.Limits{TTFT: none, ITL: none, E2E: none}, limits())
	assert.Equal(t, simulation.Limits{TTFT: 3, ITL: 0.1, E2E: 9}, limits(
		queueing.Limit{Metric: queueing.TTFT, Quantile: 0.5, Value: 0.5},
		queueing.Limit{Metric: queueing.TTFT, Quantile: 0.99, Value: 3},
		queueing.Limit{Metric: queueing.TTFT, Value: 0.2},
		queueing.Limit{Metric: queueing.ITL, Value: 0.1},
		queueing.Limit{Metric: queueing.E2E, Quantile: 0.9, Value: 10},
		queueing.Limit{Metric: queueing.E2E, Quantile: 0.9, Value: 9},
	), "the highest quantile counts, the tighter of equals, and the mean alone")
	assert.Equal(t, simulation.Limits{TTFT: none, ITL: 0.05, E2E: none}, limits(queueing.Limit{Metric: queueing.TokensPerSecond, Value: 20}))
}

// TestNothingIsAllocatedForARequest in steady state: only windows are.
func TestNothingIsAllocatedForARequest(t *testing.T) {
	for _, routing := range []simulation.Routing{simulation.LeastLoaded, simulation.CapacityWeighted, simulation.PrefixAware} {
		var allocated float64
		random := rand.New(rand.NewPCG(1, 1))
		c := newCluster(t, simulation.Config{
			Fleet: chat(8, 8), Routing: routing, Window: 24 * time.Hour,
			Requests: func(yield func(trace.Request) bool) {
				at := 0.0
				more := func(n int) {
					for range n {
						at += random.ExpFloat64() / 200
						yield(trace.Request{At: at, Input: 512, Output: 256})
					}
				}
				more(50000)
				allocated = testing.AllocsPerRun(1, func() { more(10000) })
			},
		})
		run(t, c, nil, 3600)
		assert.LessOrEqual(t, allocated, 2.0, "10,000 requests, routing %d: only a queue longer than ever grows", routing)
	}
}
