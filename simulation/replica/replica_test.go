package replica_test

import (
	"iter"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/poolwright/poolwright/queueing"
	"github.com/poolwright/poolwright/simulation/replica"
)

// run serves requests, given in order of arrival, and returns the completions by ID.
func run(t *testing.T, r queueing.Replica, requests ...replica.Request) []replica.Completion {
	t.Helper()
	for i := range requests {
		requests[i].ID = i
	}
	completions, err := replica.Run(r, slices.Values(requests))
	require.NoError(t, err)
	all := slices.Collect(completions)
	require.Len(t, all, len(requests))
	slices.SortFunc(all, func(a, b replica.Completion) int { return a.ID - b.ID })
	for i, c := range all {
		require.Equal(t, requests[i], c.Request)
	}
	return all
}

// times are the moments that a case expects of one request.
type times struct {
	admitted, first, finished float64
	preemptions               int
}

// requireTimes compares to nine digits: sums of coefficients round.
func requireTimes(t *testing.T, want []times, got []replica.Completion) {
	t.Helper()
	require.Len(t, got, len(want))
	for i, w := range want {
		c := got[i]
		assert.Equal(t, replica.Completed, c.Outcome, "request %d", i)
		assert.InDelta(t, w.admitted, c.Admitted, 1e-9, "admission of request %d", i)
		assert.InDelta(t, w.first, c.FirstToken, 1e-9, "first token of request %d", i)
		assert.InDelta(t, w.finished, c.Finished, 1e-9, "end of request %d", i)
		assert.Equal(t, w.preemptions, c.Preemptions, "preemptions of request %d", i)
	}
}

// Iterations of one second and coefficients that are each a power of ten below show
// in the digits which term came from where.
var (
	base   = queueing.Profile{Alpha: 1}
	simple = queueing.Profile{Alpha: 1, Beta: 0.1, Delta: 0.001}
	full   = queueing.Profile{Alpha: 1, Beta: 0.1, Gamma: 0.05, Delta: 0.001, Epsilon: 1e-6, Kappa: 1e-5, Sigma: 0.2}
)

