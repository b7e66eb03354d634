package optimizer

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/poolwright/poolwright/optimizer/lp"
)

// bucketWorkload is a mix of buckets of input × output tokens on several
// accelerators: the cheap ones serve short requests more cheaply, and the smallest
// can't serve the longest at all.
func bucketWorkload(r *rand.Rand, name string, inputs, outputs, variants int, demand float64) Workload {
	w := Workload{Name: name, Priority: 1, Demand: demand}
	total := 0.0
	var sizes [][2]float64
	for i := range inputs {
		for o := range outputs {
			sizes = append(sizes, [2]float64{25 * math.Pow(2.1, float64(i)), 25 * math.Pow(2.4, float64(o))})
			share := math.Exp(-0.12*math.Pow(float64(i)-3.5, 2) - 0.3*math.Pow(float64(o)-2, 2) + 0.3*r.NormFloat64())
			w.Shapes = append(w.Shapes, Shape{Share: share})
			total += share
		}
	}
	for s := range w.Shapes {
		w.Shapes[s].Share /= total
	}
	types := []struct{ price, prefill, decode, memory float64 }{
		{0.7, 3500, 900, 3000}, {1.01, 6000, 1300, 6000}, {3.67, 26000, 5200, 40000}, {7.516, 62000, 9800, 40000}, {2.1, 14000, 2600, 20000},
	}
	for v := range variants {
		at := types[v%len(types)]
		variant := Variant{Name: fmt.Sprint("v", v), DevicesPerReplica: 1, Placements: []Placement{{Pool: v % 5, PricePerHour: at.price}}}
		for _, size := range sizes {
			capacity := 0.0
			if size[0]+size[1] <= at.memory {
				crowd := at.memory / (at.memory + 3*(size[0]+size[1]))
				capacity = crowd / (size[0]/at.prefill + size[1]/at.decode) * math.Exp(0.05*r.NormFloat64())
			}
			variant.ShapeCapacities = append(variant.ShapeCapacities, capacity)
		}
		w.Variants = append(w.Variants, variant)
	}
	return w
}

// bucketFleet has workloads of few shapes that share limited pools.
func bucketFleet(seed uint64, workloads int) *Problem {
	r := rand.New(rand.NewPCG(seed, 21))
	p := &Problem{}
	for g := range 5 {
		p.Pools = append(p.Pools, Pool{Name: fmt.Sprint("g", g)})
	}
	for i := range workloads {
		w := bucketWorkload(r, fmt.Sprint("w", i), 5, 2, 5, math.Round(100*math.Exp(1+r.NormFloat64()))/10)
		w.Priority = 1 + i%3
		for j := range w.Variants {
			v := &w.Variants[j]
			v.CurrentReplicas = r.IntN(4)
			v.SwitchUp, v.SwitchDown = 0.1*v.Placements[0].PricePerHour, 0.03*v.Placements[0].PricePerHour
		}
		p.Workloads = append(p.Workloads, w)
	}
	return p
}

// loadOf is what a variant's share of each shape takes of its replicas.
func loadOf(w *Workload, j int, shares []float64) float64 {
	load := 0.0
	for s, rate := range w.shapeRates() {
		if shares[s] > 0 {
			load += rate * shares[s] / w.shapeCapacity(&w.Variants[j], s)
		}
	}
	return load
}

