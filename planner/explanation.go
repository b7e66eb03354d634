package planner

import (
	"github.com/poolwright/poolwright/optimizer"
	"github.com/poolwright/poolwright/queueing"
)

// Explanation is a decision with answers to what a person asks next. They are proven
// as far as their solves are, so amounts come with the interval in which they lie.
type Explanation struct {
	Decision Decision
	// Shortage says what would serve all; it is nil where all is served.
	Shortage *Shortage
	// Prices are ranges in which the plan stays optimal.
	Prices []PriceRange
	// Curves are costs over demand.
	Curves []DemandCurve
	// Changes are what fewer or more devices cost or save.
	Changes []PoolChange
	// Commitments are pools with devices that are paid for whether used or not.
	Commitments []Commitment
	// Unused are the variants that the plan does not use though they could serve,
	// those nearest to being used first.
	Unused []UnusedVariant
	// LeftOut are the questions for which time or effort did not last, in words.
	LeftOut []string
}

// Shortage is what keeps demand or minimums from being served, and what to change.
type Shortage struct {
	// Hopeless are workloads that no limit on devices or money keeps from being
	// served in full.
	Hopeless []Hopeless
	// Increases are the smallest that serve all the others.
	Increases []Increase
	// Relaxations are the smallest of SLOs that serve all with the present limits.
	Relaxations []Relaxation
}

// Hopeless is a workload that could not be served in full on any number of devices.
type Hopeless struct {
	// Workload is an index into Fleet.Workloads.
	Workload int
	// Unmet is what stays unserved at any price.
	Unmet queueing.Rate
	// Shortfall is the number of replicas missing from minimums.
	Shortfall int
	Reason    string
}

// Raise says which limits are raised.
type Raise int

const (
	// RaisePools raises capacities of pools by the fewest devices.
	RaisePools Raise = iota
	// RaisePoolsCheaply raises capacities of pools by devices of the least price.
	RaisePoolsCheaply
	// RaiseQuotas raises quotas by the fewest devices.
	RaiseQuotas
	// RaiseBudget raises the budget.
	RaiseBudget
)

// Increase is the smallest increase of limits that serves all that can be served.
type Increase struct {
	Raise Raise
	// Lifted: the limits of the other kinds are dropped; otherwise they hold.
	Lifted  bool
	Verdict optimizer.Verdict
	// Pools and Quotas are in the order of Decision.Pools and Decision.Quotas, in
	// devices; nil unless the verdict is Helps.
	Pools, Quotas []int
	// Budget is per hour.
	Budget float64
	// Total is what the least possible increase lies in: devices, or price per hour.
	Total optimizer.Interval
	// PricePerHour is that of the cheapest plan within the raised limits.
	PricePerHour float64
	Reason       string
}

// AllWorkloads stands for all of them in place of an index.
const AllWorkloads = -1

// Relaxation is the smallest factor on SLOs at which the present limits serve all.
type Relaxation struct {
	// Workload has its SLO relaxed, or AllWorkloads have by the same factor. One
	// alone is to be served in full while the others get what they get now.
	Workload int
	// Factor multiplies limits on latency and divides that on tokens per second:
	// High serves, and Low was not found to.
	Factor optimizer.Interval
	// Possible: some factor serves.
	Possible bool
	Reason   string
}

// PriceRange is how far a price may move with the plan still optimal.
type PriceRange struct {
	// Pool is an index into Fleet.Pools, or AllPools of the accelerator whose prices
	// move alike.
	Pool        int
	Accelerator string
	// PricePerHour is that of one device now; the highest of several pools.
	PricePerHour float64
	// Range is of one device and hour.
	Range  optimizer.PriceRange
	Reason string
}

// AllPools stands for all pools of an accelerator in place of an index.
const AllPools = -1

// DemandCurve is cost over demand.
type DemandCurve struct {
	// Workload has its demand changed, or AllWorkloads have by the same factor.
	Workload int
	// Points are in increasing order of their factors.
	Points []DemandPoint
}

// DemandPoint is one point of a curve.
type DemandPoint struct {
	// Factor multiplies the demand.
	Factor float64
	// Objective per hour lies in the interval; High is that of a plan.
	Objective optimizer.Interval
	// PricePerHour is that of the plan's replicas.
	PricePerHour float64
	// Proof is that of the plan: if it is only Feasible, less may be unmet.
	Proof  optimizer.Proof
	Demand optimizer.Demand
	// Unmet is over all workloads.
	Unmet queueing.Rate
}

// PoolChange is what a pool with more or fewer devices saves or costs.
type PoolChange struct {
	// Pool is an index into Fleet.Pools.
	Pool int
	// Devices are more than now, or fewer if negative.
	Devices int
	// Saving of the objective per hour lies in the interval; costs are negative. It
	// compares plans that may serve different demand.
	Saving optimizer.Interval
	// Proof is that of the changed plan: if it is only Feasible, less may be unmet, or
	// missing from minimums.
	Proof  optimizer.Proof
	Demand optimizer.Demand
	// Unmet is over all workloads that are planned, and so is Shortfall, the number of
	// replicas missing from minimums.
	Unmet     queueing.Rate
	Shortfall int
	Reason    string
}

// Commitment is the use of devices that are paid for whether used or not.
type Commitment struct {
	// Pool is an index into Fleet.Pools.
	Pool int
	// Idle are committed devices that the plan does not use; to return them saves
	// IdlePricePerHour and changes nothing.
	Idle             int
	IdlePricePerHour float64
	Reason           string
}

// UnusedVariant is by how much the price of a variant would have to fall.
type UnusedVariant struct {
	// Workload and Variant are indices.
	Workload, Variant int
	// PricePerHour is that of one replica now, at its cheapest placement.
	PricePerHour float64
	// MarginalFall is by how much the price of a replica would have to fall for the
	// marginal price to be that of the workload's cheapest variant in use. It is an
	// estimate: replicas are whole.
	MarginalFall float64
	// Fall is the same by solving again; nil where that was not done, or where the
	// gap of the plan is too wide to tell. At less than Low the plan stays optimal,
	// beyond High one that uses the variant is better. High is +Inf where none is,
	// even free of charge.
	Fall   *optimizer.Interval
	Reason string
}
