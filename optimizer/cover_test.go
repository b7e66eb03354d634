package optimizer

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/poolwright/poolwright/internal/short"
)

// Needed finds what adding replicas one by one finds.
func TestNeededIsTheLeastThatServes(t *testing.T) {
	const most = 60
	served, lacking := 0, 0
	for seed := range short.Of(uint64(4000)) {
		r := rand.New(rand.NewPCG(seed, 11))
		p := randomScaled(r)
		for i := range p.Workloads {
			w := &p.Workloads[i]
			counts := make([]int, len(w.Variants))
			for j := range counts {
				counts[j] = max(0, r.IntN(8)-3)
			}
			j := r.IntN(len(w.Variants))
			cover := NewCover(w)
			for v := range w.Variants {
				cover.Needed(counts, v) // nothing that was asked before matters
			}
			n, ok := cover.Needed(counts, j)
			if ok && n > most {
				continue
			}
			all := append([]int(nil), counts...)
			least := 0
			for ; least <= most && w.Unmet(all) > 0; least++ {
				all[j]++
			}
			require.Equal(t, least <= most, ok, "seed %d, workload %d, variant %d, counts %v", seed, i, j, counts)
			if ok {
				require.Equal(t, least, n, "seed %d, workload %d, variant %d, counts %v", seed, i, j, counts)
				served++
			} else {
				lacking++
			}
		}
	}
	require.Greater(t, min(served, lacking), short.Of(200))
}