// checkShares checks that the routing of an allocation serves what it says on the
// replicas that it has.
func checkShares(t *testing.T, w *Workload, a *Allocation) {
	t.Helper()
	if !w.routed() || w.Demand == 0 || len(w.Variants) == 0 {
		if a.ShapeShares != nil {
			t.Errorf("workload %q: shares %v", w.Name, a.ShapeShares)
		}
		return
	}
	unserved := 0.0
	for s, rate := range w.shapeRates() {
		whole, prefilled, decoded := 0.0, 0.0, 0.0
		for j := range w.Variants {
			switch share := a.ShapeShares[j][s]; w.Variants[j].Phase {
			case Whole:
				whole += share
			case Prefill:
				prefilled += share
			case Decode:
				decoded += share
			}
		}
		if math.Abs(prefilled-decoded) > 1e-8 || whole+prefilled > 1+1e-8 {
			t.Errorf("workload %q shape %d: %v whole, %v prefilled, %v decoded", w.Name, s, whole, prefilled, decoded)
		}
		unserved += rate * (1 - whole - prefilled)
	}
	if unserved > a.Unmet+w.waived+1e-8*w.Demand {
		t.Errorf("workload %q: %v unserved, want %v at most", w.Name, unserved, a.Unmet)
	}
	for j, shares := range a.ShapeShares {
		running := float64(totals(a.Replicas)[j])
		if load := loadOf(w, j, shares); load > running*(1+1e-8)+1e-8 {
			t.Errorf("workload %q variant %d: load %v of %v replicas", w.Name, j, load, running)
		}
	}
}

// The search knows the unmet demand by its dual, Evaluate by the routing itself.
func TestUnmetDemandEqualsItsRouting(t *testing.T) {
	cases := 0
	for seed := range uint64(3000) {
		r := rand.New(rand.NewPCG(seed, 22))
		for _, w := range randomSmall(r).Workloads {
			routing := newRouting(&w)
			if w.Demand == 0 || routing == nil {
				continue
			}
			for range 4 {
				counts, narrow := make([]int, len(w.Variants)), make([]int32, len(w.Variants))
				for j := range counts {
					counts[j] = r.IntN(4)
					narrow[j] = int32(counts[j])
				}
				want, _ := w.route(counts)
				got := routing.unmetAfter(narrow, int32(w.Redundancy))
				if math.Abs(got-want) > 1e-9*w.Demand {
					t.Fatalf("seed %d: unmet %v, routed %v: %+v × %v", seed, got, want, w, counts)
				}
				cases++
			}
		}
	}
	if cases < 3000 {
		t.Errorf("%d cases", cases)
	}
}

// A covering row holds for any replicas, and proves what is unmet where it was found.
func TestCoveringRowsHoldEverywhere(t *testing.T) {
	for seed := range uint64(500) {
		r := rand.New(rand.NewPCG(seed, 23))
		w := bucketWorkload(r, "w", 4, 2, 4, 20)
		for j := range w.Variants {
			if seed%2 == 0 {
				w.Variants[j].Phase = Phase(j % 3)
			}
		}
		routing := newRouting(&w)
		draw := func() []float64 {
			x := make([]float64, len(w.Variants))
			for j := range x {
				x[j] = 6 * r.Float64()
			}
			return x
		}
		left := func(row coveringRow, x []float64) float64 {
			need := row.need
			for j := range x {
				need -= row.weights[j] * x[j]
			}
			return need
		}
		x := draw()
		unmet := routing.unmet(x)
		row := routing.row.clone()
		if math.Abs(left(row, x)-unmet) > 1e-9 {
			t.Fatalf("seed %d: row proves %v of %v", seed, left(row, x), unmet)
		}
		for range 10 {
			other := draw()
			if u := routing.unmet(other); left(row, other) > u+1e-9 {
				t.Fatalf("seed %d: row says %v are unmet of %v", seed, left(row, other), u)
			}
		}
	}
}

// The worst of all sets of failures is found: the test fails every set of replicas, where the search looks at corners alone.
func TestFailuresThatMatterAreCorners(t *testing.T) {
	for seed := range uint64(200) {
		r := rand.New(rand.NewPCG(seed, 24))
		w := Workload{Name: "w", Demand: 1 + 5*r.Float64()}
		for range 3 {
			w.Variants = append(w.Variants, Variant{Capacity: 1 + r.Float64(), Phase: Phase(r.IntN(3))})
		}
		addShapes(r, &w)
		counts := []int{r.IntN(5), r.IntN(5), r.IntN(5)}
		redundancy := 1 + r.IntN(4)
		want := 0.0
		for a := 0; a <= min(redundancy, counts[0]); a++ {
			for b := 0; b <= min(redundancy-a, counts[1]); b++ {
				for c := 0; c <= min(redundancy-a-b, counts[2]); c++ {
					unmet, _ := w.route([]int{counts[0] - a, counts[1] - b, counts[2] - c})
					want = max(want, unmet)
				}
			}
		}
		w.Redundancy = redundancy
		got, _ := w.route(counts)
		if math.Abs(got-want) > 1e-8 {
			t.Fatalf("seed %d: unmet %v, want %v: %+v × %v", seed, got, want, w, counts)
		}
	}
}

