package simulation

import (
	"iter"
	"time"

	"github.com/poolwright/poolwright/planner"
	"github.com/poolwright/poolwright/simulation/trace"
)

// Config describes a cluster and what happens to it.
type Config struct {
	// Fleet is pools, workloads and variants. Replicas at the start are CurrentReplicas, and
	// serve at once as far as the pools go. A request is judged by the SLO of its workload.
	// Every variant has a profile or a capacity.
	Fleet planner.Fleet
	// Undeclared tells, by workload, whose lengths of requests the catalog does not tell. Shapes
	// in Fleet are those that requests really have, which routers weigh replicas by. nil = all
	// are declared.
	Undeclared []bool
	// Requests arrive in order of time.
	Requests iter.Seq[trace.Request]
	// Start is the time at which the simulation begins.
	Start time.Time
	// Seed of what is random here: the choices of a router, start-up times, devices lost.
	Seed uint64
	// StartupSCV is the squared coefficient of variation of start-up times, from 0 to 10:
	// gamma variables around the Startup of the variant.
	StartupSCV float64
	Routing    Routing
	Gateway    Gateway
	// Disruptions in any order.
	Disruptions []Disruption
	// Window is the length of the windows that Run reports, from a second on; 0 = a minute.
	Window time.Duration
	// RateWindow is the time over which the rates of arrivals and completions are measured,
	// up to an hour, and beside them the rate of completions since the last observation; 0 =
	// both since then, as where counters are read at every cycle.
	RateWindow time.Duration
	// OnRequest, where not nil, gets every request when it has ended.
	OnRequest func(Record)
}

// Routing is how a request finds a replica among those of its workload that serve. What a
// replica sustains is its capacity within the SLO, or where that is 0 its saturation, at
// the shape that the workload declares, or else 512 and 256 tokens.
//
// The shares of traffic that a plan of Poolwright gives to variants are not imposed on
// any router. They are in proportion to what replicas sustain, and so is the traffic that
// each of these routers gives them under load.
type Routing int

const (
	// LeastLoaded is the replica with the fewest requests, relative to those that run on it at
	// the rate that it sustains; of equals the one that has served longest.
	LeastLoaded Routing = iota
	// CapacityWeighted is a replica at random, in proportion to the rates that they sustain.
	CapacityWeighted
	// PrefixAware is the replica that holds most blocks of the prompt, unless it has more
	// than twice the load of the least loaded one, and eight requests more than that;
	// else the least loaded one.
	PrefixAware
)

// Gateway holds the requests of a workload, first come, first served, while no replica
// takes them: none serves, or all waiting places are taken.
type Gateway struct {
	// MostHeld is the number of requests of a workload that are held at most. Those that find
	// no place are rejected.
	MostHeld int
	// Timeout is how long a request is held before it fails; 0 = five minutes.
	Timeout time.Duration
}

// DefaultGateway is the gateway of who does not say otherwise.
func DefaultGateway() Gateway { return Gateway{MostHeld: 10000, Timeout: defaultTimeout} }

const (
	defaultTimeout = 5 * time.Minute
	defaultWindow  = time.Minute
	leastWindow    = time.Second
	maxStartupSCV  = 10
	mostRateWindow = time.Hour
)

// Disruption takes devices of a pool away: random ones, node by node where the pool has
// nodes. Replicas on them are lost, and their requests begin anew elsewhere; new replicas
// are asked for in their place.
type Disruption struct {
	// At is when, counted from the start.
	At time.Duration
	// Pool is the name of the pool.
	Pool string
	// Devices that are lost, ≥ 1; at most as many as there are, and of an unlimited pool
	// as many as are in use.
	Devices int
	// ReturnsAfter is when they come back, counted from the loss; 0 = never.
	ReturnsAfter time.Duration
	// Notice is how long before it the loss is announced: from then on the replicas take
	// nothing new and finish what they run.
	Notice time.Duration
}
