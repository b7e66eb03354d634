package optimizer

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/poolwright/poolwright/internal/short"
)

// study solves the problem and returns a study of its plan, with effort for all that
// the hardest of small problems need.
func study(t *testing.T, p *Problem, o Options) *Study {
	t.Helper()
	plan := solve(t, p, o)
	plan.Effort = defaultEffort
	o.Effort = 1000 * defaultEffort
	return NewStudy(p, plan, o)
}

func TestStudyEnds(t *testing.T) {
	p := randomFleet(1, tightFleet, 20, 5)
	s := study(t, p, Options{RelativeGap: 1e-3})
	s.options.Stop = func() bool { return true }
	if _, err := s.Pool(0, 1); !errors.Is(err, ErrEnded) {
		t.Errorf("stopped: %v", err)
	}
	s = NewStudy(p, s.plan, Options{RelativeGap: 1e-3, Effort: 100})
	var err error
	for range 100 {
		if _, err = s.Demand(1); err != nil {
			break
		}
	}
	if !errors.Is(err, ErrEnded) {
		t.Errorf("effort spent: %v", err)
	}
}

// More devices never cost more, less demand neither.
func TestChangesAreMonotone(t *testing.T) {
	for _, kind := range []fleetKind{tightFleet, nodeFleet, quotaFleet, budgetFleet} {
		p := randomFleet(2, kind, 12, 4)
		s := study(t, p, Options{RelativeGap: 1e-6})
		for g := range p.Pools {
			last := math.Inf(1)
			for _, devices := range []int{-4, -2, 0, 2, 4} {
				got, err := s.Pool(g, devices)
				if err != nil {
					t.Fatal(err)
				}
				if got.Demand != s.plan.Demand {
					continue
				}
				if got.Bound > last*(1+1e-9) {
					t.Errorf("%v: pool %d with %+d devices costs %v, with fewer %v", kind, g, devices, got.Bound, last)
				}
				last = got.Objective
				if saving := s.Saving(got); devices == 0 && (saving.Low > 1e-9 || saving.High < -1e-9) {
					t.Errorf("%v: no change saves %+v", kind, saving)
				}
			}
		}
		last := 0.0
		for _, factor := range []float64{0.5, 0.75, 1, 1.1} {
			got, err := s.Demand(factor)
			if err != nil {
				t.Fatal(err)
			}
			if got.Objective < last*(1-1e-9) && got.Demand == Served {
				t.Errorf("%v: %g times the demand costs %v, less of it %v", kind, factor, got.Objective, last)
			}
			last = got.Bound
		}
	}
}

// The objective of an optimal plan is convex in nothing but concave in a price, so
// the plan is optimal just inside its range and beaten just outside.
func TestPriceRangeEndsWhereThePlanDoes(t *testing.T) {
	ends := 0
	for seed := range uint64(150) {
		r := rand.New(rand.NewPCG(seed, 7))
		p := randomSmall(r)
		s := study(t, p, Options{})
		units := func(w, v, k int) float64 {
			if p.Workloads[w].Variants[v].Placements[k].Pool == 0 {
				return float64(p.Workloads[w].Variants[v].DevicesPerReplica)
			}
			return 0
		}
		fall := p.leastPrice(units)
		ranges, err := s.PriceRange(Tariff{Units: units, Fall: fall, Rise: 5})
		if err != nil {
			t.Fatal(err)
		}
		for sign, end := range map[float64]Interval{-1: ranges.Fall, 1: ranges.Rise} {
			reach := fall
			if sign > 0 {
				reach = 5
			}
			if end.Low > end.High || end.Low < 0 || !math.IsInf(end.High, 1) && math.Abs(end.High-end.Low) > 1e-6 {
				t.Errorf("seed %d: end %+v", seed, end)
			}
			inside, err := s.solveAt(units, sign*end.Low)
			if err != nil {
				t.Fatal(err)
			}
			if cost := s.plan.Objective + sign*end.Low*s.paid(s.plan, units); cost > inside.Objective+1e-7*(1+cost) {
				t.Errorf("seed %d: plan costs %v at the end of its range %v, the best %v", seed, cost, sign*end.Low, inside.Objective)
			}
			if math.IsInf(end.High, 1) {
				if end.Low != reach {
					t.Errorf("seed %d: no end, but proven to %v only", seed, end.Low)
				}
				continue
			}
			ends++
			x := end.High + 0.01*(reach-end.High)
			outside, err := s.solveAt(units, sign*x)
			if err != nil {
				t.Fatal(err)
			}
			if cost := s.plan.Objective + sign*x*s.paid(s.plan, units); x > end.High+1e-6 && cost <= outside.Objective {
				t.Errorf("seed %d: plan costs %v beyond its range at %v, the best %v", seed, cost, sign*x, outside.Objective)
			}
		}
	}
	if ends < 50 {
		t.Errorf("only %d ranges end", ends)
	}
}

