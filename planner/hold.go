package planner

import (
	"errors"
	"fmt"
	"slices"

	"github.com/poolwright/poolwright/optimizer"
)

// heldUse is what the workloads that keep their replicas use: it is theirs, whatever
// limits say, and the others plan with the rest.
type heldUse struct {
	replicas [][][]int // per workload of the fleet; zero for those not held
	use      optimizer.Evaluation
	// serving is the part of use by replicas that serve, and others is the use by the other
	// workloads. Where both don't fit, somebody scaled held replicas beyond the devices
	// there are: those that don't serve have none.
	serving, others optimizer.Evaluation
}

// holdReplicas finds what the held workloads use; nil = none is held.
func (c *cycle) holdReplicas(p *optimizer.Problem) (*heldUse, error) {
	if !slices.Contains(c.held, true) {
		return nil, nil
	}
	held := func(i int) bool { return c.held[i] }
	free := func(i int) bool { return !c.held[i] }
	placed := c.placed(p)
	h := &heldUse{replicas: only(placed.current(), held)}
	c.raise(p, h.replicas)
	var errs [3]error
	h.use, errs[0] = p.Evaluate(h.replicas)
	h.serving, errs[1] = p.Evaluate(only(placed.ready, held))
	h.others, errs[2] = p.Evaluate(only(placed.current(), free))
	if err := errors.Join(errs[:]...); err != nil {
		return nil, fmt.Errorf("planner: hold: %w", err)
	}
	return h, nil
}

// noBudgetLeft stands for a budget that is spent: 0 would be none.
const noBudgetLeft = 1e-9

// left is what held replicas leave of a limit: no less than what the others use, beside
// the held ones that serve.
func left[T int | float64](limit, held, serving, others T) T {
	return max(0, limit-held, min(others, limit-serving))
}

// rest is the problem of the other workloads with what is left.
func (h *heldUse) rest(p *optimizer.Problem, held []bool) *optimizer.Problem {
	if h == nil {
		return p
	}
	rest := *p
	rest.Pools = append([]optimizer.Pool(nil), p.Pools...)
	for g := range rest.Pools {
		rest.Pools[g].Capacity = left(rest.Pools[g].Capacity, h.use.Pools[g], h.serving.Pools[g], h.others.Pools[g])
	}
	rest.Quotas = append([]optimizer.Quota(nil), p.Quotas...)
	for q := range rest.Quotas {
		rest.Quotas[q].Capacity = left(rest.Quotas[q].Capacity, h.use.Quotas[q], h.serving.Quotas[q], h.others.Quotas[q])
	}
	if p.BudgetPerHour > 0 {
		rest.BudgetPerHour = max(noBudgetLeft, left(p.BudgetPerHour, h.use.PricePerHour, h.serving.PricePerHour, h.others.PricePerHour))
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
				ShapeShares: h.use.ShapeShares[i],
			}
			continue
		}
		s.Allocations[i], solved = solved[0], solved[1:]
	}
	return &s
}

// current is the number of replicas of each variant now.
func (w *Workload) current() []int {
	counts := make([]int, len(w.Variants))
	for j := range w.Variants {
		counts[j] = w.Variants[j].CurrentReplicas
	}
	return counts
}

// raise adds replicas to held workloads up to their minimums, as far as the pools have
// room.
func (c *cycle) raise(p *optimizer.Problem, replicas [][][]int) {
	var room *optimizer.Headroom
	for i := range c.fleet.Workloads {
		w := &c.fleet.Workloads[i]
		if !c.held[i] || c.seen[i].kept {
			continue
		}
		current := w.current()
		for j, n := range c.fleet.floor(w, max(w.MinReplicas, c.seen[i].least)) {
			if n > current[j] && room == nil {
				room = optimizer.NewHeadroom(physical(p))
				occupy(room, replicas)
			}
			for k := 0; n > current[j] && k < len(w.Variants[j].Pools); k++ {
				if more := min(n-current[j], room.Replicas(i, j, k)); more > 0 {
					room.Place(i, j, k, more)
					replicas[i][j][k] += more
					current[j] += more
				}
			}
		}
	}
}

// occupy places replicas.
func occupy(room *optimizer.Headroom, replicas [][][]int) {
	for i := range replicas {
		for j := range replicas[i] {
			for k, n := range replicas[i][j] {
				room.Place(i, j, k, n)
			}
		}
	}
}

// physical is the problem with those limits only that no moment may break: pools, nodes
// and quotas.
func physical(p *optimizer.Problem) *optimizer.Problem {
	q := *p
	q.BudgetPerHour = 0
	q.Workloads = slices.Clone(p.Workloads)
	for i := range q.Workloads {
		w := &q.Workloads[i]
		w.MaxReplicas, w.Mixing = optimizer.Bound{}, optimizer.Allowed
		w.Variants = slices.Clone(w.Variants)
		for j := range w.Variants {
			w.Variants[j].MaxReplicas = optimizer.Bound{}
		}
	}
	return &q
}

// floor is the number of replicas of each variant now, raised to declared minimums, and to
// the least of the workload by the variant whose replicas are cheapest.
func (f *Fleet) floor(w *Workload, least int) []int {
	counts := w.current()
	total := 0
	for j := range counts {
		counts[j] = max(counts[j], w.Variants[j].MinReplicas)
		total += counts[j]
	}
	for total < least {
		best := -1
		for j := range counts {
			v := &w.Variants[j]
			if v.unknown() || v.MaxReplicas.Limited && counts[j] >= v.MaxReplicas.Value {
				continue
			}
			if best < 0 || f.cheapest(v) < f.cheapest(&w.Variants[best]) {
				best = j
			}
		}
		if best < 0 {
			break
		}
		counts[best]++
		total++
	}
	return counts
}

// cheapest is the price of a replica in the cheapest pool.
func (f *Fleet) cheapest(v *Variant) float64 {
	price := f.Price(v, v.Pools[0])
	for _, p := range v.Pools[1:] {
		price = min(price, f.Price(v, p))
	}
	return price
}
