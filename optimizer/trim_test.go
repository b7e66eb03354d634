package optimizer

import (
	"reflect"
	"testing"
)

// Of a plan over its budget, replicas are taken out that serve least for their price, of the workloads that matter least, and none that is declared.
func TestTrimmed(t *testing.T) {
	workload := func(name string, priority int, demand float64, penalty float64) Workload {
		w := Workload{Name: name, Priority: priority, Demand: demand, Penalized: penalty > 0, UnmetPenalty: penalty}
		w.Variants = []Variant{
			{Name: "small", Capacity: 1, Placements: []Placement{{Pool: 0, PricePerHour: 1}, {Pool: 1, PricePerHour: 2}}},
			{Name: "large", Capacity: 3, Placements: []Placement{{Pool: 0, PricePerHour: 4}}},
		}
		return w
	}
	p := &Problem{
		Pools:         []Pool{{Name: "a"}, {Name: "b"}},
		BudgetPerHour: 1,
		Workloads:     []Workload{workload("first", 1, 4, 0), workload("last", 2, 5, 0), workload("penalized", 1, 2, 10), workload("cheap", 1, 2, 3)},
	}
	p.Workloads[1].Variants[1].MinReplicas = 1
	plan := [][][]int{{{1, 0}, {1}}, {{1, 1}, {1}}, {{0, 2}, {0}}, {{2, 0}, {0}}}
	for _, c := range []struct {
		over float64
		want [][][]int
	}{
		{0.5, [][][]int{{{1, 0}, {1}}, {{1, 1}, {1}}, {{0, 2}, {0}}, {{1, 0}, {0}}}},
		{1.5, [][][]int{{{1, 0}, {1}}, {{1, 1}, {1}}, {{0, 2}, {0}}, {{0, 0}, {0}}}},
		{2.5, [][][]int{{{1, 0}, {1}}, {{1, 1}, {1}}, {{0, 1}, {0}}, {{0, 0}, {0}}}},
		{6.5, [][][]int{{{1, 0}, {1}}, {{1, 0}, {1}}, {{0, 0}, {0}}, {{0, 0}, {0}}}},
		{10, [][][]int{{{1, 0}, {0}}, {{0, 0}, {1}}, {{0, 0}, {0}}, {{0, 0}, {0}}}},
		{14, [][][]int{{{0, 0}, {0}}, {{0, 0}, {1}}, {{0, 0}, {0}}, {{0, 0}, {0}}}},
		{14.5, nil},
	} {
		if got := asGiven(p, nil).trimmed(plan, c.over); !reflect.DeepEqual(got, c.want) {
			t.Errorf("%v over: %v, want %v", c.over, got, c.want)
		}
	}
	if want := [][][]int{{{1, 0}, {1}}, {{1, 1}, {1}}, {{0, 2}, {0}}, {{2, 0}, {0}}}; !reflect.DeepEqual(plan, want) {
		t.Errorf("the plan given has changed: %v", plan)
	}
}
