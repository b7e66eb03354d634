package optimizer

import (
	"fmt"
	"slices"

	"github.com/poolwright/poolwright/internal/parallel"
)

// tolerance is the relative accuracy of demands, the budget and proofs.
const tolerance = 1e-9

// Evaluation is what a plan costs and serves, worked out from the problem alone.
type Evaluation struct {
	// Objective is price + switching + unmet penalties, per hour.
	Objective float64
	// PricePerHour is that of the replicas only.
	PricePerHour float64
	// Unmet is demand not served, in requests/s, by workload.
	Unmet []float64
	// ShapeShares are by workload as those of Allocation.
	ShapeShares [][][]float64
	// Shortfall is the least number of replicas to add before all declared
	// minimums hold, by workload.
	Shortfall []int
	// Pools and Quotas are devices in use, whole nodes and roundings included in
	// Pools.
	Pools, Quotas []int
	// Violations are the limits that the plan breaks: pools, quotas, the budget,
	// maximums and single mixing.
	Violations []error
}

// Evaluate says what a plan costs and serves; replicas[w][v][k] counts replicas of
// variant v of workload w in its placement k. Demand and budget hold within 1e-9,
// relatively. The problem must be valid. It returns an error if replicas does not
// have the shape of the problem or has negative counts.
func (p *Problem) Evaluate(replicas [][][]int) (Evaluation, error) {
	if err := p.checkShape(replicas); err != nil {
		return Evaluation{}, err
	}
	unmet, shares, shortfall := make([]float64, len(p.Workloads)), make([][][]float64, len(p.Workloads)), make([]int, len(p.Workloads))
	e := p.evaluate(asSpelled(replicas), packPools(p), func(i int, _ [][]int, s evaluated) {
		unmet[i], shares[i], shortfall[i] = s.unmet, s.shares, s.shortfall
	})
	e.Unmet, e.ShapeShares, e.Shortfall = unmet, shares, shortfall
	return e, nil
}

// evaluated is what an Evaluation has of a workload.
type evaluated struct {
	unmet     float64
	shares    [][]float64
	shortfall int
}

// evaluate is Evaluate of a plan in the shape of the problem, without Unmet, ShapeShares and Shortfall. These it hands to visit, with the
// replicas, while the workload is at hand: going over a large problem once more takes longer than what is done with it. The calls run on
// several goroutines, so that each may write only what belongs to its workload.
func (p *Problem) evaluate(plan spelling, packings []packing, visit func(i int, replicas [][]int, s evaluated)) (e Evaluation) {
	all := evaluationPart{occupancy: newOccupancy(p, packings)}
	parts := make([]evaluationPart, parallel.Count(len(p.Workloads), evaluationBlock))
	parallel.Blocks(len(p.Workloads), evaluationBlock, func(block, from, to int) {
		part := &parts[block]
		part.occupancy = all.unused()
		spelled := plan(from, to)
		p.fetched(from, to, func(i int) {
			replicas := spelled(i)
			visit(i, replicas, part.add(&p.Workloads[i], replicas))
		})
	})
	for k := range parts {
		all.join(&parts[k])
	}
	e.PricePerHour = all.prices.total()
	all.costs.addSum(&all.prices)
	e.Objective = all.costs.total()
	e.Pools, e.Quotas = make([]int, len(p.Pools)), all.quotas
	for g := range e.Pools {
		e.Pools[g] = all.pools[g].devices
	}
	e.Violations = slices.Concat(all.violations, p.limitViolations(all.pools, &e))
	return e
}

// evaluationBlock is the number of workloads that one goroutine takes at a time where all are evaluated, checked or spelled out.
const evaluationBlock = 256

// evaluationPart is the evaluation of a block of workloads.
type evaluationPart struct {
	prices, costs exactSum
	occupancy
	violations []error
	counts     []int // scratch
}

// add evaluates a workload.
func (part *evaluationPart) add(w *Workload, replicas [][]int) (s evaluated) {
	part.counts = appendTotals(part.counts[:0], replicas)
	for j := range w.Variants {
		v := &w.Variants[j]
		for k, n := range replicas[j] {
			if n == 0 {
				continue
			}
			at := &v.Placements[k]
			part.use(w.Namespace, v, at.Pool, n)
			part.prices.add(float64(n) * at.PricePerHour)
			if at.change != 0 {
				part.costs.add(float64(n) * at.change)
			}
		}
		if cost := v.Switching(part.counts[j]); cost != 0 {
			part.costs.add(cost)
		}
	}
	s.unmet, s.shares = w.serve(part.counts)
	if w.Penalized && s.unmet > 0 {
		part.costs.add(w.UnmetPenalty * s.unmet)
	}
	s.shortfall = w.shortfall(part.counts)
	part.violations = append(part.violations, w.violations(part.counts)...)
	return s
}

// join adds the evaluation of other workloads.
func (part *evaluationPart) join(other *evaluationPart) {
	part.prices.addSum(&other.prices)
	part.costs.addSum(&other.costs)
	part.occupancy.join(&other.occupancy)
	part.violations = append(part.violations, other.violations...)
}

