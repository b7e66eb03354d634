package planner

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"sort"
	"strings"

	"github.com/poolwright/poolwright/optimizer"
)

// order is the stage that says which part of the way to the plan is gone in this cycle:
// additions as far as devices are free, and removals as far as what remains and is ready
// serves what the plan serves.
func order(c *cycle) error {
	if !c.loop() {
		return nil
	}
	ups, downs := c.waysToGo()
	if len(ups) == 0 && len(downs) == 0 {
		return nil
	}
	o := c.newOrdering()
	for k := range ups {
		o.add(&ups[k])
	}
	for k := range downs {
		o.remove(&downs[k])
	}
	downs = append(downs, o.shifts()...)
	for k := range ups {
		o.makeRoom(&ups[k], downs)
	}
	for k := range ups {
		o.change(&ups[k])
	}
	for k := range downs {
		o.change(&downs[k])
	}
	return nil
}

// move is the way of one variant from its replicas now to those of the plan.
type move struct {
	workload, variant int
	current, goal     int
	// now is how far it goes in this cycle.
	now int
	// blocked are the limits that an addition waits for.
	blocked []optimizer.Limit
	// because says what a removal makes room for, or waits for; or what an addition
	// waits for.
	because string
	// other is the qualified name of the other workload that because is about; empty = none.
	other string
}

// waysToGo lists what the plan changes.
func (c *cycle) waysToGo() (ups, downs []move) {
	for i := range c.decision.Plans {
		for j := range c.decision.Plans[i].Variants {
			current := c.fleet.Workloads[i].Variants[j].CurrentReplicas
			m := move{workload: i, variant: j, current: current, goal: c.decision.Plans[i].Variants[j].Total(), now: current}
			switch {
			case m.goal > current:
				ups = append(ups, m)
			case m.goal < current:
				downs = append(downs, m)
			}
		}
	}
	slices.SortFunc(ups, c.first)
	slices.SortFunc(downs, c.first)
	return ups, downs
}

// first orders moves: the most important workload first; then variants of the fewest
// pools, before others take the devices there; then by name.
func (c *cycle) first(a, b move) int {
	x, y := &c.fleet.Workloads[a.workload], &c.fleet.Workloads[b.workload]
	v, u := &x.Variants[a.variant], &y.Variants[b.variant]
	return cmp.Or(cmp.Compare(x.Priority, y.Priority), cmp.Compare(len(v.Pools), len(u.Pools)),
		cmp.Compare(x.QualifiedName(), y.QualifiedName()), cmp.Compare(v.Name, u.Name))
}

// shifts are the variants of which the plan has as many replicas as there are, in other
// pools than they run in. All that can be asked for is a number: they stay, unless an
// addition needs the devices more than their workload; then they go, and come back
// where devices are free.
func (o *ordering) shifts() []move {
	var all []move
	for i := range o.decision.Plans {
		for j := range o.decision.Plans[i].Variants {
			v, plan := &o.fleet.Workloads[i].Variants[j], &o.decision.Plans[i].Variants[j]
			if plan.Total() == v.CurrentReplicas && len(v.PoolReplicas) > 1 {
				all = append(all, move{workload: i, variant: j, current: v.CurrentReplicas, goal: v.CurrentReplicas, now: v.CurrentReplicas})
			}
		}
	}
	slices.SortFunc(all, o.first)
	return all
}

// ordering is a cycle's changes in the making.
type ordering struct {
	*cycle
	problem *optimizer.Problem
	room    *optimizer.Headroom
	// ready are the serving replicas that remain, by workload; nil where not yet asked.
	ready [][]int
	// freed are devices that are being freed, by pool.
	freed []int
	// placed is where replicas run: as the plan has them, where that is not known.
	placed *placement
	// spare are the replicas of each workload above its declared minimum, or above those
	// of the plan if that has fewer.
	spare []int
	// added are devices, of all additions.
	added int
}

func (c *cycle) newOrdering() *ordering {
	o := &ordering{
		cycle: c, problem: physical(c.problem),
		ready: make([][]int, len(c.fleet.Workloads)), freed: make([]int, len(c.fleet.Pools)),
		spare: make([]int, len(c.fleet.Workloads)),
	}
	for i := range c.decision.Plans {
		o.spare[i] = sum(c.fleet.Workloads[i].current()) - min(c.fleet.Workloads[i].MinReplicas, c.decision.Plans[i].total())
	}
	o.room = optimizer.NewHeadroom(o.problem)
	o.placed = newPlacer(&c.fleet, c.problem).place(c.decision.Plans)
	o.occupy()
	return o
}

// occupy places the replicas that there are, and notes the devices of those that leave.
func (o *ordering) occupy() {
	for _, replicas := range [][][][]int{o.placed.ready, o.placed.starting, o.placed.leaving} {
		occupy(o.room, replicas)
	}
	for i := range o.placed.leaving {
		for j := range o.placed.leaving[i] {
			v := &o.fleet.Workloads[i].Variants[j]
			for k, n := range o.placed.leaving[i][j] {
				o.freed[v.Pools[k]] += n * v.DevicesPerReplica
			}
		}
	}
}

