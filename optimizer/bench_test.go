package optimizer

import (
	"fmt"
	"testing"
)

func BenchmarkSolve(b *testing.B) {
	for _, engine := range engines() {
		for _, workloads := range []int{10, 50, 100, 1000} {
			for _, kind := range []fleetKind{looseFleet, tightFleet, penalizedFleet} {
				b.Run(fmt.Sprintf("%s/%d/%v", engine.Name(), workloads, kind), func(b *testing.B) {
					p := randomFleet(1, kind, workloads, 8)
					var s *Solution
					for b.Loop() {
						var err error
						if s, err = Solve(p, Options{RelativeGap: 1e-3, LP: engine}); err != nil {
							b.Fatal(err)
						}
					}
					b.ReportMetric(s.Gap, "gap")
				})
			}
		}
	}
}
