//go:build peers

package oracle_test

import (
	"flag"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/poolwright/poolwright/benchmarks/solver/internal/oracle"
	"github.com/poolwright/poolwright/benchmarks/solver/internal/peer"
	"github.com/poolwright/poolwright/internal/instance"
	"github.com/poolwright/poolwright/optimizer"
)

var instances = flag.Uint64("instances", 100, "number of problems to compare")

// params vary kind, size, shortage by penalty or priority, mixing, quotas, nodes and zones,
// in periods that share no factor where they can.
func params(n uint64) instance.Params {
	p := instance.Params{
		Kind: instance.Kinds()[n%6], Workloads: 20 + int(n%21), Pools: 2 + int(n%4), SingleShare: []float64{0, 0.3}[n/6%2],
		Lexicographic: n/12%2 == 1, Seed: n,
	}
	if n%5 == 4 {
		p.Namespaces = 2
	}
	if n%7 == 6 {
		p.DevicesPerNode = 8
	}
	switch n % 11 {
	case 3:
		p.Zones = 2
	case 8:
		p.Zones = 3
	}
	return p
}

// No false proof: CBC proves its optimum of every problem that it can in the time.
func TestNoFalseProof(t *testing.T) {
	const gap = 1e-3
	proven := uint64(0)
	for n := range *instances {
		p := params(n)
		t.Run(fmt.Sprintf("%d/%v/%d", n, p.Kind, p.Workloads), func(t *testing.T) {
			problem := instance.Generate(p)
			if p.Zones > 0 {
				instance.Pin(problem, p.Workloads/5, p.Zones)
			}
			asked := gap
			if p.Lexicographic {
				// Within a gap, each level may leave a little more unmet than it must.
				asked = 0
			}
			plan, err := optimizer.Solve(problem, optimizer.Options{RelativeGap: asked, Effort: 500_000})
			require.NoError(t, err)
			a, err := peer.CBC().Solve(t.Context(), problem, 0, 4*time.Second)
			require.NoError(t, err)
			require.NoError(t, oracle.Contradiction(problem, plan, asked, a))
			if a.Status == peer.Optimal && plan.Proof == optimizer.Optimal {
				proven++
			}
		})
	}
	assert.Greater(t, proven, *instances*3/4, "too few problems were proven by both to say anything")
}
