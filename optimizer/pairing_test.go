package optimizer

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/poolwright/poolwright/internal/short"
)

// randomAssignment is what improves an assignment of a random fleet, and that: one that fits, and that exchanges in single workloads
// don't improve. Both are nil where repair finds none.
func randomAssignment(seed uint64) (*primal, *assignment) {
	r := rand.New(rand.NewPCG(seed, 41))
	kinds := []fleetKind{tightFleet, penalizedFleet, veryTightFleet, singleFleet, quotaFleet, budgetFleet}
	p := randomFleet(seed, kinds[seed%uint64(len(kinds))], 12, 3)
	l := newLagrangian(moneyProgram(p, true), &effort{left: math.MaxInt, given: math.MaxInt})
	l.seed()
	prices := make([]float64, len(l.rows))
	for range 20 {
		for k := range prices {
			prices[k] = r.ExpFloat64()
		}
		l.evaluate(prices)
	}
	b := &bundle{l: l, prices: prices, value: l.evaluate(prices), scale: make([]float64, len(l.rows))}
	if !b.value.ok {
		return nil, nil
	}
	improving := newPrimal(b)
	improving.bound = math.Inf(-1) // so that no move is passed over
	a := improving.start(b.value.cut.picks)
	if !improving.repair(a) {
		return nil, nil
	}
	for improving.improveOne(a) {
	}
	return improving, a
}

// leastPartner is the least change of cost of any exchange in another workload that makes a move fit, and saves together with it.
func leastPartner(p *pairing, m move) float64 {
	least := math.Inf(1)
	from, to := p.columns(m)
	for i := range p.l.columns {
		columns := &p.l.columns[i]
		if i == int(m.workload) || p.done[i] {
			continue
		}
		for k := range int32(columns.len()) {
			use := slices.Clone(p.use)
			exchange := func(workload int, from, to entries) {
				for n, r := range p.l.workloads[workload].rows {
					use[r] += to.use()[n] - from.use()[n]
				}
			}
			have, other := columns.entries(p.picks[i]), columns.entries(k)
			exchange(int(m.workload), from, to)
			exchange(i, have, other)
			change := other.cost() - have.cost()
			if p.l.feasible(use) && m.change+change < -1e-9 && change < least {
				least = change
			}
		}
	}
	return least
}

// The partner of a move is the best of all exchanges in other workloads.
func TestPartnersAreTheBest(t *testing.T) {
	t.Parallel()
	with, without := 0, 0
	for seed := range uint64(short.Of(2000)) {
		improving, a := randomAssignment(seed)
		if improving == nil {
			continue
		}
		saving, relief := improving.moves(a)
		pairs := &pairing{primal: improving, assignment: a, done: make([]bool, len(improving.l.workloads))}
		for i := range pairs.done {
			pairs.done[i] = i%5 == 4
		}
		for _, m := range saving {
			row, excess := pairs.mostExceeded(m)
			if row == none || pairs.done[m.workload] {
				continue
			}
			got, want := math.Inf(1), leastPartner(pairs, m)
			if other, found := pairs.partner(m, excess, appendGroups(nil, relief[row])); found {
				got = other.change
			}
			if got != want {
				t.Fatalf("seed %d: a partner of change %v, want %v", seed, got, want)
			}
			if math.IsInf(want, 1) {
				without++
			} else {
				with++
			}
		}
	}
	if with < short.Of(300) || without < short.Of(300) {
		t.Errorf("%d moves had partners, %d had none", with, without)
	}
}

// A round of exchanges saves what it says, and what it leaves fits.
func TestPairsSaveAndFit(t *testing.T) {
	t.Parallel()
	rounds := 0
	for seed := range uint64(short.Of(2000)) {
		improving, a := randomAssignment(seed)
		if improving == nil {
			continue
		}
		for {
			before := a.cost
			improved := improving.improveTwo(a)
			if improved != (a.cost < before) {
				t.Fatalf("seed %d: improved is %v from %v to %v", seed, improved, before, a.cost)
			}
			anew := improving.start(a.picks)
			if math.Abs(anew.cost-a.cost) > 1e-9*math.Abs(anew.cost) || !improving.l.feasible(anew.use) {
				t.Fatalf("seed %d: a cost of %v, want %v, and uses of %v", seed, a.cost, anew.cost, anew.use)
			}
			if !improved {
				break
			}
			rounds++
		}
	}
	if rounds < short.Of(100) {
		t.Errorf("%d rounds improved a plan", rounds)
	}
}

// What takes devices of a full pool is not looked at, however much there is of it: of two groups, the other of which takes nothing and saves nothing.
func TestFullPoolsArePassedOver(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		room   int
		looked int
	}{{0, 2}, {1, 3}} {
		pairs, m, relief := fullPool(c.room)
		row, excess := pairs.mostExceeded(m)
		_, found := pairs.partner(m, excess, appendGroups(nil, relief[row]))
		if found != (c.room > 0) || pairs.looked != c.looked {
			t.Errorf("room for %d: found is %v after %d, want %d", c.room, found, pairs.looked, c.looked)
		}
	}
}

// fullPool is a plan of ten workloads of one replica each in a pool that is full, a move of one without replicas into that, and what could make room for it:
// moves of all others to no replica, or to a dearer pool with some room.
func fullPool(room int) (*pairing, move, [][]easing) {
	p := &Problem{Pools: []Pool{{Name: "full", Limited: true, Capacity: 10}, {Name: "other", Limited: true, Capacity: room}}}
	for i := range 11 {
		w := Workload{Name: string(rune('a' + i)), Priority: 1, Demand: 1, Penalized: true, UnmetPenalty: 100}
		w.Variants = []Variant{{Name: "v", Capacity: 1, DevicesPerReplica: 1, Placements: []Placement{{Pool: 0, PricePerHour: 1}, {Pool: 1, PricePerHour: 3}}}}
		p.Workloads = append(p.Workloads, w)
	}
	l := newLagrangian(moneyProgram(p, false), &effort{left: math.MaxInt, given: math.MaxInt})
	picks := make([]int32, 11)
	var into int32
	for i := range picks {
		without, _ := l.intern(i, []int32{0, 0})
		here, _ := l.intern(i, []int32{1, 0})
		if _, ok := l.intern(i, []int32{0, 1}); !ok {
			panic("no column")
		}
		if picks[i] = here; i == 10 {
			picks[i], into = without, here
		}
	}
	improving := &primal{l: l, prices: make([]float64, len(l.rows)), bound: math.Inf(-1), least: make([]float64, 11), unit: slices.Repeat([]float64{1}, len(l.rows))}
	a := improving.start(picks)
	saving, relief := improving.moves(a)
	k := slices.IndexFunc(saving, func(m move) bool { return m.workload == 10 && m.to == into })
	return &pairing{primal: improving, assignment: a, done: make([]bool, 11)}, saving[k], relief
}
