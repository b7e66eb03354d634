package optimizer

import (
	testflag "flag"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/poolwright/poolwright/internal/short"
	"github.com/poolwright/poolwright/optimizer/lp"
)

// brute is a deliberately simple second solver: it tries every combination of
// configurations.
type brute struct {
	p          *Problem
	priorities []int
	options    [][]option
	pools      []int // first row of each pool
	packings   []packing
	limits     []float64
	plans      [][]float64 // levels of the plans that may be the best
	// evaluate says what a configuration of workload i alone costs and serves.
	evaluate func(i int, alone *Problem, replicas [][]int) *Evaluation
}

// option is a configuration of a workload with its levels (missing replicas, unmet
// demand by priority, cost) and its use of the limits.
type option struct {
	levels, use []float64
}

// bruteForce returns the optimum of every level; ok is false if that would take too
// long, or if it depends on how much of a level counts as none.
func bruteForce(p *Problem, most int) (levels []float64, priorities []int, ok bool) {
	return bruteForceOf(p, most, evaluateAlone)
}

func evaluateAlone(_ int, alone *Problem, replicas [][]int) *Evaluation {
	e, err := alone.Evaluate([][][]int{replicas})
	if err != nil {
		panic(err)
	}
	return &e
}

// bruteForceOf is bruteForce with another evaluation.
func bruteForceOf(p *Problem, most int, evaluate func(int, *Problem, [][]int) *Evaluation) (levels []float64, priorities []int, ok bool) {
	b := &brute{p: p, evaluate: evaluate}
	for i := range p.Workloads {
		if !p.Workloads[i].Penalized {
			b.priorities = append(b.priorities, p.Workloads[i].Priority)
		}
	}
	slices.Sort(b.priorities)
	b.priorities = slices.Compact(b.priorities)
	b.addLimits()
	combinations := 1
	for i := range p.Workloads {
		if !b.addOptions(i) {
			return nil, nil, false
		}
		combinations *= len(b.options[i])
		if combinations > most {
			return nil, nil, false
		}
	}
	b.try(0, make([]float64, 2+len(b.priorities)), make([]float64, len(b.limits)))
	// Solve keeps to settled levels within the tolerance and what it takes for a proof, but serves
	// what one more replica would serve.
	levels, lenient := b.cheapest(leastSlack), b.cheapest(mostSlack)
	return levels, b.priorities, !b.blurred(levels) && !differ(levels, lenient)
}

// blurred says whether a workload is lost in the unmet demand of its level.
func (b *brute) blurred(levels []float64) bool {
	return slices.ContainsFunc(b.p.Workloads, func(w Workload) bool {
		return !w.Penalized && w.Demand > 0 && w.Demand < 1e-6*levels[1+slices.Index(b.priorities, w.Priority)]
	})
}

const (
	leastSlack = 1e-13 // the rounding of sums
	mostSlack  = 1.3 * tolerance
)

// add keeps the levels of a plan unless the one kept before is better.
func (b *brute) add(levels []float64) {
	if len(b.plans) > 0 && beats(b.plans[len(b.plans)-1], levels) {
		return
	}
	b.plans = append(b.plans, slices.Clone(levels))
}

// beats says whether a plan is no worse than another, whatever the slack.
func beats(a, b []float64) bool {
	for k := range a {
		if b[k] < a[k] || b[k] > a[k]*(1+mostSlack) {
			return b[k] > a[k]
		}
	}
	return true
}

// cheapest is the optimum of every level among the plans that are within a slack of that
// of the levels before.
func (b *brute) cheapest(slack float64) []float64 {
	plans := slices.Clone(b.plans)
	best := make([]float64, 2+len(b.priorities))
	for k := range best {
		best[k] = math.Inf(1)
		for _, levels := range plans {
			best[k] = min(best[k], levels[k])
		}
		plans = slices.DeleteFunc(plans, func(levels []float64) bool { return levels[k] > best[k]*(1+slack) })
	}
	return best
}

