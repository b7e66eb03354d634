package replica_test

import (
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/poolwright/poolwright/queueing"
	"github.com/poolwright/poolwright/simulation/replica"
)

// waited returns completions that waited for so long, all without other delay.
func waited(waits ...float64) []replica.Completion {
	all := make([]replica.Completion, len(waits))
	for i, w := range waits {
		q := replica.Request{ID: i, Arrival: float64(i), Output: 1}
		all[i] = replica.Completion{
			Request: q, Outcome: replica.Completed,
			Admitted: q.Arrival + w, FirstToken: q.Arrival + w, Finished: q.Arrival + w,
		}
	}
	return all
}

func TestSample(t *testing.T) {
	s := replica.Collect(slices.Values(waited(9, 4, 1, 3, 2)), 1)
	require.Equal(t, 4, s.Completed)
	require.Equal(t, 4, s.Wait.Len())
	require.InDelta(t, 2.5, s.Wait.Mean(), 1e-12)
	require.InDelta(t, 1.25, s.Wait.Variance(), 1e-12)
	for q, want := range map[float64]float64{0: 1, 0.25: 1, 0.26: 2, 0.5: 2, 0.95: 4, 1: 4} {
		require.InDelta(t, want, s.Wait.Quantile(q), 1e-12, "%v", q)
	}
	require.True(t, math.IsInf(s.Wait.Interval(), 1))
	require.Zero(t, s.ITL.Len())
	require.True(t, math.IsNaN(s.ITL.Mean()))
	require.True(t, math.IsNaN(s.ITL.Quantile(0.5)))
}

// TestInterval: 30 batches of two; their means alternate between 1 and 3. The standard
// error is √(30/29)/√30, the quantile of Student's t for 29 degrees of freedom 2.04523.
func TestInterval(t *testing.T) {
	var waits []float64
	for i := range 30 {
		waits = append(waits, float64(i%2*2), float64(i%2*2+2))
	}
	s := replica.Collect(slices.Values(waited(waits...)), 0)
	require.InDelta(t, 2, s.Wait.Mean(), 1e-12)
	require.InDelta(t, 2.04523/math.Sqrt(29), s.Wait.Interval(), 1e-5)
}

func TestCollectCounts(t *testing.T) {
	s := replica.Collect(slices.Values([]replica.Completion{
		{Request: replica.Request{Output: 3}, Outcome: replica.Completed, FirstToken: 1, Finished: 5, Preemptions: 2},
		{Outcome: replica.QueueFull},
		{Outcome: replica.TooLong},
		{Request: replica.Request{Output: 1}, Outcome: replica.Completed, FirstToken: 1, Finished: 1},
	}), 0)
	require.Equal(t, 2, s.Completed)
	require.Equal(t, 2, s.Rejected)
	require.Equal(t, 2, s.Preemptions)
	require.InDelta(t, 0.5, s.BlockedShare(), 0)
	require.Equal(t, 1, s.ITL.Len())
	require.InDelta(t, 2, s.ITL.Mean(), 1e-12)
	require.InDelta(t, 3, s.E2E.Mean(), 1e-12)
}

// TestMeasureCutsWarmUpAndEnd: a request of 2 s every 4 s, from the second to the last.
func TestMeasureCutsWarmUpAndEnd(t *testing.T) {
	arrivals, err := replica.Load{
		Shape:  queueing.Shape{InputTokens: 10, OutputTokens: 2},
		Phases: replica.Constant(0.25), Requests: 6,
	}.Arrivals()
	require.NoError(t, err)
	s, err := replica.New(queueing.Replica{Profile: queueing.Profile{Alpha: 1}, MaxBatch: 3})
	require.NoError(t, err)
	m := replica.Measure(s, arrivals, 8)
	require.Equal(t, 5, m.Completed)
	require.InDelta(t, 16, m.Totals.Time, 1e-12)
	require.InDelta(t, 8, m.Totals.Busy, 1e-12)
	require.Equal(t, 4, m.Totals.Completed)
	require.Equal(t, 8, m.Totals.Iterations)
	require.Equal(t, 8, m.Totals.GeneratedTokens)
	require.Equal(t, 40, m.Totals.PromptTokens)
	require.InDelta(t, 0.5, m.Totals.Utilization(), 1e-12)
	require.InDelta(t, 0.5, m.Totals.MeanRunning(), 1e-12)
	require.InDelta(t, 0.25, float64(m.Totals.Throughput()), 1e-12)
	require.InDelta(t, 1, float64(m.Totals.MeanIteration()), 1e-12)
	// Ten tokens for a second, eleven for another, of four.
	require.InDelta(t, 21.0/4, m.Totals.MeanKVUsed(), 1e-12)
	require.Zero(t, m.Totals.MeanWaiting())

	none := replica.Measure(s, slices.Values([]replica.Request(nil)), 0)
	require.Zero(t, none.Completed)
	require.Zero(t, none.Totals)
}

func TestWindows(t *testing.T) {
	windows := replica.Windows(slices.Values([]replica.Completion{
		{
			Request: replica.Request{Arrival: 1, Output: 3}, Outcome: replica.Completed,
			Admitted: 2, FirstToken: 4, Finished: 6, Overhead: 0.5,
		},
		{Request: replica.Request{Arrival: 9, Output: 1}, Outcome: replica.QueueFull},
		{Request: replica.Request{Arrival: math.NaN()}, Outcome: replica.Malformed},
		{
			Request: replica.Request{Arrival: 3, Output: 1}, Outcome: replica.Completed,
			Admitted: 3, FirstToken: 4, Finished: 4, Overhead: 0.5,
		},
		{
			Request: replica.Request{Arrival: 20, Output: 2}, Outcome: replica.Completed,
			Admitted: 20, FirstToken: 21, Finished: 23,
		},
	}), 10)
	require.Len(t, windows, 3)
	first := windows[0]
	require.Equal(t, 3, first.Arrived)
	require.Equal(t, 1, first.Rejected)
	require.InDelta(t, 0.5, float64(first.Wait), 1e-12)
	require.InDelta(t, 2.5, float64(first.TTFT), 1e-12)
	require.InDelta(t, 1, float64(first.ITL), 1e-12)
	require.InDelta(t, 3.5, float64(first.E2E), 1e-12)
	require.Equal(t, replica.Window{Start: 10}, windows[1])
	require.InDelta(t, 20, windows[2].Start, 0)
	require.InDelta(t, 2, float64(windows[2].ITL), 1e-12)
}
