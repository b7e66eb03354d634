package simulation_test

import (
	"math"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/poolwright/poolwright/controller"
	"github.com/poolwright/poolwright/optimizer/lp"
	"github.com/poolwright/poolwright/planner"
	"github.com/poolwright/poolwright/queueing"
	"github.com/poolwright/poolwright/simulation"
	"github.com/poolwright/poolwright/simulation/trace"
)

func TestHeldRequestsAreBoundedAndTimeOut(t *testing.T) {
	var requests []trace.Request
	for i := range 6 {
		requests = append(requests, trace.Request{At: 1 + 0.1*float64(i), Input: 10, Output: 10})
	}
	requests = append(requests, trace.Request{At: 50, Input: 10, Output: 10})
	var records []simulation.Record
	c := newCluster(t, simulation.Config{
		Fleet: chat(1, 0), Requests: slices.Values(requests),
		Gateway:   simulation.Gateway{MostHeld: 4, Timeout: 20 * time.Second},
		OnRequest: func(r simulation.Record) { records = append(records, r) },
	})
	at(t, c, 100, map[int]func(){
		2:  func() { assert.Equal(t, 4, c.Held(0)) },
		21: func() { assert.Equal(t, 3, c.Held(0), "the first has been held for 20 s") },
		22: func() { assert.Zero(t, c.Held(0)) },
		25: func() { c.SetReplicas(0, 0, 1) },
		54: func() { assert.Equal(t, 1, c.Held(0)) },
	})
	var outcomes []string
	for _, r := range records {
		outcomes = append(outcomes, r.Outcome.String())
	}
	const rejected, timedOut = "rejected", "timed out"
	assert.Equal(t, []string{rejected, rejected, timedOut, timedOut, timedOut, timedOut, "completed"}, outcomes)
	last := records[len(records)-1]
	assert.InDelta(t, 5, last.TTFT, 0.1, "it was held until the replica served")
	assert.False(t, last.Attained)
}

func TestRequestsTooLongForAnyReplicaFail(t *testing.T) {
	fleet := chat(2, 1)
	w := &fleet.Workloads[0]
	roomy := w.Variants[0]
	large := *roomy.Replica
	large.KVCacheTokens *= 2
	roomy.Name, roomy.Replica, roomy.CurrentReplicas = "roomy", &large, 1
	w.Variants = append(w.Variants, roomy)
	var records []simulation.Record
	c := newCluster(t, simulation.Config{
		Fleet: fleet,
		Requests: slices.Values([]trace.Request{
			{At: 1, Input: 1_000_000, Output: 10}, {At: 2, Input: 500_000, Output: 10},
		}),
		OnRequest: func(r simulation.Record) { records = append(records, r) },
	})
	run(t, c, nil, 600)
	require.Len(t, records, 2)
	assert.Equal(t, simulation.TooLong, records[0].Outcome)
	assert.Equal(t, simulation.Completed, records[1].Outcome)
	assert.Equal(t, 1, records[1].Variant)
}

// What becomes of a request counts in the window in which it arrived, and its latencies in
// that in which it ended.
func TestWindowsWaitForTheirRequests(t *testing.T) {
	c := newCluster(t, simulation.Config{
		Fleet: chat(1, 0), Window: 10 * time.Second, Gateway: simulation.DefaultGateway(),
		Requests: slices.Values([]trace.Request{{At: 1, Input: 10, Output: 10}, {At: 45, Input: 10, Output: 10}}),
	})
	var reported []int
	asked := time.Duration(0)
	windows := 0
	require.NoError(t, c.Run(t.Context(), scaler{5 * time.Second, func(now time.Time) {
		if asked = now.Sub(midnight); asked == 5*time.Second {
			c.SetReplicas(0, 0, 1)
		}
		reported = append(reported, windows)
	}}, midnight.Add(time.Minute), func(w simulation.Window) {
		assert.Equal(t, windows, w.Index)
		assert.Equal(t, midnight.Add(time.Duration(windows)*10*time.Second), w.Start)
		of := w.Workloads[0]
		arrived, attained, completed := 0, 0, 0
		switch windows {
		case 0:
			arrived = 1
		case 3:
			completed = 1
		case 4:
			arrived, attained, completed = 1, 1, 1
		}
		assert.Equal(t, []int{arrived, attained, completed}, []int{of.Arrived, of.Attained, of.Completed}, "window %d", windows)
		windows++
	}))
	assert.Equal(t, 6, windows)
	// The replica serves from 35 s on. Windows end before the autoscaler looks.
	assert.Equal(t, []int{0, 0, 0, 0, 0, 0, 0, 4, 4, 5, 5}, reported)
}

