package simulation

import (
	"math"
	"slices"

	"github.com/poolwright/poolwright/optimizer"
	"github.com/poolwright/poolwright/planner"
	"github.com/poolwright/poolwright/queueing"
	"github.com/poolwright/poolwright/simulation/replica"
)

// Phase is where a replica is in its life.
type Phase int

const (
	// Pending: it was asked for, and has no devices yet.
	Pending Phase = iota
	// Starting: it holds devices, and loads.
	Starting
	// Serving: it takes requests.
	Serving
	// Draining: it takes no more requests, and ends what it has.
	Draining
)

// String returns the phase in lower case.
func (p Phase) String() string {
	switch p {
	case Pending:
		return "pending"
	case Starting:
		return "starting"
	case Serving:
		return "serving"
	case Draining:
		return "draining"
	}
	return "unknown"
}

// server is one replica and its life.
type server struct {
	// number counts replicas in the order in which they were asked for; slot is the place
	// among those that there are, and used again.
	number int
	slot   int32
	// place is its place in the line of its variant while it serves.
	place   int
	variant *variant
	phase   Phase
	// asked is when it was asked for, and ready when it serves or has begun to.
	asked, ready float64
	// pool is an index into the pools of the variant.
	pool   int
	shares []share
	// replica is nil before it serves.
	replica *replica.Replica
	prefix  prefixCache
	// seen is what the replica had done when the work of the variant was measured last.
	seen replica.Totals
}

// inside is the number of requests on the replica.
func (s *server) inside() int { return s.replica.Running() + s.replica.Waiting() }

// variant is the replicas of a variant.
type variant struct {
	workload *workload
	index    int
	config   *planner.Variant
	// machine is what a replica is. Where its capacity was declared, it is a server that takes
	// one request after the other.
	machine  queueing.Replica
	declared bool
	// capacity and concurrency are what one sustains, for routers: requests/s, and requests
	// that run then.
	capacity, concurrency float64
	// takes is where its replicas take requests from.
	takes *line
	pools []*pool
	// desired is the number asked for, servers those that there are, in the order in which
	// they were asked for. Beyond the desired ones they drain.
	desired int
	servers []*server
	meter   meter
	work    work
}

// machineOf is what one replica of a variant is.
func machineOf(v *planner.Variant) (machine queueing.Replica, declared bool) {
	if v.Replica != nil {
		return *v.Replica, false
	}
	return queueing.Replica{Profile: queueing.Profile{Alpha: 1 / float64(v.Capacity)}, MaxBatch: 1}, true
}

// Lengths of requests for which replicas are compared where the workload declares none.
const (
	usualInput  = 512
	usualOutput = 256
)

// sustained is what a replica sustains in the phase that it serves: a rate in requests/s, and
// the requests that run then on the mean.
func sustained(v *planner.Variant, w *planner.Workload) (rate, running float64, err error) {
	if v.Replica == nil {
		return float64(v.Capacity), 1, nil
	}
	shape, slo := w.Shape, w.SLO
	if shape.OutputTokens < 1 {
		shape.InputTokens, shape.OutputTokens = usualInput, usualOutput
	}
	switch v.Role {
	case optimizer.Prefill:
		shape.OutputTokens, shape.OutputSCV, slo = 1, 0, queueing.SLO{}
	case optimizer.Decode:
		shape.PrefixHitRatio, slo = 1, queueing.SLO{}
	}
	station, err := queueing.NewStation(*v.Replica, shape)
	if err != nil {
		return 0, 0, err
	}
	capacity, err := station.Capacity(slo)
	if err != nil {
		return 0, 0, err
	}
	rate = float64(capacity.Rate)
	if rate == 0 {
		rate = float64(station.SaturationRate())
	}
	running = station.Evaluate(queueing.Rate(rate)).Running
	if !(rate > 0 && running > 0) || math.IsInf(rate, 1) {
		return 1, 1, nil // it is the same to all where nothing is sustained, or anything
	}
	return rate, running, nil
}

// line is the replicas that take requests of a workload for a phase, and the requests for
// which none has a place.
type line struct {
	// servers serve, in the order in which they began to. loads are their requests by those
	// that they sustain, +Inf where one had no place for a request; side by side, as they are
	// compared for every request.
	servers []*server
	loads   []float64
	// total is the sum of what the servers sustain.
	total float64
	held  queue
	// prefilled requests bring their KV entries.
	prefilled bool
	// routing: the held requests are looked at in this moment; expiring: it is planned when
	// the next has been held for too long.
	routing, expiring bool
	index             int32
}

// reload notes what a server has to do.
func (l *line) reload(s *server) {
	l.loads[s.place] = float64(s.inside()) / s.variant.concurrency
}

// full tells whether a server has had no place for a request since its last iteration.
func (l *line) full(s *server) bool { return math.IsInf(l.loads[s.place], 1) }

// join adds a server that serves from now on.
func (l *line) join(s *server) {
	s.place = len(l.servers)
	l.servers = append(l.servers, s)
	l.loads = append(l.loads, 0)
	l.total += s.variant.capacity
}

// leave removes a server that takes no more requests.
func (l *line) leave(s *server) {
	l.servers = slices.Delete(l.servers, s.place, s.place+1)
	l.loads = slices.Delete(l.loads, s.place, s.place+1)
	l.total = 0
	for i, one := range l.servers {
		one.place = i
		l.total += one.variant.capacity
	}
}

// prefixRoom is the number of tokens of prompts that a replica can hold.
func (v *variant) prefixRoom() int {
	if room := v.machine.KVCacheTokens; room > 0 {
		return int(min(room, mostCached))
	}
	return mostCached
}
