package simulation_test

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/poolwright/poolwright/planner"
	"github.com/poolwright/poolwright/queueing"
	"github.com/poolwright/poolwright/simulation"
	"github.com/poolwright/poolwright/simulation/replica"
	"github.com/poolwright/poolwright/simulation/trace"
)

// naive is a cluster of one workload that looks through everything at every event: the
// same rules, written down a second time as simply as possible.
type naive struct {
	variants []naiveVariant
	devices  int
	timeout  float64
	mostHeld int

	now      float64
	replicas []*naiveReplica
	held     []naiveRequest
	cost     float64
	records  []simulation.Record
}

type naiveVariant struct {
	machine           queueing.Replica
	concurrency       float64
	devices, replicas int
	startup, price    float64
}

type naiveReplica struct {
	variant int
	phase   simulation.Phase
	ready   float64
	machine *replica.Replica
}

func (r *naiveReplica) inside() int { return r.machine.Running() + r.machine.Waiting() }

type naiveRequest struct {
	trace.Request
	since float64
}

// order is that of a change of replicas.
type order struct {
	at                float64
	variant, replicas int
}

func (n *naive) used() int {
	used := 0
	for _, r := range n.replicas {
		if r.phase != simulation.Pending {
			used += n.variants[r.variant].devices
		}
	}
	return used
}

// next is the moment of the next event of the replicas and the gateway.
func (n *naive) next() float64 {
	next := math.Inf(1)
	for _, r := range n.replicas {
		switch r.phase {
		case simulation.Starting:
			next = min(next, r.ready)
		case simulation.Serving, simulation.Draining:
			next = min(next, r.machine.Next())
		}
	}
	if len(n.held) > 0 {
		next = min(next, n.held[0].since+n.timeout)
	}
	return next
}

// move lets time pass.
func (n *naive) move(to float64) {
	for _, r := range n.replicas {
		if r.phase != simulation.Pending {
			n.cost += (to - n.now) * n.variants[r.variant].price
		}
	}
	n.now = to
}

// settle starts what has devices, ends what has nothing to do, and routes what is held.
func (n *naive) settle() {
	n.replicas = slices.DeleteFunc(n.replicas, func(r *naiveReplica) bool {
		return r.phase == simulation.Draining && r.inside() == 0
	})
	for _, r := range n.replicas {
		if v := n.variants[r.variant]; r.phase == simulation.Pending && n.used()+v.devices <= n.devices {
			r.phase, r.ready = simulation.Starting, n.now+v.startup
		}
	}
	for len(n.held) > 0 && n.route(n.held[0]) {
		n.held = n.held[1:]
	}
}

// route gives a request to the least loaded replica that takes it.
func (n *naive) route(q naiveRequest) bool {
	var serving []*naiveReplica
	for _, r := range n.replicas {
		if r.phase == simulation.Serving {
			serving = append(serving, r)
		}
	}
	load := func(r *naiveReplica) float64 { return float64(r.inside()) / n.variants[r.variant].concurrency }
	slices.SortStableFunc(serving, func(a, b *naiveReplica) int {
		return cmp.Or(cmp.Compare(load(a), load(b)), cmp.Compare(a.ready, b.ready))
	})
	for _, r := range serving {
		if r.machine.Arrive(replica.Request{ID: int(1e6 * q.At), Arrival: n.now, Input: q.Input, Output: q.Output}) == replica.Accepted {
			return true
		}
	}
	return false
}

func (n *naive) fail(q naiveRequest, why simulation.Outcome) {
	n.records = append(n.records, simulation.Record{
		Arrival: q.At, Input: q.Input, Output: q.Output, Outcome: why, Variant: -1,
	})
}

func (n *naive) arrive(q trace.Request) {
	one := naiveRequest{q, n.now}
	switch {
	case len(n.held) == 0 && n.route(one):
	case len(n.held) >= n.mostHeld:
		n.fail(one, simulation.Rejected)
	default:
		n.held = append(n.held, one)
	}
}