// All that have become ready at one moment share what is held.
func TestHeldRequestsAreSpreadOverNewReplicas(t *testing.T) {
	var requests []trace.Request
	for i := range 40 {
		requests = append(requests, trace.Request{At: 1 + 0.01*float64(i), Input: 10, Output: 100})
	}
	c := newCluster(t, simulation.Config{
		Fleet: chat(4, 0), Requests: slices.Values(requests), Gateway: simulation.DefaultGateway(),
	})
	at(t, c, 100, map[int]func(){
		2: func() { c.SetReplicas(0, 0, 4) },
		33: func() {
			for s := range c.Replicas(0, 0) {
				assert.Equal(t, 10, s.Totals.Accepted)
			}
		},
	})
}

// newPoolwright is the production loop.
func newPoolwright(t *testing.T, c *simulation.Cluster, each func(controller.Entry)) scaler {
	t.Helper()
	p := controller.New(controller.Config{Planner: planner.New(lp.Simplex()), Catalog: c, Observer: c, Actuator: c})
	return scaler{planner.DefaultCycle, func(now time.Time) {
		entry, err := p.Tick(t.Context(), now, nil)
		require.NoError(t, err)
		require.Empty(t, entry.Failure)
		require.Empty(t, entry.Dropped)
		if each != nil {
			each(entry)
		}
	}}
}

// TestIncident27WakeFromZero: autoscalers that count what replicas do never woke a workload
// without any. Here the requests that the gateway holds wake it, none of them is lost, and
// it goes back to zero when they have ended.
func TestIncident27WakeFromZero(t *testing.T) {
	var requests []trace.Request
	for i := range 100 {
		requests = append(requests, trace.Request{At: 600 + 0.5*float64(i), Input: 512, Output: 256})
	}
	completed, slow := 0, 0
	c := newCluster(t, simulation.Config{
		Fleet: chat(4, 0), Requests: slices.Values(requests), Gateway: simulation.DefaultGateway(),
		OnRequest: func(r simulation.Record) {
			assert.Equal(t, simulation.Completed, r.Outcome)
			completed++
			if r.TTFT > 1 {
				slow++
				assert.LessOrEqual(t, r.Arrival+r.TTFT, 600.0+15+30+2, "a cycle and the start-up after the first request, all are on a replica")
			}
		},
	})
	awake := math.Inf(1)
	windows := run(t, c, newPoolwright(t, c, func(e controller.Entry) {
		if seconds := e.Snapshot.Now.Sub(midnight).Seconds(); c.Desired(0, 0) > 0 {
			awake = min(awake, seconds)
		}
	}), 3600)
	assert.Equal(t, len(requests), completed)
	assert.InDelta(t, 615, awake, 0, "the first cycle after the first request")
	assert.Positive(t, slow)
	for _, w := range windows[:10] {
		assert.Zero(t, w.Workloads[0].Variants[0].Paid)
	}
	assert.Zero(t, windows[len(windows)-1].Workloads[0].Variants[0].Paid)
	assert.Zero(t, c.Desired(0, 0))
}

// The production loop follows a load that rises and falls, within the SLO.
func TestControllerServesWithinTheSLO(t *testing.T) {
	fleet := chat(16, 2)
	c := newCluster(t, simulation.Config{
		Fleet: fleet, Gateway: simulation.DefaultGateway(),
		Requests: func(yield func(trace.Request) bool) {
			for r := range poisson(1, 200, 4*3600) {
				// Thinning: from 20 up to 200 requests/s and back.
				u := float64(uint64(r.At*1e9)%1000) / 1000
				if u < 0.55-0.45*math.Cos(2*math.Pi*r.At/(4*3600)) && !yield(r) {
					return
				}
			}
		},
	})
	arrived, attained, cost := 0, 0, 0.0
	for _, w := range run(t, c, newPoolwright(t, c, nil), 4*3600) {
		arrived += w.Workloads[0].Arrived
		attained += w.Workloads[0].Attained
		cost += w.Cost()
	}
	assert.Greater(t, float64(attained)/float64(arrived), 0.99)
	// What would do if replicas came at once, at the 44 requests/s that one sustains.
	assert.Less(t, cost, 1.5*float64(arrived)/queueingCapacity(t, &fleet))
}

func queueingCapacity(t *testing.T, fleet *planner.Fleet) float64 {
	t.Helper()
	w := &fleet.Workloads[0]
	station, err := queueing.NewStation(*w.Variants[0].Replica, w.Shape)
	require.NoError(t, err)
	capacity, err := station.Capacity(w.SLO)
	require.NoError(t, err)
	return float64(capacity.Rate)
}
