package planner

import (
	"cmp"
	"slices"

	"github.com/poolwright/poolwright/optimizer"
)

// placement is where the replicas of a fleet run, by workload, variant and pool of the
// variant. Those that wait for devices are where they will probably find them.
type placement struct{ ready, starting, leaving [][][]int }

// placed is where replicas run, worked out once per cycle. What the fleet does not know
// of it is assumed: in the cheapest pools of a variant, moved on to others where the
// devices are needed for replicas that could run nowhere else. The order of the fleet does
// not matter. Replicas that hold devices go before those that start. All fit into pools,
// nodes and quotas if they can, where those that share pools are of one size; of several
// sizes, some may be found no room.
func (c *cycle) placed(problem *optimizer.Problem) *placement {
	if c.placement == nil {
		c.placement = newPlacer(&c.fleet, problem).place(nil)
	}
	return c.placement
}

// current are the replicas asked for, of the workloads that are held or of the others.
func (p *placement) current() [][][]int {
	all := make([][][]int, len(p.ready))
	for i := range all {
		all[i] = make([][]int, len(p.ready[i]))
		for j := range all[i] {
			all[i][j] = slices.Clone(p.ready[i][j])
			for k, n := range p.starting[i][j] {
				all[i][j][k] += n
			}
		}
	}
	return all
}

// only keeps the replicas of some workloads.
func only(replicas [][][]int, which func(i int) bool) [][][]int {
	kept := make([][][]int, len(replicas))
	for i := range replicas {
		if kept[i] = replicas[i]; !which(i) {
			kept[i] = noReplicas(replicas[i])
		}
	}
	return kept
}

func noReplicas(like [][]int) [][]int {
	none := make([][]int, len(like))
	for j := range like {
		none[j] = make([]int, len(like[j]))
	}
	return none
}

// placer places replicas one variant after another.
type placer struct {
	fleet *Fleet
	room  *optimizer.Headroom
	// sites are in the order in which variants are placed.
	sites []*site
	// movable are the sites that have a choice, by pool.
	movable [][]*site
	// hopeless are the rooms that no move could make.
	hopeless map[roomKey]bool
}

// site is a variant and its replicas.
type site struct {
	workload, variant int
	*Variant
	name, namespace string
	// order has the pools of the variant, the cheapest first.
	order []int
	// placed are the replicas by pool, and known those of them that stay where they are.
	placed, known []int
}

// roomKey is what room for a replica depends on.
type roomKey struct {
	namespace            string
	pool, devices, nodes int
}

func newPlacer(f *Fleet, problem *optimizer.Problem) *placer {
	p := &placer{
		fleet: f, room: optimizer.NewHeadroom(physical(problem)),
		movable: make([][]*site, len(f.Pools)), hopeless: map[roomKey]bool{},
	}
	for i := range f.Workloads {
		w := &f.Workloads[i]
		for j := range w.Variants {
			v := &w.Variants[j]
			p.sites = append(p.sites, &site{
				workload: i, variant: j, Variant: v, name: w.QualifiedName(), namespace: w.Namespace,
				order: f.byPrice(v), placed: make([]int, len(v.Pools)), known: v.PoolReplicas,
			})
		}
	}
	slices.SortFunc(p.sites, func(a, b *site) int {
		return cmp.Or(cmp.Compare(len(a.Pools), len(b.Pools)), cmp.Compare(b.DevicesPerReplica, a.DevicesPerReplica),
			cmp.Compare(a.name, b.name), cmp.Compare(a.Name, b.Name))
	})
	for _, s := range p.sites {
		if len(s.Pools) > 1 && s.DevicesPerReplica > 0 {
			for _, pool := range s.Pools {
				p.movable[pool] = append(p.movable[pool], s)
			}
		}
	}
	return p
}

// byPrice are the indices of a variant's pools, the cheapest first.
func (f *Fleet) byPrice(v *Variant) []int {
	order := make([]int, len(v.Pools))
	for k := range order {
		order[k] = k
	}
	slices.SortFunc(order, func(a, b int) int {
		return cmp.Or(cmp.Compare(f.Price(v, v.Pools[a]), f.Price(v, v.Pools[b])),
			cmp.Compare(f.Pools[v.Pools[a]].Name, f.Pools[v.Pools[b]].Name))
	})
	return order
}

