package autoscaler_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/poolwright/poolwright/simulation"
	"github.com/poolwright/poolwright/simulation/autoscaler"
)

// BenchmarkDecide is what deciding costs for an hour of 64 replicas with hardly any load.
func BenchmarkDecide(b *testing.B) {
	f := chat(3600)
	f.Pools[0].Capacity.Value = 64
	f.Workloads[0].Variants[0].MinReplicas, f.Workloads[0].Variants[0].CurrentReplicas = 64, 64
	for _, s := range autoscaler.Kinds()[:9] {
		b.Run(s.Name(), func(b *testing.B) {
			for b.Loop() {
				c, err := simulation.New(simulation.Config{Fleet: f, Requests: load(), Start: start})
				require.NoError(b, err)
				a, err := s.New(c, autoscaler.Resources{})
				require.NoError(b, err)
				require.NoError(b, c.Run(b.Context(), a, start.Add(time.Hour), nil))
			}
		})
	}
}
