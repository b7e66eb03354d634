package optimizer

import (
	"fmt"
	"testing"
)

// Everyday sizes are proven to 0.1 %.
func TestEverydayFleetsAreProven(t *testing.T) {
	for _, engine := range engines() {
		for kind := looseFleet; kind <= nodeFleet; kind++ {
			for _, seed := range []uint64{3, 4} {
				t.Run(fmt.Sprintf("%s/%v/%d", engine.Name(), kind, seed), func(t *testing.T) {
					p := randomFleet(seed, kind, 50, 8)
					s := solve(t, p, Options{RelativeGap: 1e-3, LP: engine})
					checkSolution(t, p, s)
					if s.Proof != Optimal || s.Gap > 1e-3+1e-8 {
						t.Errorf("gap %v, levels %+v", s.Gap, s.Levels)
					}
				})
			}
		}
	}
}
