package optimizer

import (
	"fmt"
	"math"
	"strings"
)

// elastic is a problem whose limits of one kind can be raised. What they may be
// raised by is there from the start, held by workloads that give it up at its
// weight: packets of 1, 2, 4 … units, so that every increase is a choice of packets.
type elastic struct {
	problem *Problem
	relief  Relief
	// limits are those that can be raised.
	limits []elasticLimit
}

type elasticLimit struct {
	// pool is an index, and quota one or −1.
	pool, quota int
	// unit is the number of devices that limits are raised by: a node, or one.
	unit   int
	weight float64
	// packets are the units of each packet.
	packets []int
}

func newElastic(goal *Problem, r Relief) *elastic {
	e := &elastic{problem: goal.copied(), relief: r}
	e.problem.costless()
	if r.Raise == QuotaLimits {
		for q := range goal.Quotas {
			e.limits = append(e.limits, elasticLimit{pool: goal.Quotas[q].Pool, quota: q, unit: 1, weight: 1})
		}
		return e
	}
	for g := range goal.Pools {
		l := elasticLimit{pool: g, quota: -1, unit: max(1, goal.Pools[g].DevicesPerNode), weight: 1}
		if r.Weights != nil {
			l.weight = r.Weights[g]
		}
		if goal.Pools[g].Limited {
			e.limits = append(e.limits, l)
		}
	}
	return e
}

// capacity is that of the limit in a problem.
func (l *elasticLimit) capacity(p *Problem) *int {
	if l.quota >= 0 {
		return &p.Quotas[l.quota].Capacity
	}
	return &p.Pools[l.pool].Capacity
}

// ample is the problem with as much room as may be mentioned, where every device in
// use costs its weight.
func (e *elastic) ample() *Problem {
	p := e.problem.copied()
	weights := make(map[Quota]float64, len(e.limits))
	for i := range e.limits {
		l := &e.limits[i]
		l.raise(p, (maxReplicas-*l.capacity(p))/l.unit)
		weights[e.key(p.namespaceOf(l), l.pool)] = l.weight
	}
	p.reprice(func(w, v, k int) float64 {
		variant := &p.Workloads[w].Variants[v]
		place := &variant.Placements[k]
		weight := weights[e.key(p.Workloads[w].Namespace, place.Pool)]
		return place.change + weight*float64(variant.DevicesPerReplica)
	})
	return p
}

// key finds the limit that a replica counts in.
func (e *elastic) key(namespace string, pool int) Quota {
	if e.relief.Raise == QuotaLimits {
		return Quota{Namespace: namespace, Pool: pool}
	}
	return Quota{Pool: pool}
}

func (p *Problem) namespaceOf(l *elasticLimit) string {
	if l.quota >= 0 {
		return p.Quotas[l.quota].Namespace
	}
	return ""
}

// raise raises the limit by a number of units.
func (l *elasticLimit) raise(p *Problem, units int) { *l.capacity(p) += units * l.unit }

// lacking is the number of units by which a plan exceeds each limit, where only whole
// nodes count.
func (e *elastic) lacking(p *Problem, plan *Solution) []int {
	nodes := p.nodesFor(plan)
	units := make([]int, len(e.limits))
	for i := range e.limits {
		switch l := &e.limits[i]; {
		case l.quota >= 0:
			units[i] = plan.Quotas[l.quota].Used - p.Quotas[l.quota].Capacity
		case p.Pools[l.pool].DevicesPerNode > 0:
			units[i] = nodes[l.pool] - p.Pools[l.pool].Capacity/l.unit
		default:
			units[i] = plan.Pools[l.pool].Used - p.Pools[l.pool].Capacity
		}
		units[i] = max(0, units[i])
	}
	return units
}

// nodesFor is the number of nodes of each pool that a plan needs, 0 where nodes do not matter.
func (p *Problem) nodesFor(plan *Solution) []int {
	pools := make([]poolUse, len(p.Pools))
	for g, packing := range packPools(p) {
		pools[g].packing = packing
		if packing.node > 0 {
			for _, size := range packing.sizes {
				pools[g].limits = append(pools[g].limits, limit{size: size})
			}
		}
		pools[g].used = make([]int, len(pools[g].limits))
	}
	for i := range p.Workloads {
		for j := range p.Workloads[i].Variants {
			v := &p.Workloads[i].Variants[j]
			for k, n := range plan.Allocations[i].Replicas[j] {
				pools[v.Placements[k].Pool].add(v, false, n)
			}
		}
	}
	nodes := make([]int, len(pools))
	for g := range pools {
		for r, used := range pools[g].used {
			size := pools[g].limits[r].size
			nodes[g] = max(nodes[g], ceilDiv(used, pools[g].packing.node/size*size))
		}
	}
	return nodes
}

