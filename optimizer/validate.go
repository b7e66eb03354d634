package optimizer

import (
	"errors"
	"fmt"
	"math"

	"github.com/poolwright/poolwright/internal/parallel"
)

// maxReplicas is the largest count of replicas, devices or nodes that a problem
// may mention; sums of such counts stay exact.
const maxReplicas = 1 << 24

// Validate reports all mistakes of the problem at once, each with its path, such
// as "workloads[3].variants[0].capacity". It returns nil for a problem that Solve
// accepts.
func (p *Problem) Validate() error {
	_, err := p.check()
	return err
}

// facts are what Validate finds out by the way, as going over a large problem once more takes long.
type facts struct {
	// severalPlacements: some variant has several.
	severalPlacements bool
	// traits are by workload.
	traits []trait
}

// trait tells what a greedy plan need not read a workload for.
type trait struct {
	// declares: some minimum is declared.
	declares bool
	// plain: replicas are alike, so that unmetAlike is what they leave, and each takes devices of its pool: once all pools are full there is
	// none to be added.
	plain bool
}

// trait works out that of a workload.
func (w *Workload) trait() trait {
	t := trait{plain: w.alike()}
	least := w.MinReplicas
	for j := range w.Variants {
		v := &w.Variants[j]
		least = max(least, v.MinReplicas)
		t.plain = t.plain && v.takesDevices()
	}
	t.declares = least > 0
	return t
}

// check is Validate, and returns what it finds out by the way.
func (p *Problem) check() (*facts, error) {
	c := &checker{}
	c.nonNegative(nil, "budgetPerHour", p.BudgetPerHour)
	names := map[string]int{}
	for i := range p.Pools {
		at := &path{list: "pools", index: i}
		c.unique(names, at, p.Pools[i].Name, i)
		c.count(at, "capacity", p.Pools[i].Capacity)
		c.count(at, "devicesPerNode", p.Pools[i].DevicesPerNode)
	}
	seen := map[quotaKey]int{}
	for i, q := range p.Quotas {
		at := &path{list: "quotas", index: i}
		c.pool(at, q.Pool, len(p.Pools))
		c.count(at, "capacity", q.Capacity)
		if first, ok := seen[quotaKey{q.Namespace, q.Pool}]; ok {
			c.fail(at, "", "same namespace %q and pool as quotas[%d]", q.Namespace, first)
		} else {
			seen[quotaKey{q.Namespace, q.Pool}] = i
		}
	}
	names = make(map[string]int, len(p.Workloads))
	earlier := map[int]int{} // the first workload of the same name, by that of each later one
	for i := range p.Workloads {
		if first := firstOf(names, p.Workloads[i].Name, i); first < i {
			earlier[i] = first
		}
	}
	known := &facts{traits: make([]trait, len(p.Workloads))}
	parts := make([]checker, parallel.Count(len(p.Workloads), evaluationBlock))
	parallel.Blocks(len(p.Workloads), evaluationBlock, func(block, from, to int) {
		at := &path{list: "workloads"}
		variant := &path{parent: at, list: "variants"}
		p.fetched(from, to, func(i int) {
			at.index = i
			if first, ok := earlier[i]; ok {
				parts[block].repeated(at, p.Workloads[i].Name, first)
			}
			parts[block].workload(at, variant, &p.Workloads[i], len(p.Pools))
			known.traits[i] = p.Workloads[i].trait()
		})
	})
	for _, part := range parts {
		c.mistakes = append(c.mistakes, part.mistakes...)
		known.severalPlacements = known.severalPlacements || part.severalPlacements
	}
	return known, errors.Join(c.mistakes...)
}

// path is an element of a list, or a field alone, which may be within another one. It is written
// out only for mistakes.
type path struct {
	parent *path
	list   string
	index  int
}

// alone is the index of what is no list.
const alone = -1

func (p *path) String() string {
	whole := ""
	for ; p != nil; p = p.parent {
		at := p.list
		if p.index != alone {
			at = fmt.Sprintf("%s[%d]", p.list, p.index)
		}
		if whole != "" {
			at += "."
		}
		whole = at + whole
	}
	return whole
}

// checker collects mistakes, and whether some variant has several placements.
type checker struct {
	mistakes          []error
	severalPlacements bool
}

// fail reports a mistake in a field of an element, or in the element itself.
func (c *checker) fail(at *path, field, format string, args ...any) {
	place := at.String()
	if place != "" && field != "" {
		place += "."
	}
	c.mistakes = append(c.mistakes, fmt.Errorf("optimizer: %s: %s", place+field, fmt.Sprintf(format, args...)))
}

func (c *checker) unique(names map[string]int, at *path, name string, index int) {
	if first := firstOf(names, name, index); first < index {
		c.repeated(at, name, first)
	}
}

// firstOf is the first index of a name, which is this one where names does not have it yet.
func firstOf(names map[string]int, name string, index int) int {
	first, known := names[name]
	if !known {
		names[name] = index
		return index
	}
	return first
}

func (c *checker) repeated(at *path, name string, first int) {
	c.fail(at, "name", "%q is also the name of number %d", name, first)
}

func (c *checker) nonNegative(at *path, field string, value float64) {
	if !(value >= 0 && value <= maxAmount) {
		c.failAmount(at, field, value)
	}
}

