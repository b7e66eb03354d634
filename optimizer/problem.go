package optimizer

import "iter"

// Problem is a fleet to be planned. Names must be unique; all numbers finite.
type Problem struct {
	Pools     []Pool
	Quotas    []Quota
	Workloads []Workload
	// BudgetPerHour limits Σ price of all replicas; 0 = no budget.
	BudgetPerHour float64
}

// Pool is the devices of one accelerator type that may be used.
type Pool struct {
	Name string
	// Capacity is in devices, ≥ 0, and counts only when Limited.
	Capacity int
	Limited  bool
	// DevicesPerNode > 0: a replica of one node never spans nodes. Capacity is then
	// as many whole nodes as fit, and one partial node of the remaining devices. A
	// replica of more than a node takes whole nodes. Sizes below a node that do not
	// divide one another are rounded up until they do, which Solution.Notes says.
	DevicesPerNode int

	// merged are the pools that this one stands for; nil: it is one itself. No replica spans them.
	merged *mergedPools
}

// Quota limits the devices that the workloads of a namespace use in a pool.
type Quota struct {
	Namespace string
	// Pool is an index into Problem.Pools.
	Pool int
	// Capacity is in devices, ≥ 0.
	Capacity int

	// merged has what the namespace may use of each of the pools that a merged one stands for; nil: it is one itself.
	merged *packing
}

// Mixing says whether the variants of a workload may be used together.
type Mixing int

const (
	// Allowed: any mix of variants.
	Allowed Mixing = iota
	// Single: one variant at a time.
	Single
)

// Workload is demand for one model in one service class.
type Workload struct {
	// Name is unique over all namespaces.
	Name      string
	Namespace string
	// Priority ≥ 1; 1 is served first.
	Priority int
	// Demand is in requests/s, ≥ 0.
	Demand float64
	// UnmetPenalty is the price per hour of one request/s not served. It counts
	// only when Penalized; otherwise priorities decide.
	UnmetPenalty float64
	Penalized    bool
	Mixing       Mixing
	// Redundancy is the number of replicas, any of them, that may fail with the demand
	// still served.
	Redundancy int
	// MinReplicas and MaxReplicas bound the sum over variants.
	MinReplicas int
	MaxReplicas Bound
	// Shapes are the kinds of requests in the demand, where variants serve some more
	// cheaply than others; traffic of each shape is routed by itself. Empty: all
	// requests are alike.
	Shapes   []Shape
	Variants []Variant

	// waived are requests/s, of any shapes, that need not be served.
	waived float64
	// leftFree: it stands for devices that are left free. Its demand is what they would cost extra, in money.
	leftFree bool
	// charged: the budget pays for what it leaves unserved of that.
	charged bool
}

// Shape is one kind of requests.
type Shape struct {
	// Share of the workload's requests, ≥ 0; the shares of a workload sum to 1.
	Share float64
}

// Phase says which part of a request a variant serves.
type Phase int

const (
	// Whole: all of it.
	Whole Phase = iota
	// Prefill computes the prompt and hands it to a variant that decodes.
	Prefill
	// Decode generates the output of a prompt computed elsewhere.
	Decode
)

// Bound is an upper bound; the zero value is no bound.
type Bound struct {
	Limited bool
	// Value ≥ 0 counts only when Limited.
	Value int
}

// Variant is one deployable way to serve a workload.
type Variant struct {
	// Name is unique within the workload.
	Name string
	// Capacity is what one replica sustains, in requests/s, > 0. A variant that
	// sustains nothing is left out of the problem, unless it has MinReplicas;
	// then it is 0. Where the workload has Shapes it does not count.
	Capacity float64
	// ShapeCapacities are what one replica sustains of each of the workload's Shapes
	// alone, in requests/s, in their order; 0 where it can't serve the shape. A
	// replica that serves several is used up by the sum of rate/capacity.
	ShapeCapacities []float64
	// Phase is what the replicas do. A request is served whole by one variant or by
	// a variant of each phase.
	Phase Phase
	// DevicesPerReplica ≥ 0.
	DevicesPerReplica int
	// NodesPerReplica is the number of nodes over which a replica is spread evenly, ≥ 1; 0 means 1.
	NodesPerReplica int
	MinReplicas     int
	MaxReplicas     Bound
	// CurrentReplicas is what runs now; switching costs count from it.
	CurrentReplicas int
	// SwitchUp and SwitchDown are costs per replica added or removed, per hour, ≥ 0.
	SwitchUp, SwitchDown float64
	// Placements are the pools in which replicas may run, at least one.
	Placements []Placement

	// takes is nil where replicas take devices of the pool that they run in, and of no other. Most do, and what a variant
	// does not have to carry is not waited for in large problems.
	takes *takes
}

// takes says of which pools replicas take devices. It is not changed once a variant has it.
type takes struct {
	// quotaOnly: replicas count in quotas, and take no devices of the pool.
	quotaOnly bool
	// within are further pools.
	within []within
}

func (v *Variant) quotaOnly() bool { return v.takes != nil && v.takes.quotaOnly }

// within are further pools of which replicas take devices.
func (v *Variant) within() []within {
	if v.takes == nil {
		return nil
	}
	return v.takes.within
}

// setWithin changes the further pools.
func (v *Variant) setWithin(in []within) {
	if len(in) > 0 || v.takes != nil {
		v.takes = &takes{v.quotaOnly(), in}
	}
}

// within says that replicas in a pool take devices of another one, too; both are indices into Problem.Pools. They may count there in
// the limit of every size, whatever theirs is.
type within struct {
	pool, other int
	anySize     bool
}

// takesFrom are the pools of which a replica placed in one takes devices, and whether it counts in the limit of every size.
func (v *Variant) takesFrom(pool int) iter.Seq2[int, bool] {
	return func(yield func(int, bool) bool) {
		if !yield(pool, false) {
			return
		}
		for _, in := range v.within() {
			if in.pool == pool && !yield(in.other, in.anySize) {
				return
			}
		}
	}
}

// Placement is a pool in which replicas of a variant may run.
type Placement struct {
	// Pool is an index into Problem.Pools.
	Pool int
	// PricePerHour is that of one replica, ≥ 0.
	PricePerHour float64

	// change of the price in the objective; the budget knows only PricePerHour.
	change float64
}