// The small program agrees with the general engine, whatever order its bounds move in.
func TestCoveringEqualsTheEngine(t *testing.T) {
	outcomes := map[bool]int{}
	for seed := range uint64(1000) {
		r := rand.New(rand.NewPCG(seed, 25))
		n, rows := 1+r.IntN(6), 1+r.IntN(10)
		var c covering
		c.reset(n, 1e-9)
		p := &lp.Problem{Columns: make([]lp.Column, n)}
		for i := range n {
			c.cost[i], c.upper[i] = float64(r.IntN(9)), math.Inf(1)
			if r.IntN(2) == 0 {
				c.cost[i], c.upper[i] = float64(r.IntN(9)-4), float64(1+r.IntN(4))
			}
			c.lower[i] = 0
			p.Columns[i] = lp.Column{Cost: c.cost[i], Upper: c.upper[i]}
		}
		for k := range rows {
			row, need := make([]float64, n), float64(r.IntN(9)-2)
			for i := range row {
				if row[i] = float64(r.IntN(7) - 2); row[i] != 0 {
					p.Columns[i].Rows = append(p.Columns[i].Rows, int32(k))
					p.Columns[i].Values = append(p.Columns[i].Values, row[i])
				}
			}
			c.addRow(row, need)
			p.RowLower, p.RowUpper = append(p.RowLower, need), append(p.RowUpper, math.Inf(1))
		}
		c.start()
		for range 5 {
			solver, err := lp.Simplex().New(p)
			if err != nil {
				t.Fatal(err)
			}
			want := solver.Solve(0)
			value, optimal := c.solve(math.Inf(1))
			if want.Status == lp.Infeasible {
				if !math.IsInf(value, 1) {
					t.Fatalf("seed %d: value %v of an infeasible program", seed, value)
				}
			} else if !optimal || math.Abs(value-want.Objective) > 1e-8*(1+math.Abs(value)) {
				t.Fatalf("seed %d: value %v (%v), want %v %v", seed, value, optimal, want.Status, want.Objective)
			}
			outcomes[want.Status == lp.Infeasible]++
			i := r.IntN(n)
			c.lower[i] = float64(r.IntN(3))
			c.upper[i] = c.lower[i] + float64(r.IntN(3))
			p.Columns[i].Lower, p.Columns[i].Upper = c.lower[i], c.upper[i]
		}
	}
	if outcomes[true] < 500 || outcomes[false] < 500 {
		t.Errorf("infeasible, feasible: %v", outcomes)
	}
}

// Sixty buckets on four accelerators are proven optimal, and no replica less serves.
func TestBucketsAreProven(t *testing.T) {
	for seed := range uint64(5) {
		p := &Problem{Workloads: []Workload{bucketWorkload(rand.New(rand.NewPCG(seed, 20)), "w", 10, 6, 4, 128)}}
		for g := range 5 {
			p.Pools = append(p.Pools, Pool{Name: fmt.Sprint("g", g)})
		}
		s := solve(t, p, Options{})
		checkSolution(t, p, s)
		if s.Proof != Optimal || s.Demand != Served {
			t.Fatalf("seed %d: %+v", seed, s)
		}
		for j, had := range s.Allocations[0].Replicas {
			if had[0] == 0 {
				continue
			}
			fewer := slices.Clone(s.Allocations[0].Replicas)
			fewer[j] = []int{had[0] - 1}
			e, err := p.Evaluate([][][]int{fewer})
			if err != nil {
				t.Fatal(err)
			}
			if e.Unmet[0] == 0 {
				t.Errorf("seed %d: variant %d has a replica too many", seed, j)
			}
		}
	}
}

