package optimizer

import "math"

// Headroom is what a plan in the making leaves of the limits of a problem: pools,
// quotas, the budget, maximums and single mixing, as [Problem.Evaluate] counts
// them. The problem must be valid and must not change meanwhile.
type Headroom struct {
	problem *Problem
	pools   []poolUse
	quotas  []int
	quotaOf map[quotaKey]int
	spent   float64
	// counts are the replicas of each variant, by workload.
	counts [][]int
}

// Limit is one limit of a problem.
type Limit struct {
	Kind LimitKind
	// Index is that of the pool, quota, workload or variant.
	Index int
}

// LimitKind is what a limit is on.
type LimitKind int

const (
	// PoolLimits are the capacities of pools.
	PoolLimits LimitKind = iota
	// QuotaLimits are the quotas of namespaces.
	QuotaLimits
	// BudgetLimit is the budget.
	BudgetLimit
	// NodeLimits are pools with enough devices free, but not on nodes as a replica
	// needs them.
	NodeLimits
	// WorkloadMaximum is the most replicas of a workload.
	WorkloadMaximum
	// VariantMaximum is the most replicas of a variant.
	VariantMaximum
	// SingleMixing is that of a workload with another variant in use.
	SingleMixing
)

// NewHeadroom returns the headroom of a plan without replicas.
func NewHeadroom(p *Problem) *Headroom {
	h := &Headroom{
		problem: p, pools: poolUses(p), quotas: make([]int, len(p.Quotas)), quotaOf: quotaIndex(p),
		counts: make([][]int, len(p.Workloads)),
	}
	var counts slab[int]
	for i := range p.Workloads {
		h.counts[i] = counts.take(len(p.Workloads[i].Variants))
	}
	return h
}

// Counts are the replicas placed so far of each variant of workload w. The caller
// must not change them.
func (h *Headroom) Counts(w int) []int { return h.counts[w] }

// Replicas is how many more replicas of variant v of workload w fit in its placement
// k, at most 2^26.
func (h *Headroom) Replicas(w, v, k int) int {
	n := int(unlimited)
	h.rooms(w, v, k, func(_ Limit, room int) { n = min(n, room) })
	return max(0, n)
}

// Stops are the limits that one more replica of variant v of workload w in its
// placement k would break: maximums first, then pool, quota and budget.
func (h *Headroom) Stops(w, v, k int) []Limit {
	var stops []Limit
	h.rooms(w, v, k, func(limit Limit, room int) {
		if room < 1 {
			stops = append(stops, limit)
		}
	})
	return stops
}

// rooms tells how many more replicas each limit has room for.
func (h *Headroom) rooms(w, v, k int, tell func(limit Limit, room int)) {
	workload := &h.problem.Workloads[w]
	variant := &workload.Variants[v]
	total, others := 0, 0
	for j, n := range h.counts[w] {
		total += n
		if j != v {
			others += n
		}
	}
	if most := workload.MaxReplicas; most.Limited {
		tell(Limit{Kind: WorkloadMaximum, Index: w}, most.Value-total)
	}
	if most := variant.MaxReplicas; most.Limited {
		tell(Limit{Kind: VariantMaximum, Index: v}, most.Value-h.counts[w][v])
	}
	if workload.Mixing == Single && others > 0 {
		tell(Limit{Kind: SingleMixing, Index: w}, 0)
	}
	place := variant.Placements[k]
	if h.problem.Pools[place.Pool].Limited {
		tell(h.pools[place.Pool].room(variant, place.Pool))
	}
	if q, ok := h.quotaOf[quotaKey{workload.Namespace, place.Pool}]; ok && variant.DevicesPerReplica > 0 {
		tell(Limit{Kind: QuotaLimits, Index: q}, (h.problem.Quotas[q].Capacity-h.quotas[q])/variant.DevicesPerReplica)
	}
	tell(Limit{Kind: BudgetLimit}, h.affordable(place.PricePerHour))
}

// affordable is the number of replicas that the rest of the budget pays for, within
// half the tolerance that Evaluate allows it.
func (h *Headroom) affordable(price float64) int {
	budget := h.problem.BudgetPerHour
	if budget == 0 || price == 0 {
		return int(unlimited)
	}
	return int(math.Min(math.Floor((budget*(1+tolerance/2)-h.spent)/price), float64(unlimited)))
}

// Place counts n more replicas of variant v of workload w in its placement k, or takes −n
// of those there away.
func (h *Headroom) Place(w, v, k, n int) {
	workload := &h.problem.Workloads[w]
	variant := &workload.Variants[v]
	place := variant.Placements[k]
	h.counts[w][v] += n
	h.pools[place.Pool].add(variant, n)
	if q, ok := h.quotaOf[quotaKey{workload.Namespace, place.Pool}]; ok {
		h.quotas[q] += n * variant.DevicesPerReplica
	}
	h.spent += float64(n) * place.PricePerHour
}

// room is how many more replicas of a variant pool g takes, and whether it is its
// devices or its nodes that limit them.
func (u *poolUse) room(v *Variant, g int) (Limit, int) {
	devices, part := u.packing.devices(v)
	limit, n := Limit{Kind: PoolLimits, Index: g}, int(unlimited)
	if devices == 0 {
		return limit, n
	}
	for r, row := range u.limits {
		if part >= row.size {
			n = min(n, (row.devices-u.used[r])/devices)
		}
	}
	if n < 1 && u.free() >= v.DevicesPerReplica {
		limit.Kind = NodeLimits
	}
	return limit, n
}

// free is the number of devices that no replica occupies.
func (u *poolUse) free() int {
	return u.packing.whole + u.packing.rest - u.used[0]
}

// quotaKey finds the quota of a namespace in a pool.
type quotaKey struct {
	namespace string
	pool      int
}

func quotaIndex(p *Problem) map[quotaKey]int {
	index := make(map[quotaKey]int, len(p.Quotas))
	for q, quota := range p.Quotas {
		index[quotaKey{quota.Namespace, quota.Pool}] = q
	}
	return index
}

func poolUses(p *Problem) []poolUse {
	pools := make([]poolUse, len(p.Pools))
	for g := range pools {
		pools[g].packing = packPool(p, g)
		pools[g].limits = pools[g].packing.limits()
		pools[g].used = make([]int, len(pools[g].limits))
	}
	return pools
}
