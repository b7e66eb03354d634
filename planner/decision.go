package planner

import (
	"time"

	"github.com/poolwright/poolwright/calibration"
	"github.com/poolwright/poolwright/optimizer"
	"github.com/poolwright/poolwright/policy"
	"github.com/poolwright/poolwright/queueing"
)

// Snapshot is everything that one decision is made from.
type Snapshot struct {
	// Now is the time of the snapshot.
	Now   time.Time
	Fleet Fleet
	// Observations, when not nil, take the place of what the fleet declares: a
	// workload without a fresh observation keeps its replicas. The decision is then one
	// of the loop: it remembers, and goes no faster than the policies permit.
	Observations []Observation
	// Paused workloads keep their replicas.
	Paused []Pause
}

// Decision is a plan with the trail of steps that led to it.
type Decision struct {
	At time.Time
	// Fleet has the arrival rates that the plan was made for.
	Fleet Fleet
	// Solution is what the solver found, workloads in the order of the fleet. It is
	// nil where nothing was optimised.
	Solution *optimizer.Solution
	// Plans are in the order of the fleet's workloads.
	Plans []WorkloadPlan
	// Objective is price + switching + unmet penalties, per hour. In the loop, a replica
	// added or removed counts a hundredth of its price at least.
	Objective float64
	// PricePerHour is that of all replicas.
	PricePerHour float64
	// Demand says whether the plan serves what it should.
	Demand optimizer.Demand
	// Pools and Quotas are the use of each; quotas in the order of pools.
	Pools  []PoolUse
	Quotas []QuotaUse
	// Robust is nil where only the arrival rates of the fleet are known.
	Robust *RobustPlan
	// Calibrations say what became of what replicas were seen to do in this cycle, in the
	// order of the fleet.
	Calibrations []Calibration
	// Changes are what is to be done in this cycle, in order: a part of the way to the plan.
	// There are none without observations.
	Changes []Change
	// Stopped: the caller's stop function cut the search for a plan short.
	Stopped bool
	// Answers are the solver's where stop fired, for [Planner.Replan]; nil otherwise.
	Answers []*optimizer.RobustSolution
	// Trail is what each stage did, in order.
	Trail []Step
	// Notes are what a person should know beside the numbers.
	Notes []string
}

// Calibration is how far the replicas of a variant were seen to be off their profile.
type Calibration struct {
	// Workload is the qualified name.
	Workload, Variant string
	ITL, TTFT         calibration.LatencyReport
}

// Step is what one stage did.
type Step struct {
	Stage string
	// Subject is a workload or pool, or empty for the whole fleet.
	Subject       string
	Before, After string
	Reason        string
	// Other is the qualified name of the other workload that Reason is about, which does not name
	// it; empty = none.
	Other string
}

// InWords is the reason with the name of the other workload.
func (s *Step) InWords() string { return naming(s.Reason, s.Other) }

// WorkloadPlan is what one workload gets.
type WorkloadPlan struct {
	// Served and Unmet are the demand within and beyond what holds the SLO.
	Served, Unmet queueing.Rate
	// Held: the workload keeps its replicas, as Conditions say why.
	Held bool
	// Expected is nil without observations.
	Expected *Expectation
	// Conditions are what a person should know of the workload, in the order of their types.
	Conditions []Condition
	// Prediction is for the traffic served; in the loop for what is expected of it. It is
	// nil without a profile or traffic.
	Prediction *Prediction
	// Binding is what binds, such as ttft.p95 or pool/h100; empty when idle.
	Binding string
	Reason  string
	// Variants are in the order of the workload's.
	Variants []VariantPlan
}

// VariantPlan is what one variant does for its workload.
type VariantPlan struct {
	Size Size
	// Replicas are per pool, in the order of the variant's pools. Variants may share lists,
	// which must not be changed.
	Replicas []int
	// Wanted is the number of replicas in the cheapest plan, whatever policies permit.
	Wanted int
	// Permitted says within which bounds the policy lets the number move now.
	Permitted policy.Permission
	// Share of the workload's traffic that goes to all replicas of the variant; traffic
	// served in phases counts at both of its variants.
	Share float64
	// ShapeShares are the shares of each of the workload's shapes; nil without shapes.
	ShapeShares []float64
	// MarginalPrice is per request/s and hour, shadow prices included. It means
	// something only in a solved plan, unless the workload is held or the variant
	// sustains nothing.
	MarginalPrice float64
	Reason        string
}

// total is the number of replicas of all variants.
func (p *WorkloadPlan) total() int {
	n := 0
	for j := range p.Variants {
		n += p.Variants[j].Total()
	}
	return n
}

// Total is the number of replicas over all pools.
func (p *VariantPlan) Total() int {
	n := 0
	for _, r := range p.Replicas {
		n += r
	}
	return n
}

// PoolUse is the use of one pool.
type PoolUse struct {
	// Used is in devices.
	Used int
	// ShadowPrice is what one more device saves at the margin, per hour.
	ShadowPrice float64
}

// QuotaUse is the use of one quota.
type QuotaUse struct {
	// Pool is an index into Fleet.Pools.
	Pool int
	Quota
	Used        int
	ShadowPrice float64
}

// Prediction is the predicted performance of a workload.
type Prediction struct {
	TTFT, ITL, E2E Quantiles
	// Utilization is running requests over the batch limits.
	Utilization float64
	// Saturation is the arrival rate at which the replicas saturate.
	Saturation queueing.Rate
	// BlockedShare is the share of arrivals that find no place.
	BlockedShare float64
	// Saturated: there is no steady state, and latencies mean nothing.
	Saturated bool
}

// Quantiles are the mean and usual percentiles of a latency.
type Quantiles struct {
	Mean, P50, P90, P95, P99 queueing.Seconds
}