func TestMixesOfShapesShareLimitedPools(t *testing.T) {
	t.Parallel()
	p := limited(t, bucketFleet(2, 20), 0.8)
	s := solve(t, p, Options{RelativeGap: 1e-3})
	checkSolution(t, p, s)
	if s.Proof != Optimal {
		t.Errorf("gap %v, levels %+v", s.Gap, s.Levels)
	}
}

func TestRoutingByHand(t *testing.T) {
	both := []Shape{{Share: 0.5}, {Share: 0.5}}
	for _, c := range []struct {
		name      string
		workload  Workload
		objective float64
		counts    []int
		unmet     float64
		shares    [][]float64
	}{
		{
			"each shape where it is cheap",
			Workload{Demand: 8, Shapes: both, Variants: []Variant{
				{ShapeCapacities: []float64{4, 1}, DevicesPerReplica: 1},
				{ShapeCapacities: []float64{4, 4}, DevicesPerReplica: 3},
			}},
			4,
			[]int{1, 1},
			0,
			[][]float64{{1, 0}, {0, 1}},
		},
		{
			"a shape that only one variant serves",
			Workload{Demand: 4, Shapes: both, Variants: []Variant{
				{ShapeCapacities: []float64{4, 0}, DevicesPerReplica: 1},
				{ShapeCapacities: []float64{0, 1}, DevicesPerReplica: 2},
			}},
			5,
			[]int{1, 2},
			0,
			[][]float64{{1, 0}, {0, 1}},
		},
		{
			"a shape that none serves",
			Workload{Demand: 4, Shapes: both, Variants: []Variant{{ShapeCapacities: []float64{2, 0}, DevicesPerReplica: 1}}},
			1,
			[]int{1},
			2,
			[][]float64{{1, 0}},
		},
		{
			"pairs of phases",
			Workload{Demand: 6, Variants: []Variant{
				{Capacity: 3, Phase: Prefill, DevicesPerReplica: 1},
				{Capacity: 2, Phase: Decode, DevicesPerReplica: 1},
			}},
			5,
			[]int{2, 3},
			0,
			[][]float64{{1}, {1}},
		},
		{
			"a replica beside the pairs",
			Workload{Demand: 7, Variants: []Variant{
				{Capacity: 3, Phase: Prefill, DevicesPerReplica: 2},
				{Capacity: 6, Phase: Decode, DevicesPerReplica: 2},
				{Capacity: 1, DevicesPerReplica: 1},
			}},
			7,
			[]int{2, 1, 1},
			0, nil,
		},
		{
			"either phase may fail",
			Workload{Demand: 2, Redundancy: 1, Variants: []Variant{
				{Capacity: 2, Phase: Prefill, DevicesPerReplica: 1},
				{Capacity: 1, Phase: Decode, DevicesPerReplica: 1},
			}},
			5,
			[]int{2, 3},
			0,
			[][]float64{{1}, {1}},
		},
		{
			"a phase alone serves nothing",
			Workload{Demand: 2, Variants: []Variant{{Capacity: 2, Phase: Prefill, DevicesPerReplica: 1}}},
			0,
			[]int{0},
			2,
			[][]float64{{0}},
		},
		{
			"shapes in phases",
			Workload{Demand: 4, Shapes: both, Variants: []Variant{
				{ShapeCapacities: []float64{1, 4}, Phase: Prefill, DevicesPerReplica: 1},
				{ShapeCapacities: []float64{4, 1}, Phase: Decode, DevicesPerReplica: 1},
			}},
			6,
			[]int{3, 3},
			0,
			[][]float64{{1, 1}, {1, 1}},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := fleet(100, c.workload)
			s := solve(t, p, Options{})
			checkSolution(t, p, s)
			a := &s.Allocations[0]
			if s.Proof != Optimal || math.Abs(s.Objective-c.objective) > 1e-9 || !slices.Equal(totals(a.Replicas), c.counts) || math.Abs(a.Unmet-c.unmet) > 1e-9 {
				t.Errorf("objective %v, replicas %v, unmet %v; want %v, %v, %v", s.Objective, totals(a.Replicas), a.Unmet, c.objective, c.counts, c.unmet)
			}
			for j := range c.shares {
				for k, want := range c.shares[j] {
					if math.Abs(a.ShapeShares[j][k]-want) > 1e-9 {
						t.Errorf("shares %v, want %v", a.ShapeShares, c.shares)
					}
				}
			}
		})
	}
}

