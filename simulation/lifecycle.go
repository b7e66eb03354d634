package simulation

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/poolwright/poolwright/simulation/replica"
)

// SetReplicas asks for a number of replicas of a variant, ≥ 0; it is what the scale of a
// Deployment is. Workload and variant are indices. More replicas than there are get devices
// in the order in which they were asked for, and are pending before. Of fewer, pending ones
// go first, then starting ones, the youngest first, then those that serve, which drain: the
// one with the fewest requests first, of equals the youngest.
func (c *Cluster) SetReplicas(workload, variant, replicas int) {
	v := c.workloads[workload].variants[variant]
	replicas = max(replicas, 0)
	if replicas == v.desired {
		return
	}
	v.meter.scaleEvents++
	v.desired = replicas
	c.reconcile(v)
}

// maxReplicas is the most that a cluster may have at a time, draining ones included. It keeps
// memory bounded whatever is asked for.
const maxReplicas = 100_000

// reconcile asks for replicas or removes some until there are as many as desired.
func (c *Cluster) reconcile(v *variant) {
	kept := v.leastWantedFirst()
	for range v.desired - len(kept) {
		if len(c.servers)-len(c.slots) >= maxReplicas {
			c.failure = fmt.Errorf("simulation: %d replicas of %q make more than the %d that a cluster may have",
				v.desired, v.config.Name, maxReplicas)
			return
		}
		c.ask(v)
	}
	for _, s := range kept[:max(0, len(kept)-v.desired)] {
		c.remove(s)
	}
	c.fill()
}

// leastWantedFirst are the replicas that do not drain, in the order in which they are removed.
func (v *variant) leastWantedFirst() []*server {
	all := make([]*server, 0, len(v.servers))
	for _, s := range v.servers {
		if s.phase != Draining {
			all = append(all, s)
		}
	}
	slices.SortFunc(all, func(a, b *server) int {
		order := cmp.Compare(a.phase, b.phase)
		if order == 0 && a.phase == Serving {
			order = cmp.Compare(a.inside(), b.inside())
		}
		return cmp.Or(order, cmp.Compare(b.number, a.number))
	})
	return all
}

// ask asks for a replica.
func (c *Cluster) ask(v *variant) *server {
	c.asked++
	s := &server{number: c.asked, variant: v, asked: c.now, slot: c.slot()}
	c.servers[s.slot] = s
	v.servers = append(v.servers, s)
	c.pending = append(c.pending, s)
	return s
}

// slot is a free place for a server.
func (c *Cluster) slot() int32 {
	if n := len(c.slots); n > 0 {
		slot := c.slots[n-1]
		c.slots = c.slots[:n-1]
		return slot
	}
	c.servers = append(c.servers, nil)
	c.race.grow(len(c.servers))
	return int32(len(c.servers) - 1) //nolint:gosec // that many replicas do not fit memory
}

// fill gives devices to pending replicas in the order in which they were asked for. One
// that finds no room does not keep others from theirs, as in Kubernetes.
func (c *Cluster) fill() {
	c.pending = slices.DeleteFunc(c.pending, func(s *server) bool {
		if !c.allot(s) {
			return false
		}
		s.phase = Starting
		s.ready = c.now + c.startup(s.variant)
		c.calendar.add(s.ready, replicaIsReady, s.slot)
		return true
	})
}

// allot gives a replica devices of the first pool that has room.
func (c *Cluster) allot(s *server) bool {
	v := s.variant
	for k, p := range v.pools {
		if shares, ok := p.take(v.workload.config.Namespace, v.config); ok {
			s.pool, s.shares = k, shares
			v.meter.pay(c.now, k, 1)
			return true
		}
	}
	return false
}

// begin lets a replica serve.
func (c *Cluster) begin(s *server) {
	machine, err := replica.New(s.variant.machine)
	if err != nil {
		panic(err) // New has made one
	}
	s.phase, s.ready, s.replica = Serving, c.now, machine
	s.variant.takes.join(s)
	s.variant.meter.serve(c.now, 1)
	c.wake(s.variant.takes)
}

// remove takes a replica away that is no longer wanted.
func (c *Cluster) remove(s *server) {
	switch s.phase {
	case Pending:
		i := slices.Index(c.pending, s)
		c.pending = slices.Delete(c.pending, i, i+1)
		c.forget(s)
	case Starting:
		c.release(s)
	case Serving:
		c.drain(s)
	}
}

// drain keeps new requests from a replica that serves.
func (c *Cluster) drain(s *server) {
	s.phase = Draining
	s.variant.takes.leave(s)
	s.variant.meter.serve(c.now, -1)
	if s.inside() == 0 {
		c.release(s)
	}
}

// release takes back the devices of a replica that is gone.
func (c *Cluster) release(s *server) {
	v := s.variant
	v.pools[s.pool].give(v.workload.config.Namespace, v.config, s.shares)
	v.meter.pay(c.now, s.pool, -1)
	v.work.depart(s, c.now)
	c.forget(s)
	c.vacated = true
}

// forget removes a replica from those that there are.
func (c *Cluster) forget(s *server) {
	v := s.variant
	i := slices.Index(v.servers, s)
	v.servers = slices.Delete(v.servers, i, i+1)
	c.race.set(s.slot, never)
	c.servers[s.slot] = nil
	c.slots = append(c.slots, s.slot)
}

// lose takes away a draining replica whose devices are lost. Its requests begin anew.
func (c *Cluster) lose(s *server) {
	lost := c.requests.on(s)
	c.release(s)
	for _, i := range lost {
		q := c.requests.at(i)
		q.server = nil
		c.route(c.workloads[q.workload].entry, i)
	}
}

// on lists the requests on a server, in the order in which they arrived.
func (t *table) on(s *server) []int32 {
	var all []int32
	for i := range t.held() {
		if t.at(i).server == s {
			all = append(all, i)
		}
	}
	slices.SortFunc(all, func(a, b int32) int { return cmp.Compare(t.at(a).number, t.at(b).number) })
	return all
}
