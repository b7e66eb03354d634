package replica_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/poolwright/poolwright/queueing"
	"github.com/poolwright/poolwright/simulation/replica"
)

func pair(t *testing.T, prefill, decode queueing.Replica, transfer replica.Transfer) *replica.Disaggregated {
	t.Helper()
	d, err := replica.NewDisaggregated(prefill, decode, transfer)
	require.NoError(t, err)
	return d
}

func TestDisaggregated(t *testing.T) {
	p := simple
	p.TTFTOffset = 0.25
	d := pair(t,
		queueing.Replica{Profile: p, MaxBatch: 1},
		queueing.Replica{Profile: queueing.Profile{Alpha: 0.1, Beta: 0.01}, MaxBatch: 4},
		replica.Transfer{Base: 0.05, PerToken: 0.001})
	got := slices.SortedFunc(replica.Serve(d, slices.Values([]replica.Request{
		{ID: 0, Input: 100, Output: 11},
		{ID: 1, Input: 200, Output: 1},
		{ID: 2, Input: 50, Output: 2},
	})), byID)
	requireTimes(t, []times{
		{0, 1.1 + 0.15, 1.25 + 10*0.11, 0},
		{1.1, 2.3 + 0.25, 2.55, 0},
		{2.3, 3.35 + 0.1, 3.45 + 0.11, 0},
	}, got)
	require.InDelta(t, 1.5, float64(got[0].TTFT()), 1e-9)
	require.InDelta(t, 0.11, float64(got[0].ITL()), 1e-9)
	require.InDelta(t, 2.3, float64(got[2].Wait()), 1e-9)
	require.Equal(t, 3, d.Prefill().Totals().Completed)
	require.Equal(t, 2, d.Decode().Totals().Completed)
}

func TestDisaggregatedRejects(t *testing.T) {
	none := queueing.Waiting{Limited: true}
	d := pair(t,
		queueing.Replica{Profile: base, MaxBatch: 1, MaxQueue: queueing.Waiting{Limited: true, Places: 1}, KVCacheTokens: 100},
		queueing.Replica{Profile: base, MaxBatch: 1, MaxQueue: none, KVCacheTokens: 50},
		replica.Transfer{})
	completions := replica.Serve(d, slices.Values([]replica.Request{
		{ID: 0, Input: 1, Output: 40},
		{ID: 1, Input: 1, Output: 40},
		{ID: 2, Input: 1, Output: 40},
		{ID: 3, Input: 41, Output: 10},
		{ID: 4, Input: 1, Output: 2, Prefilled: true},
		{ID: 5, Arrival: 10, Input: 100, Output: 1},
		{ID: 6, Arrival: 20, Input: 40, Output: 1},
	}))
	require.Equal(t, []replica.Outcome{
		replica.Completed, replica.QueueFull, replica.QueueFull, replica.TooLong, replica.Malformed,
		replica.TooLong, replica.Completed,
	}, outcomes(completions))
}

// TestDisaggregatedIsTwoReplicas: the pair does what its replicas do one after the
// other, and every request leaves once.
func TestDisaggregatedIsTwoReplicas(t *testing.T) {
	for seed := range uint64(300) {
		prefill, requests := randomCase(seed)
		decode, _ := randomCase(seed + 1000)
		prefill.KVCacheTokens, decode.KVCacheTokens = 0, 80
		transfer := replica.Transfer{Base: 0.5, PerToken: 0.01}
		for i := range requests {
			requests[i].Prefilled = false
		}
		got := slices.SortedFunc(replica.Serve(pair(t, prefill, decode, transfer), slices.Values(requests)), byID)

		prompts := slices.Clone(requests)
		for i := range prompts {
			prompts[i].Output = 1
		}
		first := run(t, prefill, prompts...)
		var handed []replica.Request
		for i, c := range first {
			require.InDelta(t, c.Admitted, got[i].Admitted, 1e-9)
			first[i].Finished += 0.5 + 0.01*float64(c.Input)
			require.InDelta(t, first[i].Finished, got[i].FirstToken, 1e-9)
			if requests[i].Output > 1 {
				handed = append(handed, replica.Request{
					ID: i, Arrival: first[i].Finished, Input: c.Input, Output: requests[i].Output, Prefilled: true,
				})
			}
		}
		slices.SortStableFunc(handed, func(a, b replica.Request) int {
			if a.Arrival < b.Arrival {
				return -1
			}
			return 1
		})
		completions, err := replica.Run(decode, slices.Values(handed))
		require.NoError(t, err)
		second := first
		for c := range completions {
			second[c.ID] = c
		}
		for i, c := range second {
			require.InDelta(t, c.Finished, got[i].Finished, 1e-9)
			require.Equal(t, c.Preemptions, got[i].Preemptions)
			require.Equal(t, requests[i], got[i].Request)
		}
	}
}

func TestNewDisaggregatedRefuses(t *testing.T) {
	_, err := replica.NewDisaggregated(queueing.Replica{Profile: base}, queueing.Replica{MaxBatch: 1},
		replica.Transfer{Base: -1})
	require.ErrorContains(t, err, "prefill: replica: queueing: maxBatch")
	require.ErrorContains(t, err, "decode: replica: ")
	require.ErrorContains(t, err, "transfer")
}

// TestDisaggregatedReusesState: what it keeps follows the requests inside.
func TestDisaggregatedReusesState(t *testing.T) {
	r := queueing.Replica{Profile: queueing.Profile{Alpha: 0.01}, MaxBatch: 8}
	d := pair(t, r, r, replica.Transfer{Base: 0.02})
	random := rand.New(rand.NewPCG(1, 1))
	now, id := 0.0, 0
	serve := func() {
		for range 500 {
			now += random.ExpFloat64()
			for d.Next() < now {
				d.Step()
			}
			id++
			d.Arrive(replica.Request{ID: id, Arrival: now, Input: 10, Output: 5})
		}
	}
	serve()
	require.LessOrEqual(t, testing.AllocsPerRun(10, serve), 2.0)
}
