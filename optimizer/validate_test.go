package optimizer

import (
	"fmt"
	"math"
	"strings"
	"testing"
)

func validProblem() *Problem {
	return &Problem{
		Pools:  []Pool{{Name: "g", Limited: true, Capacity: 8}},
		Quotas: []Quota{{Namespace: "a", Pool: 0, Capacity: 4}},
		Workloads: []Workload{{
			Name: "w", Namespace: "a", Priority: 1, Demand: 3,
			Variants: []Variant{{Name: "v", Capacity: 2, DevicesPerReplica: 1, Placements: []Placement{{Pool: 0, PricePerHour: 1}}}},
		}},
	}
}

func TestValidateNamesEveryMistake(t *testing.T) {
	if err := validProblem().Validate(); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name string
		edit func(*Problem)
		want []string
	}{
		{"budget", func(p *Problem) { p.BudgetPerHour = -1 }, []string{"budgetPerHour: -1"}},
		{"infinite", func(p *Problem) { p.BudgetPerHour = math.Inf(1) }, []string{"budgetPerHour: +Inf"}},
		{"huge", func(p *Problem) { p.Workloads[0].Demand = 1e16 }, []string{"workloads[0].demand: 1e+16"}},
		{"pool", func(p *Problem) { p.Pools[0].Capacity = -2 }, []string{"pools[0].capacity: -2"}},
		{"node", func(p *Problem) { p.Pools[0].DevicesPerNode = 1 << 30 }, []string{"pools[0].devicesPerNode"}},
		{"pool twice", func(p *Problem) { p.Pools = append(p.Pools, p.Pools[0]) }, []string{`pools[1].name: "g"`}},
		{"quota", func(p *Problem) { p.Quotas[0].Pool = 1 }, []string{"quotas[0].pool: 1"}},
		{"quota capacity", func(p *Problem) { p.Quotas[0].Capacity = -1 }, []string{"quotas[0].capacity"}},
		{"quota twice", func(p *Problem) { p.Quotas = append(p.Quotas, p.Quotas[0]) }, []string{"quotas[1]: same namespace"}},
		{"workload twice", func(p *Problem) { p.Workloads = append(p.Workloads, p.Workloads[0]) }, []string{`workloads[1].name: "w" is also the name of number 0`}},
		{"priority", func(p *Problem) { p.Workloads[0].Priority = 0 }, []string{"workloads[0].priority: 0 < 1"}},
		{"mixing", func(p *Problem) { p.Workloads[0].Mixing = 7 }, []string{"workloads[0].mixing"}},
		{"redundancy", func(p *Problem) { p.Workloads[0].Redundancy = -1 }, []string{"workloads[0].redundancy"}},
		{"penalty", func(p *Problem) { p.Workloads[0].Penalized, p.Workloads[0].UnmetPenalty = true, math.NaN() }, []string{"workloads[0].unmetPenalty: NaN"}},
		{"bounds", func(p *Problem) {
			p.Workloads[0].MinReplicas, p.Workloads[0].MaxReplicas = 3, Bound{Limited: true, Value: 2}
		}, []string{"workloads[0].maxReplicas: 2 < minReplicas 3"}},
		{"variant", func(p *Problem) {
			v := &p.Workloads[0].Variants[0]
			v.Capacity, v.DevicesPerReplica, v.NodesPerReplica = -1, -1, -1
			v.MinReplicas, v.CurrentReplicas, v.SwitchUp, v.SwitchDown = -1, -1, -1, math.NaN()
		}, []string{
			"variants[0].capacity", "variants[0].devicesPerReplica", "variants[0].nodesPerReplica", "variants[0].minReplicas",
			"variants[0].currentReplicas", "variants[0].switchUp", "variants[0].switchDown",
		}},
		{"variant twice", func(p *Problem) {
			w := &p.Workloads[0]
			w.Variants = append(w.Variants, w.Variants[0])
		}, []string{"workloads[0].variants[1].name"}},
		{"variant twice among many", func(p *Problem) {
			w := &p.Workloads[0]
			for k := range 2 * fewVariants {
				v := w.Variants[0]
				v.Name = fmt.Sprint("v", k%(2*fewVariants-1))
				w.Variants = append(w.Variants, v)
			}
		}, []string{"workloads[0].variants[32].name"}},
		{"shapes", func(p *Problem) {
			w := &p.Workloads[0]
			w.Shapes, w.Variants[0].ShapeCapacities = []Shape{{Share: 0.5}, {Share: -0.1}}, []float64{-1, 1}
		}, []string{"workloads[0].shapes[1].share: -0.1", "workloads[0].shapes: the shares sum to 0.4", "variants[0].shapeCapacities[0]: -1"}},
		{"no capacity by shape", func(p *Problem) { p.Workloads[0].Shapes = []Shape{{Share: 1}} }, []string{"variants[0].shapeCapacities: 0 capacities of 1 shapes"}},
		{"phase", func(p *Problem) { p.Workloads[0].Variants[0].Phase = 3 }, []string{"variants[0].phase: 3"}},
		{"phase alone", func(p *Problem) {
			p.Workloads[0].Mixing, p.Workloads[0].Variants[0].Phase = Single, Decode
		}, []string{"variants[0].phase: a phase needs a variant of the other"}},
		{"no placement", func(p *Problem) { p.Workloads[0].Variants[0].Placements = nil }, []string{"workloads[0].variants[0].placements: no placement"}},
		{"placement", func(p *Problem) {
			p.Workloads[0].Variants[0].Placements = []Placement{{Pool: 0}, {Pool: 0}, {Pool: -1, PricePerHour: -1}}
		}, []string{"placements[1].pool: same pool", "placements[2].pool: -1", "placements[2].pricePerHour: -1"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := validProblem()
			c.edit(p)
			err := p.Validate()
			if err == nil {
				t.Fatal("no error")
			}
			for _, want := range c.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("%q lacks %q", err, want)
				}
			}
			if got := strings.Count(err.Error(), "\n") + 1; got != len(c.want) {
				t.Errorf("%d mistakes, want %d: %v", got, len(c.want), err)
			}
			if _, solveErr := Solve(p, Options{}); solveErr == nil || solveErr.Error() != err.Error() {
				t.Errorf("Solve: %v, want %v", solveErr, err)
			}
		})
	}
}

func TestSolveRefusesBadOptions(t *testing.T) {
	for _, o := range []Options{{RelativeGap: -1}, {RelativeGap: math.NaN()}, {Effort: -1}} {
		if _, err := Solve(validProblem(), o); err == nil {
			t.Errorf("%+v: no error", o)
		}
	}
}