// differ says whether levels differ by more than solutions may: the cost may by a part of
// itself or of 1, other levels only by a part of themselves.
func differ(got, want []float64) bool {
	for k := range want {
		size := math.Abs(want[k])
		if k == len(want)-1 {
			size++
		}
		if math.Abs(got[k]-want[k]) > 2*tolerance*size {
			return true
		}
	}
	return false
}

func (b *brute) addLimits() {
	b.packings = packPools(b.p)
	for g, packing := range b.packings {
		b.pools = append(b.pools, len(b.limits))
		for _, l := range rowsOf(&packing) {
			if b.p.Pools[g].Limited {
				b.limits = append(b.limits, float64(l.devices))
			}
		}
	}
	for _, q := range b.p.Quotas {
		b.limits = append(b.limits, float64(q.Capacity))
	}
	if b.p.BudgetPerHour > 0 {
		b.limits = append(b.limits, b.p.BudgetPerHour*(1+1e-9))
	}
}

// mostOptions is the number of configurations of a workload that takes too long.
const mostOptions = 4000

// addOptions lists all configurations of workload i that some best plan could use.
func (b *brute) addOptions(i int) bool {
	w := &b.p.Workloads[i]
	alone := &Problem{Workloads: []Workload{*w}}
	for range b.p.Pools {
		alone.Pools = append(alone.Pools, Pool{})
	}
	replicas := make([][]int, len(w.Variants))
	for j := range replicas {
		replicas[j] = make([]int, len(w.Variants[j].Placements))
	}
	var list []option
	tried := 0
	var choose func(j, k int) bool
	choose = func(j, k int) bool {
		if j == len(w.Variants) {
			if e := b.evaluate(i, alone, replicas); len(e.Violations) == 0 {
				list = append(list, b.option(i, replicas, e))
			}
			tried++
			return tried < mostOptions
		}
		v := &w.Variants[j]
		if k == len(v.Placements) {
			return choose(j+1, 0)
		}
		for n := range 1 + w.usefulReplicas(j) {
			replicas[j][k] = n
			if !choose(j, k+1) {
				return false
			}
		}
		replicas[j][k] = 0
		return true
	}
	ok := choose(0, 0)
	b.options = append(b.options, list)
	return ok
}

// usefulReplicas is a number of replicas of a variant that some best plan does not exceed.
func (w *Workload) usefulReplicas(j int) int {
	v := &w.Variants[j]
	most := max(w.MinReplicas, v.MinReplicas, v.CurrentReplicas)
	if capacity := w.MixCapacity(j); capacity > 0 {
		most = max(most, int(min(math.Ceil(w.Demand/capacity), mostOptions))+w.Redundancy)
	}
	if v.MaxReplicas.Limited {
		most = min(most, v.MaxReplicas.Value)
	}
	return most
}

// rowsOf are the limits of a pool, also those that follow from others.
func rowsOf(k *packing) []limit {
	if k.node == 0 {
		return k.limits()
	}
	var rows []limit
	for _, s := range k.sizes {
		rows = append(rows, limit{s, k.room(s)})
	}
	return rows
}

func (b *brute) option(i int, replicas [][]int, e *Evaluation) option {
	w := &b.p.Workloads[i]
	o := option{levels: make([]float64, 2+len(b.priorities)), use: make([]float64, len(b.limits))}
	o.levels[0] = float64(e.Shortfall[0])
	if !w.Penalized {
		o.levels[1+slices.Index(b.priorities, w.Priority)] = e.Unmet[0]
	}
	o.levels[1+len(b.priorities)] = e.Objective
	for j := range w.Variants {
		for k, n := range replicas[j] {
			pool := w.Variants[j].Placements[k].Pool
			packing := b.packings[pool]
			devices, part := packing.devices(&w.Variants[j])
			for r, l := range rowsOf(&packing) {
				if b.p.Pools[pool].Limited {
					o.use[b.pools[pool]+r] += float64(n * l.taken(devices, part))
				}
			}
			first := len(b.limits) - len(b.p.Quotas)
			if b.p.BudgetPerHour > 0 {
				first--
				o.use[len(b.limits)-1] = e.PricePerHour
			}
			for q, quota := range b.p.Quotas {
				if quota.Pool == pool && quota.Namespace == w.Namespace {
					o.use[first+q] += float64(n * w.Variants[j].DevicesPerReplica)
				}
			}
		}
	}
	return o
}

