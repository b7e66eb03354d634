package simulation_test

import (
	"fmt"
	"iter"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/poolwright/poolwright/simulation"
	"github.com/poolwright/poolwright/simulation/trace"
)

// BenchmarkCluster is one request of 512 and 256 tokens at 0.7 of what replicas sustain.
func BenchmarkCluster(b *testing.B) {
	for _, replicas := range []int{1, 64, 1024} {
		b.Run(fmt.Sprintf("replicas=%d", replicas), func(b *testing.B) {
			rate := 0.7 * 44.2 * float64(replicas)
			c, err := simulation.New(simulation.Config{Fleet: chat(replicas, replicas), Requests: first(b.N, rate), Start: midnight})
			require.NoError(b, err)
			b.ReportAllocs()
			b.ResetTimer()
			require.NoError(b, c.Run(b.Context(), nil, midnight.Add(time.Duration(float64(b.N)/rate*1.1*float64(time.Second))), nil))
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "requests/s")
		})
	}
}

// first returns so many Poisson arrivals of 512 and 256 tokens at a rate.
func first(n int, rate float64) iter.Seq[trace.Request] {
	return func(yield func(trace.Request) bool) {
		random := rand.New(rand.NewPCG(1, 1))
		at := 0.0
		for range n {
			at += random.ExpFloat64() / rate
			if !yield(trace.Request{At: at, Input: 512, Output: 256}) {
				return
			}
		}
	}
}
