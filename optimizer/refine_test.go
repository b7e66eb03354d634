package optimizer

import (
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"github.com/poolwright/poolwright/optimizer/lp"
)

// Three replicas of 4 devices fit three pools of 5, as long as what runs in the first alone takes no more than one device. Where it takes two, the
// relaxation sees that there are enough devices, but not that the last ones are in several pools: with the first pool apart it does.
func TestRefineTakesPoolsApartWhereSomethingIsLost(t *testing.T) {
	p := &Problem{Pools: []Pool{{Name: "a", Limited: true, Capacity: 5}, {Name: "b", Limited: true, Capacity: 5}, {Name: "c", Limited: true, Capacity: 5}}}
	all := []Placement{{Pool: 0, PricePerHour: 4}, {Pool: 1, PricePerHour: 4}, {Pool: 2, PricePerHour: 4}}
	for _, name := range []string{"x", "y", "z"} {
		p.Workloads = append(p.Workloads, Workload{
			Name: name, Priority: 1, Demand: 1, Penalized: true, UnmetPenalty: 50,
			Variants: []Variant{{Name: "v", Capacity: 1, DevicesPerReplica: 4, Placements: all}},
		})
	}
	p.Workloads = append(p.Workloads, Workload{
		Name: "pinned", Priority: 1, Demand: 2, Penalized: true, UnmetPenalty: 50,
		Variants: []Variant{{Name: "v", Capacity: 1, DevicesPerReplica: 1, Placements: []Placement{{Pool: 0, PricePerHour: 1}}}},
	})
	o := Options{Effort: 100_000, LP: lp.Simplex(), limits: defaultLimits()}
	m := mergePools(p)
	by, replicas, left := m.solveMerged(o)
	finer := m.refine(by.Solution, m.split(by.Solution, replicas), lack{devices: left})
	if finer == nil {
		t.Fatalf("nothing is lost of %v: left %v", by.Objective, left)
	}
	if want := [][]int{{0}, {1, 2}}; !reflect.DeepEqual(finer.members, want) {
		t.Errorf("classes %v, want %v", finer.members, want)
	}
	finest, replicas, left := finer.solveMerged(o)
	if by.Objective != 14 || finest.Objective != 60 || slices.Max(left) > 0 {
		t.Errorf("merged %v and finer %v with %v left, want 14 and 60 without", by.Objective, finest.Objective, left)
	}
	if again := finer.refine(finest.Solution, finer.split(finest.Solution, replicas), lack{devices: left}); again != nil {
		t.Errorf("refined to %v where nothing is lost", again.members)
	}
}

// However fine, a relaxation bounds the problem.
func TestFinerRelaxationsAreRelaxations(t *testing.T) {
	refined := 0
	for seed := range uint64(60) {
		kind := []fleetKind{tightFleet, looseFleet, penalizedFleet}[seed%3]
		r := rand.New(rand.NewPCG(seed, 21))
		p := inZones(r, randomFleet(seed, kind, 10, 4), 3, int(seed)%4)
		for i := range p.Workloads {
			for j := range p.Workloads[i].Variants {
				if v := &p.Workloads[i].Variants[j]; r.IntN(3) == 0 {
					v.Placements = v.Placements[r.IntN(len(v.Placements)):][:1]
				}
			}
		}
		best := solve(t, p, Options{Effort: 100_000})
		if kind != penalizedFleet && best.Demand != Served {
			continue // a relaxation may serve more, at more cost
		}
		o := Options{Effort: 50_000, LP: lp.Simplex(), limits: defaultLimits()}
		for m := mergePools(p); m != nil; {
			by, replicas, left := m.solveMerged(o)
			if by.Bound > best.Objective*(1+1e-9) {
				t.Errorf("seed %d: bound %v of %v, classes %v", seed, by.Bound, best.Objective, m.members)
			}
			if m = m.refine(by.Solution, m.split(by.Solution, replicas), lack{devices: left}); m != nil {
				refined++
			}
		}
	}
	if refined == 0 {
		t.Error("nothing was refined")
	}
	t.Log(refined, "refined")
}
