package optimizer

import (
	"cmp"
	"math"
	"slices"
)

// share is replicas of a variant in a merged pool.
type share struct {
	workload, replicas int
	variant            *Variant
	// choices is the number of pools of it in which they may run. Each occupies devices there, in parts of a size.
	choices, part, devices int
	// placed are those that have found a pool, by placement.
	placed []int
}

// placing spreads replicas over the pools that one stands for, each in the cheapest with room. Those with the fewest choices come first,
// and then those with the largest parts. Where all have the same choices, and as sizes divide one another, that leaves no gap
// that is too small for what comes later (first fit decreasing; Coffman, Garey and Johnson, Bin packing with divisible item
// sizes, 1987). Where a quota or a pool is in the way others that are as large make room, along the shortest path of moves
// that ends where there is some (augmenting paths; Ford and Fulkerson, Maximal flow through a network, 1956). That is best for replicas of
// one size with the same choices. Of several some may find no room all the same.
type placing struct {
	problem *Problem
	use     *occupancy
	pools   []int // of the problem, the cheapest first; the others count these
	groups  []placingGroup
	// namespaces are numbered; members are their groups, and quotas what is left of theirs by pool, in devices.
	namespaces map[string]int
	members    [][]int
	quotas     [][]int
	// searches is their number, and reached are the groups on paths of the latest, in the order in which they were found. closed is, by pool
	// and by namespace and pool, the least part from which on all groups there are, and dead what a search without success has
	// closed: it is so in all later ones, as there is rarely more room later.
	searches     int
	reached      []int
	closed, dead []int
	// steps are those that searches may still take.
	steps int
}

// placingSteps are those after which replicas are only placed where there is room. There are as many of some thousand namespaces, which
// take some hundredths of a second.
const placingSteps = 1 << 23

// placingGroup is replicas of one size that may run in the same pools and count in the same quotas.
type placingGroup struct {
	groupKey
	shares []share
	left   int
	placed []int
	// from is the group that takes a place of this one in a pool, on the path that was found last.
	from, in int
	// search is the last one that reached the group, or beyond all where none need do so any more.
	search int
}

// groupKey is what replicas of a group have in common. Allowed has a letter for each pool, and none where all are.
type groupKey struct {
	namespace                       int
	allowed                         string
	choices, part, devices, counted int
}

// placeAll places shares in the pools given. It returns the devices of those that find no room.
func placeAll(p *Problem, use *occupancy, pools []int, shares []share) (left int) {
	l := &placing{problem: p, use: use, pools: pools, namespaces: map[string]int{}, steps: placingSteps}
	groups := map[groupKey]int{}
	for _, s := range shares {
		key := groupKey{
			namespace: l.namespaceOf(&s), allowed: l.allowedIn(&s), choices: s.choices,
			part: s.part, devices: s.devices, counted: s.variant.DevicesPerReplica,
		}
		at, known := groups[key]
		if !known {
			at = len(l.groups)
			groups[key] = at
			l.groups = append(l.groups, placingGroup{groupKey: key, placed: make([]int, len(pools))})
		}
		l.groups[at].shares = append(l.groups[at].shares, s)
		l.groups[at].left += s.replicas
	}
	l.dead = slices.Repeat([]int{math.MaxInt}, (1+len(l.members))*len(pools))
	slices.SortStableFunc(l.groups, func(a, b placingGroup) int {
		return cmp.Or(a.choices-b.choices, b.part-a.part, b.devices-a.devices, b.counted-a.counted)
	})
	for a := range l.groups {
		namespace := l.groups[a].namespace
		l.members[namespace] = append(l.members[namespace], a)
		for found := true; found && l.groups[a].left > 0; {
			found = l.augment(a)
		}
	}
	for a := range l.groups {
		left += l.groups[a].left * l.groups[a].devices
	}
	l.report()
	return left
}

// namespaceOf is the number of the namespace of a share; all are one where there are no quotas.
func (l *placing) namespaceOf(s *share) int {
	name := ""
	if len(l.use.quotas) > 0 {
		name = l.problem.Workloads[s.workload].Namespace
	}
	number, known := l.namespaces[name]
	if !known {
		number = len(l.namespaces)
		l.namespaces[name] = number
		left := slices.Repeat([]int{int(unlimited)}, len(l.pools))
		for k, g := range l.pools {
			if q, limited := l.use.quotaOf[quotaKey{name, g}]; limited {
				left[k] = l.problem.Quotas[q].Capacity
			}
		}
		l.members, l.quotas = append(l.members, nil), append(l.quotas, left)
	}
	return number
}

func (l *placing) allowedIn(s *share) string {
	if s.choices == len(l.pools) {
		return ""
	}
	letters := make([]byte, len(l.pools))
	for k, g := range l.pools {
		if letters[k] = 'n'; s.variant.placementIn(g) >= 0 {
			letters[k] = 'y'
		}
	}
	return string(letters)
}

func (g *placingGroup) allows(k int) bool { return g.allowed == "" || g.allowed[k] == 'y' }

