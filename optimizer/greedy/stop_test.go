package greedy

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/poolwright/poolwright/optimizer"
)

// shapedFleet has more demand than devices, requests of several shapes and a minimum
// of one replica of every variant.
func shapedFleet(workloads int) *optimizer.Problem {
	r := rand.New(rand.NewPCG(uint64(workloads), 5))
	p := &optimizer.Problem{}
	for g := range 3 {
		p.Pools = append(p.Pools, optimizer.Pool{Name: fmt.Sprint("g", g), Limited: true, Capacity: 6 * workloads})
	}
	for i := range workloads {
		w := optimizer.Workload{
			Name: fmt.Sprint("w", i), Priority: 1 + r.IntN(2), Demand: 20 + 60*r.Float64(),
			Shapes: []optimizer.Shape{{Share: 0.25}, {Share: 0.25}, {Share: 0.5}},
		}
		for g := range p.Pools {
			v := optimizer.Variant{
				Name: fmt.Sprint("v", g), DevicesPerReplica: 1, MinReplicas: 1,
				Placements: []optimizer.Placement{{Pool: g, PricePerHour: float64(1 + g)}},
			}
			for range w.Shapes {
				v.ShapeCapacities = append(v.ShapeCapacities, float64(1+g)*(0.5+r.Float64()))
			}
			w.Variants = append(w.Variants, v)
		}
		p.Workloads = append(p.Workloads, w)
	}
	return p
}

// after returns a stop function that is asked calls times before it stops.
func after(calls int) func() bool {
	return func() bool {
		calls--
		return calls < 0
	}
}

// A plan that is stopped says so and keeps all limits and the minimums of variants; the
// later it is stopped, the more workloads had their turn.
func TestStoppedPlanIsFeasible(t *testing.T) {
	p := shapedFleet(40)
	for name, strategy := range strategies() {
		t.Run(name, func(t *testing.T) {
			turns := -1
			for _, calls := range []int{0, 1, 10, 39} {
				s, err := strategy(p, after(calls))
				require.NoError(t, err)
				require.True(t, s.Stopped)
				require.Equal(t, optimizer.Feasible, s.Proof)
				require.Equal(t, []string{"stopped before all workloads had their turn"}, s.Notes)
				e, err := p.Evaluate(s.Replicas())
				require.NoError(t, err)
				require.Empty(t, e.Violations)
				require.Equal(t, make([]int, len(p.Workloads)), e.Shortfall)
				had := 0
				for _, a := range s.Allocations {
					if sum(a.Replicas[0])+sum(a.Replicas[1])+sum(a.Replicas[2]) > 3 {
						had++
					}
				}
				require.LessOrEqual(t, had, calls)
				require.Greater(t, had, turns)
				turns = had
			}
			whole, err := strategy(p, nil)
			require.NoError(t, err)
			require.False(t, whole.Stopped)
			require.Equal(t, optimizer.Unproven, whole.Proof)
			again, err := strategy(p, after(1<<30))
			require.NoError(t, err)
			require.Equal(t, whole, again)
		})
	}
}

func BenchmarkShapedFleet(b *testing.B) {
	p := shapedFleet(200)
	for name, strategy := range map[string]func() (*optimizer.Solution, error){
		"inferno": func() (*optimizer.Solution, error) { return Inferno(p, Options{}, nil) },
		"kthena":  func() (*optimizer.Solution, error) { return Kthena(p, DefaultExpansionRate, nil) },
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if _, err := strategy(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
