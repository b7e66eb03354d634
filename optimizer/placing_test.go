package optimizer

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

// zonesOf draws pools of one class, quotas of namespaces in them and replicas of the sizes given, which are placed.
func zonesOf(r *rand.Rand, namespaces int, sizes []int) *Problem {
	p := &Problem{}
	for g := range 2 + r.IntN(3) {
		p.Pools = append(p.Pools, Pool{Name: fmt.Sprint("g", g), Limited: true, Capacity: r.IntN(40)})
	}
	for n := range namespaces {
		for g := range p.Pools {
			if r.IntN(5) > 0 {
				p.Quotas = append(p.Quotas, Quota{Namespace: fmt.Sprint("n", n), Pool: g, Capacity: r.IntN(1 + 60/(1+namespaces))})
			}
		}
		for _, size := range sizes {
			v := Variant{Name: "v", Capacity: 1, DevicesPerReplica: size}
			for g := range p.Pools {
				v.Placements = append(v.Placements, Placement{Pool: g, PricePerHour: float64(size)})
			}
			p.Workloads = append(p.Workloads, Workload{
				Name: fmt.Sprint("w", n, size), Namespace: fmt.Sprint("n", n), Priority: 1, Demand: float64(r.IntN(1 + 40/size/namespaces)),
				Penalized: true, UnmetPenalty: 100 * float64(size), Variants: []Variant{v},
			})
		}
	}
	return p
}

// placed places as many replicas as serve all demand, and returns the devices of those that find no room.
func placed(t *testing.T, p *Problem) (left int) {
	t.Helper()
	m := mergePools(p)
	if m == nil {
		t.Fatalf("not merged: %+v", p)
	}
	merged := &Solution{}
	for i := range p.Workloads {
		merged.Allocations = append(merged.Allocations, Allocation{Replicas: [][]int{{int(p.Workloads[i].Demand)}}})
	}
	replicas, lefts := m.place(merged, asGiven(m.to, nil))
	e, err := p.Evaluate(replicas)
	if err != nil || len(e.Violations) > 0 {
		t.Fatalf("error %v, violations %v: %+v", err, e.Violations, p)
	}
	for i, unmet := range e.Unmet {
		left += int(unmet) * p.Workloads[i].Variants[0].DevicesPerReplica
	}
	if lefts[0] != left {
		t.Fatalf("%d devices find no room, said %d: %+v", left, lefts[0], p)
	}
	return left
}

// Of replicas of one size as many find room as there is for, however quotas and pools stand in each other's way.
func TestPlacingIsBestForOneSize(t *testing.T) {
	some := 0
	for seed := range uint64(400) {
		r := rand.New(rand.NewPCG(seed, 11))
		p := zonesOf(r, 1+r.IntN(4), []int{1 << r.IntN(3)})
		left, size := placed(t, p), p.Workloads[0].Variants[0].DevicesPerReplica
		o := Options{limits: defaultLimits(), LP: engines()[0], Effort: defaultEffort}
		s := solveAsIs(p, o, nil)
		best := 0
		for i := range s.Allocations {
			best += int(s.Allocations[i].Unmet) * size
		}
		if s.Proof != Optimal || left != best {
			t.Fatalf("seed %d: %d devices find no room, %v with %d: %+v", seed, left, s.Proof, best, p)
		}
		if left > 0 {
			some++
		}
	}
	if some == 0 {
		t.Error("all always find room")
	}
}

// The limits of merged pools and quotas are exact for one namespace: what keeps to them finds room, and nothing else does.
func TestLimitsOfMergedQuotasAreExactForOneNamespace(t *testing.T) {
	fits := map[bool]int{}
	for seed := range uint64(2000) {
		r := rand.New(rand.NewPCG(seed, 12))
		p := zonesOf(r, 1, []int{1, 2, 4, 8}[:2+r.IntN(3)])
		m := mergePools(p)
		limits := packPools(m.to)[0].limits()
		for q := range m.to.Quotas {
			limits = append(limits, m.to.Quotas[q].limits(nil)...)
		}
		keeps := true
		for _, l := range limits {
			devices := 0
			for i := range p.Workloads {
				if d := p.Workloads[i].Variants[0].DevicesPerReplica; d >= l.size {
					devices += d * int(p.Workloads[i].Demand)
				}
			}
			keeps = keeps && devices <= l.devices
		}
		if found := placed(t, p) == 0; found != keeps {
			t.Fatalf("seed %d: all find room: %v, all limits are kept: %v: %+v", seed, found, keeps, p)
		}
		fits[keeps]++
	}
	if len(fits) != 2 {
		t.Errorf("%v", fits)
	}
}
