package optimizer

import (
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"github.com/poolwright/poolwright/internal/short"
)

// invarianceProblems are small ones of every kind and a few fleets, some with
// interchangeable parts or with pools in zones.
func invarianceProblems() []*Problem {
	var problems []*Problem
	for seed := range short.Of(uint64(300)) {
		problems = append(problems, randomSmall(rand.New(rand.NewPCG(seed, 2))))
	}
	for seed := range short.Of(uint64(200)) {
		problems = append(problems, randomZones(rand.New(rand.NewPCG(seed, 3))))
	}
	for kind := looseFleet; kind <= nodeFleet; kind++ {
		p := randomFleet(uint64(kind), kind, 12, 4)
		problems = append(problems, p, withTwins(p), inZones(rand.New(rand.NewPCG(uint64(kind), 4)), p, 3, int(kind)%3))
	}
	for seed := range short.Of(uint64(60)) {
		problems = append(problems, pinnedWithBudget(seed))
	}
	return problems
}

// pinnedWithBudget is a fleet in zones with less to spend than it would. Two of the zones are alike, but for some workloads that are
// pinned to a zone, and for discounts of some variants.
func pinnedWithBudget(seed uint64) *Problem {
	r := rand.New(rand.NewPCG(seed, 5))
	p := inZones(r, randomFleet(seed, []fleetKind{tightFleet, shortFleet, penalizedFleet}[seed%3], 20, 4), 3, 1)
	for g := 0; g < len(p.Pools); g += 3 {
		p.Pools[g+1].Capacity = p.Pools[g].Capacity
	}
	for i := range p.Workloads {
		pinned, zone := r.IntN(4) == 0, r.IntN(3)
		for j := range p.Workloads[i].Variants {
			v := &p.Workloads[i].Variants[j]
			v.Placements[1].PricePerHour = v.Placements[0].PricePerHour
			p.BudgetPerHour += v.Placements[0].PricePerHour / 2
			if r.IntN(8) == 0 {
				v.Placements[r.IntN(2)].PricePerHour *= 0.9
			}
			if pinned && seed%2 == 0 {
				v.Placements = v.Placements[zone:][:1]
			}
		}
	}
	return p
}

// limitedOptions cut hard searches off; that must not depend on order or names
// either.
var limitedOptions = Options{RelativeGap: 1e-3, Effort: 20_000}

// withTwins doubles every workload and makes two pools alike.
func withTwins(p *Problem) *Problem {
	twins := clone(p)
	for i := range p.Workloads {
		w := clone(p).Workloads[i]
		w.Name += "-twin"
		twins.Workloads = append(twins.Workloads, w)
	}
	if len(twins.Pools) > 1 {
		name := twins.Pools[1].Name
		twins.Pools[1] = twins.Pools[0]
		twins.Pools[1].Name = name
	}
	return twins
}

func clone(p *Problem) *Problem {
	c := *p
	c.Pools = slices.Clone(p.Pools)
	c.Quotas = slices.Clone(p.Quotas)
	c.Workloads = slices.Clone(p.Workloads)
	for i := range c.Workloads {
		c.Workloads[i].Variants = slices.Clone(c.Workloads[i].Variants)
		c.Workloads[i].Shapes = slices.Clone(c.Workloads[i].Shapes)
		for j := range c.Workloads[i].Variants {
			v := &c.Workloads[i].Variants[j]
			v.ShapeCapacities = slices.Clone(v.ShapeCapacities)
			v.Placements = slices.Clone(v.Placements)
		}
	}
	return &c
}

// shuffle reorders everything and returns the new index of every old one.
func shuffle(r *rand.Rand, p *Problem) (q *Problem, pools, quotas, workloads []int, variants, shapes [][]int, placements [][][]int) {
	q = clone(p)
	pools, quotas, workloads = r.Perm(len(p.Pools)), r.Perm(len(p.Quotas)), r.Perm(len(p.Workloads))
	for g := range p.Pools {
		q.Pools[pools[g]] = p.Pools[g]
	}
	for k, quota := range p.Quotas {
		quota.Pool = pools[quota.Pool]
		q.Quotas[quotas[k]] = quota
	}
	for i, w := range p.Workloads {
		order := r.Perm(len(w.Variants))
		places := make([][]int, len(w.Variants))
		moved := make([]Variant, len(w.Variants))
		for j, v := range w.Variants {
			places[j] = r.Perm(len(v.Placements))
			shuffled := make([]Placement, len(v.Placements))
			for k, place := range v.Placements {
				place.Pool = pools[place.Pool]
				shuffled[places[j][k]] = place
			}
			v.Placements = shuffled
			moved[order[j]] = v
		}
		w.Variants = moved
		shapes = append(shapes, r.Perm(len(w.Shapes)))
		w.moveShapes(shapes[i])
		q.Workloads[workloads[i]] = w
		variants = append(variants, order)
		placements = append(placements, places)
	}
	return q, pools, quotas, workloads, variants, shapes, placements
}

