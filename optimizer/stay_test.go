package optimizer

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// twins are workloads each of which two variants serve equally well, on pools of so
// many devices.
func twins(workloads, devices int, mixing Mixing) *Problem {
	p := &Problem{Pools: []Pool{
		{Name: "a", Limited: true, Capacity: devices}, {Name: "b", Limited: true, Capacity: devices},
	}}
	for i := range workloads {
		w := Workload{Name: string(rune('a' + i)), Priority: 1, Demand: 4, Mixing: mixing}
		for j, name := range []string{"x", "y"} {
			w.Variants = append(w.Variants, Variant{
				Name: name, Capacity: 1, DevicesPerReplica: 1, Placements: []Placement{{Pool: j, PricePerHour: 1}},
			})
		}
		p.Workloads = append(p.Workloads, w)
	}
	return p
}

func solveTwins(t *testing.T, p *Problem) *Solution {
	t.Helper()
	s, err := Solve(p, Options{})
	require.NoError(t, err)
	return s
}

func TestStayKeepsWhatIsAsGood(t *testing.T) {
	for name, current := range map[string][][][]int{
		"one":   {{{4}, {0}}, {{4}, {0}}},
		"other": {{{0}, {4}}, {{0}, {4}}},
		"mixed": {{{1}, {3}}, {{2}, {2}}},
	} {
		t.Run(name, func(t *testing.T) {
			p := twins(2, 20, Allowed)
			s, err := p.Stay(solveTwins(t, p), current, 0)
			require.NoError(t, err)
			assert.Equal(t, current, s.Replicas())
			assert.Equal(t, Optimal, s.Proof)
			assert.InDelta(t, 8, s.Objective, 0)
			assert.InDelta(t, 0, s.Gap, 1e-8)
			assert.Equal(t, current[0][0][0]+current[1][0][0], s.Pools[0].Used)
		})
	}
}

// What serves less, costs more than the gap allows, breaks what was declared, or does not
// fit, does not stay.
func TestStayKeepsNothingWorse(t *testing.T) {
	for name, c := range map[string]struct {
		change  func(*Problem)
		current [][]int
	}{
		"serves less":   {func(*Problem) {}, [][]int{{3}, {0}}},
		"costs more":    {func(*Problem) {}, [][]int{{5}, {0}}},
		"below minimum": {func(p *Problem) { p.Workloads[0].Variants[1].MinReplicas = 4 }, [][]int{{4}, {0}}},
		"above maximum": {func(p *Problem) { p.Workloads[0].Variants[0].MaxReplicas = Bound{Limited: true, Value: 3} }, [][]int{{4}, {0}}},
		"mixed":         {func(p *Problem) { p.Workloads[0].Mixing = Single }, [][]int{{2}, {2}}},
		"no room":       {func(p *Problem) { p.Pools[0].Capacity = 3 }, [][]int{{4}, {0}}},
	} {
		t.Run(name, func(t *testing.T) {
			p := twins(1, 20, Allowed)
			c.change(p)
			before := solveTwins(t, p)
			s, err := p.Stay(before, [][][]int{c.current}, 0.001)
			require.NoError(t, err)
			assert.Equal(t, before, s)
		})
	}
}

func TestStayWithinTheGap(t *testing.T) {
	p := twins(1, 20, Allowed)
	before := solveTwins(t, p)
	s, err := p.Stay(before, [][][]int{{{0}, {5}}}, 0.25)
	require.NoError(t, err)
	assert.InDelta(t, 5, s.Objective, 0)
	assert.InDelta(t, 0.2, s.Gap, 1e-8)
	assert.InDelta(t, 4, before.Objective, 0, "the solution given stays as it was")
}

// Whatever stays, the plan keeps all limits, serves as much, and is within the gap.
func TestStayIsSound(t *testing.T) {
	stayed := 0
	for seed := range uint64(600) {
		r := rand.New(rand.NewPCG(seed, 5))
		p := randomSmall(r)
		s, err := Solve(p, Options{RelativeGap: 0.01})
		require.NoError(t, err)
		next, err := p.Stay(s, nearby(t, r, p), 0.1)
		require.NoError(t, err)
		e, err := p.Evaluate(next.Replicas())
		require.NoError(t, err)
		assert.Empty(t, e.Violations)
		assert.InDelta(t, e.Objective, next.Objective, 1e-6*(1+next.Objective))
		assert.LessOrEqual(t, next.Objective, max(s.Objective, s.Bound+0.1*s.Objective)+1e-6*(1+s.Objective))
		for i := range e.Unmet {
			assert.LessOrEqual(t, e.Unmet[i], s.Allocations[i].Unmet+1e-6*(1+p.Workloads[i].Demand))
			assert.LessOrEqual(t, e.Shortfall[i], s.Allocations[i].Shortfall)
		}
		if next != s {
			stayed++
		}
	}
	assert.Positive(t, stayed)
}

// nearby is a plan that is best under slightly other prices.
func nearby(t *testing.T, r *rand.Rand, p *Problem) [][][]int {
	t.Helper()
	q := *p
	q.Workloads = slices.Clone(p.Workloads)
	for i := range q.Workloads {
		w := &q.Workloads[i]
		w.Variants = slices.Clone(w.Variants)
		for j := range w.Variants {
			places := slices.Clone(w.Variants[j].Placements)
			for k := range places {
				places[k].PricePerHour *= 0.9 + 0.2*r.Float64()
			}
			w.Variants[j].Placements = places
		}
	}
	s, err := Solve(&q, Options{})
	require.NoError(t, err)
	return s.Replicas()
}
