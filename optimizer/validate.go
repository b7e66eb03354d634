package optimizer

import (
	"errors"
	"fmt"
	"math"
)

// maxReplicas is the largest count of replicas, devices or nodes that a problem
// may mention; sums of such counts stay exact.
const maxReplicas = 1 << 24

// Validate reports all mistakes of the problem at once, each with its path, such
// as "workloads[3].variants[0].capacity". It returns nil for a problem that Solve
// accepts.
func (p *Problem) Validate() error {
	c := &checker{}
	c.nonNegative("budgetPerHour", p.BudgetPerHour)
	names := map[string]int{}
	for i := range p.Pools {
		path := fmt.Sprintf("pools[%d]", i)
		c.unique(names, path, p.Pools[i].Name, i)
		c.count(path+".capacity", p.Pools[i].Capacity)
		c.count(path+".devicesPerNode", p.Pools[i].DevicesPerNode)
	}
	type key struct {
		namespace string
		pool      int
	}
	seen := map[key]int{}
	for i, q := range p.Quotas {
		path := fmt.Sprintf("quotas[%d]", i)
		c.pool(path+".pool", q.Pool, len(p.Pools))
		c.count(path+".capacity", q.Capacity)
		if first, ok := seen[key{q.Namespace, q.Pool}]; ok {
			c.fail(path, "same namespace %q and pool as quotas[%d]", q.Namespace, first)
		} else {
			seen[key{q.Namespace, q.Pool}] = i
		}
	}
	clear(names)
	for i := range p.Workloads {
		path := fmt.Sprintf("workloads[%d]", i)
		c.unique(names, path, p.Workloads[i].Name, i)
		c.workload(path, &p.Workloads[i], len(p.Pools))
	}
	return errors.Join(c.mistakes...)
}

// checker collects mistakes.
type checker struct {
	mistakes []error
}

func (c *checker) fail(path, format string, args ...any) {
	c.mistakes = append(c.mistakes, fmt.Errorf("optimizer: %s: %s", path, fmt.Sprintf(format, args...)))
}

func (c *checker) unique(names map[string]int, path, name string, index int) {
	if first, ok := names[name]; ok {
		c.fail(path+".name", "%q is also the name of number %d", name, first)
		return
	}
	names[name] = index
}

func (c *checker) nonNegative(path string, value float64) {
	if math.IsNaN(value) || math.IsInf(value, 0) || value < 0 {
		c.fail(path, "%g is not a finite number ≥ 0", value)
	} else if value > maxAmount {
		c.fail(path, "%g > %g", value, float64(maxAmount))
	}
}

// maxAmount limits prices, rates and penalties, so that no product overflows.
const maxAmount = 1e15

func (c *checker) count(path string, value int) {
	if value < 0 || value > maxReplicas {
		c.fail(path, "%d is not between 0 and %d", value, maxReplicas)
	}
}

func (c *checker) pool(path string, index, pools int) {
	if index < 0 || index >= pools {
		c.fail(path, "%d is not the index of one of %d pools", index, pools)
	}
}

func (c *checker) bounds(path string, least int, most Bound) {
	c.count(path+".minReplicas", least)
	if !most.Limited {
		return
	}
	c.count(path+".maxReplicas", most.Value)
	if most.Value >= 0 && least > most.Value {
		c.fail(path+".maxReplicas", "%d < minReplicas %d", most.Value, least)
	}
}

func (c *checker) workload(path string, w *Workload, pools int) {
	if w.Priority < 1 {
		c.fail(path+".priority", "%d < 1", w.Priority)
	}
	c.nonNegative(path+".demand", w.Demand)
	if w.Penalized {
		c.nonNegative(path+".unmetPenalty", w.UnmetPenalty)
	}
	if w.Mixing != Allowed && w.Mixing != Single {
		c.fail(path+".mixing", "%d is neither Allowed nor Single", w.Mixing)
	}
	c.count(path+".redundancy", w.Redundancy)
	c.bounds(path, w.MinReplicas, w.MaxReplicas)
	c.shapes(path, w)
	names := map[string]int{}
	for i := range w.Variants {
		variant := fmt.Sprintf("%s.variants[%d]", path, i)
		c.unique(names, variant, w.Variants[i].Name, i)
		c.variant(variant, &w.Variants[i], pools)
	}
}

// sharesWithin is the accuracy to which the shares of shapes sum to 1.
const sharesWithin = 1e-6

func (c *checker) shapes(path string, w *Workload) {
	total := 0.0
	for s := range w.Shapes {
		c.nonNegative(fmt.Sprintf("%s.shapes[%d].share", path, s), w.Shapes[s].Share)
		total += w.Shapes[s].Share
	}
	if len(w.Shapes) > 0 && !(math.Abs(total-1) <= sharesWithin) {
		c.fail(path+".shapes", "the shares sum to %.9g, not to 1", total)
	}
	for j := range w.Variants {
		v, variant := &w.Variants[j], fmt.Sprintf("%s.variants[%d]", path, j)
		if len(v.ShapeCapacities) != len(w.Shapes) {
			c.fail(variant+".shapeCapacities", "%d capacities of %d shapes", len(v.ShapeCapacities), len(w.Shapes))
		}
		for s, capacity := range v.ShapeCapacities {
			c.nonNegative(fmt.Sprintf("%s.shapeCapacities[%d]", variant, s), capacity)
		}
		switch {
		case v.Phase < Whole || v.Phase > Decode:
			c.fail(variant+".phase", "%d is neither Whole, Prefill nor Decode", v.Phase)
		case v.Phase != Whole && w.Mixing == Single:
			c.fail(variant+".phase", "a phase needs a variant of the other, which mixing Single forbids")
		}
	}
}

func (c *checker) variant(path string, v *Variant, pools int) {
	c.nonNegative(path+".capacity", v.Capacity)
	c.count(path+".devicesPerReplica", v.DevicesPerReplica)
	c.count(path+".nodesPerReplica", v.NodesPerReplica)
	c.bounds(path, v.MinReplicas, v.MaxReplicas)
	c.count(path+".currentReplicas", v.CurrentReplicas)
	c.nonNegative(path+".switchUp", v.SwitchUp)
	c.nonNegative(path+".switchDown", v.SwitchDown)
	if len(v.Placements) == 0 {
		c.fail(path+".placements", "no placement")
	}
	seen := map[int]int{}
	for k, place := range v.Placements {
		placement := fmt.Sprintf("%s.placements[%d]", path, k)
		c.pool(placement+".pool", place.Pool, pools)
		c.nonNegative(placement+".pricePerHour", place.PricePerHour)
		if first, ok := seen[place.Pool]; ok {
			c.fail(placement+".pool", "same pool as placements[%d]", first)
		} else {
			seen[place.Pool] = k
		}
	}
}