// limited bounds the pools by a share of what the fleet uses without limits.
func limited(b testing.TB, p *Problem, share float64) *Problem {
	s, err := Solve(p, Options{RelativeGap: 1e-2})
	if err != nil {
		b.Fatal(err)
	}
	q := clone(p)
	for g := range q.Pools {
		q.Pools[g].Limited = true
		q.Pools[g].Capacity = int(share*float64(s.Pools[g].Used)) + 1
	}
	return q
}

func BenchmarkShapes(b *testing.B) {
	one := &Problem{Workloads: []Workload{bucketWorkload(rand.New(rand.NewPCG(1, 20)), "w", 10, 6, 4, 128)}}
	for range 5 {
		one.Pools = append(one.Pools, Pool{Name: fmt.Sprint("g", len(one.Pools))})
	}
	fleet := bucketFleet(1, 100)
	for _, c := range []struct {
		name    string
		problem *Problem
		gap     float64
	}{
		{"1 × 60", one, 0},
		{"100 × 10 unlimited", fleet, 1e-3},
		{"100 × 10 tight", limited(b, fleet, 0.8), 1e-3},
	} {
		b.Run(c.name, func(b *testing.B) {
			var s *Solution
			for b.Loop() {
				var err error
				if s, err = Solve(c.problem, Options{RelativeGap: c.gap}); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(s.Gap, "gap")
			b.ReportMetric(s.Objective, "objective")
		})
	}
}

// Redundancy of any size is proven in one step where a phase has one variant: what fails of it is
// known.
func TestRedundantPhasesAreProven(t *testing.T) {
	for _, redundancy := range []int{1, 1000, 600_000} {
		w := Workload{Priority: 1, Demand: 10, Redundancy: redundancy}
		for _, phase := range []Phase{Prefill, Decode} {
			w.Variants = append(w.Variants, Variant{
				Name: fmt.Sprint(phase), Phase: phase, Capacity: 2 * float64(phase),
				DevicesPerReplica: 1, Placements: []Placement{{PricePerHour: 1}},
			})
		}
		p := &Problem{Pools: []Pool{{}}, Workloads: []Workload{w}}
		s := solve(t, p, Options{Effort: 1000})
		if want := float64(5 + 3 + 2*redundancy); s.Objective != want || s.Proof != Optimal {
			t.Errorf("redundancy %d: cost %v, bound %v, want %v", redundancy, s.Objective, s.Bound, want)
		}
	}
}

// A shape of which replicas serve next to nothing does not hide what they serve of another.
func TestLoadsOfAnyScaleCount(t *testing.T) {
	for digits := range 20 {
		little := math.Pow10(-digits)
		w := &Workload{Demand: 10, Shapes: []Shape{{Share: 0.5}, {Share: 0.5}}}
		for range 3 {
			w.Variants = append(w.Variants, Variant{ShapeCapacities: []float64{1, little}})
		}
		unmet, shares := w.serve([]int{1, 1, 1})
		if want := 7.0; math.Abs(unmet-want) > 1e-6 {
			t.Errorf("capacity %g: %v unmet, want %v", little, unmet, want)
		}
		for v := range shares {
			if load := 5*shares[v][0] + 5/little*shares[v][1]; load > 1+1e-6 {
				t.Errorf("capacity %g: load %v of 1 replica", little, load)
			}
		}
	}
}
