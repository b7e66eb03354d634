package instance_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/poolwright/poolwright/internal/instance"
	"github.com/poolwright/poolwright/optimizer"
)

func TestGenerateIsValidAndRepeats(t *testing.T) {
	for _, kind := range instance.Kinds() {
		for _, p := range []instance.Params{
			{Kind: kind, Workloads: 1, Pools: 1},
			{Kind: kind, Workloads: 50, Pools: 5, Seed: 1},
			{Kind: kind, Workloads: 50, Pools: 8, SingleShare: 0.2, Lexicographic: true, Seed: 2},
			{Kind: kind, Workloads: 50, Pools: 10, Namespaces: 3, DevicesPerNode: 8, Seed: 3},
			{Kind: kind, Workloads: 50, Pools: 5, Zones: 3, Namespaces: 2, Seed: 4},
		} {
			problem := instance.Generate(p)
			require.NoError(t, problem.Validate())
			assert.Len(t, problem.Workloads, p.Workloads)
			assert.Len(t, problem.Pools, p.Pools*max(1, p.Zones))
			assert.Len(t, problem.Quotas, p.Namespaces*len(problem.Pools))
			assert.Equal(t, problem, instance.Generate(p))
		}
	}
}

func TestGenerateHeedsParams(t *testing.T) {
	single := func(p *optimizer.Problem) (n int) {
		for i := range p.Workloads {
			if p.Workloads[i].Mixing == optimizer.Single {
				n++
			}
		}
		return n
	}
	p := instance.Params{Workloads: 500, Pools: 8, Seed: 4}
	assert.Zero(t, single(instance.Generate(p)))
	p.SingleShare = 0.2
	assert.InDelta(t, 100, single(instance.Generate(p)), 30)
	p.Kind, p.SingleShare = instance.SingleType, 0
	assert.Equal(t, 500, single(instance.Generate(p)))
	assert.True(t, instance.Generate(p).Workloads[0].Penalized)
	p.Lexicographic = true
	assert.False(t, instance.Generate(p).Workloads[0].Penalized)
	assert.Panics(t, func() { instance.Generate(instance.Params{Workloads: 1}) })
}

// What a kind promises shows in the plans.
func TestKinds(t *testing.T) {
	for _, kind := range instance.Kinds() {
		t.Run(kind.String(), func(t *testing.T) {
			const seeds, pools = 5, 5
			full, unmet, budgetPrice := 0, 0.0, 0.0
			for seed := range uint64(seeds) {
				problem := instance.Generate(instance.Params{Kind: kind, Workloads: 60, Pools: pools, Seed: seed})
				plan, err := optimizer.Solve(problem, optimizer.Options{RelativeGap: 0.005, Effort: 1_000_000})
				require.NoError(t, err)
				full += fullPools(problem, plan)
				unmet += unmetShare(problem, plan) / seeds
				budgetPrice += plan.BudgetShadowPrice
			}
			switch kind {
			case instance.Loose:
				assert.LessOrEqual(t, full, seeds)
				assert.Less(t, unmet, 0.01)
			case instance.Tight, instance.SingleType:
				assert.GreaterOrEqual(t, full, seeds)
				assert.Less(t, unmet, 0.05)
			case instance.VeryTight:
				assert.GreaterOrEqual(t, full, 3*seeds)
				assert.Less(t, unmet, 0.25)
			case instance.Short:
				assert.Equal(t, pools*seeds, full)
				assert.Greater(t, unmet, 0.25)
			case instance.Budget:
				assert.LessOrEqual(t, full, seeds)
				assert.Positive(t, budgetPrice)
			}
		})
	}
}

// fullPools counts pools of which 99 % or more is in use.
func fullPools(problem *optimizer.Problem, plan *optimizer.Solution) (n int) {
	for g, pool := range problem.Pools {
		if 100*plan.Pools[g].Used >= 99*pool.Capacity {
			n++
		}
	}
	return n
}

// unmetShare is the mean over workloads of the share of demand that is not served.
func unmetShare(problem *optimizer.Problem, plan *optimizer.Solution) float64 {
	total := 0.0
	for i, a := range plan.Allocations {
		total += a.Unmet / problem.Workloads[i].Demand
	}
	return total / float64(len(problem.Workloads))
}

func TestMoveDemand(t *testing.T) {
	before := instance.Generate(instance.Params{Workloads: 1000, Pools: 5, Seed: 5})
	after := instance.MoveDemand(before, 0.05, 0.2, 6)
	require.NoError(t, after.Validate())
	moved := 0
	for i := range after.Workloads {
		if after.Workloads[i].Demand != before.Workloads[i].Demand {
			moved++
		}
	}
	assert.InDelta(t, 50, moved, 25)
	assert.Equal(t, before, instance.Generate(instance.Params{Workloads: 1000, Pools: 5, Seed: 5}))
	assert.Equal(t, after, instance.MoveDemand(before, 0.05, 0.2, 6))
}

// Each accelerator is the cheapest for some shape, and a mix is cheaper than any
// one of them.
func TestMix(t *testing.T) {
	problem := instance.Mix(128, 1)
	require.NoError(t, problem.Validate())
	assert.Equal(t, problem, instance.Mix(128, 1))
	w := &problem.Workloads[0]
	require.Len(t, w.Shapes, 60)
	require.Len(t, w.Variants, 4)
	best := make([]int, len(w.Variants))
	for s := range w.Shapes {
		cheapest := 0
		for j := range w.Variants {
			if w.Variants[j].Placements[0].PricePerHour/w.Variants[j].ShapeCapacities[s] <
				w.Variants[cheapest].Placements[0].PricePerHour/w.Variants[cheapest].ShapeCapacities[s] {
				cheapest = j
			}
		}
		best[cheapest]++
	}
	assert.NotContains(t, best, 0)
	plan, err := optimizer.Solve(problem, optimizer.Options{})
	require.NoError(t, err)
	for j := range w.Variants {
		one := *problem
		one.Workloads = []optimizer.Workload{*w}
		one.Workloads[0].Variants = w.Variants[j : j+1]
		alone, err := optimizer.Solve(&one, optimizer.Options{})
		require.NoError(t, err)
		if alone.Demand == optimizer.Served {
			assert.Greater(t, alone.Objective, plan.Objective)
		}
	}
}