// moveShapes gives every shape a new index.
func (w *Workload) moveShapes(order []int) {
	from := w.Shapes
	w.Shapes = make([]Shape, len(from))
	for s := range from {
		w.Shapes[order[s]] = from[s]
	}
	for j := range w.Variants {
		v := &w.Variants[j]
		capacities := v.ShapeCapacities
		v.ShapeCapacities = make([]float64, len(capacities))
		for s := range capacities {
			v.ShapeCapacities[order[s]] = capacities[s]
		}
	}
}

// sharesBefore are those of a variant at the old indices of the shapes.
func sharesBefore(shares []float64, order []int) []float64 {
	if len(order) == 0 {
		return shares
	}
	out := make([]float64, len(shares))
	for s := range out {
		out[s] = shares[order[s]]
	}
	return out
}

func TestReorderingChangesNothing(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(3, 3))
	for n, p := range invarianceProblems() {
		want := solve(t, p, limitedOptions)
		q, pools, quotas, workloads, variants, shapes, placements := shuffle(r, p)
		moved := solve(t, q, limitedOptions)
		got := *moved
		got.Allocations = make([]Allocation, len(want.Allocations))
		got.Pools = make([]Usage, len(want.Pools))
		got.Quotas = make([]Usage, len(want.Quotas))
		for g := range pools {
			got.Pools[g] = moved.Pools[pools[g]]
		}
		for k := range quotas {
			got.Quotas[k] = moved.Quotas[quotas[k]]
		}
		for i := range workloads {
			a := moved.Allocations[workloads[i]]
			b := a
			b.Replicas, b.MarginalPrice, b.ShapeShares = nil, nil, nil
			for j := range variants[i] {
				var counts []int
				for k := range placements[i][j] {
					counts = append(counts, a.Replicas[variants[i][j]][placements[i][j][k]])
				}
				b.Replicas = append(b.Replicas, counts)
				b.MarginalPrice = append(b.MarginalPrice, a.MarginalPrice[variants[i][j]])
				if a.ShapeShares != nil {
					b.ShapeShares = append(b.ShapeShares, sharesBefore(a.ShapeShares[variants[i][j]], shapes[i]))
				}
			}
			got.Allocations[i] = b
		}
		slices.Sort(got.Notes)
		slices.Sort(want.Notes)
		if !reflect.DeepEqual(&got, want) {
			t.Fatalf("problem %d: reordered\n%+v\nwant\n%+v", n, got, *want)
		}
	}
}

func solve(t *testing.T, p *Problem, o Options) *Solution {
	t.Helper()
	s, err := Solve(p, o)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestRenamingKeepsProofObjectiveAndBound(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(4, 4))
	for n, p := range invarianceProblems() {
		want := solve(t, p, limitedOptions)
		got := solve(t, rename(r, p), limitedOptions)
		if got.Proof != want.Proof || got.Demand != want.Demand || got.Objective != want.Objective || got.Bound != want.Bound || got.Gap != want.Gap {
			t.Fatalf("problem %d: renamed %v %v %v %v, want %v %v %v %v", n, got.Proof, got.Demand, got.Objective, got.Bound, want.Proof, want.Demand, want.Objective, want.Bound)
		}
		if !reflect.DeepEqual(got.Levels, want.Levels) {
			t.Fatalf("problem %d: renamed levels %v, want %v", n, got.Levels, want.Levels)
		}
	}
}