func (p *Problem) checkShape(replicas [][][]int) error {
	if len(replicas) != len(p.Workloads) {
		return fmt.Errorf("optimizer: replicas of %d workloads, want %d", len(replicas), len(p.Workloads))
	}
	for i := range p.Workloads {
		w := &p.Workloads[i]
		if len(replicas[i]) != len(w.Variants) {
			return fmt.Errorf("optimizer: replicas[%d]: %d variants, want %d", i, len(replicas[i]), len(w.Variants))
		}
		for j := range w.Variants {
			if len(replicas[i][j]) != len(w.Variants[j].Placements) {
				return fmt.Errorf("optimizer: replicas[%d][%d]: %d placements, want %d", i, j, len(replicas[i][j]), len(w.Variants[j].Placements))
			}
			for k, n := range replicas[i][j] {
				if n < 0 || n > int(unlimited) {
					return fmt.Errorf("optimizer: replicas[%d][%d][%d]: %d is not between 0 and %d", i, j, k, n, unlimited)
				}
			}
		}
	}
	return nil
}

// totals are the replicas of each variant over its placements.
func totals(replicas [][]int) []int { return appendTotals(make([]int, 0, len(replicas)), replicas) }

func appendTotals(counts []int, replicas [][]int) []int {
	for j := range replicas {
		total := 0
		for _, n := range replicas[j] {
			total += n
		}
		counts = append(counts, total)
	}
	return counts
}

// Switching is the cost per hour of going from CurrentReplicas to n.
func (v *Variant) Switching(n int) float64 {
	if n > v.CurrentReplicas {
		return float64(n-v.CurrentReplicas) * v.SwitchUp
	}
	return float64(v.CurrentReplicas-n) * v.SwitchDown
}

// Unmet is the demand that replicas leave unserved, in requests/s; counts are those
// of each variant. What is within 1e-9 of the demand is 0.
func (w *Workload) Unmet(counts []int) float64 {
	unmet, _ := w.serve(counts)
	return unmet
}

// serve is what replicas leave unserved, and the shares of Allocation.ShapeShares.
func (w *Workload) serve(counts []int) (unmet float64, shares [][]float64) {
	if w.Demand > 0 && w.routed() && len(w.Variants) > 0 {
		unmet, shares = w.route(counts)
		return w.orNone(max(0, unmet-w.waived)), shares
	}
	return w.unmetAlike(counts), nil
}

// unmetAlike is Unmet of a workload without demand or whose requests all variants serve alike.
func (w *Workload) unmetAlike(counts []int) float64 {
	return w.orNone(max(0, w.Demand-w.served(counts)))
}

// orNone is unmet demand, or none where that is within the tolerance.
func (w *Workload) orNone(unmet float64) float64 {
	if unmet <= tolerance*w.Demand {
		return 0
	}
	return unmet
}

// served is the capacity left when the replicas of the highest capacity fail.
func (w *Workload) served(counts []int) float64 {
	var buffer [16]float64
	left := buffer[:0]
	if w.Redundancy == 0 {
		for j, n := range counts {
			if n > 0 {
				left = append(left, float64(n)*w.Variants[j].Capacity)
			}
		}
		return sum(left)
	}
	order := make([]int, len(counts))
	for j := range order {
		order[j] = j
	}
	slices.SortStableFunc(order, func(a, b int) int { return sign(w.Variants[b].Capacity - w.Variants[a].Capacity) })
	failing := w.Redundancy
	for _, j := range order {
		failed := min(failing, counts[j])
		failing -= failed
		left = append(left, float64(counts[j]-failed)*w.Variants[j].Capacity)
	}
	return sum(left)
}

func (w *Workload) shortfall(counts []int) int {
	missing, total := 0, 0
	for j, n := range counts {
		missing += max(0, w.Variants[j].MinReplicas-n)
		total += n
	}
	return max(missing, w.MinReplicas-total)
}

func (w *Workload) violations(counts []int) []error {
	var broken []error
	total, used := 0, 0
	for j, n := range counts {
		total += n
		if n > 0 {
			used++
		}
		if most := w.Variants[j].MaxReplicas; most.Limited && n > most.Value {
			broken = append(broken, fmt.Errorf("optimizer: workload %q variant %q: %d replicas > maximum %d", w.Name, w.Variants[j].Name, n, most.Value))
		}
	}
	if w.MaxReplicas.Limited && total > w.MaxReplicas.Value {
		broken = append(broken, fmt.Errorf("optimizer: workload %q: %d replicas > maximum %d", w.Name, total, w.MaxReplicas.Value))
	}
	if w.Mixing == Single && used > 1 {
		broken = append(broken, fmt.Errorf("optimizer: workload %q: %d variants in use, only one may be", w.Name, used))
	}
	return broken
}

// overBudget is by how much a price is over the budget, 0 within the tolerance.
func (p *Problem) overBudget(price float64) float64 {
	if over := price - p.BudgetPerHour; p.BudgetPerHour > 0 && over > tolerance*p.BudgetPerHour {
		return over
	}
	return 0
}

// limitViolations are the limits on several workloads that are broken.
func (p *Problem) limitViolations(pools []poolUse, e *Evaluation) []error {
	var broken []error
	for g := range pools {
		for r, row := range pools[g].limits {
			if used := pools[g].used[r]; p.Pools[g].Limited && used > row.devices {
				broken = append(broken, fmt.Errorf("optimizer: pool %q: %d devices in use by replicas with %d and more per node > %d usable", p.Pools[g].Name, used, row.size, row.devices))
			}
		}
	}
	for q, quota := range p.Quotas {
		if e.Quotas[q] > quota.Capacity {
			broken = append(broken, fmt.Errorf("optimizer: quota of namespace %q in pool %q: %d devices in use > %d", quota.Namespace, p.Pools[quota.Pool].Name, e.Quotas[q], quota.Capacity))
		}
	}
	if p.overBudget(e.PricePerHour) > 0 {
		broken = append(broken, fmt.Errorf("optimizer: price %g > budget %g", e.PricePerHour, p.BudgetPerHour))
	}
	return broken
}
