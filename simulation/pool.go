package simulation

import (
	"math"

	"github.com/poolwright/poolwright/planner"
)

// pool is the devices of one pool, by node.
type pool struct {
	name string
	// nodes have devicesPerNode devices each, the last one maybe fewer. A pool in which nodes
	// do not matter is one node. One without limit gets nodes as it needs them.
	nodes          []node
	devicesPerNode int
	unlimited      bool
	quotas         []quota
}

// node has devices that are free, and others that are lost or used by replicas.
type node struct{ size, free, lost int }

// quota is devices of a namespace, of which some are used.
type quota struct {
	namespace   string
	limit, used int
}

// share is the devices of one node that a replica holds, lost ones included.
type share struct{ node, devices, lost int }

// endless is the number of devices of a pool without limit and without nodes.
const endless = math.MaxInt / 4

func newPool(p *planner.Pool) *pool {
	made := &pool{name: p.Name, devicesPerNode: p.DevicesPerNode, unlimited: !p.Capacity.Limited}
	for _, q := range p.Quotas {
		made.quotas = append(made.quotas, quota{namespace: q.Namespace, limit: q.Devices})
	}
	switch left := p.Capacity.Value; {
	case p.DevicesPerNode == 0 && made.unlimited:
		made.nodes = []node{{size: endless, free: endless}}
	case p.DevicesPerNode == 0:
		made.nodes = []node{{size: left, free: left}}
	case !made.unlimited:
		for ; left > 0; left -= p.DevicesPerNode {
			n := min(left, p.DevicesPerNode)
			made.nodes = append(made.nodes, node{size: n, free: n})
		}
	}
	return made
}

// available is the number of devices that there are now, used or not.
func (p *pool) available() int {
	n := 0
	for i := range p.nodes {
		n += p.nodes[i].size - p.nodes[i].lost
	}
	return n
}

// quotaOf returns the quota of a namespace, nil without one.
func (p *pool) quotaOf(namespace string) *quota {
	for i := range p.quotas {
		if p.quotas[i].namespace == namespace {
			return &p.quotas[i]
		}
	}
	return nil
}

// take gives devices to a replica of a variant, as Kubernetes would: each part of a replica
// goes to the node with the fewest free devices that suffice, first of those without another part of
// it; a part of a node or more takes whole nodes. It tells whether there was room.
func (p *pool) take(namespace string, v *planner.Variant) ([]share, bool) {
	q := p.quotaOf(namespace)
	if q != nil && q.used+v.DevicesPerReplica > q.limit {
		return nil, false
	}
	shares, ok := p.room(v)
	if !ok {
		return nil, false
	}
	for _, s := range shares {
		p.nodes[s.node].free -= s.devices
	}
	if q != nil {
		q.used += v.DevicesPerReplica
	}
	return shares, true
}

// room finds devices for a replica, and leaves them where they are.
func (p *pool) room(v *planner.Variant) ([]share, bool) {
	if p.devicesPerNode == 0 {
		return []share{{devices: v.DevicesPerReplica}}, p.nodes[0].free >= v.DevicesPerReplica
	}
	parts := max(v.NodesPerReplica, 1)
	part := (v.DevicesPerReplica + parts - 1) / parts
	if part > p.devicesPerNode {
		parts *= (part + p.devicesPerNode - 1) / p.devicesPerNode
		part = p.devicesPerNode
	}
	var shares []share
	for range parts {
		i := p.tightest(part, shares, true)
		if i < 0 {
			i = p.tightest(part, shares, false)
		}
		if i < 0 {
			return nil, false
		}
		shares = append(shares, share{node: i, devices: part})
	}
	return shares, true
}

// tightest is the node with the fewest free devices that suffice beside those taken already, -1 if
// there is none. It may have to be a node of which none are taken.
func (p *pool) tightest(devices int, taken []share, other bool) int {
	best, fewest := -1, 0
	for i := range p.nodes {
		used := takenOf(taken, i)
		free := p.nodes[i].free - used
		if free < devices || best >= 0 && free >= fewest || other && used > 0 {
			continue
		}
		best, fewest = i, free
	}
	if best < 0 && p.unlimited {
		p.nodes = append(p.nodes, node{size: p.devicesPerNode, free: p.devicesPerNode})
		best = len(p.nodes) - 1
	}
	return best
}

// takenOf is the number of devices of a node in shares.
func takenOf(shares []share, node int) int {
	n := 0
	for _, s := range shares {
		if s.node == node {
			n += s.devices
		}
	}
	return n
}

// give takes the devices of a replica back, but for those that are lost.
func (p *pool) give(namespace string, v *planner.Variant, shares []share) {
	for _, s := range shares {
		p.nodes[s.node].free += s.devices - s.lost
	}
	if q := p.quotaOf(namespace); q != nil {
		q.used -= v.DevicesPerReplica
	}
}
