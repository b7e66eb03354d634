package optimizer

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// Every plan of a problem is one of the merged problem that costs no more, whatever sets of pools have limits for what overflows.
func TestOverflowsAllowEveryPlan(t *testing.T) {
	limited := 0
	for seed := range uint64(3000) {
		r := rand.New(rand.NewPCG(seed, 11))
		p := randomZones(r)
		m := mergePools(p)
		if m == nil {
			continue
		}
		for _, members := range m.members {
			if p.Pools[members[0]].DevicesPerNode > 0 {
				continue
			}
			for set := 1; set < 1<<len(members)-1; set++ {
				var pools []int
				for k, g := range members {
					if set>>k&1 == 1 {
						pools = append(pools, g)
					}
				}
				slices.Sort(pools)
				m.takers = append(m.takers, pools)
			}
		}
		limited += len(m.takers)
		m.build(replicaSizes(p))
		replicas := randomPlan(r, p)
		plan, err := p.Evaluate(replicas)
		if err != nil {
			t.Fatal(err)
		}
		of := m.join(replicas)
		merged, err := m.to.Evaluate(of)
		if err != nil {
			t.Fatal(err)
		}
		if len(plan.Violations) == 0 && len(merged.Violations) > 0 || merged.Objective > plan.Objective+1e-9*(1+plan.Objective) {
			t.Fatalf("seed %d: %v, merged %v, %v", seed, plan.Objective, merged.Objective, merged.Violations)
		}
		if row := brokenRow(m.to, of); len(plan.Violations) == 0 && row != nil {
			t.Fatalf("seed %d: %+v is broken", seed, *row)
		}
	}
	if limited == 0 {
		t.Error("nothing overflows")
	}
}

// brokenRow is a row for devices of the program that the search solves which a plan exceeds, nil if there is none.
func brokenRow(p *Problem, replicas [][][]int) *couplingRow {
	c := asGiven(p, nil)
	program := newProgram(c, packPools(p), rounding{}, stage{elastic: true, settled: map[int]float64{}}, nil)
	used := make([]float64, len(program.rows))
	for i := range replicas {
		w, item := &program.workloads[i], 0
		for j := range replicas[i] {
			for _, n := range replicas[i][j] {
				for _, u := range w.usesOf(&w.places[item]) {
					used[u.row] += float64(n) * u.amount
				}
				item++
			}
		}
	}
	for r := range program.rows {
		if row := &program.rows[r]; (row.kind == poolRow || row.kind == quotaRow) && used[r] > row.limit {
			return row
		}
	}
	return nil
}

// randomPlan places replicas where there is room, in random order.
func randomPlan(r *rand.Rand, p *Problem) [][][]int {
	replicas, room := make([][][]int, len(p.Workloads)), NewHeadroom(p)
	for i := range p.Workloads {
		replicas[i] = make([][]int, len(p.Workloads[i].Variants))
		for j := range replicas[i] {
			replicas[i][j] = make([]int, len(p.Workloads[i].Variants[j].Placements))
		}
	}
	for range 30 {
		i := r.IntN(len(p.Workloads))
		if len(replicas[i]) == 0 {
			continue
		}
		j := r.IntN(len(replicas[i]))
		k := r.IntN(len(replicas[i][j]))
		n := min(r.IntN(4), room.Replicas(i, j, k))
		room.Place(i, j, k, n)
		replicas[i][j][k] += n
	}
	return replicas
}

// Where prices of a pool are higher by so much for each device nothing is lost once what overflows is limited: the plan costs what it does
// when it is placed.
func TestNothingIsLostOfWhatOverflows(t *testing.T) {
	sharpened := 0
	for seed := range uint64(40) {
		kind := []fleetKind{tightFleet, veryTightFleet, penalizedFleet}[seed%3]
		p := inZones(rand.New(rand.NewPCG(seed, 12)), randomFleet(seed, kind, 12, 4), 3, 2)
		o := Options{RelativeGap: 1e-3, Effort: 100_000, limits: defaultLimits()}
		m := mergePools(p)
		merged, replicas, left := m.solveMerged(o)
		for sharper := m.sharpen(merged.Solution); sharper != nil; sharper = m.sharpen(merged.Solution) {
			sharpened++
			m = sharper
			merged, replicas, left = m.solveMerged(o)
		}
		plan, err := p.Evaluate(replicas)
		if err != nil {
			t.Fatal(err)
		}
		if off := plan.Objective - merged.Objective; len(plan.Violations) > 0 || slices.Max(left) > 0 || max(off, -off) > 1e-9*plan.Objective {
			t.Errorf("seed %d: %v, placed %v with %v left, %v", seed, merged.Objective, plan.Objective, left, plan.Violations)
		}
	}
	if sharpened == 0 {
		t.Error("nothing overflows")
	}
}
