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

// NewHeadroom returns the headroom of a plan without replicas.
func NewHeadroom(p *Problem) *Headroom {
	h := &Headroom{
		problem: p, pools: poolUses(p), quotas: make([]int, len(p.Quotas)), quotaOf: quotaIndex(p),
		counts: make([][]int, len(p.Workloads)),
	}
	for i := range p.Workloads {
		h.counts[i] = make([]int, len(p.Workloads[i].Variants))
	}
	return h
}

// Counts are the replicas placed so far of each variant of workload w. The caller
// must not change them.
func (h *Headroom) Counts(w int) []int { return h.counts[w] }

// Replicas is how many more replicas of variant v of workload w fit in its placement
// k, at most 2^26.
func (h *Headroom) Replicas(w, v, k int) int {
	workload := &h.problem.Workloads[w]
	variant := &workload.Variants[v]
	total, others := 0, 0
	for j, n := range h.counts[w] {
		total += n
		if j != v {
			others += n
		}
	}
	if workload.Mixing == Single && others > 0 {
		return 0
	}
	n := int(unlimited)
	if most := workload.MaxReplicas; most.Limited {
		n = min(n, most.Value-total)
	}
	if most := variant.MaxReplicas; most.Limited {
		n = min(n, most.Value-h.counts[w][v])
	}
	place := variant.Placements[k]
	if h.problem.Pools[place.Pool].Limited {
		n = min(n, h.pools[place.Pool].room(variant))
	}
	if q, ok := h.quotaOf[quotaKey{workload.Namespace, place.Pool}]; ok && variant.DevicesPerReplica > 0 {
		n = min(n, (h.problem.Quotas[q].Capacity-h.quotas[q])/variant.DevicesPerReplica)
	}
	return max(0, min(n, h.affordable(place.PricePerHour)))
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

// Place counts n more replicas of variant v of workload w in its placement k.
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

// room is how many more replicas of a variant the pool takes.
func (u *poolUse) room(v *Variant) int {
	devices, part := u.packing.devices(v)
	n := int(unlimited)
	if devices == 0 {
		return n
	}
	for r, row := range u.limits {
		if part >= row.size {
			n = min(n, (row.devices-u.used[r])/devices)
		}
	}
	return n
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
