package llmd

import (
	"math"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/poolwright/poolwright/calibration"
	"github.com/poolwright/poolwright/internal/resource"
	"github.com/poolwright/poolwright/planner"
)

// allocation is the part of one object in an outcome.
type allocation struct {
	object resource.Reference
	// variants of the object, and inUse the one of its target, are indices into those of the
	// outcome's workload.
	variants []int
	inUse    int
	target   resource.Reference
	mode     resource.Mode
	// missing: there is no target.
	missing bool
}

// allocations are those of the objects of a workload, in their order. An object whose
// target is not in the fleet has none.
func allocations(w *resource.Workload, o *resource.Outcome) []*allocation {
	var all []*allocation
	for i := range w.Declared {
		d := &w.Declared[i]
		j := slices.IndexFunc(o.Workload.Variants, func(v planner.Variant) bool { return v.Name == d.Name })
		if j < 0 {
			continue
		}
		k := slices.IndexFunc(all, func(a *allocation) bool { return a.object == d.Object })
		if k < 0 {
			k = len(all)
			all = append(all, &allocation{object: d.Object, inUse: -1, mode: w.Mode})
		}
		a := all[k]
		a.variants = append(a.variants, j)
		if d.Target.Name != "" {
			a.inUse, a.target = j, d.Target
		}
	}
	return slices.DeleteFunc(all, func(a *allocation) bool { return a.inUse < 0 })
}

// name of the accelerator of a variant as the object has it, whatever the configuration
// calls it; without one, as its pool has it.
func (a *allocation) name(o *resource.Outcome, j int) string {
	v := &o.Workload.Variants[j]
	if _, name, ok := strings.Cut(v.Name, "/"); ok {
		return name
	}
	return o.Fleet.Pools[v.Pools[0]].Accelerator
}

// replicaPrice is that of a replica per hour, where most of them are.
func replicaPrice(f *planner.Fleet, v *planner.Variant) float64 {
	most := 0
	for k := range v.PoolReplicas {
		if v.PoolReplicas[k] > v.PoolReplicas[most] {
			most = k
		}
	}
	return f.Price(v, v.Pools[most])
}

// choice is an accelerator with its replicas.
type choice struct {
	accelerator string
	replicas    int
	// variant is the index of the accelerator.
	variant int
	// price is that of the replicas per hour, and instead that of those on the accelerator in
	// use; 0 where it cannot serve. They count where that is another one.
	price, instead float64
}

// transition is the share of the costs before and after that the family charges for moving
// to another type of accelerator.
const transition = 0.1

// wanted is what is best for the object: what is planned on the accelerator in use or,
// where another one is cheaper by more than the cost of a transition, that one. Devices are
// weighed at their shadow prices, and must be free. While nothing is planned, another one
// stays recommended.
func (a *allocation) wanted(o *resource.Outcome, u *unstructured.Unstructured) choice {
	plan := &o.Plan.Variants[a.inUse]
	stay := choice{accelerator: a.name(o, a.inUse), replicas: plan.Total(), variant: a.inUse}
	if o.Plan.Held {
		return a.still(o, u, stay)
	}
	use := &o.Workload.Variants[a.inUse]
	rate := float64(o.Workload.ArrivalRate) * a.share(o)
	if a.missing || rate == 0 || use.Replica == nil && use.Capacity == 0 {
		return stay
	}
	kept, keep := needed(rate, plan)
	now := float64(use.CurrentReplicas) * replicaPrice(o.Fleet, use)
	best, least := stay, math.Inf(1)
	for _, j := range a.variants {
		v := &o.Workload.Variants[j]
		replicas, cost := needed(rate, &o.Plan.Variants[j])
		if j == a.inUse || cost >= least || cost+transition*(now+cost) >= keep || !fits(o, v, replicas) {
			continue
		}
		least = cost
		best = choice{
			accelerator: a.name(o, j), replicas: replicas, variant: j,
			price: float64(replicas) * replicaPrice(o.Fleet, v), instead: float64(kept) * replicaPrice(o.Fleet, use),
		}
	}
	return best
}

