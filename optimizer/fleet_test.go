package optimizer

import (
	"fmt"
	"math"
	"math/rand/v2"
)

// fleetKind is what makes a generated fleet hard.
type fleetKind int

const (
	looseFleet fleetKind = iota
	tightFleet
	veryTightFleet
	// shortFleet can't serve everything; priorities decide.
	shortFleet
	// penalizedFleet can't serve everything; penalties decide.
	penalizedFleet
	budgetFleet
	// singleFleet allows one variant per workload.
	singleFleet
	// uniformFleet has one pool.
	uniformFleet
	quotaFleet
	// nodeFleet has pools of nodes and replicas of several nodes.
	nodeFleet
)

func (k fleetKind) String() string {
	return [...]string{"loose", "tight", "very tight", "short", "penalized", "budget", "single", "uniform", "quota", "node"}[k]
}

// accelerators have relative speeds and prices per device and hour; the dearer ones
// are cheaper per unit of work, on average.
var accelerators = []struct{ speed, price float64 }{
	{3.2, 4.1}, {1.6, 2.2}, {0.7, 1.1}, {4.4, 6.0}, {0.4, 0.7}, {2.4, 3.6},
}

// randomFleet draws a mid-size fleet whose pools hold what a cheap plan without
// limits would use, times a factor that depends on the kind.
func randomFleet(seed uint64, kind fleetKind, workloads, variants int) *Problem {
	r := rand.New(rand.NewPCG(seed, uint64(kind)))
	p := &Problem{}
	pools := 5
	if kind == uniformFleet {
		pools = 1
	}
	for g := range pools {
		pool := Pool{Name: fmt.Sprint("pool", g), Limited: true}
		if kind == nodeFleet {
			pool.DevicesPerNode = 8
		}
		p.Pools = append(p.Pools, pool)
	}
	for i := range workloads {
		p.Workloads = append(p.Workloads, randomWorkload(r, kind, i, variants, pools))
	}
	wanted, price := p.cheapestUse()
	factor := map[fleetKind]float64{looseFleet: 1.5, veryTightFleet: 0.6, shortFleet: 0.35, penalizedFleet: 0.35}[kind]
	if factor == 0 {
		factor = 0.85
	}
	for g := range p.Pools {
		scarcity := factor * (0.6 + 0.8*r.Float64())
		p.Pools[g].Capacity = int(math.Ceil(scarcity*wanted[g])) + 2
		if kind == looseFleet || kind == veryTightFleet || kind == quotaFleet || g == 2 {
			p.Pools[g].Capacity += int(factor * wanted[g])
		}
		if kind == quotaFleet {
			for n := range 4 {
				p.Quotas = append(p.Quotas, Quota{Namespace: fmt.Sprint("team", n), Pool: g, Capacity: 8 + int(wanted[g]*(0.25+0.3*r.Float64()))})
			}
		}
	}
	if kind == budgetFleet {
		p.BudgetPerHour = 0.95 * price
	}
	return p
}

func randomWorkload(r *rand.Rand, kind fleetKind, i, variants, pools int) Workload {
	w := Workload{
		Name: fmt.Sprint("w", i), Namespace: fmt.Sprint("team", r.IntN(4)),
		Priority: 1 + r.IntN(3), Demand: math.Round(1000*math.Exp(0.5+1.1*r.NormFloat64())) / 100,
	}
	if kind == penalizedFleet || kind == budgetFleet {
		w.Penalized, w.UnmetPenalty = true, math.Round(100*(2+20*r.Float64()))/100
	}
	if kind == singleFleet {
		w.Mixing = Single
	}
	size := math.Exp(r.NormFloat64())
	for j := range variants {
		g := r.IntN(pools)
		devices := 1 << r.IntN(4)
		nodes := 1
		if kind == nodeFleet && r.IntN(10) == 0 {
			devices, nodes = 16, 2
		}
		a := accelerators[g]
		speed := a.speed * float64(devices) * math.Pow(0.93, math.Log2(float64(devices))) * math.Exp(0.25*r.NormFloat64())
		v := Variant{
			Name: fmt.Sprint("v", j), Capacity: math.Round(1000*speed/size+1) / 1000, DevicesPerReplica: devices, NodesPerReplica: nodes,
			Placements: []Placement{{Pool: g, PricePerHour: math.Round(100*a.price*float64(devices)) / 100}},
		}
		if r.IntN(3) == 0 {
			v.CurrentReplicas = r.IntN(4)
		}
		v.SwitchUp = math.Round(10*v.Placements[0].PricePerHour) / 100
		v.SwitchDown = math.Round(3*v.Placements[0].PricePerHour) / 100
		w.Variants = append(w.Variants, v)
	}
	return w
}

// cheapestUse is the devices and the price if every workload took its cheapest
// variant by price per request/s.
func (p *Problem) cheapestUse() (devices []float64, price float64) {
	devices = make([]float64, len(p.Pools))
	for i := range p.Workloads {
		w := &p.Workloads[i]
		best, least := 0, math.Inf(1)
		for j := range w.Variants {
			if c := w.Variants[j].Placements[0].PricePerHour / w.Variants[j].Capacity; c < least {
				best, least = j, c
			}
		}
		v := &w.Variants[best]
		n := math.Ceil(w.Demand / v.Capacity)
		devices[v.Placements[0].Pool] += n * float64(v.DevicesPerReplica)
		price += n * v.Placements[0].PricePerHour
	}
	return devices, price
}