// failAmount reports what is wrong with an amount.
func (c *checker) failAmount(at *path, field string, value float64) {
	if value > maxAmount && !math.IsInf(value, 1) {
		c.fail(at, field, "%g > %g", value, float64(maxAmount))
	} else {
		c.fail(at, field, "%g is not a finite number ≥ 0", value)
	}
}

// maxAmount limits prices, rates and penalties, so that no product overflows.
const maxAmount = 1e15

func (c *checker) count(at *path, field string, value int) {
	if value < 0 || value > maxReplicas {
		c.fail(at, field, "%d is not between 0 and %d", value, maxReplicas)
	}
}

func (c *checker) pool(at *path, index, pools int) {
	if index < 0 || index >= pools {
		c.fail(at, "pool", "%d is not the index of one of %d pools", index, pools)
	}
}

func (c *checker) bounds(at *path, least int, most Bound) {
	c.count(at, "minReplicas", least)
	if !most.Limited {
		return
	}
	c.count(at, "maxReplicas", most.Value)
	if most.Value >= 0 && least > most.Value {
		c.fail(at, "maxReplicas", "%d < minReplicas %d", most.Value, least)
	}
}

// workload checks a workload at a path, with that of a variant in it.
func (c *checker) workload(at, variant *path, w *Workload, pools int) {
	if w.Priority < 1 {
		c.fail(at, "priority", "%d < 1", w.Priority)
	}
	c.nonNegative(at, "demand", w.Demand)
	if w.Penalized {
		c.nonNegative(at, "unmetPenalty", w.UnmetPenalty)
	}
	if w.Mixing != Allowed && w.Mixing != Single {
		c.fail(at, "mixing", "%d is neither Allowed nor Single", w.Mixing)
	}
	c.count(at, "redundancy", w.Redundancy)
	c.bounds(at, w.MinReplicas, w.MaxReplicas)
	c.shapes(at, variant, w)
	var names map[string]int
	if len(w.Variants) > fewVariants {
		names = make(map[string]int, len(w.Variants))
	}
	for i := range w.Variants {
		variant.index = i
		if v := &w.Variants[i]; names != nil {
			c.unique(names, variant, v.Name, i)
		} else if first := w.named(v.Name); first < i {
			c.repeated(variant, v.Name, first)
		}
		c.variant(variant, &w.Variants[i], pools)
	}
}

// fewVariants are compared by name one by one sooner than by a map.
const fewVariants = 16

// named is the first variant of a name.
func (w *Workload) named(name string) int {
	j := 0
	for w.Variants[j].Name != name {
		j++
	}
	return j
}

// sharesWithin is the accuracy to which the shares of shapes sum to 1.
const sharesWithin = 1e-6

func (c *checker) shapes(at, variant *path, w *Workload) {
	total := 0.0
	for s := range w.Shapes {
		c.nonNegative(&path{at, "shapes", s}, "share", w.Shapes[s].Share)
		total += w.Shapes[s].Share
	}
	if len(w.Shapes) > 0 && !(math.Abs(total-1) <= sharesWithin) {
		c.fail(at, "shapes", "the shares sum to %.9g, not to 1", total)
	}
	for j := range w.Variants {
		v := &w.Variants[j]
		variant.index = j
		if len(v.ShapeCapacities) != len(w.Shapes) {
			c.fail(variant, "shapeCapacities", "%d capacities of %d shapes", len(v.ShapeCapacities), len(w.Shapes))
		}
		for s, capacity := range v.ShapeCapacities {
			c.nonNegative(&path{variant, "shapeCapacities", s}, "", capacity)
		}
		switch {
		case v.Phase < Whole || v.Phase > Decode:
			c.fail(variant, "phase", "%d is neither Whole, Prefill nor Decode", v.Phase)
		case v.Phase != Whole && w.Mixing == Single:
			c.fail(variant, "phase", "a phase needs a variant of the other, which mixing Single forbids")
		}
	}
}

func (c *checker) variant(at *path, v *Variant, pools int) {
	c.nonNegative(at, "capacity", v.Capacity)
	c.count(at, "devicesPerReplica", v.DevicesPerReplica)
	c.count(at, "nodesPerReplica", v.NodesPerReplica)
	c.bounds(at, v.MinReplicas, v.MaxReplicas)
	c.count(at, "currentReplicas", v.CurrentReplicas)
	c.nonNegative(at, "switchUp", v.SwitchUp)
	c.nonNegative(at, "switchDown", v.SwitchDown)
	if len(v.Placements) == 0 {
		c.fail(at, "placements", "no placement")
	}
	if len(v.Placements) == 1 {
		c.placement(&path{at, "placements", 0}, v.Placements[0], pools)
		return
	}
	c.severalPlacements = true
	seen := map[int]int{}
	for k, place := range v.Placements {
		placement := &path{at, "placements", k}
		c.placement(placement, place, pools)
		if first, ok := seen[place.Pool]; ok {
			c.fail(placement, "pool", "same pool as placements[%d]", first)
		} else {
			seen[place.Pool] = k
		}
	}
}

func (c *checker) placement(at *path, place Placement, pools int) {
	c.pool(at, place.Pool, pools)
	c.nonNegative(at, "pricePerHour", place.PricePerHour)
}
