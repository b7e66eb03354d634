package simulation_test

import (
	"fmt"
	"iter"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/poolwright/poolwright/optimizer"
	"github.com/poolwright/poolwright/planner"
	"github.com/poolwright/poolwright/simulation"
	"github.com/poolwright/poolwright/simulation/trace"
)

// phases lists the replicas of a variant: their numbers and phases.
func phases(c *simulation.Cluster, workload, variant int) string {
	var all []string
	for s := range c.Replicas(workload, variant) {
		all = append(all, fmt.Sprint(s.Number, " ", s.Phase))
	}
	return strings.Join(all, ", ")
}

// at calls functions at seconds after the start, and checks that all were called.
func at(t *testing.T, c *simulation.Cluster, until int, steps map[int]func()) {
	t.Helper()
	called := 0
	run(t, c, scaler{time.Second, func(now time.Time) {
		if step := steps[int(now.Sub(midnight).Seconds())]; step != nil {
			called++
			step()
		}
	}}, until)
	require.Len(t, steps, called)
}

func TestReplicasArePendingUntilThereAreDevices(t *testing.T) {
	fleet := chat(3, 2)
	other := fleet.Workloads[0]
	other.Name = "other"
	other.Variants = slices.Clone(other.Variants)
	other.Variants[0].CurrentReplicas = 0
	fleet.Workloads = append(fleet.Workloads, other)
	c := newCluster(t, simulation.Config{Fleet: fleet})
	at(t, c, 200, map[int]func(){
		10: func() {
			assert.Equal(t, "1 serving, 2 serving", phases(c, 0, 0))
			c.SetReplicas(1, 0, 2)
			c.SetReplicas(0, 0, 3)
			assert.Equal(t, "3 starting, 4 pending", phases(c, 1, 0))
			assert.Equal(t, "1 serving, 2 serving, 5 pending", phases(c, 0, 0))
		},
		39: func() { assert.Equal(t, "3 starting, 4 pending", phases(c, 1, 0)) },
		41: func() { assert.Equal(t, "3 serving, 4 pending", phases(c, 1, 0)) },
		50: func() {
			c.SetReplicas(0, 0, 2)
			assert.Equal(t, "1 serving, 2 serving", phases(c, 0, 0), "the pending one goes first")
			c.SetReplicas(0, 0, 3)
			c.SetReplicas(1, 0, 1)
			c.SetReplicas(1, 0, 2)
		},
		60: func() {
			c.SetReplicas(0, 0, 2) // the pending one, again
			c.SetReplicas(0, 0, 1) // the younger of two idle ones: its device is free at once
			assert.Equal(t, "1 serving", phases(c, 0, 0))
			assert.Equal(t, "3 serving, 7 starting", phases(c, 1, 0))
		},
		70: func() {
			c.SetReplicas(1, 0, 1)
			assert.Equal(t, "3 serving", phases(c, 1, 0), "one that starts goes before one that serves")
			c.SetReplicas(1, 0, 2)
		},
		90: func() { assert.Equal(t, "3 serving, 8 starting", phases(c, 1, 0), "the new one starts anew") },
		101: func() {
			assert.Equal(t, "3 serving, 8 serving", phases(c, 1, 0))
			assert.Equal(t, 2, c.Desired(1, 0))
		},
	})
}

func TestDrainingReplicasEndWhatTheyHave(t *testing.T) {
	requests := []trace.Request{
		{At: 9.1, Input: 512, Output: 2000}, {At: 9.2, Input: 512, Output: 1000}, {At: 9.3, Input: 512, Output: 1000},
	}
	completed := 0
	c := newCluster(t, simulation.Config{
		Fleet: chat(2, 2), Requests: slices.Values(requests),
		OnRequest: func(r simulation.Record) {
			completed++
			assert.Equal(t, simulation.Completed, r.Outcome)
		},
	})
	at(t, c, 60, map[int]func(){
		10: func() {
			c.SetReplicas(0, 0, 1)
			assert.Equal(t, "1 serving, 2 draining", phases(c, 0, 0), "the one with the fewest requests")
			c.SetReplicas(0, 0, 2)
			assert.Equal(t, "1 serving, 2 draining, 3 pending", phases(c, 0, 0), "the device is still in use")
		},
		15: func() { assert.Equal(t, "1 serving, 2 draining, 3 pending", phases(c, 0, 0)) },
		17: func() { assert.Equal(t, "1 serving, 3 starting", phases(c, 0, 0)) },
		50: func() { assert.Equal(t, "1 serving, 3 serving", phases(c, 0, 0)) },
	})
	assert.Equal(t, len(requests), completed)
}

// shared has a pool of nodes and requests on all of its replicas, always.
func shared(devices, perNode, replicas int) (planner.Fleet, iter.Seq[trace.Request]) {
	fleet := chat(devices, replicas)
	fleet.Pools[0].DevicesPerNode = perNode
	return fleet, poisson(3, 3*float64(replicas), 600)
}

