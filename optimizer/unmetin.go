package optimizer

import (
	"math"
	"slices"

	"github.com/poolwright/poolwright/internal/parallel"
)

// unmetIn is what replicas leave unmet in each scenario, in requests/s by workload.
func (p *Problem) unmetIn(replicas [][][]int, scenarios []Scenario) [][]float64 {
	unmet := make([][]float64, len(scenarios))
	for s := range unmet {
		unmet[s] = make([]float64, len(p.Workloads))
	}
	parallel.Blocks(len(p.Workloads), evaluationBlock, func(_, from, to int) {
		demands := make([]float64, len(scenarios))
		for i := from; i < to; i++ {
			for s := range scenarios {
				demands[s] = scenarios[s].Demand[i]
			}
			for s, left := range p.Workloads[i].unmetAt(totals(replicas[i]), demands) {
				unmet[s][i] = left
			}
		}
	})
	return unmet
}

// unmetAt is Unmet at several demands.
func (w *Workload) unmetAt(counts []int, demands []float64) []float64 {
	most := 0.0
	for _, demand := range demands {
		most = max(most, demand)
	}
	unmet := make([]float64, len(demands))
	if most == 0 {
		return unmet
	}
	at := *w
	if at.Demand = most; !at.routed() || len(at.Variants) == 0 {
		served := w.served(counts)
		for k, demand := range demands {
			unmet[k] = max(0, demand-served)
		}
	} else {
		newGrowth(&at, counts).fill(unmet, demands)
	}
	for k, demand := range demands {
		if unmet[k] <= tolerance*demand {
			unmet[k] = 0
		}
	}
	return unmet
}

// growth is unmet demand as the demand of a workload grows in all its shapes alike. It is the value of
// a linear program in the demand, which stands in its objective by duality: convex and piecewise
// linear, so that a line through two of its points is it between them if it touches it in one.
type growth struct {
	workload *Workload
	routing  *routing
	counts   []int32
}

// ray is a line that touches the growth at a demand, where its value is unmet.
type ray struct{ demand, unmet, slope float64 }

func (r ray) at(demand float64) float64 { return r.unmet + r.slope*(demand-r.demand) }

func newGrowth(w *Workload, counts []int) *growth {
	g := &growth{workload: w, routing: newRouting(w), counts: make([]int32, len(counts))}
	for j, n := range counts {
		g.counts[j] = int32(n)
	}
	return g
}

// ray finds the line at a demand. The routing is that of the highest demand, and so many times fewer
// requests find so many times more replicas.
func (g *growth) ray(demand float64) ray {
	scale := demand / g.workload.Demand
	r := ray{demand: demand}
	failures(g.counts, g.workload.Redundancy, func(left []float64) {
		scaled := slices.Clone(left)
		for v := range scaled {
			scaled[v] /= scale
		}
		if unmet := scale * g.routing.unmet(scaled); unmet > r.unmet {
			r.unmet, r.slope = unmet, g.routing.row.need/g.workload.Demand
		}
	})
	return r
}

// fill works out the growth at all demands.
func (g *growth) fill(unmet, demands []float64) {
	order := make([]int, 0, len(demands))
	for k, demand := range demands {
		if demand > 0 {
			order = append(order, k)
		}
	}
	slices.SortFunc(order, func(a, b int) int { return sign(demands[a] - demands[b]) })
	first, last := order[0], order[len(order)-1]
	low, high := g.ray(demands[first]), g.ray(demands[last])
	unmet[first], unmet[last] = low.unmet, high.unmet
	g.between(low, high, order, unmet, demands)
}

// between works out the growth between the first and the last demand of an order.
func (g *growth) between(low, high ray, order []int, unmet, demands []float64) {
	if len(order) <= 2 {
		return
	}
	if math.Abs(low.at(high.demand)-high.unmet) <= 2*exact*high.demand {
		for _, k := range order[1 : len(order)-1] {
			unmet[k] = low.at(demands[k])
		}
		return
	}
	middle := len(order) / 2
	at := g.ray(demands[order[middle]])
	unmet[order[middle]] = at.unmet
	g.between(low, at, order[:middle+1], unmet, demands)
	g.between(at, high, order[middle:], unmet, demands)
}
