package planner

import (
	"cmp"
	"fmt"
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
	ups, downs := c.moves()
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
}

// moves lists what the plan changes, the most important workload first, then by name.
func (c *cycle) moves() (ups, downs []move) {
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
	first := func(a, b move) int {
		x, y := &c.fleet.Workloads[a.workload], &c.fleet.Workloads[b.workload]
		return cmp.Or(cmp.Compare(x.Priority, y.Priority), cmp.Compare(x.QualifiedName(), y.QualifiedName()),
			cmp.Compare(x.Variants[a.variant].Name, y.Variants[b.variant].Name))
	}
	slices.SortFunc(ups, first)
	slices.SortFunc(downs, first)
	return ups, downs
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
	// spare are the replicas of each workload above its declared minimum, or above those
	// of the plan if that has fewer.
	spare []int
	// devices may still be added.
	devices optimizer.Bound
}

func (c *cycle) newOrdering() *ordering {
	current := make([][]int, len(c.fleet.Workloads))
	leaving := make([][]int, len(c.fleet.Workloads))
	for i := range c.fleet.Workloads {
		w := &c.fleet.Workloads[i]
		current[i], leaving[i] = w.current(), make([]int, len(w.Variants))
		for j := range w.Variants {
			leaving[i][j] = w.Variants[j].LeavingReplicas
		}
	}
	o := &ordering{
		cycle: c, problem: physical(c.problem),
		ready: make([][]int, len(c.fleet.Workloads)), freed: make([]int, len(c.fleet.Pools)),
		spare:   make([]int, len(c.fleet.Workloads)),
		devices: c.fleet.Control.DevicesPerCycle,
	}
	for i := range c.decision.Plans {
		o.spare[i] = sum(current[i]) - min(c.fleet.Workloads[i].MinReplicas, c.decision.Plans[i].total())
	}
	o.room = optimizer.NewHeadroom(o.problem)
	occupy(o.room, c.fleet.place(current))
	occupy(o.room, c.fleet.place(leaving))
	for i := range leaving {
		for j, n := range leaving[i] {
			o.free(i, j, n)
		}
	}
	return o
}

// free notes that replicas of a variant are about to leave their devices, in whichever
// of its pools.
func (o *ordering) free(i, j, n int) {
	v := &o.fleet.Workloads[i].Variants[j]
	for _, p := range v.Pools {
		o.freed[p] += n * v.DevicesPerReplica
	}
}

// add goes as far up as devices are free.
func (o *ordering) add(m *move) {
	v := &o.fleet.Workloads[m.workload].Variants[m.variant]
	for k := range v.Pools {
		n := min(m.goal-m.now, o.room.Replicas(m.workload, m.variant, k))
		if o.devices.Limited && v.DevicesPerReplica > 0 && n > o.devices.Value/v.DevicesPerReplica {
			n = o.devices.Value / v.DevicesPerReplica
			m.because = "the devices that one cycle may add are used up"
		}
		o.room.Place(m.workload, m.variant, k, n)
		o.devices.Value -= n * v.DevicesPerReplica
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
			down.because = "makes room for " + o.fleet.Workloads[up.workload].QualifiedName()
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
	for k := range downs {
		down := &downs[k]
		w := &o.fleet.Workloads[down.workload]
		v := &w.Variants[down.variant]
		if down.now == down.goal || !slices.Contains(v.Pools, pool) || namespace != "" && w.Namespace != namespace || v.DevicesPerReplica == 0 {
			continue
		}
		n := min(down.now-down.goal, (need+v.DevicesPerReplica-1)/v.DevicesPerReplica)
		if n > o.spare[down.workload] {
			up.because = fmt.Sprintf("cannot have devices of %s, which has no replica above its declared minimum", w.QualifiedName())
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
	return best, replicas
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
			Type: Waiting, Message: fmt.Sprintf("%s stays at %d on the way to %d: %s", v.Name, m.now, m.goal, m.because),
		})
	}
	if m.now == m.current {
		return
	}
	reason := plan.Reason
	if m.because != "" {
		reason = fmt.Sprintf("%s; on the way to %d, %s", reason, m.goal, m.because)
	}
	o.step(w.QualifiedName()+"/"+v.Name, fmt.Sprintf("%d replicas", m.current), fmt.Sprintf("%d replicas", m.now), reason)
	o.decision.Changes = append(o.decision.Changes, Change{
		Workload: w.QualifiedName(), Variant: v.Name, Target: v.ScaleTarget,
		From: m.current, To: m.now, Goal: m.goal, Reason: reason,
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