func TestIterations(t *testing.T) {
	for name, test := range map[string]struct {
		replica  queueing.Replica
		requests []replica.Request
		want     []times
	}{
		"one token": {
			queueing.Replica{Profile: full, MaxBatch: 4},
			[]replica.Request{{Arrival: 2, Input: 100, Output: 1}},
			[]times{{2, 2 + 1 + 0.05 + 0.1 + 0.01, 3.16, 0}},
		},
		"every term": {
			queueing.Replica{Profile: full, MaxBatch: 4},
			[]replica.Request{{Input: 100, Output: 3}},
			// Contexts of 101 and 102 tokens.
			[]times{{0, 1.16, 1.16 + 2*(1+0.1+0.2) + 1e-5*(101+102), 0}},
		},
		"nothing to compute": {
			queueing.Replica{Profile: simple, MaxBatch: 4},
			[]replica.Request{{Input: 0, Output: 2}},
			[]times{{0, 1, 2.1, 0}},
		},
		"prompt in the prefix cache": {
			queueing.Replica{Profile: full, MaxBatch: 4},
			[]replica.Request{{Input: 100, Output: 2, Cached: 100}},
			[]times{{0, 1.05, 1.05 + 1.3 + 1e-5*101, 0}},
		},
		"prefix in the cache": {
			queueing.Replica{Profile: full, MaxBatch: 4},
			[]replica.Request{{Input: 100, Output: 2, Cached: 60}},
			[]times{{0, 1.05 + 0.04 + 0.0016, 1.0916 + 1.3 + 1e-5*101, 0}},
		},
		"idle restart": {
			queueing.Replica{Profile: simple, MaxBatch: 4},
			[]replica.Request{{Input: 100, Output: 1}, {Arrival: 10, Input: 200, Output: 1}},
			[]times{{0, 1.1, 1.1, 0}, {10, 11.2, 11.2, 0}},
		},
		"at one moment": {
			queueing.Replica{Profile: simple, MaxBatch: 4},
			[]replica.Request{{Arrival: 3, Input: 100, Output: 1}, {Arrival: 3, Input: 200, Output: 1}},
			[]times{{3, 4.3, 4.3, 0}, {3, 4.3, 4.3, 0}},
		},
		"arrival at the end of an iteration": {
			queueing.Replica{Profile: base, MaxBatch: 4},
			[]replica.Request{{Output: 3}, {Arrival: 2, Output: 1}},
			[]times{{0, 1, 3, 0}, {2, 3, 3, 0}},
		},
		"chunked prefill shares the iteration": {
			queueing.Replica{Profile: simple, MaxBatch: 4},
			[]replica.Request{{Input: 100, Output: 3}, {Arrival: 0.5, Input: 200, Output: 2}},
			// 1.1; 1.1 + 0.2; two decoding: 1.2.
			[]times{{0, 1.1, 3.6, 0}, {1.1, 2.4, 3.6, 0}},
		},
		"blocking prefill stops decoding": {
			queueing.Replica{Profile: simple, MaxBatch: 4, PrefillMode: queueing.Blocking},
			[]replica.Request{{Input: 100, Output: 3}, {Arrival: 0.5, Input: 200, Output: 2}},
			// 1.1; 1.2 of prefill only; 1.2 with two decoding; 1.1 with one.
			[]times{{0, 1.1, 4.6, 0}, {1.1, 2.3, 3.5, 0}},
		},
		"batch limit": {
			queueing.Replica{Profile: base, MaxBatch: 1},
			[]replica.Request{{Output: 2}, {Output: 2}, {Output: 1}},
			[]times{{0, 1, 2, 0}, {2, 3, 4, 0}, {4, 5, 5, 0}},
		},
		"budget splits prompts": {
			queueing.Replica{Profile: simple, MaxBatch: 4, MaxBatchedTokens: 100},
			[]replica.Request{{Input: 150, Output: 2}, {Input: 80, Output: 1}, {Input: 10, Output: 1}},
			// First 100 tokens, then 50 and 50, then a decoding one, 30 and 10.
			[]times{{0, 2.2, 3.34, 0}, {1.1, 3.34, 3.34, 0}, {2.2, 3.34, 3.34, 0}},
		},
		"chunks cost what the whole does": {
			queueing.Replica{Profile: queueing.Profile{Alpha: 1, Gamma: 0.05, Epsilon: 1e-6}, MaxBatch: 4, MaxBatchedTokens: 100},
			[]replica.Request{{Input: 250, Output: 1}},
			[]times{{0, 3 + 0.05 + 0.0625, 3.1125, 0}},
		},
		"decoding takes of the budget first": {
			queueing.Replica{Profile: simple, MaxBatch: 4, MaxBatchedTokens: 50},
			[]replica.Request{{Input: 50, Output: 9}, {Input: 98, Output: 1}},
			// 1.05; decoding + 49, twice; six more.
			[]times{{0, 1.05, 1.05 + 2*1.149 + 6*1.1, 0}, {1.05, 3.348, 3.348, 0}},
		},
		"blocking prefill computes whole prompts within the budget": {
			queueing.Replica{Profile: simple, MaxBatch: 4, MaxBatchedTokens: 100, PrefillMode: queueing.Blocking},
			[]replica.Request{{Input: 150, Output: 1}, {Input: 60, Output: 1}, {Input: 40, Output: 1}, {Input: 10, Output: 1}},
			[]times{{0, 1.15, 1.15, 0}, {1.15, 2.25, 2.25, 0}, {1.15, 2.25, 2.25, 0}, {2.25, 3.26, 3.26, 0}},
		},
		"a prompt without tokens takes one of the budget": {
			queueing.Replica{Profile: base, MaxBatch: 9, MaxBatchedTokens: 2},
			[]replica.Request{{Output: 2}, {Output: 1}, {Output: 1}, {Output: 1}},
			[]times{{0, 1, 2, 0}, {0, 1, 1, 0}, {1, 2, 2, 0}, {2, 3, 3, 0}},
		},
		"speculative decoding": {
			queueing.Replica{Profile: queueing.Profile{Alpha: 1, Kappa: 1e-5}, MaxBatch: 4, AcceptedTokens: 2.5},
			[]replica.Request{{Input: 100, Output: 11}, {Input: 100, Output: 12}},
			// 10 tokens in 4 iterations, 11 in 5.
			[]times{{0, 1, 5 + 2e-5*(4*101+2.5*6), 0}, {0, 1, 6 + 2e-5*(4*101+2.5*6) + 1e-5*111, 0}},
		},
		"preemption by recomputation": {
			queueing.Replica{Profile: simple, MaxBatch: 4, KVCacheTokens: 25},
			[]replica.Request{{Input: 10, Output: 6}, {Input: 10, Output: 6}},
			// Both prompts: 20 of 25. Contexts 11 + 11, 12 + 12; 13 + 13 do not fit: the second
			// loses 3 generated tokens of 13. The first ends with 5 + 3 more iterations.
			[]times{
				{0, 1.02, 1.02 + 2*1.2 + 3*1.1, 0},
				// 13 tokens to compute again give the fourth, two more follow.
				{0, 1.02, 6.72 + 1.013 + 2*1.1, 1},
			},
		},
		"preemption of a prompt": {
			queueing.Replica{Profile: simple, MaxBatch: 4, KVCacheTokens: 25, MaxBatchedTokens: 10},
			[]replica.Request{{Input: 10, Output: 7}, {Input: 20, Output: 1}},
			// The second computes 9 (11 + 9 = 20), then 9 more do not fit beside 12: it waits.
			// With contexts from 13 to 15 its first 9 fit, and lose their place to the next 9.
			[]times{
				{0, 1.01, 1.01 + 1.109 + 1.1 + 1.109 + 1.1 + 1.109 + 1.1, 0},
				{1.01, 7.637 + 2.02, 7.637 + 2.02, 3},
			},
		},
		"waiting for the KV cache": {
			queueing.Replica{Profile: base, MaxBatch: 4, KVCacheTokens: 20},
			[]replica.Request{{Input: 10, Output: 3}, {Input: 12, Output: 1}, {Input: 1, Output: 1}},
			// In order: the third does not overtake the second.
			[]times{{0, 1, 3, 0}, {3, 4, 4, 0}, {3, 4, 4, 0}},
		},
		"prefilled elsewhere": {
			queueing.Replica{Profile: full, MaxBatch: 4},
			[]replica.Request{{Arrival: 1, Input: 100, Output: 3, Prefilled: true}},
			[]times{{1, 1, 1 + 2*1.3 + 1e-5*(101+102), 0}},
		},
		"prefilled elsewhere with blocking prefill": {
			queueing.Replica{Profile: simple, MaxBatch: 4, PrefillMode: queueing.Blocking},
			[]replica.Request{{Input: 100, Output: 3, Prefilled: true}, {Input: 100, Output: 2}},
			[]times{{0, 0, 1.1 + 1.2 + 1.1, 0}, {0, 1.1, 2.3, 0}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			requireTimes(t, test.want, run(t, test.replica, test.requests...))
		})
	}
}

