package optimizer

import (
	"fmt"
	"math"
	"math/rand/v2"
)

// randomSmall draws a problem that brute force can solve, with every kind of
// constraint now and then.
func randomSmall(r *rand.Rand) *Problem {
	p := &Problem{}
	chance := func(probability float64) bool { return r.Float64() < probability }
	for g := range 1 + r.IntN(3) {
		pool := Pool{Name: fmt.Sprint("g", g), Limited: chance(0.8), Capacity: r.IntN(14)}
		if chance(0.3) {
			pool.DevicesPerNode = []int{2, 4, 5, 6, 7, 8}[r.IntN(6)]
		}
		p.Pools = append(p.Pools, pool)
	}
	namespaces := []string{"a", "b"}
	for _, namespace := range namespaces {
		for g := range p.Pools {
			if chance(0.15) {
				p.Quotas = append(p.Quotas, Quota{Namespace: namespace, Pool: g, Capacity: r.IntN(10)})
			}
		}
	}
	if chance(0.2) {
		p.BudgetPerHour = float64(5+r.IntN(300)) / 10
	}
	priorities := 1 + r.IntN(3)
	penalized := []float64{0, 0.5, 1}[r.IntN(3)]
	for i := range 1 + r.IntN(4) {
		w := Workload{
			Name: fmt.Sprint("w", i), Namespace: namespaces[r.IntN(2)],
			Priority: 1 + r.IntN(priorities), Demand: float64(r.IntN(80)) / 10,
		}
		if chance(penalized) {
			w.Penalized, w.UnmetPenalty = true, float64(r.IntN(60))/10
		}
		if chance(0.2) {
			w.Mixing = Single
		}
		if chance(0.2) {
			w.Redundancy = 1 + r.IntN(2)
		}
		if chance(0.15) {
			w.MinReplicas = r.IntN(4)
		}
		if chance(0.15) {
			w.MaxReplicas = Bound{Limited: true, Value: w.MinReplicas + r.IntN(4)}
		}
		for j := range 1 + r.IntN(3) {
			w.Variants = append(w.Variants, randomVariant(r, p, j))
		}
		p.Workloads = append(p.Workloads, w)
	}
	for i := range p.Workloads {
		switch w := &p.Workloads[i]; {
		case chance(0.15):
			addShapes(r, w)
		case chance(0.15) && w.Mixing != Single:
			addPhases(r, w)
			if chance(0.3) {
				addShapes(r, w)
			}
		}
	}
	return p
}

// randomScaled is randomSmall, sometimes with traffic of mixed scales.
func randomScaled(r *rand.Rand) *Problem {
	p := randomSmall(r)
	if r.IntN(3) == 0 {
		mixScales(r, p)
	}
	return p
}

// mixScales puts the traffic of every workload on a scale of its own, between 1e-6 and 1e12 requests/s,
// and some shapes on one where a replica serves next to nothing of them.
func mixScales(r *rand.Rand, p *Problem) {
	for i := range p.Workloads {
		w := &p.Workloads[i]
		factor := math.Pow10(r.IntN(19) - 6)
		w.Demand *= factor
		w.UnmetPenalty /= factor
		for j := range w.Variants {
			v := &w.Variants[j]
			v.Capacity *= factor
			for s := range v.ShapeCapacities {
				v.ShapeCapacities[s] *= factor
				if r.IntN(10) == 0 {
					v.ShapeCapacities[s] *= math.Pow10(-r.IntN(10))
					v.MaxReplicas = Bound{Limited: true, Value: v.MinReplicas + 1 + r.IntN(3)}
				}
			}
		}
	}
}

// addShapes makes the requests of a workload differ. Some shapes are alike, and some
// variants can't serve some.
func addShapes(r *rand.Rand, w *Workload) {
	shares, total := make([]int, 1+r.IntN(4)), 0
	for s := range shares {
		shares[s] = r.IntN(4)
		total += shares[s]
	}
	if total == 0 {
		shares[0], total = 1, 1
	}
	for _, share := range shares {
		w.Shapes = append(w.Shapes, Shape{Share: float64(share) / float64(total)})
	}
	for j := range w.Variants {
		v := &w.Variants[j]
		for range shares {
			capacity := v.Capacity * []float64{0, 0.5, 1, 1, 2, 0.3 + 2*r.Float64()}[r.IntN(6)]
			v.ShapeCapacities = append(v.ShapeCapacities, capacity)
		}
	}
}

// addPhases gives some variants one phase of the requests.
func addPhases(r *rand.Rand, w *Workload) {
	for j := range w.Variants {
		w.Variants[j].Phase = Phase(r.IntN(3))
	}
}

func randomVariant(r *rand.Rand, p *Problem, j int) Variant {
	chance := func(probability float64) bool { return r.Float64() < probability }
	v := Variant{
		Name: fmt.Sprint("v", j), Capacity: float64(10+r.IntN(50)) / 10,
		DevicesPerReplica: []int{1, 1, 2, 2, 3, 4, 8}[r.IntN(7)],
	}
	if chance(0.3) {
		v.NodesPerReplica = 1 + r.IntN(2)
	}
	if chance(0.1) {
		v.MinReplicas = r.IntN(3)
		if chance(0.3) {
			v.Capacity = 0
		}
	}
	if chance(0.15) {
		v.MaxReplicas = Bound{Limited: true, Value: v.MinReplicas + r.IntN(3)}
	}
	if chance(0.4) {
		v.CurrentReplicas = r.IntN(4)
		v.SwitchUp, v.SwitchDown = float64(r.IntN(20))/10, float64(r.IntN(60))/10
	}
	for g := range r.Perm(len(p.Pools)) {
		if len(v.Placements) == 0 || chance(0.2) {
			v.Placements = append(v.Placements, Placement{Pool: g, PricePerHour: float64(r.IntN(90)) / 10})
		}
	}
	return v
}
