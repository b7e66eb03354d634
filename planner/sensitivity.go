package planner

import (
	"cmp"
	"maps"
	"math"
	"slices"

	"github.com/poolwright/poolwright/optimizer"
	"github.com/poolwright/poolwright/queueing"
)

// priceReach is how far a price is raised, in multiples of it.
const priceReach = 9

// prices finds the range of each pool's price, and of each accelerator's where it has
// several pools.
func (e *explainer) prices() error {
	accelerators := map[string][]int{}
	for g := range e.cycle.fleet.Pools {
		name := e.cycle.fleet.Pools[g].Accelerator
		accelerators[name] = append(accelerators[name], g)
	}
	for g := range e.cycle.fleet.Pools {
		if err := e.price(g, []int{g}); err != nil {
			return err
		}
	}
	for g := range e.cycle.fleet.Pools {
		if pools := accelerators[e.cycle.fleet.Pools[g].Accelerator]; len(pools) > 1 && pools[0] == g {
			if err := e.price(AllPools, pools); err != nil {
				return err
			}
		}
	}
	return nil
}

// price finds the range of a price that all the pools share.
func (e *explainer) price(pool int, pools []int) error {
	f := &e.cycle.fleet
	lowest, highest := math.Inf(1), 0.0
	for _, g := range pools {
		lowest, highest = min(lowest, f.Pools[g].PricePerHour), max(highest, f.Pools[g].PricePerHour)
	}
	paid := false
	for _, i := range e.free {
		for j := range f.Workloads[i].Variants {
			v := &f.Workloads[i].Variants[j]
			paid = paid || !v.Priced && slices.ContainsFunc(v.Pools, func(g int) bool { return slices.Contains(pools, g) })
		}
	}
	if !paid || highest == 0 {
		return nil
	}
	found, err := e.study.PriceRange(optimizer.Tariff{
		Units: func(w, v, k int) float64 {
			variant := &f.Workloads[e.free[w]].Variants[v]
			if variant.Priced || !slices.Contains(pools, variant.Pools[k]) {
				return 0
			}
			return float64(variant.DevicesPerReplica)
		},
		Fall: lowest, Rise: priceReach * highest,
	})
	if err != nil {
		return err
	}
	r := PriceRange{Pool: pool, Accelerator: f.Pools[pools[0]].Accelerator, PricePerHour: highest, Range: found}
	r.Reason = priceReason(f, &r, lowest)
	e.Prices = append(e.Prices, r)
	return nil
}

// curve is cost over all demand.
func (e *explainer) curve() error {
	return e.curveOf(AllWorkloads, []float64{0.5, 0.75, 0.9, 1, 1.1, 1.25, 1.5, 2})
}

// curvesAlone is the number of workloads with a curve of their own: those of the
// highest price.
const curvesAlone = 5

func (e *explainer) curves() error {
	if len(e.free) < 2 {
		return nil
	}
	dearest := slices.Clone(e.free)
	prices := make([]float64, len(e.cycle.fleet.Workloads))
	for _, i := range e.free {
		prices[i] = e.cycle.price(i)
	}
	slices.SortFunc(dearest, func(a, b int) int {
		return cmp.Or(-cmp.Compare(prices[a], prices[b]),
			cmp.Compare(e.cycle.fleet.Workloads[a].QualifiedName(), e.cycle.fleet.Workloads[b].QualifiedName()))
	})
	for _, i := range dearest[:min(len(dearest), curvesAlone)] {
		if e.cycle.fleet.Workloads[i].ArrivalRate == 0 {
			continue
		}
		if err := e.curveOf(i, []float64{0.5, 1, 2}); err != nil {
			return err
		}
	}
	return nil
}

// price is what the replicas of workload i cost.
func (c *cycle) price(i int) float64 {
	total := 0.0
	w := &c.fleet.Workloads[i]
	for j := range w.Variants {
		for k, n := range c.decision.Plans[i].Variants[j].Replicas {
			total += float64(n) * c.fleet.Price(&w.Variants[j], w.Variants[j].Pools[k])
		}
	}
	return total
}

