package replica_test

import (
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/poolwright/poolwright/queueing"
	"github.com/poolwright/poolwright/simulation/replica"
)

// measure serves a load, without the first tenth of its requests.
func measure(t *testing.T, r queueing.Replica, l replica.Load) replica.Measurement {
	t.Helper()
	arrivals, err := l.Arrivals()
	require.NoError(t, err)
	s, err := replica.New(r)
	require.NoError(t, err)
	return replica.Measure(s, arrivals, float64(l.Requests)/float64(l.Phases[0].Rate)/10)
}

// runs is how often a theory is tried with another seed. A confidence interval of 95 %
// holds the truth in 38 of 40 runs; fewer than 33 have a probability below 0.4 %.
const runs, enough = 40, 33

// requireCovered counts the runs whose confidence interval holds the truth.
func requireCovered(t *testing.T, truth float64, run func(seed uint64) (mean, interval float64)) {
	t.Helper()
	covered, sum := 0, 0.0
	for seed := range uint64(runs) {
		mean, interval := run(seed)
		if math.Abs(mean-truth) <= interval {
			covered++
		}
		sum += mean
	}
	require.GreaterOrEqual(t, covered, enough, "truth %v, mean of all runs %v", truth, sum/runs)
	require.InEpsilon(t, truth, sum/runs, 0.02)
}

// TestMD1: one request at a time, each one iteration long. The wait is ρ·S/(2(1-ρ)).
func TestMD1(t *testing.T) {
	r := queueing.Replica{Profile: queueing.Profile{Alpha: 2}, MaxBatch: 1}
	for _, load := range []float64{0.3, 0.8} {
		requireCovered(t, load*2/(2*(1-load)), func(seed uint64) (mean, interval float64) {
			m := measure(t, r, replica.Load{
				Shape:  queueing.Shape{OutputTokens: 1, ArrivalSCV: 1},
				Phases: replica.Constant(queueing.Rate(load / 2)), Requests: 12_000, Seed: seed,
			})
			require.InDelta(t, load, m.Totals.Utilization(), 0.02)
			require.InEpsilon(t, load/2, float64(m.Totals.Throughput()), 0.05)
			return m.Wait.Mean(), m.Wait.Interval()
		})
	}
}

// TestMG1: prompts or outputs of varying length, one request at a time. The wait is
// λ·E[S²]/(2(1-ρ)): F. Pollaczek (1930), A. Khinchine (1932).
func TestMG1(t *testing.T) {
	const scv, load = 1.5, 0.7
	for name, test := range map[string]struct {
		profile         queueing.Profile
		shape           queueing.Shape
		fixed, perToken float64
		mean            float64
	}{
		"prompts": {
			queueing.Profile{Alpha: 0.02, Delta: 0.0004},
			queueing.Shape{InputTokens: 200, InputSCV: scv, OutputTokens: 1, ArrivalSCV: 1},
			0.02, 0.0004, 200,
		},
		"outputs": {
			queueing.Profile{Alpha: 0.005},
			queueing.Shape{OutputTokens: 20, OutputSCV: scv, ArrivalSCV: 1},
			0, 0.005, 20,
		},
	} {
		t.Run(name, func(t *testing.T) {
			varying := test.perToken * test.mean
			service := test.fixed + varying
			second := service*service + scv*varying*varying
			rate := load / service
			requireCovered(t, rate*second/(2*(1-load)), func(seed uint64) (float64, float64) {
				m := measure(t, queueing.Replica{Profile: test.profile, MaxBatch: 1}, replica.Load{
					Shape: test.shape, Phases: replica.Constant(queueing.Rate(rate)), Requests: 12_000, Seed: seed,
				})
				return m.Wait.Mean(), m.Wait.Interval()
			})
		})
	}
}

// TestBulkService: all that wait are served together in one iteration of length 1. A
// busy period has e^λ iterations on average, an idle one lasts 1/λ, and whoever comes
// in a busy one waits for half an iteration.
func TestBulkService(t *testing.T) {
	r := queueing.Replica{Profile: queueing.Profile{Alpha: 1}, MaxBatch: 1000}
	for _, rate := range []float64{0.5, 3} {
		busy := math.Exp(rate) / (math.Exp(rate) + 1/rate)
		requireCovered(t, busy/2, func(seed uint64) (mean, interval float64) {
			m := measure(t, r, replica.Load{
				Shape:  queueing.Shape{OutputTokens: 1, ArrivalSCV: 1},
				Phases: replica.Constant(queueing.Rate(rate)), Requests: 8_000, Seed: seed,
			})
			require.InDelta(t, busy, m.Totals.Utilization(), 0.02)
			require.InDelta(t, rate*busy/2, m.Totals.MeanWaiting(), 0.1)
			return m.Wait.Mean(), m.Wait.Interval()
		})
	}
}

// TestInfiniteServer: iterations of one length, whatever the batch. The batch is
// Poisson, and a request takes its tokens after half an iteration.
func TestInfiniteServer(t *testing.T) {
	const rate, out = 5.0, 100
	r := queueing.Replica{Profile: queueing.Profile{Alpha: 0.01}, MaxBatch: 1000}
	m := measure(t, r, replica.Load{
		Shape:  queueing.Shape{OutputTokens: out, ArrivalSCV: 1},
		Phases: replica.Constant(rate), Requests: 50_000,
	})
	require.InEpsilon(t, rate*out*0.01, m.Totals.MeanRunning(), 0.02)
	require.InEpsilon(t, 0.01, m.ITL.Mean(), 1e-9)
	require.InEpsilon(t, 0.01, float64(m.Totals.MeanIteration()), 1e-4)
	require.InDelta(t, 0.015, m.TTFT.Mean(), 1e-4)
}

// TestLoss: without waiting places and with one place in the batch, the share
// ρ/(1+ρ) is lost, whatever the distribution: A. K. Erlang (1917).
func TestLoss(t *testing.T) {
	r := queueing.Replica{Profile: queueing.Profile{Alpha: 0.01}, MaxBatch: 1, MaxQueue: queueing.Waiting{Limited: true}}
	for _, load := range []float64{0.4, 1, 3} {
		m := measure(t, r, replica.Load{
			Shape:  queueing.Shape{OutputTokens: 50, OutputSCV: 0.5, ArrivalSCV: 1},
			Phases: replica.Constant(queueing.Rate(load / 0.5)), Requests: 100_000,
		})
		require.InDelta(t, load/(1+load), m.BlockedShare(), 0.01)
		require.InDelta(t, load/(1+load), m.Totals.Utilization(), 0.01)
		require.Zero(t, m.Wait.Mean())
	}
}

// TestLittle: from empty to empty, the integral of the number inside is the sum of the
// times inside, exactly.
func TestLittle(t *testing.T) {
	for seed := range uint64(300) {
		r, requests := randomCase(seed)
		s, err := replica.New(r)
		require.NoError(t, err)
		var inside, waits float64
		preemptions := 0
		for c := range replica.Serve(s, slices.Values(requests)) {
			if c.Outcome == replica.Completed {
				inside += c.Finished - c.Arrival
				waits += float64(c.Wait())
				preemptions += c.Preemptions
			}
		}
		totals := s.Totals()
		require.InEpsilon(t, inside, totals.Running+totals.Waiting, 1e-9)
		if preemptions == 0 {
			require.InDelta(t, waits, totals.Waiting, 1e-6)
		}
	}
}