func rename(r *rand.Rand, p *Problem) *Problem {
	q := clone(p)
	for to, g := range r.Perm(len(q.Pools)) {
		q.Pools[g].Name = fmt.Sprint("x", to)
	}
	names := map[string]string{}
	namespace := func(old string) string {
		if _, ok := names[old]; !ok {
			names[old] = fmt.Sprint("n", r.Uint64())
		}
		return names[old]
	}
	for k := range q.Quotas {
		q.Quotas[k].Namespace = namespace(q.Quotas[k].Namespace)
	}
	for to, i := range r.Perm(len(q.Workloads)) {
		w := &q.Workloads[i]
		w.Name, w.Namespace = fmt.Sprint("y", to), namespace(w.Namespace)
		for to, j := range r.Perm(len(w.Variants)) {
			w.Variants[j].Name = fmt.Sprint("z", to)
		}
	}
	return q
}

func TestRepeatsBitForBit(t *testing.T) {
	p := randomFleet(1, tightFleet, 20, 5)
	want := solve(t, p, Options{})
	for range 5 {
		if got := solve(t, p, Options{}); !reflect.DeepEqual(got, want) {
			t.Fatalf("got %+v, want %+v", got, want)
		}
	}
}

// ranks are the levels and the objective of a solution, for comparison of problems
// that differ a little.
func ranks(p *Problem, s *Solution) []float64 {
	out := []float64{0}
	unmet := map[int]float64{}
	for i, a := range s.Allocations {
		out[0] += float64(a.Shortfall)
		if w := &p.Workloads[i]; !w.Penalized {
			unmet[w.Priority] += a.Unmet
		}
	}
	for priority := 1; priority <= 3; priority++ {
		out = append(out, unmet[priority])
	}
	return append(out, s.Objective)
}

// changes are those of a problem that may only lower its optimum, or, with exact, scale it.
var changes = []struct {
	name  string
	exact bool
	apply func(r *rand.Rand, p *Problem) (factor float64)
}{
	{"more capacity", false, func(r *rand.Rand, p *Problem) float64 {
		p.Pools[r.IntN(len(p.Pools))].Capacity += 1 + r.IntN(4)
		for k := range p.Quotas {
			p.Quotas[k].Capacity += r.IntN(2)
		}
		return 1
	}},
	{"less demand", false, func(r *rand.Rand, p *Problem) float64 {
		p.Workloads[r.IntN(len(p.Workloads))].Demand *= r.Float64()
		return 1
	}},
	{"other prices", true, func(r *rand.Rand, p *Problem) float64 {
		factor := math.Exp(3 * r.NormFloat64())
		p.scalePrices(factor)
		return factor
	}},
}

func (p *Problem) scalePrices(factor float64) {
	p.BudgetPerHour *= factor
	for i := range p.Workloads {
		w := &p.Workloads[i]
		w.UnmetPenalty *= factor
		for j := range w.Variants {
			v := &w.Variants[j]
			v.SwitchUp *= factor
			v.SwitchDown *= factor
			for k := range v.Placements {
				v.Placements[k].PricePerHour *= factor
			}
		}
	}
}

// checkChange solves a random problem before and after a change.
func checkChange(t *testing.T, seed uint64, kind int) {
	t.Helper()
	change := changes[kind%len(changes)]
	r := rand.New(rand.NewPCG(seed, 5+uint64(kind%len(changes))))
	p := randomSmall(r)
	if seed%2 == 1 {
		p = randomZones(r)
	}
	changed := clone(p)
	factor := change.apply(r, changed)
	before, after := ranks(p, solve(t, p, Options{})), ranks(changed, solve(t, changed, Options{}))
	after[len(after)-1] /= factor
	if lexicographicallyLess(before, after) || change.exact && lexicographicallyLess(after, before) {
		t.Fatalf("seed %d: %s turned %v into %v\n%+v", seed, change.name, before, after, p)
	}
}

func TestChangesNeverCostMore(t *testing.T) {
	for kind, change := range changes {
		t.Run(change.name, func(t *testing.T) {
			for seed := range uint64(250) {
				checkChange(t, seed, kind)
			}
		})
	}
}

// FuzzChangesNeverCostMore looks further than the test.
func FuzzChangesNeverCostMore(f *testing.F) {
	f.Add(uint64(1000), uint8(0))
	f.Fuzz(func(t *testing.T, seed uint64, kind uint8) { checkChange(t, seed, int(kind)) })
}
