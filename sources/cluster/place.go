package cluster

import (
	"cmp"
	"slices"

	"github.com/poolwright/poolwright/internal/resource"
	"github.com/poolwright/poolwright/planner"
	"github.com/poolwright/poolwright/sources/overlay"
)

// offered are the pools to complete the fleet with. Where nodes can't be read there is one for
// each type of device that workloads declare, of unknown capacity.
func (in *inventory) offered(declared []resource.Workload) []overlay.Pool {
	if in.unread == "" {
		return in.pools
	}
	var names []string
	for i := range declared {
		for j := range declared[i].Declared {
			if name := declared[i].Declared[j].Accelerator; name != "" {
				names = append(names, name)
			}
		}
	}
	slices.Sort(names)
	var pools []overlay.Pool
	for _, name := range slices.Compact(names) {
		pools = append(pools, overlay.Pool{Pool: planner.Pool{Name: name, Accelerator: name}, Unknown: in.unread})
	}
	return pools
}

// place says in which pools replicas hold devices, and takes from the pools the devices of
// pods that no workload of the fleet counts.
func (s *snapshot) place(in *inventory) {
	poolOf := s.poolsOf(in)
	for i := range s.seen {
		for j := range s.seen[i] {
			v, found := &s.fleet.Workloads[i].Variants[j], &s.seen[i][j]
			v.Startup = cmp.Or(v.Startup, found.startup, s.workloads[i].Declared[j].StartupLimit)
			s.placeVariant(v, found, in, poolOf)
		}
	}
	for p := range in.ours {
		at := in.sites[p.node]
		if _, ok := s.counted[p]; ok || at == nil || at.pool < 0 || in.pools[at.pool].Unknown != "" || !in.index.holds(p) {
			continue
		}
		if pool, ok := poolOf[p.node]; ok && s.fleet.Pools[pool].Name == in.poolName(at) {
			capacity := &s.fleet.Pools[pool].Capacity
			capacity.Value = max(0, capacity.Value-in.held[p])
		}
	}
}

func (s *snapshot) placeVariant(v *planner.Variant, found *seen, in *inventory, poolOf map[string]int) {
	for _, p := range found.pods {
		if pool, ok := poolOf[p.node]; ok && slices.Contains(v.Pools, pool) && in.index.holds(p) {
			s.counted[p] = pool
		}
	}
	v.PoolReplicas = make([]int, len(v.Pools))
	for node, n := range found.on {
		pool, ok := poolOf[node]
		k := slices.Index(v.Pools, pool)
		if !ok || k < 0 {
			v.PoolReplicas = nil // somewhere else than it may be
			return
		}
		v.PoolReplicas[k] += n
	}
}

// poolsOf are the pools of the fleet that nodes are in, by the name of the node, and a node
// of each pool. A declared pool takes the place of those that were discovered: it has the
// nodes of its accelerator, in its zone if one of them names it; not if several could.
func (s *snapshot) poolsOf(in *inventory) map[string]int {
	poolOf := make(map[string]int, len(in.sites))
	s.sample = make([]*site, len(s.fleet.Pools))
	byName := make(map[string]int, len(s.fleet.Pools))
	byAccelerator := make(map[string][]int)
	for k := range s.fleet.Pools {
		p := &s.fleet.Pools[k]
		byName[p.Name] = k
		byAccelerator[p.Accelerator] = append(byAccelerator[p.Accelerator], k)
	}
	for name, at := range in.sites {
		accelerator := s.overlay.Accelerator(at.product)
		pool, ok := byName[in.poolName(at)]
		if !ok || s.fleet.Pools[pool].Accelerator != accelerator {
			pool = s.declaredPool(byAccelerator[accelerator], at.zone)
		}
		if pool < 0 {
			continue
		}
		poolOf[name] = pool
		if best := s.sample[pool]; best == nil || at.name < best.name {
			s.sample[pool] = at
		}
	}
	return poolOf
}

func (in *inventory) poolName(at *site) string {
	if at.pool < 0 {
		return ""
	}
	return in.pools[at.pool].Name
}

// declaredPool is the one of some pools that a node in a zone is in; -1 where that is not
// clear.
func (s *snapshot) declaredPool(pools []int, zone string) int {
	inZone := slices.DeleteFunc(slices.Clone(pools), func(k int) bool { return zone == "" || s.fleet.Pools[k].Zone != zone })
	if len(inZone) > 0 {
		pools = inZone
	}
	if len(pools) != 1 {
		return -1
	}
	return pools[0]
}
