package optimizer

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
)

// A start changes the way, not what is proven: whatever has changed in between, plan and bound agree
// with those of a cold solve.
func TestStartKeepsTheProof(t *testing.T) {
	fleets := map[string]*Problem{"quotas": tenantFleet(5, tightFleet, 12, 6)}
	for _, kind := range []fleetKind{looseFleet, tightFleet, veryTightFleet, penalizedFleet, budgetFleet, singleFleet, uniformFleet, nodeFleet} {
		fleets[kind.String()] = randomFleet(5, kind, 12, 4)
	}
	for prices := range 3 {
		fleets[fmt.Sprint("zones ", prices)] = inZones(rand.New(rand.NewPCG(5, 5)), fleets["tight"], 3, prices)
	}
	for name, before := range fleets {
		t.Run(name, func(t *testing.T) {
			const gap = 1e-3
			start := &Start{Problem: before, Solution: solve(t, before, Options{RelativeGap: gap})}
			for name, after := range changedFleets(before) {
				cold, warm := solve(t, after, Options{RelativeGap: gap}), solve(t, after, Options{RelativeGap: gap, Start: start})
				checkSolution(t, after, warm)
				if warm.Proof != cold.Proof || len(warm.Levels) != len(cold.Levels) {
					t.Errorf("%s: %v, levels %+v; without a start %+v", name, warm.Proof, warm.Levels, cold.Levels)
				}
				if len(warm.Levels) == 0 && (warm.Bound > cold.Objective || cold.Bound > warm.Objective) {
					t.Errorf("%s: [%v, %v] with a start, [%v, %v] without", name, warm.Bound, warm.Objective, cold.Bound, cold.Objective)
				}
			}
		})
	}
}

// changedFleets are fleets after the changes that happen between two solves.
func changedFleets(p *Problem) map[string]*Problem {
	moved, reordered, smaller, grown := p.copied(), p.copied(), p.copied(), p.copied()
	for i := range moved.Workloads {
		moved.Workloads[i].Demand *= 1 + 0.1*float64(i%3)
	}
	slices.Reverse(reordered.Workloads)
	slices.Reverse(reordered.Pools)
	for i := range reordered.Workloads {
		for j := range reordered.Workloads[i].Variants {
			v := &reordered.Workloads[i].Variants[j]
			v.Placements = slices.Clone(v.Placements)
			for k := range v.Placements {
				v.Placements[k].Pool = len(p.Pools) - 1 - v.Placements[k].Pool
			}
		}
	}
	for q := range reordered.Quotas {
		reordered.Quotas[q].Pool = len(p.Pools) - 1 - reordered.Quotas[q].Pool
	}
	smaller.Workloads = smaller.Workloads[:len(smaller.Workloads)-3]
	extra := grown.Workloads[0]
	extra.Name = "new"
	grown.Workloads = append(grown.Workloads, extra)
	return map[string]*Problem{"same": p, "moved": moved, "reordered": reordered, "smaller": smaller, "grown": grown}
}

// After little has changed most of the work is saved.
func TestStartSavesEffort(t *testing.T) {
	p := randomFleet(2, penalizedFleet, 1000, 5)
	cold := solve(t, p, Options{RelativeGap: 1e-3})
	start := &Start{Problem: p, Solution: cold}
	after := p.copied()
	for i := 0; i < len(after.Workloads); i += 20 {
		after.Workloads[i].Demand *= 1.1
	}
	again, warm := solve(t, after, Options{RelativeGap: 1e-3}), solve(t, after, Options{RelativeGap: 1e-3, Start: start})
	if warm.Proof != Optimal || 2*warm.Effort > again.Effort {
		t.Errorf("effort %d with a start, %d without", warm.Effort, again.Effort)
	}
}

func TestStartOfAnotherShapeIsRefused(t *testing.T) {
	p := randomFleet(2, tightFleet, 5, 3)
	s := solve(t, p, Options{RelativeGap: 1e-3})
	other := randomFleet(2, tightFleet, 6, 3)
	for i, start := range []*Start{{}, {Problem: p}, {Problem: other, Solution: s}, {Problem: p, Solution: &Solution{Allocations: s.Allocations}}} {
		if _, err := Solve(p, Options{Start: start}); err == nil {
			t.Error(fmt.Sprint("accepted start ", i))
		}
	}
}