// placementIn is that of a variant in a pool, -1 where there is none.
func (v *Variant) placementIn(pool int) int {
	return slices.IndexFunc(v.Placements, func(at Placement) bool { return at.Pool == pool })
}

// report tells the shares where their replicas are.
func (l *placing) report() {
	for a := range l.groups {
		g := &l.groups[a]
		for _, s := range g.shares {
			for k, pool := range l.pools {
				if n := min(s.replicas, g.placed[k]); n > 0 {
					s.replicas -= n
					g.placed[k] -= n
					s.placed[s.variant.placementIn(pool)] += n
				}
			}
		}
	}
}

// quotaRoom is how many replicas more of a group its quota in a pool lets it have.
func (l *placing) quotaRoom(g *placingGroup, k int) int {
	if left := l.quotas[g.namespace][k]; left < int(unlimited) && g.counted > 0 {
		return left / g.counted
	}
	return int(unlimited)
}

// room is how many replicas more of a group a pool takes.
func (l *placing) room(g *placingGroup, k int) int {
	if !g.allows(k) {
		return 0
	}
	_, room := l.use.pools[l.pools[k]].room(g.shares[0].variant, false)
	return min(room, l.quotaRoom(g, k))
}

// move adds replicas of a group in a pool, or takes them away.
func (l *placing) move(g *placingGroup, k, n int) {
	g.placed[k] += n
	if l.quotas[g.namespace][k] < int(unlimited) {
		l.quotas[g.namespace][k] -= n * g.counted
	}
	l.use.pools[l.pools[k]].add(g.shares[0].variant, false, n)
}

// augment places some replicas of a group, and says whether any.
func (l *placing) augment(a int) bool {
	last, pool := l.path(a)
	if last < 0 {
		return false
	}
	number := min(l.groups[a].left, l.room(&l.groups[last], pool))
	l.along(a, last, func(from, to *placingGroup, in int) {
		number = min(number, to.placed[in])
		switch {
		case from.counted != to.counted || from.devices != to.devices:
			number = 1
		case from.namespace != to.namespace:
			number = min(number, l.quotaRoom(from, in))
		}
	})
	l.groups[a].left -= number
	l.move(&l.groups[last], pool, number)
	l.along(a, last, func(from, to *placingGroup, in int) {
		l.move(to, in, -number)
		l.move(from, in, number)
	})
	return true
}

// along calls visit for the moves of a path from one group to another: from takes the place of to in a pool.
func (l *placing) along(a, last int, visit func(from, to *placingGroup, in int)) {
	for at := last; at != a; at = l.groups[at].from {
		to := &l.groups[at]
		visit(&l.groups[to.from], to, to.in)
	}
}

// path finds the shortest path from a group to the cheapest pool with room that can be reached: its last group moves there.
// There is none where last is -1.
func (l *placing) path(a int) (last, pool int) {
	l.searches++
	l.groups[a].search = l.searches
	l.reached = append(l.reached[:0], a)
	l.closed = append(l.closed[:0], l.dead...)
	l.steps -= len(l.closed)
	last, pool = -1, len(l.pools)
	for n := 0; n < len(l.reached) && (n == 0 || l.free(pool)); n++ {
		at := l.reached[n]
		g := &l.groups[at]
		for k := range pool {
			if l.room(g, k) > 0 {
				last, pool = at, k
				break
			}
		}
		for k := range l.pools {
			if g.allows(k) && l.steps > 0 {
				l.reach(a, at, k)
			}
		}
	}
	if last < 0 {
		l.closed, l.dead = l.dead, l.closed
		for _, at := range l.reached {
			l.groups[at].search = math.MaxInt
		}
	}
	return last, pool
}

// free says whether any pool before another one has devices that no replica occupies.
func (l *placing) free(before int) bool {
	return slices.ContainsFunc(l.pools[:before], func(g int) bool { return l.use.pools[g].free() > 0 })
}

// reach adds the groups up to a number whose places in a pool another one may take: of all namespaces where its quota has room, or
// else of its own.
func (l *placing) reach(upTo, at, in int) {
	from := &l.groups[at]
	open := l.quotaRoom(from, in) > 0
	all, own := &l.closed[in], &l.closed[(1+from.namespace)*len(l.pools)+in]
	if from.part >= *all || from.part >= *own && !open {
		return
	}
	*own = from.part
	if !open {
		l.steps -= len(l.members[from.namespace])
		for _, i := range l.members[from.namespace] {
			if l.groups[i].counted >= from.counted {
				l.reachOne(i, at, in)
			}
		}
		return
	}
	*all = from.part
	l.steps -= upTo
	for i := range upTo + 1 {
		l.reachOne(i, at, in)
	}
}

// reachOne adds a group if it has places in a pool that are large enough for another one.
func (l *placing) reachOne(i, at, in int) {
	g, from := &l.groups[i], &l.groups[at]
	if g.search < l.searches && g.placed[in] > 0 && g.part >= from.part && g.devices >= from.devices {
		g.search, g.from, g.in = l.searches, at, in
		l.reached = append(l.reached, i)
	}
}