// place places all replicas: those known to run somewhere, then others where the plans,
// if there are any, have them.
func (p *placer) place(plans []WorkloadPlan) *placement {
	for _, s := range p.sites {
		for k, n := range s.known {
			p.put(s, k, n)
		}
	}
	for _, s := range p.sites {
		if s.known == nil && plans != nil {
			p.follow(s, plans[s.workload].Variants[s.variant].Replicas)
		}
	}
	for _, s := range p.sites {
		p.add(s, s.ready()+s.LeavingReplicas-sum(s.placed))
	}
	for _, s := range p.sites {
		p.add(s, s.CurrentReplicas+s.LeavingReplicas-sum(s.placed))
	}
	n := len(p.fleet.Workloads)
	all := &placement{make([][][]int, n), make([][][]int, n), make([][][]int, n)}
	for i := range p.fleet.Workloads {
		variants := len(p.fleet.Workloads[i].Variants)
		all.ready[i], all.starting[i], all.leaving[i] = make([][]int, variants), make([][]int, variants), make([][]int, variants)
	}
	for _, s := range p.sites {
		all.ready[s.workload][s.variant] = s.take(s.ready())
		all.leaving[s.workload][s.variant] = s.take(s.LeavingReplicas)
		all.starting[s.workload][s.variant] = s.take(s.CurrentReplicas - s.ready())
		for k, n := range s.placed { // more run than are counted
			all.leaving[s.workload][s.variant][k] += n
		}
	}
	return all
}

// put counts n more replicas, or fewer, in the k-th pool of a site.
func (p *placer) put(s *site, k, n int) {
	s.placed[k] += n
	p.room.Place(s.workload, s.variant, k, n)
}

// follow places the replicas of a site as planned, as far as there is room.
func (p *placer) follow(s *site, planned []int) {
	for k, n := range planned {
		left := s.CurrentReplicas + s.LeavingReplicas - sum(s.placed)
		p.put(s, k, max(0, min(n, left, p.room.Replicas(s.workload, s.variant, k))))
	}
}

// add places n more replicas: where there is room, then where moves make room. Replicas
// that fit nowhere stand in line at the last pool.
func (p *placer) add(s *site, n int) {
	for _, k := range s.order {
		fit := max(0, min(n, p.room.Replicas(s.workload, s.variant, k)))
		p.put(s, k, fit)
		n -= fit
	}
	for n > 0 && p.squeeze(s) {
		n--
	}
	p.put(s, s.order[len(s.order)-1], max(0, n))
}

// squeeze places one more replica where moves make room; false if nowhere.
func (p *placer) squeeze(s *site) bool {
	visited := make([]bool, len(p.fleet.Pools))
	for _, k := range s.order {
		if p.makeRoom(s, k, visited) {
			p.put(s, k, 1)
			return true
		}
	}
	for _, pool := range s.Pools {
		p.hopeless[s.room(pool)] = true
	}
	return false
}

// makeRoom moves replicas out of the k-th pool of a site until one more of the site's fits
// there. The pools visited get none. It is the search for augmenting paths of a
// bipartite matching, with replicas of several sizes.
func (p *placer) makeRoom(s *site, k int, visited []bool) bool {
	pool := s.Pools[k]
	if visited[pool] || p.hopeless[s.room(pool)] {
		return false
	}
	visited[pool] = true
	for {
		stops := p.room.Stops(s.workload, s.variant, k)
		if len(stops) == 0 {
			visited[pool] = false
			return true
		}
		namespace := ""
		if stops[0].Kind == optimizer.QuotaLimits {
			namespace = s.namespace
		}
		if !p.moveOne(pool, namespace, visited) {
			return false
		}
	}
}

// moveOne moves one replica from a pool to another, one of the namespace unless that is
// empty.
func (p *placer) moveOne(pool int, namespace string, visited []bool) bool {
	for _, s := range p.movable[pool] {
		from := slices.Index(s.Pools, pool)
		if s.free(from) == 0 || namespace != "" && s.namespace != namespace {
			continue
		}
		for _, to := range s.order {
			if p.makeRoom(s, to, visited) {
				p.put(s, from, -1)
				p.put(s, to, 1)
				return true
			}
		}
	}
	return false
}

// room is what room for one more replica depends on.
func (s *site) room(pool int) roomKey {
	return roomKey{namespace: s.namespace, pool: pool, devices: s.DevicesPerReplica, nodes: s.NodesPerReplica}
}

// free is the number of replicas in the k-th pool that may as well be elsewhere.
func (s *site) free(k int) int {
	if s.known == nil {
		return s.placed[k]
	}
	return s.placed[k] - s.known[k]
}

// take takes n of the placed replicas, from the cheapest pools first.
func (s *site) take(n int) []int {
	taken := make([]int, len(s.placed))
	for _, k := range s.order {
		taken[k] = min(n, s.placed[k])
		s.placed[k] -= taken[k]
		n -= taken[k]
	}
	return taken
}
