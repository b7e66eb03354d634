package optimizer

import (
	"math"
	"slices"
)

// Headroom is what a plan in the making leaves of the limits of a problem: pools,
// quotas, the budget, maximums and single mixing, as [Problem.Evaluate] counts
// them. The problem must be valid and must not change meanwhile.
type Headroom struct {
	problem *Problem
	occupancy
	spent float64
	// counts are the replicas of each variant of all workloads.
	counts []int
	// firstVariant is where those of each workload begin; behind them is the number of all.
	firstVariant []int
	// open is the pool at which exhausted begins.
	open int
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
func NewHeadroom(p *Problem) *Headroom { return newHeadroom(p, packPools(p)) }

// newHeadroom takes the packings of the pools, of which replicas of other workloads may take room.
func newHeadroom(p *Problem, packings []packing) *Headroom {
	h := &Headroom{problem: p, occupancy: newOccupancy(p, packings), firstVariant: make([]int, len(p.Workloads)+1)}
	for i := range p.Workloads {
		h.firstVariant[i+1] = h.firstVariant[i] + len(p.Workloads[i].Variants)
	}
	h.counts = make([]int, h.firstVariant[len(p.Workloads)])
	return h
}

// Counts are the replicas placed so far of each variant of workload w. The caller
// must not change them.
func (h *Headroom) Counts(w int) []int {
	return h.counts[h.firstVariant[w]:h.firstVariant[w+1]:h.firstVariant[w+1]]
}

// Replicas is how many more replicas of variant v of workload w fit in its placement
// k, at most 2^26.
func (h *Headroom) Replicas(w, v, k int) int {
	room := leastRoom{replicas: int(unlimited)}
	h.limit(w, v, k, &room)
	return max(0, room.replicas)
}

// Stops are the limits that one more replica of variant v of workload w in its
// placement k would break: maximums first, then pool, quota and budget.
func (h *Headroom) Stops(w, v, k int) []Limit {
	room := leastRoom{replicas: int(unlimited), listed: true}
	h.limit(w, v, k, &room)
	return room.stops
}

// leastRoom is how many more replicas all limits allow and, where they are to be listed, which of them allow none.
type leastRoom struct {
	replicas int
	listed   bool
	stops    []Limit
}

// limit takes a limit that allows so many more into account.
func (r *leastRoom) limit(kind LimitKind, index, replicas int) {
	r.replicas = min(r.replicas, replicas)
	if replicas < 1 && r.listed {
		r.stops = append(r.stops, Limit{kind, index})
	}
}

// limit takes all limits on a replica into account.
func (h *Headroom) limit(w, v, k int, room *leastRoom) {
	workload := &h.problem.Workloads[w]
	variant := &workload.Variants[v]
	if most := workload.MaxReplicas; most.Limited {
		room.limit(WorkloadMaximum, w, most.Value-h.others(w, -1))
	}
	if most := variant.MaxReplicas; most.Limited {
		room.limit(VariantMaximum, v, most.Value-h.Counts(w)[v])
	}
	if workload.Mixing == Single && h.others(w, v) > 0 {
		room.limit(SingleMixing, w, 0)
	}
	place := &variant.Placements[k]
	for g, anySize := range variant.takesFrom(place.Pool) {
		if h.problem.Pools[g].Limited {
			kind, replicas := h.pools[g].room(variant, anySize)
			room.limit(kind, g, replicas)
		}
	}
	if q, ok := h.quotaOf[quotaKey{workload.Namespace, place.Pool}]; ok && variant.DevicesPerReplica > 0 {
		room.limit(QuotaLimits, q, (h.problem.Quotas[q].Capacity-h.quotas[q])/variant.DevicesPerReplica)
	}
	room.limit(BudgetLimit, 0, h.affordable(place.PricePerHour))
}

// full says whether a pool has no device left; finding out how many replicas it has room for takes longer.
func (h *Headroom) full(pool int) bool {
	u := &h.pools[pool]
	return h.problem.Pools[pool].Limited && u.used[0] >= u.limits[0].devices
}

// exhausted says whether all pools are full. It looks first at the one that was not when it was asked before, as the others are mostly full
// by then, and may be many.
func (h *Headroom) exhausted() bool {
	for range h.pools {
		if !h.full(h.open) {
			return false
		}
		h.open = (h.open + 1) % len(h.pools)
	}
	return true
}

// takesDevices says whether replicas take devices of the pool that they run in.
func (v *Variant) takesDevices() bool { return v.DevicesPerReplica > 0 && !v.quotaOnly() }

// others is the number of replicas of all variants of workload w but v.
func (h *Headroom) others(w, v int) int {
	n := 0
	for j, count := range h.Counts(w) {
		if j != v {
			n += count
		}
	}
	return n
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
	h.Counts(w)[v] += n
	h.spent += float64(n) * variant.Placements[k].PricePerHour
	h.use(workload.Namespace, variant, variant.Placements[k].Pool, n)
}

// room is how many more replicas of a variant the pool takes, and whether it is its
// devices or its nodes that limit them.
func (u *poolUse) room(v *Variant, anySize bool) (LimitKind, int) {
	devices, part := u.packing.counted(v, anySize)
	if devices == 0 {
		return PoolLimits, int(unlimited)
	}
	n := int(unlimited)
	for r, row := range u.limits {
		if taken := row.taken(devices, part); taken > 0 {
			n = min(n, (row.devices-u.used[r])/taken)
		}
	}
	if n < 1 && u.free() >= v.DevicesPerReplica {
		return NodeLimits, n
	}
	return PoolLimits, n
}

// free is the number of devices that no replica occupies.
func (u *poolUse) free() int {
	return u.packing.beyond + u.packing.room(1) - u.devices
}

// occupancy is the use of pools and quotas.
type occupancy struct {
	pools   []poolUse
	quotas  []int
	quotaOf map[quotaKey]int
}

// quotaKey finds the quota of a namespace in a pool.
type quotaKey struct {
	namespace string
	pool      int
}

func newOccupancy(p *Problem, packings []packing) occupancy {
	o := occupancy{pools: make([]poolUse, len(packings)), quotas: make([]int, len(p.Quotas)), quotaOf: p.quotaOf()}
	for g := range o.pools {
		limits := packings[g].limits()
		o.pools[g] = poolUse{packing: packings[g], limits: limits, used: make([]int, len(limits))}
	}
	return o
}

// quotaOf finds the quotas; it is nil where there are none.
func (p *Problem) quotaOf() map[quotaKey]int {
	if len(p.Quotas) == 0 {
		return nil
	}
	index := make(map[quotaKey]int, len(p.Quotas))
	for q, quota := range p.Quotas {
		index[quotaKey{quota.Namespace, quota.Pool}] = q
	}
	return index
}

// unused is that of the same limits by nothing.
func (o *occupancy) unused() occupancy {
	out := occupancy{pools: slices.Clone(o.pools), quotas: make([]int, len(o.quotas)), quotaOf: o.quotaOf}
	for g := range out.pools {
		out.pools[g].used, out.pools[g].devices = make([]int, len(o.pools[g].used)), 0
	}
	return out
}

// use places n replicas in a pool.
func (o *occupancy) use(namespace string, v *Variant, pool, n int) {
	for g, anySize := range v.takesFrom(pool) {
		o.pools[g].add(v, anySize, n)
	}
	if q, ok := o.quotaOf[quotaKey{namespace, pool}]; ok {
		o.quotas[q] += n * v.DevicesPerReplica
	}
}

// join adds the use by other workloads.
func (o *occupancy) join(other *occupancy) {
	for g := range o.pools {
		o.pools[g].devices += other.pools[g].devices
		for r, used := range other.pools[g].used {
			o.pools[g].used[r] += used
		}
	}
	for q, used := range other.quotas {
		o.quotas[q] += used
	}
}

// poolUse is the use of the limits of one pool, and the devices in use.
type poolUse struct {
	packing packing
	limits  []limit
	used    []int
	devices int
}

// add places n replicas.
func (u *poolUse) add(v *Variant, anySize bool, n int) {
	devices, part := u.packing.counted(v, anySize)
	u.devices += n * devices
	for r, row := range u.limits {
		u.used[r] += n * row.taken(devices, part)
	}
}