func (n *naive) scale(o order) {
	var own []*naiveReplica
	for _, r := range n.replicas {
		if r.variant == o.variant && r.phase != simulation.Draining {
			own = append(own, r)
		}
	}
	for range o.replicas - len(own) {
		n.replicas = append(n.replicas, &naiveReplica{variant: o.variant})
	}
	slices.Reverse(own) // the youngest first
	slices.SortStableFunc(own, func(a, b *naiveReplica) int {
		if a.phase != b.phase || a.phase != simulation.Serving {
			return cmp.Compare(a.phase, b.phase)
		}
		return cmp.Compare(a.inside(), b.inside())
	})
	for _, r := range own[:max(0, len(own)-o.replicas)] {
		if r.phase == simulation.Serving {
			r.phase = simulation.Draining
		} else {
			n.replicas = slices.DeleteFunc(n.replicas, func(other *naiveReplica) bool { return other == r })
		}
	}
}

// happen carries out everything that is due now but iterations.
func (n *naive) happen() {
	for _, r := range n.replicas {
		if r.phase == simulation.Starting && r.ready == n.now {
			r.phase = simulation.Serving
			r.machine, _ = replica.New(n.variants[r.variant].machine)
		}
	}
	n.settle()
	for len(n.held) > 0 && n.held[0].since+n.timeout <= n.now {
		n.fail(n.held[0], simulation.TimedOut)
		n.held = n.held[1:]
	}
}

// iterate carries out the iterations that are due now.
func (n *naive) iterate(arrivals map[int]trace.Request) {
	for _, r := range n.replicas {
		if r.machine == nil || r.machine.Next() != n.now {
			continue
		}
		for _, c := range r.machine.Step() {
			q := arrivals[c.ID]
			record := simulation.Record{
				Arrival: q.At, Input: q.Input, Output: q.Output, Variant: r.variant,
				TTFT: float64(c.Overhead) + (c.FirstToken - q.At), E2E: float64(c.Overhead) + (n.now - q.At),
			}
			if q.Output > 1 {
				record.ITL = (n.now - c.FirstToken) / float64(q.Output-1)
			}
			record.Attained = record.TTFT <= 1 && record.ITL <= 0.05
			n.records = append(n.records, record)
		}
	}
}

// run serves requests until a moment, with some time after it for what is inside.
func (n *naive) run(requests []trace.Request, orders []order, until float64) {
	arrivals := make(map[int]trace.Request)
	for _, q := range requests {
		arrivals[int(1e6*q.At)] = q
	}
	for i, v := range n.variants {
		for range v.replicas {
			r := &naiveReplica{variant: i}
			n.replicas = append(n.replicas, r)
			if n.used()+v.devices <= n.devices {
				r.phase = simulation.Serving
				r.machine, _ = replica.New(v.machine)
			}
		}
	}
	n.settle()
	cost := math.NaN()
	for end := until + n.timeout; ; {
		next := min(n.next(), end)
		if len(requests) > 0 {
			next = min(next, requests[0].At)
		}
		if len(orders) > 0 {
			next = min(next, orders[0].at)
		}
		if next >= until && math.IsNaN(cost) {
			n.move(until)
			cost = n.cost
		}
		if next == end {
			break
		}
		n.move(next)
		n.happen()
		for len(orders) > 0 && orders[0].at == n.now {
			n.scale(orders[0])
			orders = orders[1:]
			n.settle()
		}
		for len(requests) > 0 && requests[0].At == n.now {
			n.arrive(requests[0])
			requests = requests[1:]
		}
		n.iterate(arrivals)
		n.settle()
	}
	n.cost = cost
}