// cost is the weight of what a plan lacks: no more than that needs to be raised.
func (e *elastic) cost(plan *Solution) float64 {
	var terms []float64
	for i, units := range e.lacking(e.problem, plan) {
		l := &e.limits[i]
		terms = append(terms, l.weight*float64(l.unit*units))
	}
	return sum(terms)
}

// addPackets raises each limit as far as the cost goes, and adds the packets that
// hold what it is raised by. A limit without weight gets all the room at once.
func (e *elastic) addPackets(cost float64) {
	longest := 0
	for i := range e.problem.Workloads {
		longest = max(longest, len(e.problem.Workloads[i].Name))
	}
	prefix := strings.Repeat("+", longest)
	for i := range e.limits {
		l := &e.limits[i]
		units := (maxReplicas - *l.capacity(e.problem)) / l.unit
		if l.weight > 0 {
			units = int(math.Min(float64(units), math.Floor(cost/(l.weight*float64(l.unit))*(1+tolerance))))
			for n, left := 1, units; left > 0; n *= 2 {
				packet := min(n, left)
				left -= packet
				e.addPacket(l, packet, fmt.Sprintf("%s %q %q %d", prefix, e.problem.namespaceOf(l), e.problem.Pools[l.pool].Name, len(l.packets)))
			}
		}
		l.raise(e.problem, units)
	}
}

// addPacket adds a workload that holds some units of the limit.
func (e *elastic) addPacket(l *elasticLimit, units int, name string) {
	v := Variant{
		Name: "packet", DevicesPerReplica: units * l.unit,
		MaxReplicas: Bound{Limited: true, Value: 1}, CurrentReplicas: 1,
		SwitchDown: l.weight * float64(units*l.unit), Placements: []Placement{{Pool: l.pool}},
	}
	namespace := name
	if l.quota >= 0 {
		v.takes = &takes{quotaOnly: true}
		namespace = e.problem.Quotas[l.quota].Namespace
	} else if l.unit > 1 {
		v.NodesPerReplica = units
	}
	l.packets = append(l.packets, units)
	e.problem.Workloads = append(e.problem.Workloads, Workload{Name: name, Namespace: namespace, Priority: 1, Variants: []Variant{v}})
}

// increase reads off a solution what the packets gave up.
func (e *elastic) increase(goal *Problem, s *Solution) *Increase {
	out := &Increase{Pools: make([]int, len(goal.Pools)), Quotas: make([]int, len(goal.Quotas))}
	packets := s.Allocations[len(goal.Workloads):]
	lacking := e.lacking(goal, s)
	var terms []float64
	for i := range e.limits {
		l := &e.limits[i]
		units := 0
		if l.weight == 0 {
			units = lacking[i]
		}
		for _, n := range l.packets {
			if packets[0].Replicas[0][0] == 0 {
				units += n
			}
			packets = packets[1:]
		}
		if units > 0 {
			out.Verdict = Helps
		}
		if l.quota >= 0 {
			out.Quotas[l.quota] = units * l.unit
		} else {
			out.Pools[l.pool] = units * l.unit
		}
		terms = append(terms, l.weight*float64(units*l.unit))
	}
	out.Total = Interval{Low: s.Bound, High: sum(terms)}
	if e.relief.Weights == nil {
		out.Total.Low = max(0, math.Ceil(s.Bound-1e-6))
	}
	out.Total.Low = min(out.Total.Low, out.Total.High)
	return out
}

// raised is the problem with its limits raised.
func (i *Increase) raised(goal *Problem) *Problem {
	p := goal.copied()
	for g := range p.Pools {
		p.Pools[g].Capacity += i.Pools[g]
	}
	for q := range p.Quotas {
		p.Quotas[q].Capacity += i.Quotas[q]
	}
	return p
}
