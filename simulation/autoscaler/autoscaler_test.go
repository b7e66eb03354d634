package autoscaler_test

import (
	"context"
	"fmt"
	"iter"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/poolwright/poolwright/optimizer"
	"github.com/poolwright/poolwright/planner"
	"github.com/poolwright/poolwright/queueing"
	"github.com/poolwright/poolwright/simulation"
	"github.com/poolwright/poolwright/simulation/autoscaler"
	"github.com/poolwright/poolwright/simulation/hindsight"
	"github.com/poolwright/poolwright/simulation/replica"
	"github.com/poolwright/poolwright/simulation/trace"
)

// start is when simulations begin.
var start = time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC)

// shape of the requests in tests.
var shape = queueing.Shape{ArrivalSCV: 1, InputTokens: 512, OutputTokens: 256}

// chat is a workload on a variant of each price, of replicas that sustain some 44 requests/s
// and hold 137 full requests in their KV cache.
func chat(prices ...float64) planner.Fleet {
	f := planner.Fleet{Workloads: []planner.Workload{{
		Name: "chat", Priority: 1, Shape: shape, ArrivalRate: 20,
		SLO: queueing.SLO{Limits: []queueing.Limit{
			{Metric: queueing.TTFT, Quantile: 0.99, Value: 1}, {Metric: queueing.ITL, Quantile: 0.99, Value: 0.05},
		}},
	}}}
	for j, price := range prices {
		name := string(rune('a' + j))
		f.Pools = append(f.Pools, planner.Pool{
			Name: name, Accelerator: name, PricePerHour: price, Capacity: optimizer.Bound{Limited: true, Value: 16},
		})
		f.Workloads[0].Variants = append(f.Workloads[0].Variants, planner.Variant{
			Name: name, Pools: []int{j}, DevicesPerReplica: 1, Startup: 30 * time.Second, CurrentReplicas: 1,
			Replica: &queueing.Replica{
				Profile:  queueing.Profile{Alpha: 6.83e-3, Beta: 57e-6, Delta: 2.4e-6, TTFTOffset: 15.6e-3},
				MaxBatch: 256, KVCacheTokens: 105_000, MaxBatchedTokens: 2048,
			},
		})
	}
	return f
}

// load is arrivals at a rate for each phase.
func load(phases ...replica.Phase) iter.Seq[trace.Request] {
	arrivals, err := replica.Load{Shape: shape, Phases: phases, Seed: 1}.Arrivals()
	if err != nil {
		panic(err) // the test's own mistake
	}
	return func(yield func(trace.Request) bool) {
		for r := range arrivals {
			if !yield(trace.Request{At: r.Arrival, Input: r.Input, Output: r.Output}) {
				return
			}
		}
	}
}

// quiet, busy, quiet again, for ten minutes each.
var quietAndBusy = []replica.Phase{{Duration: 600, Rate: 10}, {Duration: 600, Rate: 110}, {Duration: 1200, Rate: 10}}

// outcome is a run of a cluster.
type outcome struct {
	windows           []simulation.Window
	arrived, attained int
	cost              float64
}

func (o *outcome) attainment() float64 { return float64(o.attained) / float64(o.arrived) }

// serving is the mean number of replicas in the window that ends at a minute.
func (o *outcome) serving(minute, workload, variant int) float64 {
	return o.windows[minute-1].Workloads[workload].Variants[variant].Serving
}

// simulate runs settings on a fleet.
func simulate(t *testing.T, f planner.Fleet, s autoscaler.Settings, r autoscaler.Resources, phases []replica.Phase) *outcome {
	t.Helper()
	c, err := simulation.New(simulation.Config{
		Fleet: f, Requests: load(phases...), Start: start, Seed: 1, Gateway: simulation.DefaultGateway(),
	})
	require.NoError(t, err)
	a, err := s.New(c, r)
	require.NoError(t, err)
	duration := time.Duration(0)
	for _, p := range phases {
		duration += time.Duration(float64(p.Duration) * float64(time.Second))
	}
	var o outcome
	require.NoError(t, c.Run(context.Background(), a, start.Add(duration), func(w simulation.Window) {
		o.windows = append(o.windows, w)
		o.cost += w.Cost()
		for i := range w.Workloads {
			o.arrived += w.Workloads[i].Arrived
			o.attained += w.Workloads[i].Attained
		}
	}))
	return &o
}

// windowsOf are the rates of phases.
func windowsOf(phases []replica.Phase) []hindsight.Window {
	var windows []hindsight.Window
	for _, p := range phases {
		windows = append(windows, hindsight.Window{
			Length: time.Duration(float64(p.Duration) * float64(time.Second)), Rates: []queueing.Rate{p.Rate},
		})
	}
	return windows
}

func scheduleOf(t *testing.T, f planner.Fleet, phases []replica.Phase) *hindsight.Schedule {
	t.Helper()
	s, err := hindsight.Find(hindsight.Input{Fleet: f, Windows: windowsOf(phases)}, nil)
	require.NoError(t, err)
	return s
}

// Every autoscaler follows a load up and down, and keeps a replica; the one that knows the
// future is the cheapest of those that serve as much.
func TestEveryKindFollowsTheLoad(t *testing.T) {
	f := chat(3600)
	schedule := scheduleOf(t, f, quietAndBusy)
	for _, s := range autoscaler.Kinds() {
		t.Run(s.Name(), func(t *testing.T) {
			o := simulate(t, f, s, autoscaler.Resources{Schedule: schedule}, quietAndBusy)
			t.Logf("attainment %.4f, cost %.0f of %.0f", o.attainment(), o.cost, schedule.Bound)
			line := ""
			for m := range o.windows {
				line += fmt.Sprintf("%.1f ", o.serving(m+1, 0, 0))
			}
			t.Log(line)
			assert.Positive(t, o.attained)
		})
	}
}