func TestLostReplicasAreReplacedAndTheirRequestsServed(t *testing.T) {
	fleet, requests := shared(8, 4, 8)
	counts := make(map[simulation.Outcome]int)
	c := newCluster(t, simulation.Config{
		Fleet: fleet, Requests: requests, Gateway: simulation.DefaultGateway(),
		Disruptions: []simulation.Disruption{{At: 100500 * time.Millisecond, Pool: "h100", Devices: 4, ReturnsAfter: 100 * time.Second}},
		OnRequest:   func(r simulation.Record) { counts[r.Outcome]++ },
	})
	count := func(phase simulation.Phase) int {
		n := 0
		for s := range c.Replicas(0, 0) {
			if s.Phase == phase {
				n++
			}
		}
		return n
	}
	capacity := func() int {
		f, _, err := c.Fleet(t.Context())
		require.NoError(t, err)
		return f.Pools[0].Capacity.Value
	}
	at(t, c, 600, map[int]func(){
		100: func() { assert.Equal(t, 8, count(simulation.Serving)) },
		101: func() {
			assert.Equal(t, 4, count(simulation.Serving), "a node is lost")
			assert.Equal(t, 4, count(simulation.Pending), "its replicas are wanted all the same")
			assert.Equal(t, 4, capacity())
		},
		200: func() { assert.Equal(t, 4, count(simulation.Pending)) },
		201: func() {
			assert.Equal(t, 4, count(simulation.Starting))
			assert.Equal(t, 8, capacity())
		},
		231: func() { assert.Equal(t, 8, count(simulation.Serving)) },
	})
	assert.Len(t, counts, 1, "%v", counts)
	assert.Positive(t, counts[simulation.Completed])
}

func TestAnnouncedLossLetsReplicasDrain(t *testing.T) {
	anew := func(notice time.Duration) (slow int) {
		fleet, requests := shared(8, 1, 4)
		c := newCluster(t, simulation.Config{
			Fleet: fleet, Requests: requests, Gateway: simulation.DefaultGateway(),
			Disruptions: []simulation.Disruption{{At: 100 * time.Second, Pool: "h100", Devices: 6, Notice: notice}},
			OnRequest: func(r simulation.Record) {
				if r.TTFT > 0.5 {
					slow++
				}
			},
		})
		run(t, c, nil, 600)
		f, _, err := c.Fleet(t.Context())
		require.NoError(t, err)
		assert.Equal(t, 2, f.Pools[0].Capacity.Value)
		assert.Equal(t, 2, f.Workloads[0].Variants[0].StartingReplicas)
		return slow
	}
	assert.Positive(t, anew(0), "requests begin anew")
	assert.Zero(t, anew(time.Minute), "they end, and others take over")
}

func TestDisruptionOfAnUnlimitedPoolHitsWhatIsInUse(t *testing.T) {
	fleet := chat(0, 3)
	fleet.Pools[0].Capacity = optimizer.Bound{}
	c := newCluster(t, simulation.Config{
		Fleet: fleet, Disruptions: []simulation.Disruption{{At: 10 * time.Second, Pool: "h100", Devices: 99}},
	})
	at(t, c, 60, map[int]func(){
		11: func() { assert.Equal(t, "4 starting, 5 starting, 6 starting", phases(c, 0, 0)) },
		41: func() { assert.Equal(t, "4 serving, 5 serving, 6 serving", phases(c, 0, 0)) },
	})
}

func TestReplicasBeyondThePoolArePendingFromTheStart(t *testing.T) {
	c := newCluster(t, simulation.Config{Fleet: chat(2, 3)})
	assert.Equal(t, "1 serving, 2 serving, 3 pending", phases(c, 0, 0))
	f, _, err := c.Fleet(t.Context())
	require.NoError(t, err)
	v := f.Workloads[0].Variants[0]
	assert.Equal(t, 3, v.CurrentReplicas)
	assert.Equal(t, 1, v.StartingReplicas)
	assert.Equal(t, []int{2}, v.PoolReplicas)
}

func TestSecondPoolTakesWhatTheFirstHasNoRoomFor(t *testing.T) {
	fleet := chat(1, 3)
	spot := fleet.Pools[0]
	spot.Name, spot.PricePerHour, spot.Capacity.Value = "spot", 360, 8
	fleet.Pools = append(fleet.Pools, spot)
	fleet.Workloads[0].Variants[0].Pools = []int{0, 1}
	c := newCluster(t, simulation.Config{Fleet: fleet})
	cost := 0.0
	for _, w := range run(t, c, nil, 100) {
		cost += w.Cost()
	}
	assert.InEpsilon(t, 100*(1+2*0.1), cost, 1e-9)
}

// Times to start are drawn around that of the variant.
func TestStartupTimesVary(t *testing.T) {
	fleet := chat(1000, 0)
	c := newCluster(t, simulation.Config{Fleet: fleet, StartupSCV: 0.25, Seed: 5})
	sum, squares := 0.0, 0.0
	at(t, c, 600, map[int]func(){
		1: func() { c.SetReplicas(0, 0, 1000) },
		599: func() {
			for s := range c.Replicas(0, 0) {
				x := (s.Age - s.ReadyFor).Seconds()
				sum += x
				squares += x * x
			}
		},
	})
	mean := sum / 1000
	assert.InDelta(t, 30, mean, 1.5)
	assert.InDelta(t, 0.25, squares/1000/(mean*mean)-1, 0.05)
}
