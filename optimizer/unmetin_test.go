package optimizer

import (
	"math"
	"math/rand/v2"
	"testing"
)

// Unmet demand at many demands at once is that at each of them.
func TestUnmetAtIsUnmet(t *testing.T) {
	positive := 0
	for seed := range uint64(400) {
		r := rand.New(rand.NewPCG(seed, 50))
		p := randomSmall(r)
		for i := range p.Workloads {
			routeAll(r, &p.Workloads[i])
		}
		w := &p.Workloads[0]
		counts := make([]int, len(w.Variants))
		for j := range counts {
			counts[j] = r.IntN(4)
		}
		demands := []float64{0, 1e-3, 0.5, 1, 2, 2, 3, 5, 8, 13, 21, 50, 1000, 7, 6, 4}
		for k, got := range w.unmetAt(counts, demands) {
			at := *w
			at.Demand = demands[k]
			want := at.Unmet(counts)
			if math.Abs(got-want) > 2e-9*demands[k] {
				t.Errorf("seed %d: %v unmet of %v, want %v", seed, got, demands[k], want)
			}
			if want > 0 {
				positive++
			}
		}
	}
	if positive < 1000 {
		t.Errorf("%d are unmet", positive)
	}
}
