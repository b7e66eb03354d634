package replica_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/poolwright/poolwright/queueing"
	"github.com/poolwright/poolwright/simulation/replica"
)

// randomCase draws a small replica and requests that press on all its limits.
func randomCase(seed uint64) (queueing.Replica, []replica.Request) {
	random := rand.New(rand.NewPCG(seed, 0))
	r := queueing.Replica{
		Profile: queueing.Profile{
			Alpha: 1, Beta: 0.1, Sigma: 0.05, Kappa: 0.001, Gamma: 0.02, Delta: 0.01, Epsilon: 1e-4,
		},
		MaxBatch:       1 + random.IntN(8),
		AcceptedTokens: []float64{0, 1, 1.5, 2}[random.IntN(4)],
		PrefillMode:    queueing.PrefillMode(random.IntN(2)),
	}
	if random.IntN(2) == 0 {
		r.KVCacheTokens = queueing.Tokens(20 + random.IntN(80))
	}
	if random.IntN(3) > 0 {
		r.MaxBatchedTokens = queueing.Tokens(1 + random.IntN(30))
	}
	requests := make([]replica.Request, 60)
	var now float64
	for i := range requests {
		if random.IntN(3) > 0 {
			now += random.ExpFloat64() * 4
		}
		q := replica.Request{ID: i, Arrival: now, Input: random.IntN(40), Output: 1 + random.IntN(20)}
		if random.IntN(3) == 0 {
			q.Cached = random.IntN(q.Input + 1)
		}
		q.Prefilled = random.IntN(6) == 0 && q.Output > 1
		requests[i] = q
	}
	return r, requests
}

func byID(a, b replica.Completion) int { return a.ID - b.ID }

func requireSame(t *testing.T, want, got []replica.Completion) {
	t.Helper()
	slices.SortFunc(want, byID)
	slices.SortFunc(got, byID)
	require.Len(t, got, len(want))
	for i, w := range want {
		g := got[i]
		require.Equal(t, w.ID, g.ID)
		require.Equal(t, w.Outcome, g.Outcome, w.ID)
		require.InDelta(t, w.Admitted, g.Admitted, 1e-6, w.ID)
		require.InDelta(t, w.FirstToken, g.FirstToken, 1e-6, w.ID)
		require.InDelta(t, w.Finished, g.Finished, 1e-6, w.ID)
		require.Equal(t, w.Preemptions, g.Preemptions, w.ID)
	}
}

func TestAgreesWithNaive(t *testing.T) {
	preemptions, rejected := 0, 0
	for seed := range uint64(3000) {
		r, requests := randomCase(seed)
		completions, err := replica.Run(r, slices.Values(requests))
		require.NoError(t, err)
		got := slices.Collect(completions)
		requireSame(t, newNaive(r).serve(slices.Clone(requests)), got)
		for _, c := range got {
			preemptions += c.Preemptions
			if c.Outcome != replica.Completed {
				rejected++
			}
		}
	}
	// The cases must have pressed.
	require.Greater(t, preemptions, 1000)
	require.Greater(t, rejected, 1000)
}

func FuzzAgreesWithNaive(f *testing.F) {
	f.Add(uint64(1))
	f.Fuzz(func(t *testing.T, seed uint64) {
		r, requests := randomCase(seed)
		completions, err := replica.Run(r, slices.Values(requests))
		require.NoError(t, err)
		requireSame(t, newNaive(r).serve(slices.Clone(requests)), slices.Collect(completions))
	})
}

// TestConservation: every request leaves once, tokens add up, and the KV cache and the
// batch never hold more than they can.
func TestConservation(t *testing.T) {
	for seed := range uint64(1000) {
		r, requests := randomCase(seed)
		s, err := replica.New(r)
		require.NoError(t, err)
		left := map[int]int{}
		generated, preempted := 0, 0
		check := func(completions []replica.Completion) {
			require.LessOrEqual(t, s.Running(), r.MaxBatch)
			if r.KVCacheTokens > 0 {
				require.LessOrEqual(t, s.KVUsed(), int(r.KVCacheTokens))
			}
			for _, c := range completions {
				left[c.ID]++
				generated += c.Output
				if requests[c.ID].Prefilled {
					generated--
				}
				preempted += c.Preemptions
				require.LessOrEqual(t, c.Arrival, c.Admitted)
				require.LessOrEqual(t, c.FirstToken, c.Finished)
			}
		}
		rejected := 0
		for _, q := range requests {
			for s.Next() < q.Arrival {
				check(s.Step())
			}
			if s.Arrive(q) != replica.Accepted {
				rejected++
			}
		}
		for s.Running()+s.Waiting() > 0 {
			check(s.Step())
		}
		require.Len(t, left, len(requests)-rejected)
		for id, times := range left {
			require.Equal(t, 1, times, id)
		}
		require.Zero(t, s.KVUsed())
		totals := s.Totals()
		require.Equal(t, len(left), totals.Completed)
		require.Equal(t, rejected, totals.Rejected)
		require.Equal(t, generated, totals.GeneratedTokens)
		require.Equal(t, preempted, totals.Preemptions)
	}
}

// TestStepsAreWhatRunDoes: stepping by hand gives the completions of Run, bit for bit,
// and so does a second run.
func TestStepsAreWhatRunDoes(t *testing.T) {
	for seed := range uint64(300) {
		r, requests := randomCase(seed)
		completions, err := replica.Run(r, slices.Values(requests))
		require.NoError(t, err)
		want := slices.Collect(completions)
		again, err := replica.Run(r, slices.Values(requests))
		require.NoError(t, err)
		require.Equal(t, want, slices.Collect(again))

		s, err := replica.New(r)
		require.NoError(t, err)
		var got []replica.Completion
		for _, q := range requests {
			for s.Next() < q.Arrival {
				got = append(got, s.Step()...)
			}
			if outcome := s.Arrive(q); outcome != replica.Accepted {
				got = append(got, replica.Completion{Request: q, Outcome: outcome})
			}
		}
		for s.Running()+s.Waiting() > 0 {
			got = append(got, s.Step()...)
		}
		require.Equal(t, want, got)
	}
}
