package optimizer

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/poolwright/poolwright/internal/short"
	"github.com/poolwright/poolwright/optimizer/lp"
)

// moneyProgram is the last stage of a problem in which nothing is settled: demand
// without penalty is served.
func moneyProgram(p *Problem, elastic bool) *program {
	settled := map[int]float64{}
	for i := range p.Workloads {
		settled[p.Workloads[i].Priority] = 0
	}
	return newProgram(asGiven(p, nil), packPools(p), rounding{}, stage{settled: settled, elastic: elastic, shortfallSettled: elastic, shortfall: 3}, nil)
}

func randomPrices(r *rand.Rand, rows int) []float64 {
	prices := make([]float64, rows)
	for k := range prices {
		if r.IntN(2) == 0 {
			prices[k] = 3 * r.Float64()
		}
	}
	return prices
}

// allColumns lists every configuration within the bounds.
func allColumns(w *workload, lo, hi []int32) []column {
	var all []column
	x := slices.Clone(lo)
	for {
		if c, ok := new(columnStore).newColumn(w, slices.Clone(x)); ok && w.allows(x) {
			all = append(all, c)
		}
		k := 0
		for ; k < len(x); k++ {
			if x[k]++; x[k] <= hi[k] {
				break
			}
			x[k] = lo[k]
		}
		if k == len(x) {
			return all
		}
	}
}

// allows checks the bounds that newColumn does not.
func (w *workload) allows(x []int32) bool {
	total, used := int32(0), 0
	for j := range w.variants {
		v := &w.variants[j]
		n := int32(0)
		for item := v.firstItem; item < v.firstItem+v.items; item++ {
			n += x[item]
		}
		if n > v.most {
			return false
		}
		if n > 0 {
			used++
		}
		total += n
	}
	return total <= w.most && (!w.single || used <= 1)
}

// pricedPrograms visits programs of random problems, some with elastic minimums, with prices of their rows.
func pricedPrograms(seeds, stream uint64, visit func(seed uint64, r *rand.Rand, l *lagrangian, prices []float64)) {
	for seed := range seeds {
		r := rand.New(rand.NewPCG(seed, stream))
		l := newLagrangian(moneyProgram(randomSmall(r), seed%3 == 0), &effort{left: math.MaxInt})
		visit(seed, r, l, randomPrices(r, len(l.rows)))
	}
}

// pricingCases visits workloads of random problems at random prices and with
// random bounds on their items.
func pricingCases(t *testing.T, visit func(l *lagrangian, i int, lo, hi []int32, prices []float64, all []column)) {
	t.Helper()
	visited := 0
	pricedPrograms(1500, 8, func(_ uint64, r *rand.Rand, l *lagrangian, prices []float64) {
		for i := range l.workloads {
			lo, hi := l.bounds(&l.workloads[i])
			size := 1
			for k := range hi {
				if r.IntN(4) == 0 && hi[k] > 0 {
					lo[k] = r.Int32N(min(hi[k], 2) + 1)
				}
				if r.IntN(4) == 0 {
					hi[k] = lo[k] + r.Int32N(3)
				}
				size *= int(hi[k]-lo[k]) + 1
			}
			if size <= 5000 {
				visited++
				visit(l, i, lo, hi, prices, allColumns(&l.workloads[i], lo, hi))
			}
		}
	})
	if visited < 1000 {
		t.Fatalf("%d cases", visited)
	}
}

func TestPricingFindsTheCheapestConfiguration(t *testing.T) {
	pricingCases(t, func(l *lagrangian, i int, lo, hi []int32, prices []float64, all []column) {
		want := math.Inf(1)
		for k := range all {
			want = min(want, l.workloads[i].reduced(all[k].entries, prices))
		}
		bound, pick := l.price(i, prices)
		if math.IsInf(want, 1) {
			if pick >= 0 || !math.IsInf(bound, 1) {
				t.Fatalf("found %v where there is no configuration: %+v", bound, l.workloads[i])
			}
			return
		}
		if math.Abs(bound-want) > 1e-12*(1+math.Abs(want)) || pick < 0 {
			t.Fatalf("bound %v, want %v: %+v lo %v hi %v prices %v", bound, want, l.workloads[i], lo, hi, prices)
		}
		if got := l.workloads[i].reduced(l.columns[i].entries(pick), prices); math.Abs(got-want) > 1e-12*(1+math.Abs(want)) {
			t.Fatalf("configuration %v costs %v, want %v", l.columns[i].x(pick), got, want)
		}
	})
}

