package optimizer

import (
	"reflect"
	"runtime"
	"testing"
)

// The number of processors changes nothing but the time, also where the effort ends first.
func TestProcessorsChangeNothing(t *testing.T) {
	for _, kind := range []fleetKind{tightFleet, penalizedFleet, singleFleet} {
		p := randomFleet(1, kind, 3*blockSize, 5)
		var first *Solution
		for _, processors := range []int{1, 2, 5} {
			before := runtime.GOMAXPROCS(processors)
			s := solve(t, p, Options{RelativeGap: 1e-3, Effort: 200_000})
			runtime.GOMAXPROCS(before)
			if first == nil {
				first = s
			} else if !reflect.DeepEqual(s, first) {
				t.Errorf("%v: objective %v on %d processors, %v on one", kind, s.Objective, processors, first.Objective)
			}
		}
	}
}
