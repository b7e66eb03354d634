package instance

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/poolwright/poolwright/optimizer"
)

// Params says what to draw.
type Params struct {
	Kind Kind
	// Workloads and Pools are counts ≥ 1.
	Workloads, Pools int
	// SingleShare is the share of workloads, 0 to 1, that use one variant at a time;
	// with kind SingleType all do.
	SingleShare float64
	// Lexicographic: unmet demand has no penalty, priorities decide.
	Lexicographic bool
	// Namespaces > 0: workloads are spread over so many, each with a quota in every
	// pool.
	Namespaces int
	// DevicesPerNode > 0: pools are made of such nodes, the last one partial. A power
	// of two.
	DevicesPerNode int
	// Zones > 1: there are so many pools of each accelerator, one in each zone, among which
	// variants may choose, at prices up to a tenth apart. Pools is the number of accelerators then.
	Zones int
	Seed  uint64
}

// Generate draws a problem. It panics if Workloads or Pools is less than 1.
func Generate(p Params) *optimizer.Problem {
	if p.Workloads < 1 || p.Pools < 1 {
		panic(fmt.Sprintf("instance: %d workloads and %d pools, at least one of each is needed", p.Workloads, p.Pools))
	}
	r := rand.New(rand.NewPCG(p.Seed, 0))
	types := accelerators(p.Pools)
	problem := &optimizer.Problem{}
	for i := range p.Workloads {
		problem.Workloads = append(problem.Workloads, drawWorkload(r, p, i, types))
	}
	d := demandOf(problem, p.Pools)
	d.addPools(r, p, types, problem)
	if p.Zones > 1 {
		splitPools(r, p.Zones, problem)
	}
	if p.Namespaces > 0 {
		d.addQuotas(r, p, problem)
	}
	if p.Kind == Budget {
		problem.BudgetPerHour = round(budgetShare*d.price, 2)
	}
	return problem
}

// demand is what the workloads would use if nothing were limited.
type demand struct {
	// wanted is devices by pool if each workload took the one variant that serves it
	// for least, and spread if each split its demand evenly over its variants.
	wanted, spread []float64
	price          float64
}

func demandOf(problem *optimizer.Problem, pools int) demand {
	d := demand{wanted: make([]float64, pools), spread: make([]float64, pools)}
	for i := range problem.Workloads {
		w := &problem.Workloads[i]
		best, least := 0, math.Inf(1)
		for j := range w.Variants {
			v := &w.Variants[j]
			if price := replicas(v, w.Demand) * v.Placements[0].PricePerHour; price < least {
				best, least = j, price
			}
			d.spread[v.Placements[0].Pool] += replicas(v, w.Demand/float64(len(w.Variants))) * float64(v.DevicesPerReplica)
		}
		v := &w.Variants[best]
		d.wanted[v.Placements[0].Pool] += replicas(v, w.Demand) * float64(v.DevicesPerReplica)
		d.price += least
	}
	return d
}

func replicas(v *optimizer.Variant, demand float64) float64 { return math.Ceil(demand / v.Capacity) }

func (d demand) addPools(r *rand.Rand, p Params, types []accelerator, problem *optimizer.Problem) {
	order := make([]int, len(types))
	for g := range order {
		order[g] = g
	}
	value := func(g int) float64 { return d.wanted[g] * types[g].pricePerHour }
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(value(b), value(a)) })
	s := p.Kind.supply()
	scarce := order[:int(math.Ceil(s.scarce*float64(len(order))))]
	for g, a := range types {
		size := s.devices(r, d.wanted[g], d.spread[g], slices.Contains(scarce, g))
		problem.Pools = append(problem.Pools, optimizer.Pool{
			Name: a.name, Limited: true, Capacity: max(1, int(math.Ceil(size))), DevicesPerNode: p.DevicesPerNode,
		})
	}
}

// splitPools splits every pool into zones. A variant may run in all of those of its pool.
func splitPools(r *rand.Rand, zones int, problem *optimizer.Problem) {
	factors := make([]float64, zones)
	for z := range factors {
		factors[z] = round(1+0.1*r.Float64(), 2)
	}
	var pools []optimizer.Pool
	for _, whole := range problem.Pools {
		left := whole.Capacity
		for z := range zones {
			zone := whole
			zone.Name = fmt.Sprintf("%s-%d", whole.Name, z)
			if zone.Capacity = left; z < zones-1 {
				zone.Capacity = min(left, int((0.5+r.Float64())/float64(zones)*float64(whole.Capacity)))
			}
			left -= zone.Capacity
			pools = append(pools, zone)
		}
	}
	problem.Pools = pools
	for i := range problem.Workloads {
		for j := range problem.Workloads[i].Variants {
			v := &problem.Workloads[i].Variants[j]
			whole := v.Placements[0]
			v.Placements = nil
			for z, factor := range factors {
				v.Placements = append(v.Placements, optimizer.Placement{Pool: whole.Pool*zones + z, PricePerHour: whole.PricePerHour * factor})
			}
		}
	}
}

// Pin lets the first so many workloads of a problem with zones run in one of them each, in turn.
func Pin(p *optimizer.Problem, workloads, zones int) {
	for i := range p.Workloads[:workloads] {
		for j := range p.Workloads[i].Variants {
			v := &p.Workloads[i].Variants[j]
			v.Placements = v.Placements[i%zones:][:1]
		}
	}
}

// addQuotas shares every pool out with some slack, so that the quotas of large
// namespaces bind.
func (d demand) addQuotas(r *rand.Rand, p Params, problem *optimizer.Problem) {
	for n := range p.Namespaces {
		for g := range problem.Pools {
			share := (0.9 + 0.6*r.Float64()) / float64(p.Namespaces)
			problem.Quotas = append(problem.Quotas, optimizer.Quota{
				Namespace: fmt.Sprintf("team-%02d", n), Pool: g,
				Capacity: int(math.Ceil(share * float64(problem.Pools[g].Capacity))),
			})
		}
	}
}

// MoveDemand returns the problem with the demand of a share of the workloads, 0 to
// 1, multiplied by a factor whose logarithm has the standard deviation spread.
func MoveDemand(problem *optimizer.Problem, share, spread float64, seed uint64) *optimizer.Problem {
	r := rand.New(rand.NewPCG(seed, 0))
	moved := *problem
	moved.Workloads = slices.Clone(problem.Workloads)
	for i := range moved.Workloads {
		if r.Float64() < share {
			w := &moved.Workloads[i]
			w.Demand = round(w.Demand*math.Exp(spread*r.NormFloat64()), 4)
		}
	}
	return &moved
}
