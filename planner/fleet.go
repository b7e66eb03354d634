package planner

import (
	"time"

	"github.com/poolwright/poolwright/optimizer"
	"github.com/poolwright/poolwright/optimizer/greedy"
	"github.com/poolwright/poolwright/queueing"
)

// Fleet is pools of accelerators and the workloads that share them.
type Fleet struct {
	// Pools have unique names.
	Pools []Pool
	// Workloads have unique qualified names.
	Workloads []Workload
	Objective Objective
	// Scenarios have unique names.
	Scenarios []Scenario
	Control   Control
}

// Pool is the devices of one accelerator type that may be used.
type Pool struct {
	Name        string
	Accelerator string
	Zone        string
	// PricePerHour is that of one device.
	PricePerHour float64
	// Capacity is in devices.
	Capacity optimizer.Bound
	// DevicesPerNode is 0 where nodes don't matter.
	DevicesPerNode int
	// Quotas are in devices, one per namespace at most.
	Quotas []Quota
	// Interruptible devices may vanish.
	Interruptible bool
	// Committed devices are paid for whether used or not.
	Committed int
	// Growth is what a node autoscaler can add; nil = nothing.
	Growth *Growth
}

// Quota limits the devices of a namespace in a pool.
type Quota struct {
	Namespace string
	Devices   int
}

// Growth says how far and how fast a pool can grow.
type Growth struct {
	Max   int
	Delay time.Duration
}

// Workload is demand for one model in one service class.
type Workload struct {
	Namespace, Name string
	Model           string
	ServiceClass    string
	// Priority ≥ 1; 1 is served first.
	Priority int
	// ArrivalRate is in total.
	ArrivalRate queueing.Rate
	// ArrivalRateUpper is the upper end of the band that arrivals stay in; 0 = no
	// band.
	ArrivalRateUpper queueing.Rate
	// Shape is that of all requests together.
	Shape queueing.Shape
	// Shapes are the kinds of requests, where the load declares them; each is routed by
	// itself and must hold the SLO by itself. Shape sums them up then.
	Shapes []ShapeShare
	SLO    queueing.SLO
	Mixing optimizer.Mixing
	// ExpansionRate, in percent and ≥ 0, lets replicas be shared among the variants in
	// batches, as [greedy.Kthena] does, with the strategy [Optimal] too; nil = they are not.
	ExpansionRate *int
	// Redundancy is the number of replicas that may fail with the SLO still held.
	Redundancy  int
	MinReplicas int
	MaxReplicas optimizer.Bound
	// UnmetPenalty is per hour and request/s, and counts only when Penalized.
	UnmetPenalty float64
	Penalized    bool
	// Policy is zero where that of the fleet's Control counts.
	Policy Policy
	// ZeroGrace, where not 0, is for how long it must have been known that nothing arrives
	// before the last replica is taken away, whatever the policy.
	ZeroGrace time.Duration
	Variants  []Variant
}

// ShapeShare is one kind of the requests of a workload.
type ShapeShare struct {
	// Share of the requests, > 0; the shares sum to 1 within 1e-6.
	Share float64
	Shape queueing.Shape
}

// QualifiedName is namespace/name, or the name alone outside any namespace.
func (w *Workload) QualifiedName() string {
	if w.Namespace == "" {
		return w.Name
	}
	return w.Namespace + "/" + w.Name
}

// Variant is one deployable way to serve a workload.
type Variant struct {
	Name string
	// Pools are indices into Fleet.Pools, at least one.
	Pools             []int
	DevicesPerReplica int
	NodesPerReplica   int
	// Role is the phase of requests that the variant serves. Variants of one phase serve
	// what a variant of the other hands on or takes over.
	Role optimizer.Phase
	// Transfer is the time from a prefill replica to the one that decodes.
	Transfer queueing.Transfer
	// Replica is what the profile says of one replica; nil where Capacity is given.
	Replica *queueing.Replica
	// Capacity is the declared capacity of one replica, where Replica is nil.
	Capacity    queueing.Rate
	MinReplicas int
	MaxReplicas optimizer.Bound
	// CurrentReplicas is the number asked for; StartingReplicas of them do not serve yet.
	// LeavingReplicas beyond them hold devices still: they terminate, or belong to a rollout.
	CurrentReplicas, StartingReplicas, LeavingReplicas int
	// PoolReplicas is how many of the current and leaving replicas hold devices in each of
	// Pools, in their order; nil where that is not known.
	PoolReplicas []int
	// PricePerReplicaHour counts when Priced; otherwise price is devices × the pool's.
	PricePerReplicaHour float64
	Priced              bool
	// Startup is the time until a new replica serves.
	Startup              time.Duration
	SwitchUp, SwitchDown float64
	// Preference, from 0 to [MaxPreference], is the place among variants that cost the same:
	// the loop adds replicas of the one with the smallest.
	Preference  int
	ScaleTarget ScaleTarget
	// Delegated: others carry out what is asked for, and may go there in steps.
	Delegated bool
}

// MaxPreference is the last place among variants.
const MaxPreference = 8

// ScaleTarget names the object that is scaled.
type ScaleTarget struct {
	APIVersion, Kind, Name string
}

// Objective says what to aim for and when to stop.
type Objective struct {
	// BudgetPerHour limits the price of all replicas; 0 = none.
	BudgetPerHour float64
	// RelativeGap at which a plan is good enough.
	RelativeGap float64
	// Robustness against the demands that may come.
	Robustness Robustness
	// TimeLimit for the plan, kept by the caller's stop function.
	TimeLimit time.Duration
	// Strategy is how the plan is made, Greedy what InfernoGreedy takes, and ExpansionRate
	// what Kthena takes, in percent, ≥ 0.
	Strategy      Strategy
	Greedy        greedy.Options
	ExpansionRate int
}

// Price of one replica of v in pool p, per hour.
func (f *Fleet) Price(v *Variant, p int) float64 {
	if v.Priced {
		return v.PricePerReplicaHour
	}
	return f.Pools[p].PricePerHour * float64(v.DevicesPerReplica)
}
