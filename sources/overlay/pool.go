package overlay

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/poolwright/poolwright/internal/resource"
	"github.com/poolwright/poolwright/optimizer"
	"github.com/poolwright/poolwright/planner"
	poolwrightv1 "github.com/poolwright/poolwright/proto/poolwright/v1"
)

// Pool is one that was discovered in a cluster.
type Pool struct {
	planner.Pool
	// Unknown says in words why nobody knows the capacity; empty = it is known.
	Unknown string
}

// pools are those of a fleet.
type pools struct {
	list          []planner.Pool
	unknown       []string // by pool, as Pool has it
	declared      int      // the first ones
	byAccelerator map[string][]int
	names         map[string]bool
	missing       map[nodesKey]int // pools without nodes
}

// pools puts those together that are declared and that were discovered.
func (o *Overlay) pools(discovered []Pool) *pools {
	ps := &pools{byAccelerator: make(map[string][]int), names: make(map[string]bool), missing: make(map[nodesKey]int)}
	for _, p := range o.Fleet.Pools {
		ps.add(o.priced(p), "")
	}
	ps.declared = len(ps.list)
	for _, d := range discovered {
		d.Accelerator = o.Accelerator(d.Accelerator)
		if of := ps.byAccelerator[d.Accelerator]; len(of) == 0 || of[0] >= ps.declared {
			ps.add(o.priced(d.Pool), d.Unknown)
		}
	}
	return ps
}

// priced is a pool with the accelerator's name and, if it has no price, its price.
func (o *Overlay) priced(p planner.Pool) planner.Pool {
	p.Accelerator = o.Accelerator(p.Accelerator)
	if p.PricePerHour == 0 {
		p.PricePerHour = o.accelerators[p.Accelerator].GetPricePerHour()
	}
	return p
}

// add appends a pool, under another name if there is one of its name.
func (ps *pools) add(p planner.Pool, unknown string) {
	ps.byAccelerator[p.Accelerator] = append(ps.byAccelerator[p.Accelerator], ps.append(p, unknown))
}

// append appends a pool that is not offered to others of its accelerator, and returns its index.
func (ps *pools) append(p planner.Pool, unknown string) int {
	p.Name = cmp.Or(p.Name, p.Accelerator)
	for name, n := p.Name, 2; ps.names[p.Name]; n++ {
		p.Name = fmt.Sprintf("%s-%d", name, n)
	}
	ps.names[p.Name] = true
	ps.list, ps.unknown = append(ps.list, p), append(ps.unknown, unknown)
	return len(ps.list) - 1
}

// place returns the pools in which a variant may run: of those of its accelerator, or of
// what nodes call it where there are none, the ones that are named, and that have nodes large enough. Without any, there is
// one whose capacity is unknown.
func (c *completion) place(v *resource.Variant, named []string, notes *conditions) []int {
	ps, accelerator := c.pools, v.Accelerator
	if product := c.Accelerator(v.Product); len(ps.byAccelerator[accelerator]) == 0 && len(ps.byAccelerator[product]) > 0 {
		accelerator = product
	}
	if len(ps.byAccelerator[accelerator]) == 0 {
		ps.add(c.priced(planner.Pool{Accelerator: accelerator}), "no pool of it is declared or discovered"+ps.others())
	}
	all := ps.byAccelerator[accelerator]
	var chosen []int
	for _, name := range named {
		i := slices.IndexFunc(all, func(i int) bool { return ps.list[i].Name == name })
		switch {
		case i < 0:
			notes.add(PoolUnknown, "%s: there is no pool %q of %s", v.Name, name, v.Accelerator)
		case !slices.Contains(chosen, all[i]):
			chosen = append(chosen, all[i])
		}
	}
	if len(chosen) == 0 {
		chosen = slices.Clone(all)
	}
	slices.Sort(chosen)
	return ps.roomy(v, chosen, notes)
}

// roomy leaves out the pools that were discovered whose nodes have fewer devices than a replica needs on one: no pod spans nodes.
// Where that leaves none, there is one of larger nodes, of which there are none.
func (ps *pools) roomy(v *resource.Variant, chosen []int, notes *conditions) []int {
	part := (v.DevicesPerReplica + v.NodesPerReplica - 1) / v.NodesPerReplica
	some := chosen[0]
	chosen = slices.DeleteFunc(chosen, func(i int) bool {
		return i >= ps.declared && ps.list[i].DevicesPerNode > 0 && ps.list[i].DevicesPerNode < part
	})
	if len(chosen) > 0 {
		return chosen
	}
	notes.add(NodesTooSmall, "%s: a replica needs %d devices on one node, and no node of its pools offers as many: none is added", v.Name, part)
	p := ps.list[some]
	key := nodesKey{p.Accelerator, part}
	if _, ok := ps.missing[key]; !ok {
		ps.missing[key] = ps.append(planner.Pool{
			Name: fmt.Sprintf("%s-x%d", p.Accelerator, part), Accelerator: p.Accelerator, PricePerHour: p.PricePerHour,
			DevicesPerNode: part, Capacity: optimizer.Bound{Limited: true},
		}, "")
	}
	return []int{ps.missing[key]}
}

// nodesKey is an accelerator and a number of devices of a node.
type nodesKey struct {
	accelerator string
	devices     int
}

// others are the accelerators of the pools there are, in words: one of them may be an alias
// that nobody declared.
func (ps *pools) others() string {
	if len(ps.byAccelerator) == 0 {
		return ""
	}
	return ", but of " + strings.Join(slices.Sorted(maps.Keys(ps.byAccelerator)), ", ")
}

// assume gives the pools whose capacity is unknown the one that the configuration says, and
// says so for the workloads that may use them.
func (o *Overlay) assume(ps *pools, workloads []planner.Workload, notes []conditions) {
	if !slices.ContainsFunc(ps.unknown, func(why string) bool { return why != "" }) {
		return
	}
	use := make([]int, len(ps.list))
	for i := range workloads {
		for j := range workloads[i].Variants {
			v := &workloads[i].Variants[j]
			for _, p := range v.Pools {
				use[p] += (v.CurrentReplicas + v.LeavingReplicas) * v.DevicesPerReplica
			}
		}
	}
	for p := range ps.list {
		if ps.unknown[p] != "" && o.unknownCapacity == poolwrightv1.Overlay_CURRENT_USE {
			ps.list[p].Capacity = optimizer.Bound{Limited: true, Value: use[p]}
		}
	}
	for i := range workloads {
		o.noteUnknown(ps, &workloads[i], &notes[i])
	}
}

func (o *Overlay) noteUnknown(ps *pools, w *planner.Workload, notes *conditions) {
	var noted []int
	for j := range w.Variants {
		for _, p := range w.Variants[j].Pools {
			if ps.unknown[p] == "" || slices.Contains(noted, p) {
				continue
			}
			noted = append(noted, p)
			assumed := "taken as unlimited"
			if c := ps.list[p].Capacity; c.Limited {
				assumed = fmt.Sprintf("taken as the %d devices in use", c.Value)
			}
			notes.add(PoolCapacityUnknown, "the capacity of pool %s is unknown (%s), and %s", ps.list[p].Name, ps.unknown[p], assumed)
		}
	}
}