func TestEnumerationMissesOnlyWhatIsBeaten(t *testing.T) {
	pricingCases(t, func(l *lagrangian, i int, lo, hi []int32, prices []float64, all []column) {
		w := &l.workloads[i]
		bound, pick := l.price(i, prices)
		if pick < 0 {
			return
		}
		threshold := bound + 0.4*math.Abs(bound) + 1
		found, complete := l.pricer.enumerate(w, lo, hi, prices, threshold, enumerationLimit{math.MaxInt, enumerationSteps})
		if !complete {
			t.Fatal("enumeration cut off")
		}
		for k := range found {
			if !w.allows(found[k].x) || w.reduced(found[k].entries, prices) > threshold*(1+1e-9) {
				t.Fatalf("found %+v above %v", found[k], threshold)
			}
		}
		for k := range all {
			if w.reduced(all[k].entries, prices) > threshold*(1-1e-9) {
				continue
			}
			if !slices.ContainsFunc(found, func(c column) bool { return noWorse(c.entries, all[k].entries) }) {
				t.Fatalf("missed %+v below %v: %+v\nlo %v hi %v prices %v found %+v", all[k], threshold, w, lo, hi, prices, found)
			}
		}
	})
}

func noWorse(a, b entries) bool {
	if a.cost() > b.cost()+1e-9*(1+math.Abs(b.cost())) {
		return false
	}
	for n, use := range a.use() {
		if use > b.use()[n]+1e-9 {
			return false
		}
	}
	return true
}

// Where replicas count by their capacity alone the search for the general case finds the same configurations in the same order.
func TestPlainEnumerationIsTheSearch(t *testing.T) {
	compared := 0
	pricedPrograms(15_000, 13, func(seed uint64, r *rand.Rand, l *lagrangian, prices []float64) {
		for i := range l.workloads {
			w := &l.workloads[i]
			if w.routing != nil || w.single {
				continue
			}
			w.redundancy, w.most = 0, unlimited
			for j := range w.variants {
				if r.IntN(4) == 0 {
					w.variants[j].capacity = 0
				}
			}
			bound, _ := l.price(i, prices)
			if math.IsInf(bound, 1) {
				continue
			}
			p := &l.pricer
			lo, hi := l.bounds(w)
			threshold := bound + 0.5*math.Abs(bound) + 1
			limit := enumerationLimit{math.MaxInt, enumerationSteps}
			columns, _ := p.enumerate(w, lo, hi, prices, threshold, limit)
			if !p.plain() {
				continue
			}
			var found [][]int32
			for k := range columns {
				found = append(found, slices.Clone(columns[k].x))
			}
			e := &enumeration{limit: limit.columns}
			p.store.reset()
			p.prepare(-1)
			p.collect, p.steps = e, 0
			p.chooseTheta()
			p.search(p.root())
			p.collect = nil
			if !slices.EqualFunc(found, e.columns, func(x []int32, c column) bool { return slices.Equal(x, c.x) }) {
				t.Fatalf("seed %d: found %v, the search %+v", seed, found, e.columns)
			}
			compared += len(found)
		}
	})
	if compared < 10_000 {
		t.Errorf("%d configurations", compared)
	}
}

func TestEnumerationHasNoDuplicates(t *testing.T) {
	pricingCases(t, func(l *lagrangian, i int, lo, hi []int32, prices []float64, _ []column) {
		found, _ := l.pricer.enumerate(&l.workloads[i], lo, hi, prices, 1e6, enumerationLimit{math.MaxInt, enumerationSteps})
		for a := range found {
			for b := range a {
				if slices.Equal(found[a].x, found[b].x) {
					t.Fatalf("%v twice: %+v", found[a].x, l.workloads[i])
				}
			}
		}
	})
}

