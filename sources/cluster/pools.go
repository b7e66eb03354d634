package cluster

import (
	"fmt"
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/poolwright/poolwright/optimizer"
	"github.com/poolwright/poolwright/planner"
	"github.com/poolwright/poolwright/sources/overlay"
)

// inventory is the devices of a cluster: nodes in pools, each of one type of device and
// one number of devices that a node offers to us.
type inventory struct {
	index *index
	// ours are the pods of declared workloads; what the others hold is not offered.
	ours map[*pod]bool
	// held are the devices of each pod.
	held map[*pod]int
	// sites are the nodes with devices, by name.
	sites map[string]*site
	pools []overlay.Pool
	// unread says why nobody knows which devices there are; empty = they are known.
	unread string
}

// site is a node with devices.
type site struct {
	*node
	product string
	// offered devices may be used by us, or are.
	offered int
	// uncounted says why it is not known how many devices the node has; empty = it is known.
	uncounted string
	// pool is an index into the pools; -1 = the node is in none.
	pool int
}

// newInventory finds the pools. On each node, the devices of pods that are not ours belong
// to others, and make it a smaller node. Where pods of some namespaces alone are seen, nobody
// knows what others hold.
func newInventory(x *index, ours map[*pod]bool, t tolerance, partial bool) *inventory {
	in := &inventory{index: x, ours: ours, held: make(map[*pod]int), sites: make(map[string]*site)}
	d := readAllocation(x.view)
	for _, p := range x.pods {
		if n := p.devices + d.claimed[p.uid]; n > 0 {
			in.held[p] = n
		}
	}
	if err := x.view.unreadable[nodeKind]; err != nil {
		in.unread = fmt.Sprintf("nodes can't be read: %v", err)
		return in
	}
	others, own := make(map[string]int), make(map[string]int)
	for p, n := range in.held {
		switch {
		case !x.holds(p):
		case ours[p]:
			own[p.node] += n
		default:
			others[p.node] += n
		}
	}
	for _, e := range x.view.entries(nodeKind) {
		s := newSite(e.node, &d, x.view)
		switch {
		case s.product == "":
			continue
		case s.cordoned || s.uncounted != "" || !t.admits(s.taints):
			s.offered = own[s.name] // as much as is used: nothing can come
		default:
			s.offered = max(0, s.offered-others[s.name])
		}
		in.sites[s.name] = s
	}
	if partial {
		in.poolByProduct(func(*site) string { return "pods of some namespaces alone are watched" })
	} else {
		in.poolBySize()
	}
	return in
}

// newSite counts the devices of a node. Nodes whose devices are allocated dynamically say
// nothing of them; their resource slices do.
func newSite(n *node, d *allocation, v *View) *site {
	s := &site{node: n, product: n.product, offered: n.devices, pool: -1}
	if n.resource != "" {
		return s
	}
	for _, product := range slices.Sorted(maps.Keys(d.onNode[n.name])) {
		// Of a node with several products, the one that there is most of.
		if count := d.onNode[n.name][product]; count > s.offered {
			s.product, s.offered = product, count
		}
	}
	if s.offered == 0 {
		s.uncounted = fmt.Sprintf("node %s does not say how many devices it has", n.name)
	}
	for _, kind := range [...]schema.GroupKind{sliceKind, claimKind} {
		if err := v.unreadable[kind]; err != nil {
			s.uncounted = fmt.Sprintf("node %s does not say how many devices it has, and %s can't be read: %v", n.name, kind, err)
		}
	}
	return s
}

// poolBySize puts nodes of one product that offer equally many devices into one pool. Where
// no node of a product says how many it has, they are all in one of unknown capacity.
func (in *inventory) poolBySize() {
	counted := make(map[string]bool)
	for _, s := range in.sites {
		counted[s.product] = counted[s.product] || s.uncounted == ""
	}
	in.poolByProduct(func(s *site) string {
		if counted[s.product] {
			return ""
		}
		return s.uncounted
	})
	for _, name := range slices.Sorted(maps.Keys(in.sites)) {
		if s := in.sites[name]; counted[s.product] && s.offered > 0 {
			s.pool = in.pool(overlay.Pool{Pool: planner.Pool{
				Name: fmt.Sprintf("%s-x%d", s.product, s.offered), Accelerator: s.product,
				DevicesPerNode: s.offered, Capacity: optimizer.Bound{Limited: true},
			}})
			in.pools[s.pool].Capacity.Value += s.offered
		}
	}
}

// poolByProduct puts the nodes of a product into one pool of unknown capacity, where there is a
// reason why it is unknown.
func (in *inventory) poolByProduct(why func(*site) string) {
	for _, name := range slices.Sorted(maps.Keys(in.sites)) {
		s := in.sites[name]
		if reason := why(s); reason != "" {
			s.pool = in.pool(overlay.Pool{Pool: planner.Pool{Name: s.product, Accelerator: s.product}, Unknown: reason})
		}
	}
}

// pool is the index of the pool of a name, which is added if it is missing.
func (in *inventory) pool(p overlay.Pool) int {
	k := slices.IndexFunc(in.pools, func(o overlay.Pool) bool { return o.Name == p.Name })
	if k < 0 {
		k = len(in.pools)
		in.pools = append(in.pools, p)
	}
	return k
}