func TestCompletionLatencies(t *testing.T) {
	p := simple
	p.TTFTOffset = 0.25
	c := run(t, queueing.Replica{Profile: p, MaxBatch: 1},
		replica.Request{Input: 100, Output: 1}, replica.Request{Arrival: 0.1, Input: 0, Output: 5})
	require.InDelta(t, 1.35, float64(c[0].TTFT()), 1e-9)
	require.InDelta(t, 1.35, float64(c[0].E2E()), 1e-9)
	require.Zero(t, c[0].ITL())
	require.Zero(t, c[0].Wait())
	require.InDelta(t, 1.0, float64(c[1].Wait()), 1e-9)
	require.InDelta(t, 2.25, float64(c[1].TTFT()), 1e-9)
	require.InDelta(t, 1.1, float64(c[1].ITL()), 1e-9)
	require.InDelta(t, 2.25+4.4, float64(c[1].E2E()), 1e-9)
}

func outcomes(completions iter.Seq[replica.Completion]) []replica.Outcome {
	var all []replica.Outcome
	byID := map[int]replica.Outcome{}
	for c := range completions {
		byID[c.ID] = c.Outcome
	}
	for id := range len(byID) {
		all = append(all, byID[id])
	}
	return all
}

func TestRejection(t *testing.T) {
	one := queueing.Waiting{Limited: true, Places: 1}
	for name, test := range map[string]struct {
		replica  queueing.Replica
		requests []replica.Request
		want     []replica.Outcome
	}{
		"never fits": {
			queueing.Replica{Profile: base, MaxBatch: 2, KVCacheTokens: 20},
			[]replica.Request{{Input: 15, Output: 6}, {ID: 1, Input: 15, Output: 5}},
			[]replica.Outcome{replica.TooLong, replica.Completed},
		},
		"two run and one waits": {
			queueing.Replica{Profile: base, MaxBatch: 2, MaxQueue: one},
			[]replica.Request{{Output: 9}, {ID: 1, Output: 9}, {ID: 2, Output: 1}, {ID: 3, Output: 1}},
			[]replica.Outcome{replica.Completed, replica.Completed, replica.Completed, replica.QueueFull},
		},
		"a free place of the batch is not a waiting place": {
			queueing.Replica{Profile: base, MaxBatch: 2, MaxQueue: queueing.Waiting{Limited: true}},
			[]replica.Request{{Output: 9}, {ID: 1, Arrival: 0.5, Output: 9}, {ID: 2, Arrival: 0.6, Output: 1}},
			[]replica.Outcome{replica.Completed, replica.Completed, replica.QueueFull},
		},
		"a full KV cache leaves no place in the batch": {
			queueing.Replica{Profile: base, MaxBatch: 9, KVCacheTokens: 20, MaxQueue: one},
			[]replica.Request{{Input: 10, Output: 9}, {ID: 1, Arrival: 0.5, Input: 10, Output: 9}, {ID: 2, Arrival: 1.5, Output: 1}},
			[]replica.Outcome{replica.Completed, replica.Completed, replica.QueueFull},
		},
		"malformed": {
			queueing.Replica{Profile: base, MaxBatch: 2},
			[]replica.Request{
				{Arrival: math.NaN(), Output: 1},
				{ID: 1, Arrival: -1, Output: 1},
				{ID: 2},
				{ID: 3, Input: -1, Output: 1},
				{ID: 4, Input: 1, Cached: 2, Output: 1},
				{ID: 5, Output: 1, Prefilled: true},
				{ID: 6, Arrival: 5, Output: 1},
				{ID: 7, Arrival: 4, Output: 1},
				{ID: 8, Arrival: math.Inf(1), Output: 1},
			},
			[]replica.Outcome{
				replica.Malformed, replica.Malformed, replica.Malformed, replica.Malformed, replica.Malformed,
				replica.Malformed, replica.Completed, replica.Malformed, replica.Malformed,
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			completions, err := replica.Run(test.replica, slices.Values(test.requests))
			require.NoError(t, err)
			require.Equal(t, test.want, outcomes(completions))
		})
	}
}

