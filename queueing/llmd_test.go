package queueing

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestChunks searches the least number of chunks from below.
func TestChunks(t *testing.T) {
	for _, in := range []Tokens{0, 1, 7, 256, 5000, 8192, 60_000} {
		for _, out := range []Tokens{1, 3, 128, 1024} {
			m := newLLMDV3(Replica{MaxBatch: 512}, Shape{InputTokens: in, OutputTokens: out})
			for _, n := range []float64{0.2, 1, 1.5, 2, 64, 200.3, 512} {
				least := 1.0
				for math.Floor((least+m.out)*(8192-m.in/least)/(m.in+m.out)) < n {
					least++
				}
				require.Equal(t, least, m.at(n).chunks, "in=%v out=%v n=%v", in, out, n)
			}
		}
	}
}

// TestBudgetOfReplica: the replica's own budget replaces the family's.
func TestBudgetOfReplica(t *testing.T) {
	shape := Shape{InputTokens: 4000, OutputTokens: 100}
	small := newLLMDV3(Replica{MaxBatch: 8, MaxBatchedTokens: 512}, shape)
	// Eight chunks of 500 tokens leave too little for the decoding of one request.
	require.Equal(t, 9.0, small.at(1).chunks)
	require.Equal(t, 1.0, newLLMDV3(Replica{MaxBatch: 8}, shape).at(1).chunks)
}

// TestSingleToken: the family's four-parameter model decodes once where there is
// no prompt, and never where the prefill makes the only token.
func TestSingleToken(t *testing.T) {
	r := Replica{Model: LLMDV1, Profile: Profile{Alpha: 0.01, Beta: 0.001, Gamma: 0.1}, MaxBatch: 4}
	require.InEpsilon(t, 0.014, newLLMDV1(r, Shape{OutputTokens: 1}).serviceTime(4), 1e-12)
	require.InEpsilon(t, 0.1, newLLMDV1(r, Shape{InputTokens: 9, OutputTokens: 1}).serviceTime(4), 1e-12)

	s, err := NewStation(r, Shape{OutputTokens: 1})
	require.NoError(t, err)
	// The time in service says nothing about the batch then: it is the mean.
	p := s.Evaluate(100)
	require.InEpsilon(t, 0.01+0.001*p.Running, float64(p.ITL.Mean()), 1e-12)
}

// TestMeans: what capacity compares with limits on means is what Evaluate returns.
func TestMeans(t *testing.T) {
	r := Replica{
		Profile:  Profile{Alpha: 0.006, Beta: 2e-5, Gamma: 5e-8, Delta: 4e-7},
		MaxBatch: 48,
		MaxQueue: Waiting{Limited: true, Places: 20},
	}
	for _, r.Model = range []ServiceModel{ContinuousBatching, LLMDV0, LLMDV1, LLMDV2, LLMDV3} {
		for _, shape := range []Shape{
			{InputTokens: 4096, OutputTokens: 64},
			{InputTokens: 300, OutputTokens: 200, OutputSCV: 2},
			{OutputTokens: 1, OutputSCV: 1},
		} {
			s, err := NewStation(r, shape)
			require.NoError(t, err)
			for _, load := range []Rate{0, 0.01, 0.7, 0.99, 1, 1.3} {
				p := s.Evaluate(load * s.SaturationRate())
				m := s.model.means(s.chain.at(float64(load * s.SaturationRate())).occupancy)
				for metric, want := range map[Metric]Latency{TTFT: p.TTFT, ITL: p.ITL, E2E: p.E2E} {
					require.InDelta(t, float64(want.Mean()), m.of(metric), 1e-12*float64(want.Mean()),
						"model %v %v load %v %v", r.Model, shape, load, metric)
				}
			}
		}
	}
}
