package simulation

import (
	"cmp"
	"math/rand/v2"
	"slices"
)

// disruption is one and what came of it.
type disruption struct {
	Disruption
	pool *pool
	// taken is the devices that are lost, by node, and hit the replicas that held some of
	// them.
	taken []share
	hit   []*server
}

// addDisruptions takes them in in an order of their own, so that theirs in a configuration
// does not matter, and neither do names.
func (c *Cluster) addDisruptions(all []Disruption) {
	poolOf := func(d *Disruption) int {
		return slices.IndexFunc(c.pools, func(p *pool) bool { return p.name == d.Pool })
	}
	all = slices.SortedStableFunc(slices.Values(all), func(a, b Disruption) int {
		return cmp.Or(cmp.Compare(a.At, b.At), cmp.Compare(poolOf(&a), poolOf(&b)), cmp.Compare(a.Devices, b.Devices),
			cmp.Compare(a.Notice, b.Notice), cmp.Compare(a.ReturnsAfter, b.ReturnsAfter))
	})
	for i := range all {
		c.disruptions = append(c.disruptions, disruption{Disruption: all[i], pool: c.pools[poolOf(&all[i])]})
	}
}

// holding is a device that a replica holds.
type holding struct {
	server *server
	share  *share
}

// announce chooses the devices that are lost. Replicas on them take nothing new, and others
// are asked for in their place.
func (c *Cluster) announce(d *disruption, random *rand.Rand) {
	left := d.Devices
	for _, node := range random.Perm(len(d.pool.nodes)) {
		left -= c.strike(d, node, left, random)
	}
	for _, s := range d.hit {
		switch s.phase {
		case Starting:
			c.release(s)
		case Serving:
			c.drain(s)
		}
	}
	for _, w := range c.workloads {
		for _, v := range w.variants {
			c.reconcile(v)
		}
	}
}

// strike takes devices of a node, at random among those that are free and those in use, and
// returns how many.
func (c *Cluster) strike(d *disruption, at, most int, random *rand.Rand) int {
	n := &d.pool.nodes[at]
	held := c.heldOn(d.pool, at)
	free := n.free
	if n.size == endless {
		free = 0
	}
	lost := min(most, free+len(held))
	for range lost {
		k := random.IntN(free + len(held))
		if k < free {
			free--
			n.free--
			continue
		}
		hit := held[k-free]
		held[k-free] = held[len(held)-1]
		held = held[:len(held)-1]
		hit.share.lost++
		if !slices.Contains(d.hit, hit.server) {
			d.hit = append(d.hit, hit.server)
		}
	}
	n.lost += lost
	d.taken = append(d.taken, share{node: at, devices: lost})
	return lost
}

// heldOn lists the devices of a node that replicas hold, each by itself.
func (c *Cluster) heldOn(p *pool, node int) []holding {
	var all []holding
	for _, s := range c.servers {
		if s == nil || s.phase == Pending || s.variant.pools[s.pool] != p {
			continue
		}
		for k := range s.shares {
			if one := &s.shares[k]; one.node == node {
				all = append(all, slices.Repeat([]holding{{s, one}}, one.devices-one.lost)...)
			}
		}
	}
	return all
}

// strikeOut takes away the replicas whose devices are lost now.
func (c *Cluster) strikeOut(d *disruption) {
	for _, s := range d.hit {
		if c.servers[s.slot] == s {
			c.lose(s)
		}
	}
	d.hit = nil
}

// restore brings devices back.
func (c *Cluster) restore(d *disruption) {
	for _, s := range d.taken {
		n := &d.pool.nodes[s.node]
		n.lost -= s.devices
		n.free += s.devices
	}
	d.taken = nil
	c.fill()
}
