package replica_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/poolwright/poolwright/queueing"
	"github.com/poolwright/poolwright/simulation/replica"
)

// BenchmarkReplica is one request of 512 and 256 tokens at 0.7 of what the replica
// sustains.
func BenchmarkReplica(b *testing.B) {
	benchmark(b, queueing.Replica{
		Profile:          queueing.Profile{Alpha: 0.00683, Beta: 0.000057, Delta: 0.0000024},
		MaxBatch:         256,
		MaxBatchedTokens: 2048,
		KVCacheTokens:    420_000,
	}, 0.7*44)
}

// BenchmarkPreemption is the same with a KV cache that is too small.
func BenchmarkPreemption(b *testing.B) {
	benchmark(b, queueing.Replica{
		Profile:          queueing.Profile{Alpha: 0.00683, Beta: 0.000057, Delta: 0.0000024},
		MaxBatch:         256,
		MaxBatchedTokens: 2048,
		KVCacheTokens:    40_000,
	}, 24)
}

func benchmark(b *testing.B, r queueing.Replica, rate queueing.Rate) {
	b.Helper()
	arrivals, err := replica.Load{
		Shape:  queueing.Shape{InputTokens: 512, OutputTokens: 256, ArrivalSCV: 1},
		Phases: replica.Constant(rate), Requests: max(b.N, 1),
	}.Arrivals()
	require.NoError(b, err)
	s, err := replica.New(r)
	require.NoError(b, err)
	b.ReportAllocs()
	b.ResetTimer()
	for range replica.Serve(s, arrivals) {
	}
	t := s.Totals()
	b.ReportMetric(float64(t.Iterations)/b.Elapsed().Seconds(), "iterations/s")
	b.ReportMetric(float64(t.Completed)/b.Elapsed().Seconds(), "requests/s")
}
