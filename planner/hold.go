package planner

import (
	"fmt"
	"slices"
	"sort"

	"github.com/poolwright/poolwright/optimizer"
)

// heldUse is what the workloads that keep their replicas use: it is theirs, whatever
// limits say, and the others plan with the rest.
type heldUse struct {
	replicas [][][]int // per workload of the fleet; zero for those not held
	use      optimizer.Evaluation
}

// hold finds what the held workloads use; nil = none is held.
func (c *cycle) hold(p *optimizer.Problem) (*heldUse, error) {
	if !slices.Contains(c.held, true) {
		return nil, nil
	}
	h := &heldUse{replicas: c.fleet.placeCurrent(c.held)}
	use, err := p.Evaluate(h.replicas)
	if err != nil {
		return nil, fmt.Errorf("planner: hold: %w", err)
	}
	h.use = use
	return h, nil
}

// noBudgetLeft stands for a budget that is spent: 0 would be none.
const noBudgetLeft = 1e-9

// rest is the problem of the other workloads with what is left.
func (h *heldUse) rest(p *optimizer.Problem, held []bool) *optimizer.Problem {
	if h == nil {
		return p
	}
	rest := *p
	rest.Pools = append([]optimizer.Pool(nil), p.Pools...)
	for g := range rest.Pools {
		rest.Pools[g].Capacity = max(0, rest.Pools[g].Capacity-h.use.Pools[g])
	}
	rest.Quotas = append([]optimizer.Quota(nil), p.Quotas...)
	for q := range rest.Quotas {
		rest.Quotas[q].Capacity = max(0, rest.Quotas[q].Capacity-h.use.Quotas[q])
	}
	if p.BudgetPerHour > 0 {
		rest.BudgetPerHour = max(noBudgetLeft, p.BudgetPerHour-h.use.PricePerHour)
	}
	rest.Workloads = nil
	for i := range p.Workloads {
		if !held[i] {
			rest.Workloads = append(rest.Workloads, p.Workloads[i])
		}
	}
	return &rest
}

// addTo completes the solution for the rest to one for the whole fleet.
func (h *heldUse) addTo(rest *optimizer.Solution, held []bool) *optimizer.Solution {
	if h == nil {
		return rest
	}
	s := *rest
	s.Objective += h.use.PricePerHour
	s.PricePerHour += h.use.PricePerHour
	s.Bound += h.use.PricePerHour
	if h.use.PricePerHour > 0 && s.Objective > 0 {
		s.Gap = (s.Objective - s.Bound) / s.Objective
	}
	s.Pools = slices.Clone(s.Pools)
	for g := range s.Pools {
		s.Pools[g].Used += h.use.Pools[g]
	}
	s.Quotas = slices.Clone(s.Quotas)
	for q := range s.Quotas {
		s.Quotas[q].Used += h.use.Quotas[q]
	}
	solved := s.Allocations
	s.Allocations = make([]optimizer.Allocation, len(held))
	for i := range held {
		if held[i] {
			s.Allocations[i] = optimizer.Allocation{
				Replicas: h.replicas[i], MarginalPrice: make([]float64, len(h.replicas[i])),
			}
			continue
		}
		s.Allocations[i], solved = solved[0], solved[1:]
	}
	return &s
}

// placeCurrent assumes in which pools the current replicas of the chosen workloads
// run, since only their number is known: the cheapest pool of a variant first, as
// long as devices are left there.
func (f *Fleet) placeCurrent(chosen []bool) [][][]int {
	used := make([]int, len(f.Pools))
	replicas := make([][][]int, len(f.Workloads))
	for i := range f.Workloads {
		w := &f.Workloads[i]
		replicas[i] = make([][]int, len(w.Variants))
		for j := range w.Variants {
			replicas[i][j] = make([]int, len(w.Variants[j].Pools))
			if chosen[i] {
				f.placeVariant(&w.Variants[j], replicas[i][j], used)
			}
		}
	}
	return replicas
}

func (f *Fleet) placeVariant(v *Variant, replicas, used []int) {
	order := make([]int, len(v.Pools))
	for k := range order {
		order[k] = k
	}
	sort.SliceStable(order, func(a, b int) bool {
		return f.Price(v, v.Pools[order[a]]) < f.Price(v, v.Pools[order[b]])
	})
	left := v.CurrentReplicas
	for i, k := range order {
		p := v.Pools[k]
		n := left
		if c := f.Pools[p].Capacity; c.Limited && i < len(order)-1 {
			n = min(left, max(0, c.Value-used[p])/v.DevicesPerReplica)
		}
		replicas[k] = n
		used[p] += n * v.DevicesPerReplica
		left -= n
	}
}