// free notes that replicas of a variant are about to leave their devices, in whichever
// of the pools where it has some.
func (o *ordering) free(i, j, n int) {
	v := &o.fleet.Workloads[i].Variants[j]
	for k, p := range v.Pools {
		if o.runs(i, j, k) > 0 {
			o.freed[p] += n * v.DevicesPerReplica
		}
	}
}

// runs is the number of replicas asked for that run in the k-th pool of a variant.
func (o *ordering) runs(i, j, k int) int {
	return o.placed.ready[i][j][k] + o.placed.starting[i][j][k]
}

// add goes as far up as devices are free. A scheduler is assumed to take those of the
// cheapest pool first.
func (o *ordering) add(m *move) {
	v := &o.fleet.Workloads[m.workload].Variants[m.variant]
	for _, k := range o.fleet.byPrice(v) {
		n := min(m.goal-m.now, o.room.Replicas(m.workload, m.variant, k))
		if most := o.affordable(v); n > most {
			n = most
			m.because = "the devices that one cycle may add are used up"
		}
		o.room.Place(m.workload, m.variant, k, n)
		o.added += n * v.DevicesPerReplica
		o.spare[m.workload] += n
		m.now += n
	}
	if m.now < m.goal && m.because == "" {
		for k := range v.Pools {
			m.blocked = append(m.blocked, o.room.Stops(m.workload, m.variant, k)...)
		}
		m.because = "waits for " + o.limitNames(m.blocked)
	}
}

// affordable is the most replicas of a variant that the cycle may still add.
func (o *ordering) affordable(v *Variant) int {
	limit := o.fleet.Control.DevicesPerCycle
	switch {
	case !limit.Limited || v.DevicesPerReplica == 0:
		return math.MaxInt
	case o.added == 0 && limit.Value > 0:
		return max(1, limit.Value/v.DevicesPerReplica)
	}
	return max(0, limit.Value-o.added) / v.DevicesPerReplica
}

// remaining are the serving replicas of a workload that remain.
func (o *ordering) remaining(i int) []int {
	if o.ready[i] == nil {
		o.ready[i] = o.fleet.Workloads[i].ready()
	}
	return o.ready[i]
}

// without are the serving replicas of a workload when a variant has n replicas: those
// that have not started go first.
func (o *ordering) without(m *move, n int) []int {
	counts := slices.Clone(o.remaining(m.workload))
	counts[m.variant] = min(counts[m.variant], n)
	return counts
}

// remove goes as far down as the ready replicas that remain serve what the plan serves,
// and as those asked for are no fewer than declared.
func (o *ordering) remove(m *move) {
	w := &o.cycle.problem.Workloads[m.workload]
	unmet := max(w.Unmet(o.goal(m.workload)), w.Unmet(o.remaining(m.workload)))
	serves := func(n int) bool { return w.Unmet(o.without(m, n)) <= unmet+1e-9*w.Demand }
	least := max(m.goal, m.now-max(0, o.spare[m.workload]))
	o.take(m, least+sort.Search(m.now-least, func(n int) bool { return serves(least + n) }))
	if m.now > m.goal {
		m.because = "waits until the replicas that take its place are ready"
	}
}

// take goes down to n replicas.
func (o *ordering) take(m *move, n int) {
	o.ready[m.workload] = o.without(m, n)
	o.free(m.workload, m.variant, m.now-n)
	o.spare[m.workload] -= m.now - n
	m.now = n
}

// makeRoom removes replicas for an addition that waits for devices which nobody is
// about to free: those whose workload then still serves the demand observed. For demand
// that goes unserved now, it may be replicas of a less important workload, or of
// the same where that serves more in the end. The fewest devices that help are freed.
func (o *ordering) makeRoom(up *move, downs []move) {
	if up.now > up.current {
		return
	}
	for _, limit := range up.blocked {
		pool, namespace := o.where(limit)
		if pool < 0 {
			continue
		}
		if o.freed[pool] > 0 {
			return
		}
		if down, n := o.cheapestRemoval(up, downs, pool, namespace); down != nil {
			o.take(down, down.now-n)
			down.because, down.other = "makes room for another variant", ""
			if down.workload != up.workload {
				down.because, down.other = "makes room for another workload", o.fleet.Workloads[up.workload].QualifiedName()
			}
			return
		}
	}
}

// where are the pool of a limit on devices, and the namespace of a quota; -1 for others.
func (o *ordering) where(l optimizer.Limit) (pool int, namespace string) {
	switch l.Kind {
	case optimizer.PoolLimits, optimizer.NodeLimits:
		return l.Index, ""
	case optimizer.QuotaLimits:
		q := &o.problem.Quotas[l.Index]
		return q.Pool, q.Namespace
	case optimizer.BudgetLimit, optimizer.WorkloadMaximum, optimizer.VariantMaximum, optimizer.SingleMixing:
	}
	return -1, ""
}