func TestNewRefuses(t *testing.T) {
	_, err := replica.New(queueing.Replica{Profile: base})
	require.ErrorContains(t, err, "maxBatch")
	_, err = replica.New(queueing.Replica{Model: queueing.LLMDV1, Profile: base, MaxBatch: 1})
	require.ErrorContains(t, err, "serviceModel")
}

func TestArriveMustNotPassAnEvent(t *testing.T) {
	r, err := replica.New(queueing.Replica{Profile: base, MaxBatch: 1})
	require.NoError(t, err)
	require.True(t, math.IsInf(r.Next(), 1))
	require.Empty(t, r.Step())
	require.Equal(t, replica.Accepted, r.Arrive(replica.Request{Arrival: 1, Output: 1}))
	require.InDelta(t, 1, r.Next(), 0)
	require.Panics(t, func() { r.Arrive(replica.Request{Arrival: 1.5, Output: 1}) })
}

// TestStepAllocatesNothing once the replica has seen its load.
func TestStepAllocatesNothing(t *testing.T) {
	r, err := replica.New(queueing.Replica{
		Profile:  queueing.Profile{Alpha: 0.01, Beta: 1e-4, Kappa: 1e-7, Delta: 1e-5},
		MaxBatch: 32, MaxBatchedTokens: 512, KVCacheTokens: 4000,
	})
	require.NoError(t, err)
	random := rand.New(rand.NewPCG(1, 1))
	var now float64
	serve := func() {
		for range 1000 {
			now += random.ExpFloat64() / 20
			for r.Next() < now {
				r.Step()
			}
			r.Arrive(replica.Request{Arrival: now, Input: 200, Output: 50})
		}
	}
	serve()
	require.LessOrEqual(t, testing.AllocsPerRun(20, serve), 1.0)
	require.Positive(t, r.Totals().Preemptions)
}
