package replica_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/poolwright/poolwright/queueing"
	"github.com/poolwright/poolwright/simulation/replica"
)

// modelCase is a replica under a load that the analytic model predicts.
type modelCase struct {
	replica queueing.Replica
	shape   queueing.Shape
	load    float64
}

// modelCases draws replicas with chunked prefill that serve prompts and outputs of many
// lengths, all alike or exponential, at up to 0.85 of saturation.
func modelCases(n int) []modelCase {
	r := rand.New(rand.NewPCG(2026, 3))
	between := func(low, high float64) float64 { return low * math.Exp(r.Float64()*math.Log(high/low)) }
	of := func(values ...float64) float64 { return values[r.IntN(len(values))] }
	cases := make([]modelCase, n)
	for i := range cases {
		cases[i] = modelCase{
			replica: queueing.Replica{
				Profile: queueing.Profile{
					Alpha: between(4e-3, 25e-3), Beta: of(0, 5e-6, 3e-5), Kappa: between(2e-8, 2e-7), Sigma: of(0, 0, 5e-4),
					Gamma: of(0, 1e-3), Delta: between(3e-6, 6e-5), Epsilon: of(0, 1e-9), TTFTOffset: of(0, 0.015),
				},
				MaxBatch:         int(of(32, 128, 256)),
				MaxBatchedTokens: queueing.Tokens(of(512, 2048, 8192)),
			},
			shape: queueing.Shape{
				InputTokens: queueing.Tokens(between(16, 8000)), OutputTokens: queueing.Tokens(between(20, 800)),
				InputSCV: of(0, 1), OutputSCV: of(0, 1), ArrivalSCV: of(1, 1, 1, 0.5, 4),
				PrefixHitRatio: of(0, 0, 0.5),
			},
			load: 0.85 * r.Float64(),
		}
	}
	return cases
}

// TestModelPredictsTheReplica over a grid of cases that no constant of the model was
// fitted to. Where the simulation itself is not certain of the mean TTFT to 5 %, a
// case does not count.
func TestModelPredictsTheReplica(t *testing.T) {
	const requests = 12_000
	errors := map[string][]float64{}
	for i, c := range modelCases(150) {
		station, err := queueing.NewStation(c.replica, c.shape)
		require.NoError(t, err)
		rate := queueing.Rate(c.load) * station.SaturationRate()
		load := replica.Load{Shape: c.shape, Phases: replica.Constant(rate), Requests: requests, Seed: uint64(i)}
		arrivals, err := load.Arrivals()
		require.NoError(t, err)
		r, err := replica.New(c.replica)
		require.NoError(t, err)
		observed := replica.Measure(r, arrivals, 0.15*requests/float64(rate))
		if observed.TTFT.Interval() > 0.05*observed.TTFT.Mean() {
			continue
		}
		predicted := station.Evaluate(rate)
		add := func(name string, p queueing.Seconds, o float64) {
			errors[name] = append(errors[name], math.Abs(float64(p)/o-1))
		}
		add("ITL", predicted.ITL.Mean(), observed.ITL.Mean())
		add("ITL p95", predicted.ITL.Quantile(0.95), observed.ITL.Quantile(0.95))
		add("TTFT", predicted.TTFT.Mean(), observed.TTFT.Mean())
		add("TTFT p50", predicted.TTFT.Quantile(0.5), observed.TTFT.Quantile(0.5))
		add("TTFT p95", predicted.TTFT.Quantile(0.95), observed.TTFT.Quantile(0.95))
		add("E2E", predicted.E2E.Mean(), observed.E2E.Mean())
		add("E2E p95", predicted.E2E.Quantile(0.95), observed.E2E.Quantile(0.95))
	}
	for name, want := range map[string]struct{ median, p90 float64 }{
		"ITL":      {0.006, 0.04},
		"ITL p95":  {0.025, 0.16},
		"TTFT":     {0.01, 0.05},
		"TTFT p50": {0.04, 0.15},
		"TTFT p95": {0.06, 0.18},
		"E2E":      {0.01, 0.04},
		"E2E p95":  {0.025, 0.08},
	} {
		e := errors[name]
		slices.Sort(e)
		require.Greater(t, len(e), 100)
		t.Logf("%-8s of %d: median %.3f, p90 %.3f", name, len(e), e[len(e)/2], e[len(e)*9/10])
		require.LessOrEqual(t, e[len(e)/2], want.median, "%s: median error", name)
		require.LessOrEqual(t, e[len(e)*9/10], want.p90, "%s: 90th percentile of errors", name)
	}
}
