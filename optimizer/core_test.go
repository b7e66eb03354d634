package optimizer

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/poolwright/poolwright/optimizer/lp"
)

// The search of a core finds the cheapest plan, however far the uses of a row differ: what one
// workload may leave unmet is lost in the rounding of what another one does.
func TestCoreSearchAcrossScales(t *testing.T) {
	for seed := range uint64(500) {
		r := rand.New(rand.NewPCG(seed, 4))
		c := randomCore(r)
		want := math.Inf(1)
		c.eachPlan(func(cost float64) { want = min(want, cost) })
		if !c.search() || c.t.best == nil {
			t.Fatalf("seed %d: no plan, want cost %v", seed, want)
		}
		if got := c.t.best.cost; got != want {
			t.Fatalf("seed %d: cost %v, want %v", seed, got, want)
		}
	}
}

// randomCore is a choice between three replicas, two, one and none for workloads of scales between
// 1e-6 and 1e12 requests/s, which may together leave unmet what one of them has.
func randomCore(r *rand.Rand) *core {
	p := &Problem{Pools: []Pool{{}}}
	for range 5 {
		scale := math.Pow10(r.IntN(19) - 6)
		p.Workloads = append(p.Workloads, Workload{Priority: 1, Demand: 3 * scale, Variants: []Variant{{
			Capacity: scale, Placements: []Placement{{PricePerHour: float64(1 + r.IntN(9))}},
		}}})
	}
	unmet := p.Workloads[r.IntN(len(p.Workloads))].Demand
	program := newProgram(asGiven(p, nil), packPools(p), rounding{}, stage{settled: map[int]float64{1: unmet}}, nil)
	l := newLagrangian(program, &effort{left: math.MaxInt})
	o := Options{LP: lp.Simplex(), limits: &limits{steps: math.MaxInt}}
	c := &core{t: newTree(l, o), prices: make([]float64, len(l.rows)), picks: make([]int32, len(l.workloads)), used: make([]float64, len(l.rows))}
	for i := range l.workloads {
		g := coreGroup{workload: i}
		for n := range int32(4) {
			index, _ := l.intern(i, []int32{n})
			g.columns = append(g.columns, coreColumn{index: index, excess: l.columns[i].entries(index).cost()})
		}
		c.addGroup(g)
	}
	c.sumUses()
	return c
}

// eachPlan visits the cost of every choice of a column per group that keeps the rows.
func (c *core) eachPlan(visit func(cost float64)) {
	plan := cut{picks: make([]int32, len(c.picks))}
	var choose func(g int)
	choose = func(g int) {
		if g == len(c.groups) {
			if c.t.l.sumCut(&plan); c.t.l.feasible(plan.use) {
				visit(plan.cost)
			}
			return
		}
		for _, column := range c.groups[g].columns {
			plan.picks[c.groups[g].workload] = column.index
			choose(g + 1)
		}
	}
	choose(0)
}