func (b *brute) try(i int, levels, use []float64) {
	if i == len(b.options) {
		b.add(levels)
		return
	}
	nextLevels, nextUse := make([]float64, len(levels)), make([]float64, len(use))
next:
	for _, o := range b.options[i] {
		for r := range use {
			if nextUse[r] = use[r] + o.use[r]; nextUse[r] > b.limits[r] {
				continue next
			}
		}
		for k := range levels {
			nextLevels[k] = levels[k] + o.levels[k]
		}
		b.try(i+1, nextLevels, nextUse)
	}
}

func lexicographicallyLess(a, b []float64) bool {
	for k := range a {
		if math.Abs(a[k]-b[k]) > 1e-9*(1+math.Abs(b[k])) {
			return a[k] < b[k]
		}
	}
	return false
}

// engines are those of this build.
func engines() []lp.Engine {
	all := []lp.Engine{lp.Simplex()}
	if clp, ok := lp.Clp(); ok {
		all = append(all, clp)
	}
	return all
}

// times says how many times as many random problems are compared with brute force, as in
//
//	go test -run BruteForce ./optimizer -args -times 10
var times = testflag.Int("times", 1, "compare so many times as many random problems with brute force")

func TestSolveEqualsBruteForce(t *testing.T) {
	for _, engine := range engines() {
		t.Run(engine.Name(), func(t *testing.T) {
			compareWithBruteForce(t, short.Of(1000**times), Options{LP: engine})
		})
	}
}

// The exact finish has several ways; each must do alone.
func TestEveryPathEqualsBruteForce(t *testing.T) {
	t.Parallel()
	for _, path := range []struct {
		name   string
		limits limits
	}{
		{"search", limits{columns: 4000, steps: 1e6}},
		{"programs", limits{columns: 4000, programs: 1e6}},
		{"branching", limits{}},
		{"master", limits{rows: 1e6, rootRows: 1e6, unrounded: 1e6, reliable: 1e6}},
		{"master from the start", limits{rows: 1e6, rootRows: 1e6, tinyRows: 1e6, unrounded: 1e6, reliable: 1e6}},
		{"master of nodes", limits{rows: 1e6, unrounded: 1e6, reliable: 1e6}},
		{"master with few probes", limits{rows: 1e6, rootRows: 1e6, unrounded: 1e6, reliable: 1}},
		{"master without probes", limits{rows: 1e6, rootRows: 1e6, unrounded: 1e6, young: 1e6}},
		{"cuts", limits{columns: 4000, programs: 1e6, rows: 1e6, rootRows: 1e6, unrounded: 1e6}},
		{"mixtures", limits{columns: 4000, rows: 1e6, rootRows: 1e6, known: 1e6, fewColumns: 4000, fewPrograms: 1e6, unrounded: 1e6}},
		{"mixtures given up", limits{columns: 4000, rows: 1e6, rootRows: 1e6, known: 1e6, fewColumns: 4000, fewPrograms: 2, unrounded: 1e6}},
		{"rounded rows", limits{rows: 1e6, rootRows: 1e6}},
		{"few", limits{columns: 20, steps: 3, programs: 2}},
	} {
		t.Run(path.name, func(t *testing.T) {
			t.Parallel()
			compareWithBruteForce(t, short.Of(150**times), Options{limits: &path.limits})
		})
		t.Run(path.name+" without tenants", func(t *testing.T) {
			t.Parallel()
			limits := path.limits
			limits.priced = math.MaxInt
			compareWithBruteForce(t, short.Of(150**times), Options{limits: &limits})
		})
	}
}

// Several quotas in each namespace, whose workloads are taken together.
func TestTenantsEqualBruteForce(t *testing.T) {
	grouped := *defaultLimits()
	grouped.priced = 0
	compare(t, 77, short.Of(400**times), Options{limits: &grouped}, func(r *rand.Rand) *Problem {
		p := randomSmall(r)
		p.Quotas = nil
		for _, namespace := range []string{"a", "b"} {
			for g := range p.Pools {
				if r.IntN(2) == 0 {
					p.Quotas = append(p.Quotas, Quota{Namespace: namespace, Pool: g, Capacity: r.IntN(10)})
				}
			}
		}
		return p
	})
}