// share of the workload's traffic that the object is to serve.
func (a *allocation) share(o *resource.Outcome) float64 {
	if len(a.variants) == len(o.Workload.Variants) {
		return 1
	}
	share := 0.0
	for _, j := range a.variants {
		share += o.Plan.Variants[j].Share
	}
	return share
}

// still is what the status of the object recommends, if that is another accelerator.
func (a *allocation) still(o *resource.Outcome, u *unstructured.Unstructured, stay choice) choice {
	accelerator, _, _ := unstructured.NestedString(u.Object, "status", "desiredOptimizedAlloc", "accelerator")
	replicas, _, _ := unstructured.NestedInt64(u.Object, "status", "desiredOptimizedAlloc", "numReplicas")
	for _, j := range a.variants {
		if j != a.inUse && a.name(o, j) == accelerator {
			return choice{accelerator: accelerator, replicas: int(replicas), variant: j}
		}
	}
	return stay
}

// needed is the least number of replicas of a variant that serves a rate, and their cost;
// +Inf where it cannot.
func needed(rate float64, plan *planner.VariantPlan) (replicas int, cost float64) {
	served := float64(plan.Size.Served)
	if served <= 0 || rate/served > mostReplicas {
		return 0, math.Inf(1)
	}
	replicas = max(1, int(math.Ceil(rate/served)))
	return replicas, float64(replicas) * served * plan.MarginalPrice
}

// fits tells whether the plan leaves devices for so many replicas in the pools of a variant.
func fits(o *resource.Outcome, v *planner.Variant, replicas int) bool {
	free := 0
	for _, p := range v.Pools {
		if !o.Fleet.Pools[p].Capacity.Limited {
			return true
		}
		free += o.Fleet.Pools[p].Capacity.Value - o.Pools[p].Used
	}
	return replicas*v.DevicesPerReplica <= free
}

// applied tells whether the target has what is wanted or, unless that was only tried, was
// asked for it.
func (a *allocation) applied(o *resource.Outcome, wanted *choice) bool {
	if a.missing || wanted.variant != a.inUse {
		return false
	}
	use := &o.Workload.Variants[a.inUse]
	replicas := use.CurrentReplicas
	for i := range o.Changes {
		if o.Changes[i].Variant == use.Name && a.mode != resource.DryRun {
			replicas = o.Changes[i].To
		}
	}
	return replicas == wanted.replicas
}

// measured is what was seen of the object's replicas; nothing is known where nothing was.
type measured struct {
	// rate of arrivals is per second, in total; lengths are in tokens, latencies in seconds.
	rate, input, output, itl, ttft, wait calibration.Quantity
}

func (a *allocation) measured(o *resource.Outcome) measured {
	var m measured
	if e := o.Plan.Expected; e != nil {
		m.rate = calibration.Of(float64(e.Observed) * a.share(o))
	}
	if o.Observation == nil {
		return m
	}
	m.input, m.output = quantity(o.Observation.InputTokens), quantity(o.Observation.OutputTokens)
	name := o.Workload.Variants[a.inUse].Name
	for i := range o.Observation.Variants {
		v := &o.Observation.Variants[i]
		if v.Variant != name {
			continue
		}
		m.itl, m.ttft = v.Replica.ITL, v.Replica.TTFT
		// By Little's law.
		if v.Replica.Waiting.Known && v.Replica.Rate.Known && v.Replica.Rate.Value > 0 {
			m.wait = calibration.Of(v.Replica.Waiting.Value / v.Replica.Rate.Value)
		}
	}
	return m
}

func quantity(m planner.Measurement) calibration.Quantity {
	if m.State == planner.Fresh || m.State == planner.Incomplete {
		return calibration.Of(m.Value)
	}
	return calibration.Quantity{}
}