// small is a fleet of two variants that share a few devices, and requests that sometimes
// find no place.
func small(random *rand.Rand) (planner.Fleet, simulation.Gateway, []trace.Request, []order, int) {
	const seconds = 120
	fleet := chat(3+random.IntN(6), random.IntN(3))
	w := &fleet.Workloads[0]
	slow := w.Variants[0]
	fast := *slow.Replica
	fast.MaxBatch = 1 + random.IntN(20)
	fast.MaxQueue = queueing.Waiting{Limited: true, Places: random.IntN(20)}
	fast.KVCacheTokens = queueing.Tokens(3000 + random.IntN(20000))
	weak := fast
	weak.Profile.Alpha *= 2
	weak.MaxQueue.Limited = random.IntN(2) == 0
	w.Variants[0].Replica = &fast
	slow.Replica, slow.Name, slow.DevicesPerReplica, slow.Startup = &weak, "weak", 1+random.IntN(2), 7777*time.Millisecond
	slow.CurrentReplicas = random.IntN(3)
	w.Variants = append(w.Variants, slow)
	var requests []trace.Request
	rate := 0.5 + 4*random.Float64()
	for at := 0.0; ; {
		if at += random.ExpFloat64() / rate; at >= seconds {
			break
		}
		requests = append(requests, trace.Request{At: at, Input: 1 + random.IntN(1500), Output: 1 + random.IntN(400)})
	}
	var orders []order
	for k := range seconds / 5 {
		if random.IntN(2) == 0 {
			orders = append(orders, order{float64(5 * (k + 1)), random.IntN(2), random.IntN(6)})
		}
	}
	gateway := simulation.Gateway{MostHeld: random.IntN(30), Timeout: time.Duration(1+random.IntN(20)) * 1001 * time.Millisecond}
	return fleet, gateway, requests, orders, seconds
}

// TestClusterIsAsTheNaiveOne: every request has the very same fate.
func TestClusterIsAsTheNaiveOne(t *testing.T) {
	outcomes := make(map[simulation.Outcome]int)
	for seed := range uint64(150) {
		fleet, gateway, requests, orders, until := small(rand.New(rand.NewPCG(seed, 5)))
		n := naive{devices: fleet.Pools[0].Capacity.Value, timeout: gateway.Timeout.Seconds(), mostHeld: gateway.MostHeld}
		for _, v := range fleet.Workloads[0].Variants {
			station, err := queueing.NewStation(*v.Replica, fleet.Workloads[0].Shape)
			require.NoError(t, err)
			capacity, err := station.Capacity(fleet.Workloads[0].SLO)
			require.NoError(t, err)
			rate := capacity.Rate
			if rate == 0 {
				rate = station.SaturationRate()
			}
			n.variants = append(n.variants, naiveVariant{
				machine: *v.Replica, concurrency: station.Evaluate(rate).Running, devices: v.DevicesPerReplica,
				replicas: v.CurrentReplicas, startup: v.Startup.Seconds(), price: float64(v.DevicesPerReplica),
			})
		}
		n.run(requests, orders, float64(until))

		var records []simulation.Record
		c := newCluster(t, simulation.Config{
			Fleet: fleet, Requests: slices.Values(requests), Gateway: gateway,
			OnRequest: func(r simulation.Record) { records = append(records, r) },
		})
		left := orders
		windows := run(t, c, scaler{5 * time.Second, func(now time.Time) {
			for len(left) > 0 && left[0].at <= now.Sub(midnight).Seconds() {
				c.SetReplicas(0, left[0].variant, left[0].replicas)
				left = left[1:]
			}
		}}, until)
		cost := 0.0
		for i := range windows {
			cost += windows[i].Cost()
		}
		assert.InEpsilon(t, max(n.cost, 1), max(cost, 1), 1e-9, "seed %d", seed)
		byArrival := func(a, b simulation.Record) int { return cmp.Compare(a.Arrival, b.Arrival) }
		slices.SortFunc(records, byArrival)
		slices.SortFunc(n.records, byArrival)
		for _, r := range records {
			outcomes[r.Outcome]++
		}
		records = slices.DeleteFunc(records, func(r simulation.Record) bool { return r.Outcome == simulation.Unfinished })
		require.Equal(t, n.records, records, "seed %d", seed)
	}
	for _, o := range []simulation.Outcome{simulation.Completed, simulation.Rejected, simulation.TimedOut} {
		assert.Positive(t, outcomes[o], "%v", o)
	}
}