// leastPrice is how far the price of a unit can fall.
func (p *Problem) leastPrice(units func(w, v, k int) float64) float64 {
	least := 5.0
	for i := range p.Workloads {
		for j := range p.Workloads[i].Variants {
			for k, place := range p.Workloads[i].Variants[j].Placements {
				if u := units(i, j, k); u > 0 {
					least = min(least, place.PricePerHour/u)
				}
			}
		}
	}
	return least
}

// leastIncrease tries every combination of configurations that serves all and
// returns the least weighted increase of pools, or of quotas; ok is false if that
// would take too long, and the result is +Inf if none serves all.
func leastIncrease(p *Problem, r Relief, most int) (least float64, ok bool) {
	b := &brute{p: p, priorities: []int{1}, evaluate: evaluateAlone}
	b.addLimits()
	combinations := 1
	for i := range p.Workloads {
		if !b.addOptions(i) {
			return 0, false
		}
		kept := b.options[i][:0]
		for _, o := range b.options[i] {
			if o.levels[0] == 0 && o.levels[1] == 0 {
				kept = append(kept, o)
			}
		}
		b.options[i] = kept
		combinations *= len(kept)
		if combinations > most {
			return 0, false
		}
	}
	least = math.Inf(1)
	var choose func(i int, use []float64)
	choose = func(i int, use []float64) {
		if i == len(b.options) {
			least = min(least, b.weigh(use, r))
			return
		}
		for _, o := range b.options[i] {
			next := make([]float64, len(use))
			for k := range next {
				next[k] = use[k] + o.use[k]
			}
			choose(i+1, next)
		}
	}
	choose(0, make([]float64, len(b.limits)))
	return least, true
}

// weigh is the weighted increase that a use needs, +Inf where it breaks limits that
// are not raised.
func (b *brute) weigh(use []float64, r Relief) float64 {
	total := 0.0
	row := 0
	for g := range b.p.Pools {
		if !b.p.Pools[g].Limited {
			continue
		}
		unit, units := float64(max(1, b.p.Pools[g].DevicesPerNode)), 0.0
		packing := b.packings[g]
		for _, l := range rowsOf(&packing) {
			usable := 1.0
			if packing.node > 0 {
				usable = float64(packing.node / l.size * l.size)
			}
			units = max(units, math.Ceil((use[row]-b.limits[row])/usable))
			row++
		}
		switch {
		case units > 0 && r.Raise == PoolLimits && r.Weights != nil:
			total += r.Weights[g] * units * unit
		case units > 0 && r.Raise == PoolLimits:
			total += units * unit
		case units > 0 && !r.Lift:
			return math.Inf(1)
		}
	}
	for range b.p.Quotas {
		switch over := use[row] - b.limits[row]; {
		case over > 0 && r.Raise == QuotaLimits:
			total += over
		case over > 0 && !r.Lift:
			return math.Inf(1)
		}
		row++
	}
	if b.p.BudgetPerHour > 0 && !r.Lift && use[row] > b.limits[row] {
		return math.Inf(1)
	}
	return total
}

