package resource_test

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/poolwright/poolwright/internal/resource"
	"github.com/poolwright/poolwright/planner"
)

func TestWeights(t *testing.T) {
	for _, test := range []struct {
		rates   []float64
		weights []int64
	}{
		{nil, nil},
		{[]float64{0, 0}, nil},
		{[]float64{7}, []int64{100}},
		{[]float64{1, 1, 1}, []int64{34, 33, 33}},
		{[]float64{30, 10}, []int64{75, 25}},
		{[]float64{0, 10}, []int64{0, 100}},
		{[]float64{1, 100_000}, []int64{1, 99}},
		{[]float64{1e-9, 1e9, 1e-9}, []int64{1, 98, 1}},
		{make([]float64, 101), nil},
	} {
		require.Equal(t, test.weights, resource.Weights(test.rates), "%v", test.rates)
	}
}

func TestWeightsAreSharesWithinOne(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 1000 {
		rates, total := make([]float64, 1+random.IntN(8)), 0.0
		for k := range rates {
			rates[k] = 10 + random.Float64()*10
			total += rates[k]
		}
		weights, sum := resource.Weights(rates), int64(0)
		for k, w := range weights {
			sum += w
			require.InDelta(t, 100*rates[k]/total, w, 1)
		}
		require.EqualValues(t, resource.TotalWeight, sum)
	}
}

func TestSustained(t *testing.T) {
	o := resource.Outcome{
		Workload: &planner.Workload{Variants: []planner.Variant{{Name: "a"}, {Name: "b"}, {Name: "c"}}},
		Plan:     &planner.WorkloadPlan{},
		Ready:    []int{3, 2, 4},
		Changes:  []planner.Change{{Variant: "a", To: 1}, {Variant: "b", To: 5}},
	}
	for range o.Ready {
		o.Plan.Variants = append(o.Plan.Variants, planner.VariantPlan{Size: planner.Size{Capacity: 2}})
	}
	o.Advised = []bool{true, false, false}
	require.InDelta(t, 6, o.Sustained(0), 0, "what should go, but nobody asks to")
	o.Advised = nil
	for j, want := range []float64{2, 4, 8} {
		require.InDelta(t, want, o.Sustained(j), 0, "what goes, what is not there yet, and what stays")
	}
}
