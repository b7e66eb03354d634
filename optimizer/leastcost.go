package optimizer

import (
	"math"
	"slices"
)

// leastCost is a lower bound on what serving the workload costs per hour, whatever else there is: all
// of each shape on the variant, or pair of phases, that serves it for least, in fractions of
// replicas. It is 0 for a workload that must be served and can't.
func (w *Workload) leastCost() float64 {
	if w.Demand == 0 || w.waived > 0 {
		return 0
	}
	var few [8]float64
	costs, rates := few[:0], []float64{w.Demand}
	if len(w.Shapes) > 0 {
		rates = w.shapeRates()
	}
	for s, rate := range rates {
		least := [3]float64{Whole: math.Inf(1), Prefill: math.Inf(1), Decode: math.Inf(1)}
		for j := range w.Variants {
			v := &w.Variants[j]
			capacity := w.shapeCapacity(v, s)
			if capacity == 0 {
				continue
			}
			for _, at := range v.Placements {
				least[v.Phase] = min(least[v.Phase], (at.PricePerHour+at.change)/capacity)
			}
		}
		price := min(least[Whole], least[Prefill]+least[Decode])
		if w.Penalized {
			price = min(price, w.UnmetPenalty)
		}
		if math.IsInf(price, 1) {
			return 0
		}
		costs = append(costs, rate*price)
	}
	return sum(costs)
}

// leastCost bounds the cost of any plan that keeps to the levels by the least costs of the workloads that it must
// serve.
func (p *Problem) leastCost(levels []Level, least func(i int) float64) float64 {
	var total exactSum
	for i := range p.Workloads {
		w := &p.Workloads[i]
		if w.Penalized || !slices.ContainsFunc(levels, func(l Level) bool { return l.Priority == w.Priority }) {
			total.add(least(i))
		}
	}
	return total.total()
}
