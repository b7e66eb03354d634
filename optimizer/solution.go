package optimizer

// Proof says what is known of a plan's objective.
type Proof int

const (
	// Optimal: the gap is at most the one asked for.
	Optimal Proof = iota
	// Feasible: a limit was reached first. The bound holds all the same.
	Feasible
	// Unproven: no search made the plan. The bound says nothing.
	Unproven
)

// Demand says whether a plan serves what it should.
type Demand int

const (
	// Served: all demand is served.
	Served Demand = iota
	// Partial: some demand can't be served.
	Partial
	// Infeasible: minimum replicas can't hold together with the pools, quotas and
	// the budget. The plan violates as few of them as possible.
	Infeasible
)

// Solution is a plan with its proof.
type Solution struct {
	Proof  Proof
	Demand Demand
	// Objective is price + switching + unmet penalties, per hour.
	Objective float64
	// PricePerHour is that of the replicas only.
	PricePerHour float64
	// Bound is a proven lower bound on Objective, given the Levels.
	Bound float64
	// Gap is (Objective − Bound)/|Objective|, 0 where both are 0.
	Gap float64
	// Levels are the lexicographic levels above cost that were not trivially 0,
	// in their order.
	Levels []Level
	// Allocations are in the order of Problem.Workloads.
	Allocations []Allocation
	// Pools and Quotas are in the order of the problem.
	Pools  []Usage
	Quotas []Usage
	// BudgetShadowPrice is the saving per unit of additional budget.
	BudgetShadowPrice float64
	// Effort is the work of the solve, as Options.Effort counts it.
	Effort int
	// Stopped: the caller's stop function ended the search.
	Stopped bool
	// Notes are restrictions, in words, under which objective and bound hold.
	Notes []string
}

// Replicas are those of the plan by workload, variant and placement, as
// [Problem.Evaluate] takes them. The lists are those of the allocations.
func (s *Solution) Replicas() [][][]int {
	replicas := make([][][]int, len(s.Allocations))
	for i := range replicas {
		replicas[i] = s.Allocations[i].Replicas
	}
	return replicas
}

// Level is one lexicographic level: unmet demand of one priority, or, at
// priority 0, replicas short of declared minimums.
type Level struct {
	Priority int
	// Unmet is what the plan leaves unserved, in requests/s (replicas at priority
	// 0), and Bound a proven lower bound on it.
	Unmet, Bound float64
	// Gap is (Unmet − Bound) relative to the demand of the priority; at priority 0
	// it is in replicas.
	Gap float64
}

// Allocation is the replicas of one workload.
type Allocation struct {
	// Replicas[v][k] is the number of replicas of Variants[v] in Placements[k]. Variants
	// and workloads may share lists, which must not be changed.
	Replicas [][]int
	// Unmet is demand not served, in requests/s.
	Unmet float64
	// Shortfall is the number of replicas below declared minimums.
	Shortfall int
	// ShapeShares[v][s] is the share of the traffic of Shapes[s] that is routed to
	// Variants[v]: with the load of the busiest variant as low as it can be where all
	// demand is served. A shape served in phases counts at both. It is nil for a workload
	// without demand or whose requests all variants serve alike; workloads with phases
	// and without Shapes have one.
	ShapeShares [][]float64
	// MarginalPrice[v] is what one request/s costs per hour on Variants[v] at its
	// cheapest placement, shadow prices of pools, quotas and budget included; +Inf
	// for a variant that sustains nothing. It is that of the shapes that the variant can
	// serve, in the mix of the demand, and of the variant's phase alone.
	MarginalPrice []float64
}

// Usage is the use of a pool or quota.
type Usage struct {
	// Used is in devices, whole nodes and roundings included for pools; quotas count
	// the devices that replicas ask for.
	Used int
	// ShadowPrice is the saving per hour of one more device at the margin of the
	// Lagrangian dual, ≥ 0.
	ShadowPrice float64
}