// cheapestRemoval finds the removal, and the number of its replicas, that makes room
// for one more replica; nil if there is none.
func (o *ordering) cheapestRemoval(up *move, downs []move, pool int, namespace string) (best *move, replicas int) {
	need := o.fleet.Workloads[up.workload].Variants[up.variant].DevicesPerReplica
	var bestRank []int
	minimum := -1 // the workload whose minimum stands in the way
	for k := range downs {
		down := &downs[k]
		w := &o.fleet.Workloads[down.workload]
		v := &w.Variants[down.variant]
		n := o.removal(down, pool, need)
		if n <= 0 || namespace != "" && w.Namespace != namespace {
			continue
		}
		if n > o.spare[down.workload] {
			minimum = down.workload
			continue
		}
		rank := []int{0, n * v.DevicesPerReplica, -w.Priority}
		if o.unmetNow(down.workload, o.without(down, down.now-n)) > 0 {
			if !o.needs(up, down.workload) {
				continue
			}
			rank = []int{1, -w.Priority, n * v.DevicesPerReplica}
		}
		if best == nil || slices.Compare(rank, bestRank) < 0 {
			best, replicas, bestRank = down, n, rank
		}
	}
	switch {
	case best != nil || minimum < 0:
	case minimum == up.workload:
		up.because = "cannot have devices of another variant: the workload has no replica above its declared minimum"
	default:
		up.because = "cannot have devices of another workload, which has no replica above its declared minimum"
		up.other = o.fleet.Workloads[minimum].QualifiedName()
	}
	return best, replicas
}

// removal is the number of replicas whose removal helps to free devices of a pool, 0 for
// none. Nobody can say which of a variant's replicas go: of those that are to run in
// another pool so many go that there are fewer left than run in this one.
func (o *ordering) removal(m *move, pool, devices int) int {
	v := &o.fleet.Workloads[m.workload].Variants[m.variant]
	k := slices.Index(v.Pools, pool)
	if k < 0 || v.DevicesPerReplica == 0 {
		return 0
	}
	replicas := (devices + v.DevicesPerReplica - 1) / v.DevicesPerReplica
	if m.goal < m.current {
		return min(m.now-m.goal, replicas)
	}
	runs := o.runs(m.workload, m.variant, k)
	excess := runs - o.decision.Plans[m.workload].Variants[m.variant].Replicas[k]
	if excess <= 0 {
		return 0
	}
	return m.now - runs + min(excess, replicas)
}

// unmetNow is what counts of replicas leave unserved of the demand observed.
func (o *ordering) unmetNow(i int, counts []int) float64 {
	return o.unmet(i, counts, float64(o.seen[i].rate))
}

// needs tells whether an addition is for demand that goes unserved now, and worth
// replicas that serve another workload: a less important one or, where more is served in
// the end, the same.
func (o *ordering) needs(up *move, other int) bool {
	short := o.unmetNow(up.workload, o.fleet.Workloads[up.workload].ready())
	if short == 0 {
		return false
	}
	if other == up.workload {
		return o.unmetNow(other, o.goal(other)) < short
	}
	return o.fleet.Workloads[other].Priority > o.fleet.Workloads[up.workload].Priority
}

// goal are the replicas of the plan.
func (o *ordering) goal(i int) []int {
	goal := make([]int, len(o.decision.Plans[i].Variants))
	for j := range goal {
		goal[j] = o.decision.Plans[i].Variants[j].Total()
	}
	return goal
}

// change enters a move into the decision.
func (o *ordering) change(m *move) {
	w := &o.fleet.Workloads[m.workload]
	v, plan := &w.Variants[m.variant], &o.decision.Plans[m.workload]
	if m.now != m.goal {
		plan.Conditions = append(plan.Conditions, Condition{
			Type: Waiting, Message: fmt.Sprintf("%s stays at %d on the way to %d: %s", v.Name, m.now, m.goal, m.because), Other: m.other,
		})
	}
	if m.now == m.current {
		return
	}
	reason := plan.Reason
	if m.because != "" {
		reason = fmt.Sprintf("%s; on the way to %d, %s", reason, m.goal, m.because)
	}
	o.decision.Trail = append(o.decision.Trail, Step{
		Stage: o.stage, Subject: w.QualifiedName() + "/" + v.Name,
		Before: fmt.Sprintf("%d replicas", m.current), After: fmt.Sprintf("%d replicas", m.now), Reason: reason, Other: m.other,
	})
	o.decision.Changes = append(o.decision.Changes, Change{
		Workload: w.QualifiedName(), Variant: v.Name, Target: v.ScaleTarget,
		From: m.current, To: m.now, Goal: m.goal, Reason: reason, Other: m.other,
	})
}

// limitNames lists limits in words.
func (o *ordering) limitNames(limits []optimizer.Limit) string {
	var names []string
	for _, l := range limits {
		name := "a limit"
		switch pool, namespace := o.where(l); {
		case pool >= 0 && namespace != "":
			name = fmt.Sprintf("quota of %s in pool/%s", namespace, o.fleet.Pools[pool].Name)
		case pool >= 0:
			name = "devices of pool/" + o.fleet.Pools[pool].Name
		}
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return strings.Join(names, " or ")
}