// Replicas in a dearer pool are of no use before a cheaper one is full: a search that tries them takes thousands of steps.
func TestPricingFillsCheaperPoolsFirst(t *testing.T) {
	v := Variant{Name: "v", Capacity: 10, DevicesPerReplica: 1}
	p := &Problem{Workloads: []Workload{{Name: "w", Namespace: "n", Priority: 1, Demand: 401}}}
	for zone := range 5 {
		p.Pools = append(p.Pools, Pool{Name: string(rune('a' + zone)), Capacity: 15, Limited: true})
		v.Placements = append(v.Placements, Placement{Pool: zone, PricePerHour: 4 + 0.01*float64(zone)})
	}
	p.Workloads[0].Variants = []Variant{v}
	if err := p.Validate(); err != nil {
		t.Fatal(err)
	}
	l := newLagrangian(moneyProgram(p, false), &effort{left: math.MaxInt})
	bound, pick := l.price(0, make([]float64, len(l.rows)))
	if x := l.columns[0].x(pick); !slices.Equal(x, []int32{15, 15, 11, 0, 0}) {
		t.Errorf("replicas %v", x)
	}
	if want := 15*4.0 + 15*4.01 + 11*4.02; math.Abs(bound-want) > 1e-9 {
		t.Errorf("cost %v, want %v", bound, want)
	}
	if steps := l.worker(0).pricer.steps; steps > 200 {
		t.Errorf("%d steps, want at most 200", steps)
	}
}

// The price of the limit on the sum of replicas is at most what missing ones cost, whatever rounding does: here it was larger by a hair, so that
// replicas beyond the minimum came before those that count towards it, and none were found.
func TestThetaIsAtMostWhatMissingReplicasCost(t *testing.T) {
	v := Variant{Name: "a", Capacity: 1, DevicesPerReplica: 1, MinReplicas: 2, Placements: []Placement{{PricePerHour: 1.5}}}
	twin := v
	twin.Name = "b"
	p := &Problem{
		Pools:     []Pool{{Name: "g", Limited: true, Capacity: 7}},
		Workloads: []Workload{{Name: "w", Namespace: "n", Priority: 1, Demand: 3.1, Redundancy: 1, MinReplicas: 5, Variants: []Variant{v, twin}}},
	}
	if err := p.Validate(); err != nil {
		t.Fatal(err)
	}
	l := newLagrangian(moneyProgram(p, true), &effort{left: math.MaxInt})
	prices := make([]float64, len(l.rows))
	for r := range prices {
		if l.rows[r].kind == shortfallRow {
			prices[r] = math.Nextafter(0.28, 0)
		}
	}
	bound, pick := l.price(0, prices)
	if pick < 0 || math.Abs(bound-5*1.5) > 1e-9 {
		t.Errorf("bound %v, configuration %d, want %v", bound, pick, 5*1.5)
	}
	if by := &l.worker(0).pricer; by.theta > by.missing {
		t.Errorf("theta %v > %v", by.theta, by.missing)
	}
}

// No other price of the limit on the sum of replicas bounds better than the one chosen.
func TestThetaBoundsBest(t *testing.T) {
	signs := map[int]int{}
	pricingCases(t, func(l *lagrangian, i int, lo, hi []int32, prices []float64, _ []column) {
		p, w := &pricer{}, &l.workloads[i]
		if w.routing != nil || !p.load(w, lo, hi, prices) || !p.prepare(-1) || p.plain() {
			return
		}
		p.chooseTheta()
		chosen, at := p.theta, p.root()
		at.failing = 0
		best := p.relaxed(at)
		signs[sign(chosen)]++
		for theta := 1e-3; theta < min(100, p.missing); theta *= 1.01 {
			for _, other := range []float64{-theta, theta} {
				if p.sortOrder(other); p.relaxed(at) > best+1e-9*math.Abs(best) {
					t.Fatalf("%v at theta %v, %v at %v: %+v lo %v hi %v prices %v", best, chosen, p.relaxed(at), other, w, lo, hi, prices)
				}
			}
		}
	})
	if signs[1] < 100 || signs[-1] < 10 || signs[0] < 100 {
		t.Fatalf("thetas by sign: %v", signs)
	}
}