func TestIncreaseEqualsBruteForce(t *testing.T) {
	t.Parallel()
	verdicts := map[Verdict]int{}
	for seed := range uint64(short.Of(150 * *times)) {
		random := rand.New(rand.NewPCG(seed, 8))
		p := randomSmall(random)
		if seed%4 == 1 && !testing.Short() {
			p = randomZones(random)
		}
		weights := make([]float64, len(p.Pools))
		for g := range weights {
			weights[g] = float64(random.IntN(5))
		}
		s := study(t, p, Options{})
		for _, r := range []Relief{
			{Raise: PoolLimits},
			{Raise: PoolLimits, Lift: true},
			{Raise: PoolLimits, Weights: weights},
			{Raise: QuotaLimits},
			{Raise: QuotaLimits, Lift: true},
		} {
			goal, err := s.goal(r)
			if err != nil {
				t.Fatal(err)
			}
			want, ok := leastIncrease(goal, r, 50_000)
			if !ok {
				continue
			}
			got, err := s.Increase(r)
			if err != nil {
				t.Fatal(err)
			}
			verdicts[got.Verdict]++
			checkIncrease(t, seed, goal, r, got, want)
		}
		if t.Failed() {
			return
		}
	}
	if verdicts[Enough] < short.Of(50) || verdicts[Helps] < short.Of(50) || verdicts[Insufficient] < short.Of(20) || verdicts[Unknown] > 0 {
		t.Errorf("verdicts %v", verdicts)
	}
}

func checkIncrease(t *testing.T, seed uint64, goal *Problem, r Relief, got *Increase, want float64) {
	t.Helper()
	if math.IsInf(want, 1) {
		if got.Verdict != Insufficient {
			t.Errorf("seed %d: %+v: verdict %v, but nothing serves all: %+v", seed, r, got.Verdict, got)
		}
		return
	}
	if got.Verdict != Enough && got.Verdict != Helps || math.Abs(got.Total.High-want) > 1e-6 || math.Abs(got.Total.Low-want) > 1e-6 {
		t.Errorf("seed %d: %+v: least increase %v, got %+v", seed, r, want, got)
		return
	}
	if got.Verdict == Helps {
		checkSolution(t, got.raised(goal), got.Plan)
		if got.Plan.Demand != Served {
			t.Errorf("seed %d: %+v: raised limits leave demand %v", seed, r, got.Plan.Demand)
		}
	}
}

// The order of the input does not matter to the answers.
func TestStudiesIgnoreOrder(t *testing.T) {
	for seed := range uint64(100) {
		r := rand.New(rand.NewPCG(seed, 9))
		p := randomSmall(r)
		shuffled, _, _, _, _, _, _ := shuffle(r, p)
		a, b := study(t, p, Options{}), study(t, shuffled, Options{})
		for _, relief := range []Relief{{Raise: PoolLimits}, {Raise: QuotaLimits, Lift: true}, {Raise: BudgetLimit}} {
			x, err := a.Increase(relief)
			if err != nil {
				t.Fatal(err)
			}
			y, err := b.Increase(relief)
			if err != nil {
				t.Fatal(err)
			}
			if x.Verdict != y.Verdict || x.Total != y.Total {
				t.Errorf("seed %d: %+v: %+v and, in another order, %+v", seed, relief, x, y)
			}
			for g := range p.Pools {
				for h := range shuffled.Pools {
					if p.Pools[g].Name == shuffled.Pools[h].Name && len(x.Pools) > 0 && x.Pools[g] != y.Pools[h] {
						t.Errorf("seed %d: %+v: pool %s raised by %d and, in another order, %d", seed, relief, p.Pools[g].Name, x.Pools[g], y.Pools[h])
					}
				}
			}
		}
	}
}
