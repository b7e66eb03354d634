package simulation_test

import (
	"iter"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/poolwright/poolwright/optimizer"
	"github.com/poolwright/poolwright/queueing"
	"github.com/poolwright/poolwright/simulation"
	"github.com/poolwright/poolwright/simulation/replica"
	"github.com/poolwright/poolwright/simulation/trace"
)

// A variant whose capacity is declared is a server with a constant time: M/D/1, whose mean
// wait is ρ/(2μ(1-ρ)) (Pollaczek-Khinchine).
func TestDeclaredCapacityIsAnMD1Queue(t *testing.T) {
	for _, load := range []float64{0.3, 0.7, 0.9} {
		fleet := chat(1, 1)
		v := &fleet.Workloads[0].Variants[0]
		v.Replica, v.Capacity = nil, 20
		c := newCluster(t, simulation.Config{Fleet: fleet, Requests: poisson(7, 20*load, 20000)})
		var ttft simulation.Sketch
		for _, w := range run(t, c, nil, 20000) {
			ttft.Merge(&w.Workloads[0].TTFT)
		}
		want := 1.0/20 + load/(2*20*(1-load))
		assert.InEpsilon(t, want, ttft.Mean(), 0.03, "load %v", load)
	}
}

// Little's law: the mean number inside is the rate times the mean stay.
func TestLittlesLaw(t *testing.T) {
	var stay, inside float64
	requests := 0
	c := newCluster(t, simulation.Config{
		Fleet: chat(3, 3), Requests: poisson(8, 90, 2000), Gateway: simulation.DefaultGateway(),
		OnRequest: func(r simulation.Record) {
			stay += r.E2E
			requests++
		},
	})
	run(t, c, nil, 2000)
	for s := range c.Replicas(0, 0) {
		inside += s.Totals.Running + s.Totals.Waiting
		assert.Zero(t, s.Running+s.Waiting, "all have ended")
	}
	assert.InEpsilon(t, stay, inside, 1e-9)
	assert.InDelta(t, 90*2000, requests, 4*424, "within four standard deviations")
}

// A Poisson stream that is split at random is Poisson streams: eight replicas with eight
// times the load are as one. To look at loads is better.
func TestRandomlySplitRequestsMeetAReplicaAlone(t *testing.T) {
	latencies := func(replicas int, routing simulation.Routing) (ttft, itl simulation.Sketch) {
		const requests = 200_000
		rate := 38 * float64(replicas)
		c := newCluster(t, simulation.Config{
			Fleet: chat(replicas, replicas), Routing: routing, Requests: poisson(13, rate, requests/rate), Window: time.Hour,
		})
		for _, w := range run(t, c, nil, 1+int(requests/rate)) {
			ttft.Merge(&w.Workloads[0].TTFT)
			itl.Merge(&w.Workloads[0].ITL)
		}
		return ttft, itl
	}
	oneTTFT, oneITL := latencies(1, simulation.LeastLoaded)
	ttft, itl := latencies(8, simulation.CapacityWeighted)
	assert.InEpsilon(t, oneTTFT.Mean(), ttft.Mean(), 0.02)
	assert.InEpsilon(t, oneITL.Mean(), itl.Mean(), 0.02)
	assert.InEpsilon(t, oneITL.Quantile(0.95), itl.Quantile(0.95), 0.05)
	_, itl = latencies(8, simulation.LeastLoaded)
	assert.Less(t, itl.Quantile(0.95), 0.95*oneITL.Quantile(0.95))
}

// Replicas with the same load each get the same share, of requests that come at random.
func TestRoutersShareByCapacity(t *testing.T) {
	for _, routing := range []simulation.Routing{simulation.LeastLoaded, simulation.CapacityWeighted} {
		fleet := chat(2, 1)
		w := &fleet.Workloads[0]
		slow := w.Variants[0]
		weak := *slow.Replica
		weak.Profile.Alpha, weak.Profile.Beta, weak.Profile.Delta = 2*0.00683, 2*0.000057, 2*0.0000024
		slow.Name, slow.Replica = "slow", &weak
		w.SLO = queueing.SLO{} // what they sustain is in proportion to their speed
		w.Variants = append(w.Variants, slow)
		served := make([]int, 2)
		c := newCluster(t, simulation.Config{
			Fleet: fleet, Routing: routing, Requests: poisson(9, 50, 1000), Gateway: simulation.DefaultGateway(),
			OnRequest: func(r simulation.Record) { served[r.Variant]++ },
		})
		run(t, c, nil, 1000)
		assert.InDelta(t, 2.0/3, float64(served[0])/float64(served[0]+served[1]), 0.02, "routing %d", routing)
	}
}

