package compact_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/poolwright/poolwright/benchmarks/solver/internal/compact"
	"github.com/poolwright/poolwright/internal/instance"
	"github.com/poolwright/poolwright/optimizer"
)

// fleet has one workload with two variants, of which the first runs.
func fleet() *optimizer.Problem {
	return &optimizer.Problem{
		Pools:         []optimizer.Pool{{Name: "a", Limited: true, Capacity: 12, DevicesPerNode: 8}, {Name: "b"}},
		Quotas:        []optimizer.Quota{{Namespace: "team", Pool: 0, Capacity: 10}},
		BudgetPerHour: 40,
		Workloads: []optimizer.Workload{{
			Name: "w", Namespace: "team", Priority: 1, Demand: 5, Penalized: true, UnmetPenalty: 7, Mixing: optimizer.Single,
			MinReplicas: 1, MaxReplicas: optimizer.Bound{Limited: true, Value: 4},
			Variants: []optimizer.Variant{
				{
					Name: "v", Capacity: 2, DevicesPerReplica: 4, CurrentReplicas: 1, SwitchUp: 0.5, SwitchDown: 0.25,
					Placements: []optimizer.Placement{{Pool: 0, PricePerHour: 3}},
				},
				{Name: "s", Capacity: 1, DevicesPerReplica: 1, SwitchUp: 0.1, Placements: []optimizer.Placement{{Pool: 1, PricePerHour: 2}}},
			},
		}},
	}
}

func TestMPS(t *testing.T) {
	p, err := compact.New(fleet(), compact.Stage{})
	require.NoError(t, err)
	mps := p.MPS()
	rows, _, _ := strings.Cut(mps, "COLUMNS")
	assert.Equal(t, `NAME fleet FREE
ROWS
 N cost
 E change0_0
 L use0_0
 L use0_1
 G demand0
 G least0
 L most0
 L single0
 L pool0_4
 L quota0
 L budget
`, rows)
	for _, line := range []string{
		" x0_0_0 cost 3\n", " x0_1_0 cost 2.1\n", " a0_0 cost 0.5\n", " b0_0 cost 0.25\n", " u0 cost 7\n",
		" x0_0_0 demand0 2\n", " x0_0_0 use0_0 1\n", " y0_0 use0_0 -3\n", " a0_0 change0_0 -1\n", " x0_0_0 pool0_4 4\n", " x0_0_0 quota0 4\n",
		" RHS pool0_4 12\n", " RHS quota0 10\n", " RHS budget 40\n", " UP BOUND x0_1_0 4\n", " UP BOUND u0 5\n",
	} {
		assert.Contains(t, mps, line)
	}
	assert.NotContains(t, mps, "pool1", "no limit, no row")
	assert.Equal(t, strings.Count(mps, "INTORG"), strings.Count(mps, "INTEND"))
}

func TestJudge(t *testing.T) {
	p, err := compact.New(fleet(), compact.Stage{})
	require.NoError(t, err)
	cost, err := p.Judge([][][]int{{{2}, {0}}})
	require.NoError(t, err)
	assert.InDelta(t, 2*3+0.5+7, cost, 1e-12, "price, one replica added, one request/s not served")
	cost, err = p.Judge([][][]int{{{0}, {3}}})
	require.NoError(t, err)
	assert.InDelta(t, 0.25+3*2.1+2*7, cost, 1e-12, "one replica removed, two requests/s not served")
	for broken, replicas := range map[string][][][]int{
		"quota0": {{{3}, {0}}}, "single0": {{{1}, {1}}}, "least0": {{{0}, {0}}}, "x0_1_0": {{{0}, {5}}},
	} {
		_, err := p.Judge(replicas)
		require.ErrorContains(t, err, broken)
	}
	assert.Equal(t, [][][]int{{{2}, {0}}}, p.Replicas(map[string]float64{"x0_0_0": 1.9999999, "y0_0": 1}))
}

func TestStages(t *testing.T) {
	problem := fleet()
	problem.Workloads[0].Penalized = false
	serve, err := compact.New(problem, compact.Stage{Settled: map[int]float64{1: 0}})
	require.NoError(t, err)
	_, err = serve.Judge([][][]int{{{2}, {0}}})
	require.ErrorContains(t, err, "u0")
	level, err := compact.New(problem, compact.Stage{Priority: 1})
	require.NoError(t, err)
	unmet, err := level.Judge([][][]int{{{2}, {0}}})
	require.NoError(t, err)
	assert.InDelta(t, 1, unmet, 1e-12)
	settled, err := compact.New(problem, compact.Stage{Settled: map[int]float64{1: 1}})
	require.NoError(t, err)
	cost, err := settled.Judge([][][]int{{{2}, {0}}})
	require.NoError(t, err)
	assert.InDelta(t, 6.5, cost, 1e-12)
	_, err = settled.Judge([][][]int{{{1}, {0}}})
	require.ErrorContains(t, err, "settled1")
}

// One shape in two slices: either variant serves a slice with half of a replica.
func TestSlices(t *testing.T) {
	problem := fleet()
	w := &problem.Workloads[0]
	_, err := compact.NewSliced(problem, 2)
	require.ErrorContains(t, err, "with shapes")
	w.Shapes = []optimizer.Shape{{Share: 1}}
	w.Variants[0].ShapeCapacities, w.Variants[1].ShapeCapacities = []float64{5}, []float64{0}
	p, err := compact.NewSliced(problem, 2)
	require.NoError(t, err)
	mps := p.MPS()
	for _, line := range []string{" E slice0_1\n", " x0 cost 3\n", " x0 load0 -1\n", " a0_1_0 slice0_1 1\n", " a0_1_0 load0 0.5\n", " RHS slice0_0 1\n"} {
		assert.Contains(t, mps, line)
	}
	assert.NotContains(t, mps, "a0_0_1", "a variant that can't serve the shape")
	assert.Equal(t, [][][]int{{{1}, {0}}}, p.Replicas(map[string]float64{"x0": 1}))
}

func TestWhatCannotBeExpressed(t *testing.T) {
	problem := fleet()
	problem.Workloads[0].Redundancy = 1
	_, err := compact.New(problem, compact.Stage{})
	require.ErrorContains(t, err, "redundancy")
	problem = fleet()
	problem.Workloads[0].Variants[0].DevicesPerReplica = 3
	_, err = compact.New(problem, compact.Stage{})
	require.ErrorContains(t, err, "sizes 3 and 8")
}

// Plans of the solver cost the same here, where every kind of limit is in play.
func TestJudgeAgreesWithTheOptimizer(t *testing.T) {
	for _, kind := range instance.Kinds() {
		for seed := range uint64(5) {
			t.Run(fmt.Sprintf("%v/%d", kind, seed), func(t *testing.T) {
				problem := instance.Generate(instance.Params{
					Kind: kind, Workloads: 30, Pools: 4, SingleShare: 0.3, Namespaces: int(seed % 3), DevicesPerNode: int(seed%2) * 8, Seed: seed,
				})
				plan, err := optimizer.Solve(problem, optimizer.Options{RelativeGap: 0.01, Effort: 100_000})
				require.NoError(t, err)
				require.NotEqual(t, optimizer.Infeasible, plan.Demand)
				p, err := compact.New(problem, compact.Stage{})
				require.NoError(t, err)
				cost, err := p.Judge(plan.Replicas())
				require.NoError(t, err)
				assert.InEpsilon(t, plan.Objective, cost, 1e-12)
			})
		}
	}
}
