package optimizer

import (
	"math/rand/v2"
	"reflect"
	"runtime"
	"slices"
	"testing"
)

// The number of processors changes nothing but the time, also where the effort ends first.
func TestProcessorsChangeNothing(t *testing.T) {
	for name, p := range map[string]*Problem{
		"tight": randomFleet(1, tightFleet, 3*blockSize, 5), "penalized": randomFleet(1, penalizedFleet, 3*blockSize, 5),
		"single": randomFleet(1, singleFleet, 3*blockSize, 5), "quotas": tenantFleet(1, penalizedFleet, 100, 20),
	} {
		solveOnProcessors(t, name, p, Options{RelativeGap: 1e-3, Effort: 200_000})
	}
}

// It changes no plan of a search that is stopped at once either, which is evaluated and spelled out in blocks.
func TestProcessorsChangeNoStoppedPlan(t *testing.T) {
	fleet := randomFleet(1, shortFleet, 2*evaluationBlock+7, 5)
	for name, p := range map[string]*Problem{"short": fleet, "in zones": inZones(rand.New(rand.NewPCG(1, 1)), fleet, 3, 2)} {
		checkSolution(t, p, solveOnProcessors(t, name, p, Options{Stop: func() bool { return true }}))
	}
}

// solveOnProcessors is the solution on one processor, which has to be that on several.
func solveOnProcessors(t *testing.T, name string, p *Problem, o Options) (first *Solution) {
	t.Helper()
	for _, processors := range []int{1, 2, 5} {
		before := runtime.GOMAXPROCS(processors)
		s := solve(t, p, o)
		runtime.GOMAXPROCS(before)
		if first == nil {
			first = s
		} else if !reflect.DeepEqual(s, first) {
			t.Errorf("%s: objective %v on %d processors, %v on one", name, s.Objective, processors, first.Objective)
		}
	}
	return first
}

// Replicas in the order of the problem are those of the plan, of all blocks, of variants with several placements, and where lists are shared: by
// workloads that have none or few of one variant.
func TestRestoredPlansAreThePlan(t *testing.T) {
	p := randomFleet(2, tightFleet, 2*evaluationBlock+7, 5)
	for i := range p.Workloads { // of none up to more variants than share lists
		w := &p.Workloads[i]
		w.Variants = slices.Repeat(w.Variants, 4)[:i%(sharedVariants+3)]
	}
	zones := inZones(rand.New(rand.NewPCG(2, 1)), p, 3, 2)
	for name, c := range map[string]*canonical{
		"as given": asGiven(p, nil), "in canonical order": canonicalize(p, &stopper{}),
		"in zones, as given": asGiven(zones, nil), "in zones, in canonical order": canonicalize(zones, &stopper{}),
	} {
		r, replicas := rand.New(rand.NewPCG(2, 2)), make([]int32, c.first[len(p.Workloads)])
		for i := range p.Workloads {
			items := replicas[c.first[i]:c.first[i+1]]
			for range r.IntN(4) {
				if len(items) > 0 {
					items[r.IntN(len(items))] = r.Int32N(mostShared + 3)
				}
			}
		}
		restored := c.restore(replicas)
		if got := c.planOf(restored, func(int) float64 { return 0 }).replicas; !slices.Equal(got, replicas) {
			t.Errorf("%s: not the same replicas", name)
		}
		if err := c.from.checkShape(restored); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Of a large fleet that has nothing running, workloads with as many variants have one list together.
func TestLargePlansShareLists(t *testing.T) {
	c := asGiven(randomFleet(2, tightFleet, evaluationBlock+1, 5), nil)
	restored := c.restore(make([]int32, c.first[len(c.workloads)]))
	if a, b := restored[0], restored[evaluationBlock]; len(a) == 0 || len(a) != len(b) || &a[0] != &b[0] {
		t.Errorf("%v and %v share no list", a, b)
	}
}