func (e *explainer) curveOf(workload int, factors []float64) error {
	curve := DemandCurve{Workload: workload}
	var changed []int
	if workload != AllWorkloads {
		changed = []int{slices.Index(e.free, workload)}
	}
	for _, factor := range factors {
		s := e.cycle.solved
		if factor != 1 {
			var err error
			if s, err = e.study.Demand(factor, changed...); err != nil {
				return err
			}
		}
		held := e.heldCost()
		curve.Points = append(curve.Points, DemandPoint{
			Factor: factor, Objective: optimizer.Interval{Low: s.Bound + held, High: s.Objective + held},
			PricePerHour: s.PricePerHour + held, Proof: s.Proof, Demand: s.Demand, Unmet: queueing.Rate(unmet(s)),
		})
	}
	e.Curves = append(e.Curves, curve)
	return nil
}

// changes makes each limited pool smaller and larger by a tenth, in steps that its
// nodes or replicas can use.
func (e *explainer) changes() error {
	for g := range e.cycle.fleet.Pools {
		pool := &e.cycle.fleet.Pools[g]
		if !pool.Capacity.Limited {
			continue
		}
		step := e.step(g)
		step *= max(1, pool.Capacity.Value/(10*step))
		for _, devices := range []int{-step, step} {
			if pool.Capacity.Value+devices < 0 {
				continue
			}
			s, err := e.study.Pool(g, devices)
			if err != nil {
				return err
			}
			change := PoolChange{
				Pool: g, Devices: devices, Saving: e.study.Saving(s), Proof: s.Proof, Demand: s.Demand,
				Unmet: queueing.Rate(unmet(s)), Shortfall: shortfall(s),
			}
			first := e.firstShift(s, devices)
			change.clamp(e.cycle.solved, first)
			change.Reason = e.changeReason(&change, first)
			e.Changes = append(e.Changes, change)
		}
	}
	return nil
}

// shift is by how much more of a priority a plan serves than another one.
type shift struct {
	priority int
	served   float64
}

// firstShift is that of the first priority of which a plan with more or fewer devices serves more or less than that of now; zero where
// there is none. What both are proven to does not count, nor does less with more devices.
func (e *explainer) firstShift(s *optimizer.Solution, devices int) shift {
	demand := map[int]float64{}
	for i := range e.cycle.problem.Workloads {
		if w := &e.cycle.problem.Workloads[i]; !w.Penalized {
			demand[w.Priority] += w.Demand
		}
	}
	gap := max(e.cycle.fleet.Objective.RelativeGap, slight)
	before, after := unmetByPriority(e.cycle.solved), unmetByPriority(s)
	for _, priority := range slices.Sorted(maps.Keys(demand)) {
		served := before[priority] - after[priority]
		if math.Abs(served) > gap*demand[priority] && (served > 0) == (devices > 0) {
			return shift{priority, served}
		}
	}
	return shift{}
}

func unmetByPriority(s *optimizer.Solution) map[int]float64 {
	unmet := map[int]float64{}
	for _, l := range s.Levels {
		if l.Priority > 0 { // others are of replicas
			unmet[l.Priority] = l.Unmet
		}
	}
	return unmet
}

// clamp uses that more devices never cost more.
func (c *PoolChange) clamp(now *optimizer.Solution, first shift) {
	switch {
	case first.priority > 0:
	case c.Demand != now.Demand || float64(c.Unmet) != unmet(now) || c.Shortfall != shortfall(now):
	case c.Devices > 0:
		c.Saving.Low, c.Saving.High = max(0, c.Saving.Low), max(0, c.Saving.High)
	default:
		c.Saving.Low, c.Saving.High = min(0, c.Saving.Low), min(0, c.Saving.High)
	}
}

// step is the number of devices that makes a difference: a node, or the largest
// replica.
func (e *explainer) step(pool int) int {
	if n := e.cycle.fleet.Pools[pool].DevicesPerNode; n > 0 {
		return n
	}
	most := 1
	for i := range e.cycle.fleet.Workloads {
		for j := range e.cycle.fleet.Workloads[i].Variants {
			if v := &e.cycle.fleet.Workloads[i].Variants[j]; slices.Contains(v.Pools, pool) {
				most = max(most, v.DevicesPerReplica)
			}
		}
	}
	return most
}
