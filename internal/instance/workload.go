package instance

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"

	"github.com/poolwright/poolwright/optimizer"
)

const (
	// Switching costs in parts of the replica's price.
	switchUp, switchDown = 0.1, 0.03
	// replicasMedian is that of the demand in replicas of the cheapest variant, and
	// replicasSpread the standard deviation of its logarithm. One workload in
	// giantOdds has giantFactor as much.
	replicasMedian, replicasSpread = 1.45, 1.15
	giantOdds, giantFactor         = 30, 8
	// demandSpread is how far demand has moved since the fleet was last planned:
	// standard deviation of the logarithm.
	demandSpread = 0.3
	priorities   = 3
)

// penaltyFactor is what a request/s not served costs, over its cheapest price, at a
// priority.
func penaltyFactor(priority int) float64 {
	return [...]float64{1: 400, 2: 60, 3: 12}[priority]
}

// drawWorkload draws a model with its variants, one for each accelerator and size
// that is offered, and demand for it.
func drawWorkload(r *rand.Rand, p Params, i int, types []accelerator) optimizer.Workload {
	w := optimizer.Workload{Name: fmt.Sprintf("m%05d", i), Priority: 1 + r.IntN(priorities)}
	for len(w.Variants) == 0 {
		w.Variants = drawVariants(r, w.Name, types)
	}
	best := cheapest(w.Variants)
	w.Demand = round(max(1e-3, drawReplicas(r)*w.Variants[best].Capacity), 4)
	if !p.Lexicographic {
		unit := unitPrice(&w.Variants[best])
		w.Penalized, w.UnmetPenalty = true, round(penaltyFactor(w.Priority)*(0.8+0.4*r.Float64())*unit, 3)
	}
	if r.Float64() < p.SingleShare || p.Kind == SingleType {
		w.Mixing = optimizer.Single
	}
	if p.Namespaces > 0 {
		w.Namespace = fmt.Sprintf("team-%02d", r.IntN(p.Namespaces))
	}
	drawBounds(r, &w)
	drawCurrent(r, &w)
	return w
}

// drawVariants returns none where the model fits on none of the accelerators.
func drawVariants(r *rand.Rand, name string, types []accelerator) []optimizer.Variant {
	size := weights(r)
	perSecond := 500 / size * math.Exp(requestSpread*r.NormFloat64())
	var variants []optimizer.Variant
	for g, a := range types {
		devices := a.leastDevices(size)
		if devices == 0 || r.Float64() < unsupported {
			continue
		}
		for ; devices <= largestReplica; devices *= 2 {
			price := float64(devices) * a.pricePerHour
			capacity := perSecond * a.throughput(devices, size) * math.Exp(capacitySpread*r.NormFloat64())
			variants = append(variants, optimizer.Variant{
				Name:     fmt.Sprintf("%s-%d-%sx%d", name, len(variants), strings.ToLower(a.name), devices),
				Capacity: round(max(1e-3, capacity), 4), DevicesPerReplica: devices,
				SwitchUp: round(switchUp*price, 3), SwitchDown: round(switchDown*price, 3),
				Placements: []optimizer.Placement{{Pool: g, PricePerHour: round(price, 3)}},
			})
			if r.Float64() >= doubling {
				break
			}
		}
	}
	return variants
}

func drawReplicas(r *rand.Rand) float64 {
	n := replicasMedian * math.Exp(replicasSpread*r.NormFloat64())
	if r.IntN(giantOdds) == 0 {
		n *= giantFactor
	}
	return n
}

// drawBounds gives a third of the workloads a minimum of one or two replicas, and
// one in twelve a maximum that its variants of least capacity just stay below.
func drawBounds(r *rand.Rand, w *optimizer.Workload) {
	if r.IntN(3) == 0 {
		w.MinReplicas = 1 + r.IntN(2)
	}
	if r.IntN(12) == 0 {
		most := 0
		for j := range w.Variants {
			most = max(most, int(math.Ceil(w.Demand/w.Variants[j].Capacity)))
		}
		w.MaxReplicas = optimizer.Bound{Limited: true, Value: max(most, w.MinReplicas)}
	}
}

// drawCurrent draws what runs: one variant, or two where they may be mixed, for a
// demand somewhat lower or higher.
func drawCurrent(r *rand.Rand, w *optimizer.Workload) {
	before := w.Demand * math.Exp(demandSpread*r.NormFloat64())
	shares := []float64{1}
	if w.Mixing == optimizer.Allowed && r.IntN(5) < 2 {
		first := r.Float64()
		shares = []float64{first, 1 - first}
	}
	for _, share := range shares {
		v := &w.Variants[cheapest(w.Variants)]
		if r.IntN(3) == 0 {
			v = &w.Variants[r.IntN(len(w.Variants))]
		}
		v.CurrentReplicas = int(math.Ceil(before * share / v.Capacity))
	}
}

// unitPrice is the price of one request/s on a variant.
func unitPrice(v *optimizer.Variant) float64 { return v.Placements[0].PricePerHour / v.Capacity }

// cheapest is the variant of least price per request/s.
func cheapest(variants []optimizer.Variant) int {
	best := 0
	for j := range variants {
		if unitPrice(&variants[j]) < unitPrice(&variants[best]) {
			best = j
		}
	}
	return best
}
