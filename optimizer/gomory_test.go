package optimizer

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/poolwright/poolwright/optimizer/lp"
)

// Cuts hold for every choice of columns that keeps the coupling rows, round after round.
func TestCutsKeepEveryPlan(t *testing.T) {
	kinds := []fleetKind{tightFleet, penalizedFleet, budgetFleet, singleFleet, quotaFleet, nodeFleet}
	cuts, deepest := 0, 0
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 3))
		p := randomProgram(r, moneyProgram(randomFleet(seed, kinds[r.IntN(len(kinds))], 5, 4), false))
		if p == nil {
			continue
		}
		for round := range 4 {
			if !p.load() {
				t.Fatalf("seed %d, round %d: refused", seed, round)
			}
			// Plans of the whole fleet do not know what the program leaves of the rows.
			if _, ok := p.relax(); !ok || p.x == nil {
				break
			}
			p.t.best = nil
			fresh := p.gomoryCuts()
			p.eachPlan(func(chosen []int) {
				for _, c := range fresh {
					sum := 0.0
					for _, k := range chosen {
						sum += c.coefficients[k]
					}
					if sum < c.least {
						t.Fatalf("seed %d, round %d: plan %v has %g of %g", seed, round, chosen, sum, c.least)
					}
				}
			})
			if cuts += len(fresh); len(fresh) > 0 {
				deepest = max(deepest, round)
			}
			p.cuts = append(p.cuts, fresh...)
		}
		p.unload()
	}
	if cuts < 500 || deepest < 3 {
		t.Fatalf("%d cuts in at most %d rounds: the problems lack variety", cuts, deepest+1)
	}
}

// randomProgram chooses among a few configurations of every workload, those that come first at
// random prices (nil if one has none), and leaves of the rows what the mean of these plans needs.
func randomProgram(r *rand.Rand, money *program) *coreProgram {
	l := newLagrangian(money, &effort{left: math.MaxInt})
	t := newTree(l, Options{LP: lp.Simplex(), limits: defaultLimits()})
	c := &core{t: t, picks: make([]int32, len(l.workloads)), used: make([]float64, len(l.rows))}
	for i := range l.workloads {
		g := coreGroup{workload: i}
		for len(g.columns) < 5 {
			_, index := l.price(i, randomPrices(r, len(l.rows)))
			if index < 0 {
				return nil
			}
			if column := (coreColumn{index: index}); !slices.Contains(g.columns, column) || r.IntN(20) == 0 {
				g.columns = append(g.columns, column)
			}
		}
		c.groups = append(c.groups, g)
		for _, column := range g.columns {
			c.use(c.used, i, column.index, -1/float64(len(g.columns)))
		}
	}
	for k := range c.used {
		c.used[k] = math.Round(l.rows[k].limit + c.used[k])
	}
	programs := math.MaxInt
	return &coreProgram{core: c, groups: c.groups, programs: &programs}
}

// eachPlan visits every choice of a column per group, as indices in the program, that keeps the rows.
func (p *coreProgram) eachPlan(visit func(chosen []int)) {
	chosen := make([]int, len(p.groups))
	var choose func(g int, used []float64)
	choose = func(g int, used []float64) {
		if g == len(p.groups) {
			if p.t.l.feasible(used) {
				visit(chosen)
			}
			return
		}
		for k, column := range p.groups[g].columns {
			chosen[g] = p.first[g] + k
			with := append([]float64(nil), used...)
			p.use(with, p.groups[g].workload, column.index, 1)
			choose(g+1, with)
		}
	}
	choose(0, p.used)
}
