package optimizer

import (
	"math"
	"testing"

	"github.com/poolwright/poolwright/optimizer/lp"
)

// A search goes on where the numerics of its master failed, with another one, to which the bases of the nodes mean
// nothing.
func TestAnotherMasterAfterOneFailed(t *testing.T) {
	want := costAfterFailure(t, math.MaxInt)
	for _, effort := range []int{1000, 2000, 4000} {
		if got := costAfterFailure(t, effort); math.Abs(got-want) > 1e-9*want {
			t.Errorf("master failed after %d: %v, want %v", effort, got, want)
		}
	}
}

// costAfterFailure is the cost of the best plan of a fleet, by a search whose master is given up after some effort.
func costAfterFailure(t *testing.T, failing int) float64 {
	t.Helper()
	l := newLagrangian(moneyProgram(randomFleet(35, tightFleet, 20, 4), false), &effort{left: math.MaxInt, given: math.MaxInt})
	s := newTree(l, Options{LP: lp.Simplex(), limits: defaultLimits()})
	if !s.root() {
		t.Fatal("no plan")
	}
	s.within(failing-l.budget.spent(), s.run)
	if failing < math.MaxInt && len(s.open) == 0 {
		t.Fatalf("proven in an effort of less than %d", failing)
	}
	s.master = nil
	s.run()
	return s.best.cost
}
