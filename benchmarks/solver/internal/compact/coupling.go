package compact

import (
	"fmt"
	"slices"

	"github.com/poolwright/poolwright/optimizer"
)

// each calls visit for every column of replicas.
func (p *Program) each(visit func(w *optimizer.Workload, v *optimizer.Variant, at optimizer.Placement, column int)) {
	for i := range p.items {
		w := &p.problem.Workloads[i]
		for j := range p.items[i] {
			for k, c := range p.items[i][j] {
				visit(w, &w.Variants[j], w.Variants[j].Placements[k], c)
			}
		}
	}
}

// addPool adds a row for every size of parts on nodes, one without nodes: parts of
// that size and larger fill whole nodes, and what the partial node takes of them.
// That is exact if the sizes divide the node and one another.
func (p *Program) addPool(g int) error {
	pool := p.problem.Pools[g]
	if !pool.Limited {
		return nil
	}
	if pool.DevicesPerNode == 0 {
		p.addRow(p.poolRow(g, 0, pool.Capacity))
		return nil
	}
	node := pool.DevicesPerNode
	sizes := []int{node}
	p.each(func(_ *optimizer.Workload, v *optimizer.Variant, at optimizer.Placement, _ int) {
		if size := partSize(v, node); at.Pool == g && size > 0 {
			sizes = append(sizes, min(size, node))
		}
	})
	slices.Sort(sizes)
	sizes = slices.Compact(sizes)
	whole := pool.Capacity / node * node
	for i, size := range sizes {
		if i > 0 && size%sizes[i-1] != 0 {
			return fmt.Errorf("compact: pool %q: sizes %d and %d can't be expressed", pool.Name, sizes[i-1], size)
		}
		p.addRow(p.poolRow(g, size, whole+pool.Capacity%node/size*size))
	}
	return nil
}

// poolRow limits the devices of parts of a size and larger.
func (p *Program) poolRow(g, size, devices int) row {
	node := p.problem.Pools[g].DevicesPerNode
	r := row{fmt.Sprintf("pool%d_%d", g, size), 'L', nil, float64(devices)}
	p.each(func(_ *optimizer.Workload, v *optimizer.Variant, at optimizer.Placement, c int) {
		if at.Pool != g || v.DevicesPerReplica == 0 || partSize(v, node) < size {
			return
		}
		taken := v.DevicesPerReplica
		if node > 0 {
			taken = max(v.NodesPerReplica, 1) * partSize(v, node)
		}
		r.terms = append(r.terms, term{c, float64(taken)})
	})
	return r
}

// partSize is what a replica takes on each of its nodes, whole nodes if it is no
// less than one; without nodes it does not matter.
func partSize(v *optimizer.Variant, node int) int {
	if node == 0 {
		return 0
	}
	nodes := max(v.NodesPerReplica, 1)
	part := (v.DevicesPerReplica + nodes - 1) / nodes
	if part > node {
		// As many whole nodes on each of the declared nodes: multiples of the node.
		part = (part + node - 1) / node * node
	}
	return part
}

func (p *Program) addQuotas() {
	for q, quota := range p.problem.Quotas {
		r := row{fmt.Sprintf("quota%d", q), 'L', nil, float64(quota.Capacity)}
		p.each(func(w *optimizer.Workload, v *optimizer.Variant, at optimizer.Placement, c int) {
			if w.Namespace == quota.Namespace && at.Pool == quota.Pool && v.DevicesPerReplica > 0 {
				r.terms = append(r.terms, term{c, float64(v.DevicesPerReplica)})
			}
		})
		p.addRow(r)
	}
}

func (p *Program) addBudget() {
	if p.problem.BudgetPerHour == 0 {
		return
	}
	r := row{"budget", 'L', nil, p.problem.BudgetPerHour}
	p.each(func(_ *optimizer.Workload, _ *optimizer.Variant, at optimizer.Placement, c int) {
		if at.PricePerHour > 0 {
			r.terms = append(r.terms, term{c, at.PricePerHour})
		}
	})
	p.addRow(r)
}

// addSettled keeps the unmet demand of settled priorities.
func (p *Program) addSettled() {
	priorities := make([]int, 0, len(p.stage.Settled))
	for priority, unmet := range p.stage.Settled {
		// Where nothing may be unmet, the columns have no room.
		if unmet > 0 {
			priorities = append(priorities, priority)
		}
	}
	slices.Sort(priorities)
	for _, priority := range priorities {
		r := row{fmt.Sprintf("settled%d", priority), 'L', nil, p.stage.Settled[priority]}
		for i, d := range p.workloads {
			if w := &p.problem.Workloads[i]; !w.Penalized && w.Priority == priority && d.unmet != none {
				r.terms = append(r.terms, term{d.unmet, 1})
			}
		}
		p.addRow(r)
	}
}