// Shapes and phases together, in every workload that may have them.
func TestRoutedWorkloadsEqualBruteForce(t *testing.T) {
	compare(t, 102_000, short.Of(200**times), Options{}, func(r *rand.Rand) *Problem {
		p := randomScaled(r)
		for i := range p.Workloads {
			routeAll(r, &p.Workloads[i])
		}
		return p
	})
}

// routeAll gives a workload phases and shapes, each by half.
func routeAll(r *rand.Rand, w *Workload) {
	if w.routed() {
		return
	}
	if w.Mixing != Single && r.IntN(2) == 0 {
		addPhases(r, w)
	}
	if r.IntN(2) == 0 {
		addShapes(r, w)
	}
}

func compareWithBruteForce(t *testing.T, problems int, o Options) {
	compare(t, 0, problems, o, randomScaled)
}

func compare(t *testing.T, seed uint64, problems int, o Options, draw func(*rand.Rand) *Problem) {
	t.Helper()
	for solved := 0; solved < problems; seed++ {
		p := draw(rand.New(rand.NewPCG(seed, 1)))
		want, priorities, ok := bruteForce(p, 200_000)
		if !ok {
			continue
		}
		solved++
		got, err := Solve(p, o)
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		compareLevels(t, seed, p, got, want, priorities)
		checkSolution(t, p, got)
		if t.Failed() {
			return
		}
	}
}

func compareLevels(t *testing.T, seed uint64, p *Problem, s *Solution, want []float64, priorities []int) {
	t.Helper()
	got := make([]float64, len(want))
	for i, a := range s.Allocations {
		got[0] += float64(a.Shortfall)
		if w := &p.Workloads[i]; !w.Penalized {
			got[1+slices.Index(priorities, w.Priority)] += a.Unmet
		}
	}
	last := len(got) - 1
	got[last] = s.Objective
	if differ(got, want) {
		t.Fatalf("seed %d: got %v, want %v\n%+v\n%+v", seed, got, want, p, s)
	}
	if s.Bound > want[last]*(1+1e-12) {
		t.Errorf("seed %d: bound %v > optimum %v", seed, s.Bound, want[last])
	}
	if s.Proof != Optimal {
		t.Errorf("seed %d: optimum not proven: %+v", seed, s)
	}
	for _, l := range s.Levels {
		k := 0
		if l.Priority > 0 {
			k = 1 + slices.Index(priorities, l.Priority)
		}
		if l.Bound > want[k]*(1+1e-9) || math.Abs(l.Unmet-got[k]) > tolerance*got[k] {
			t.Errorf("seed %d: level %+v, want %v", seed, l, want[k])
		}
	}
}

// checkSolution checks what holds for every solution.
func checkSolution(t *testing.T, p *Problem, s *Solution) {
	t.Helper()
	e, err := p.Evaluate(s.Replicas())
	if err != nil {
		t.Fatal(err)
	}
	for _, broken := range e.Violations {
		t.Error(broken)
	}
	if e.Objective != s.Objective || e.PricePerHour != s.PricePerHour {
		t.Errorf("objective %v, price %v; evaluated %v, %v", s.Objective, s.PricePerHour, e.Objective, e.PricePerHour)
	}
	for i := range s.Allocations {
		checkShares(t, &p.Workloads[i], &s.Allocations[i])
	}
	if !(s.Bound >= 0 && s.Bound <= s.Objective) {
		t.Errorf("bound %v of objective %v", s.Bound, s.Objective)
	}
	for _, l := range s.Levels {
		if !(l.Bound >= 0 && l.Bound <= l.Unmet) {
			t.Errorf("level %+v", l)
		}
	}
	for g := range s.Pools {
		if s.Pools[g].Used != e.Pools[g] || !(s.Pools[g].ShadowPrice >= 0) {
			t.Errorf("pool %d: %+v, evaluated %d in use", g, s.Pools[g], e.Pools[g])
		}
	}
}