// The Lagrangian at any prices is a lower bound, and its maximum is what the bundle
// reports.
func TestLagrangianBoundsTheOptimum(t *testing.T) {
	for seed, solved := uint64(0), 0; solved < short.Of(300); seed++ {
		r := rand.New(rand.NewPCG(seed, 9))
		p := randomSmall(r)
		want, _, ok := bruteForce(p, 50_000)
		if !ok || slices.Max(want[:len(want)-1]) > 0 {
			continue
		}
		solved++
		l := newLagrangian(moneyProgram(p, false), &effort{left: math.MaxInt})
		optimum := want[len(want)-1]
		highest := math.Inf(-1)
		for range 30 {
			v := l.evaluate(randomPrices(r, len(l.rows)))
			if highest = max(highest, v.bound); v.bound > optimum+1e-9*(1+optimum) {
				t.Fatalf("seed %d: L = %v > optimum %v", seed, v.bound, optimum)
			}
		}
		b := bundle{l: l, prices: make([]float64, len(l.rows))}
		first := l.evaluate(b.prices)
		b.scale = l.scales(&first.cut)
		b.ascend(goal{target: math.Inf(1), hopeless: math.Inf(1), passes: 300, precision: 1e-9})
		if b.value.bound < highest-1e-6*(1+math.Abs(highest)) || b.value.bound > optimum+1e-9*(1+optimum) {
			t.Fatalf("seed %d: ascent to %v; %v at random prices, optimum %v", seed, b.value.bound, highest, optimum)
		}
	}
}

// The prices that a linear program ends with at the root maximise the Lagrangian.
func TestPricesOfTinyRootsAreOptimal(t *testing.T) {
	tiny := 0
	for seed := range uint64(60) {
		kind := []fleetKind{penalizedFleet, budgetFleet}[seed%2]
		l := newLagrangian(moneyProgram(randomFleet(seed, kind, 6+int(seed%3)*7, 4), false), &effort{left: math.MaxInt, given: math.MaxInt})
		root := newTree(l, Options{RelativeGap: 1e-3, LP: lp.Simplex(), limits: defaultLimits()})
		if root.floor = math.Inf(1); !root.root() || !root.tiny {
			continue
		}
		tiny++
		value := l.evaluate(root.rootPrices)
		b := bundle{l: l, prices: root.rootPrices, scale: root.bundle.scale, value: value, fresh: true}
		b.ascend(goal{target: math.Inf(1), hopeless: math.Inf(1), passes: 1000, precision: 1e-9})
		if b.value.bound > value.bound+1e-6*math.Abs(value.bound) {
			t.Errorf("seed %d: %v, and %v after an ascent", seed, value.bound, b.value.bound)
		}
	}
	if tiny < 40 {
		t.Errorf("%d roots", tiny)
	}
}

// Without the bounds of single rows the value is that of all workloads priced anew, though only those
// that had such bounds are.
func TestRepriced(t *testing.T) {
	lowered := 0
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 10))
		l := newLagrangian(moneyProgram(randomSmall(r), false), &effort{left: math.MaxInt})
		prices := randomPrices(r, len(l.rows))
		before := l.evaluate(prices)
		if !before.ok {
			continue
		}
		got := l.repriced(&before, prices, l.widen())
		want := l.evaluate(prices)
		if got.ok != want.ok || math.Abs(got.bound-want.bound) > 1e-9*(1+want.scale) {
			t.Fatalf("seed %d: L = %v, want %v", seed, got.bound, want.bound)
		}
		if want.bound < before.bound-1e-9*(1+want.scale) {
			lowered++
		}
	}
	if lowered < 10 {
		t.Errorf("%d values changed, want 10 and more", lowered)
	}
}

func BenchmarkPricing(b *testing.B) {
	l := newLagrangian(moneyProgram(randomFleet(1, tightFleet, 1000, 5), false), &effort{left: math.MaxInt})
	prices := make([]float64, len(l.rows))
	for r := range prices {
		prices[r] = 1
	}
	b.ReportAllocs()
	for b.Loop() {
		for i := range l.workloads {
			l.price(i, prices)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(len(l.workloads)), "ns/workload")
}