// A declared capacity counts as what a profile sustains.
func TestRouterSharesByDeclaredCapacity(t *testing.T) {
	fleet := chat(2, 1)
	w := &fleet.Workloads[0]
	w.SLO = queueing.SLO{}
	declared := w.Variants[0]
	declared.Name, declared.Replica, declared.Capacity = "declared", nil, 22
	w.Variants = append(w.Variants, declared)
	served := make([]int, 2)
	c := newCluster(t, simulation.Config{
		Fleet: fleet, Routing: simulation.CapacityWeighted, Requests: poisson(12, 50, 1000), Gateway: simulation.DefaultGateway(),
		OnRequest: func(r simulation.Record) { served[r.Variant]++ },
	})
	run(t, c, nil, 1000)
	assert.InDelta(t, 2.0/3, float64(served[0])/float64(served[0]+served[1]), 0.02)
}

// One replica for prompts and one that decodes are what replica.Disaggregated is.
func TestPairIsDisaggregated(t *testing.T) {
	fleet := chat(2, 1)
	w := &fleet.Workloads[0]
	transfer := queueing.Transfer{Base: 0.003, PerToken: 1e-6}
	w.Variants[0].Role, w.Variants[0].Transfer = optimizer.Prefill, transfer
	decode := w.Variants[0]
	decode.Name, decode.Role = "decode", optimizer.Decode
	w.Variants = append(w.Variants, decode)

	pair, err := replica.NewDisaggregated(*h100(), *h100(), replica.Transfer(transfer))
	require.NoError(t, err)
	type latencies struct{ ttft, itl, e2e float64 }
	want := make(map[float64]latencies)
	requests := func(yield func(trace.Request) bool) {
		random := rand.New(rand.NewPCG(10, 0))
		for r := range poisson(10, 30, 200) {
			r.Input, r.Output = 1+random.IntN(1000), 1+random.IntN(500)
			if !yield(r) {
				return
			}
		}
	}
	asReplica := func(yield func(replica.Request) bool) {
		for r := range iter.Seq[trace.Request](requests) {
			if !yield(replica.Request{Arrival: r.At, Input: r.Input, Output: r.Output}) {
				return
			}
		}
	}
	for done := range replica.Serve(pair, asReplica) {
		want[done.Arrival] = latencies{float64(done.TTFT()), float64(done.ITL()), float64(done.E2E())}
	}
	got := make(map[float64]latencies)
	c := newCluster(t, simulation.Config{
		Fleet: fleet, Requests: requests,
		OnRequest: func(r simulation.Record) { got[r.Arrival] = latencies{r.TTFT, r.ITL, r.E2E} },
	})
	run(t, c, nil, 200)
	require.Equal(t, want, got)
}

// A day at a constant rate costs the replicas times the day, whatever the windows.
func TestCostIsTheIntegralOfPaidDevices(t *testing.T) {
	for _, window := range []time.Duration{time.Second, 7 * time.Second, time.Minute, time.Hour} {
		c := newCluster(t, simulation.Config{Fleet: chat(10, 2), Window: window})
		cost, paid, serving := 0.0, 0.0, 0.0
		for _, w := range run(t, c, scaler{100 * time.Second, func(now time.Time) {
			switch now.Sub(midnight) {
			case 100 * time.Second:
				c.SetReplicas(0, 0, 5)
			case 300 * time.Second:
				c.SetReplicas(0, 0, 1)
			}
		}}, 1000) {
			cost += w.Cost()
			length := w.End.Sub(w.Start).Seconds()
			paid += length * w.Workloads[0].Variants[0].Paid
			serving += length * w.Workloads[0].Variants[0].Serving
		}
		want := 2*100 + 5*200 + 1*700.0
		assert.InEpsilon(t, want, cost, 1e-9)
		assert.InEpsilon(t, want, paid, 1e-9)
		assert.InEpsilon(t, want-3*30, serving, 1e-9, "three start for 30 s")
	}
}
