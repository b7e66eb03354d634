package optimizer

import (
	"reflect"
	"runtime"
	"testing"
)

// The number of processors changes nothing but the time, also where the effort ends first.
func TestProcessorsChangeNothing(t *testing.T) {
	for name, p := range map[string]*Problem{
		"tight": randomFleet(1, tightFleet, 3*blockSize, 5), "penalized": randomFleet(1, penalizedFleet, 3*blockSize, 5),
		"single": randomFleet(1, singleFleet, 3*blockSize, 5), "quotas": tenantFleet(1, penalizedFleet, 100, 20),
	} {
		var first *Solution
		for _, processors := range []int{1, 2, 5} {
			before := runtime.GOMAXPROCS(processors)
			s := solve(t, p, Options{RelativeGap: 1e-3, Effort: 200_000})
			runtime.GOMAXPROCS(before)
			if first == nil {
				first = s
			} else if !reflect.DeepEqual(s, first) {
				t.Errorf("%s: objective %v on %d processors, %v on one", name, s.Objective, processors, first.Objective)
			}
		}
	}
}
