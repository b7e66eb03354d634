package calibration_test

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/poolwright/poolwright/calibration"
	"github.com/poolwright/poolwright/queueing"
	"github.com/poolwright/poolwright/simulation/replica"
)

// loadTest measures a simulated replica under a constant load as a load test does.
func loadTest(t *testing.T, s scenario, load float64, seed uint64) calibration.Sample {
	t.Helper()
	const requests = 20_000
	station, err := queueing.NewStation(s.replica, s.shape)
	require.NoError(t, err)
	rate := queueing.Rate(load) * station.SaturationRate()
	start := max(0.1*requests/float64(rate), 10*float64(station.Evaluate(rate).E2E.Mean()))
	end := start + requests/float64(rate)
	arrivals, err := replica.Load{Shape: s.shape, Phases: replica.Constant(rate), Seed: seed}.Arrivals()
	require.NoError(t, err)
	server, err := replica.New(s.replica)
	require.NoError(t, err)
	var before replica.Totals
	var spaced, intervals, ttft, completed float64
	for c := range replica.Serve(server, arrivals) {
		if c.Finished > end {
			break
		}
		if c.Finished < start {
			before = server.Totals()
			continue
		}
		spaced += c.Finished - c.FirstToken
		intervals += float64(c.Output - 1)
		ttft += float64(c.TTFT())
		completed++
	}
	totals := server.Totals().Since(before)
	return calibration.Sample{
		InputTokens:  calibration.Of(float64(s.shape.InputTokens)),
		InputSCV:     calibration.Of(s.shape.InputSCV),
		OutputTokens: calibration.Of(float64(s.shape.OutputTokens)),
		OutputSCV:    calibration.Of(s.shape.OutputSCV),
		ArrivalRate:  calibration.Of(float64(totals.Throughput())),
		Running:      calibration.Of(totals.MeanRunning()),
		Waiting:      calibration.Of(totals.MeanWaiting()),
		ITL:          calibration.Of(spaced / intervals),
		TTFT:         calibration.Of(ttft / completed),
	}
}

// TestOpenLoopMatchesReplica: the true profile predicts load tests of a simulated
// replica from low load to close to saturation, with the number running and without.
func TestOpenLoopMatchesReplica(t *testing.T) {
	constant := func(in, out queueing.Tokens) queueing.Shape {
		return queueing.Shape{InputTokens: in, OutputTokens: out, ArrivalSCV: 1}
	}
	all := scenarios()
	all = slices.DeleteFunc(all, func(s scenario) bool { return s.shape.ArrivalSCV != 1 || s.shape.PrefixHitRatio > 0 })
	for _, s := range all[:4] {
		s.name += ", constant lengths"
		s.shape = constant(s.shape.InputTokens, s.shape.OutputTokens)
		all = append(all, s)
	}
	short, chunks := all[0], all[0]
	short.name, short.shape = "short outputs", constant(500, 12)
	chunks.name, chunks.shape, chunks.replica.MaxBatchedTokens = "prompts of two chunks", constant(4000, 300), 2048
	all = append(all, short, chunks)

	var itl, ttft []float64
	for i, s := range all {
		for k, load := range []float64{0.15, 0.4, 0.65, 0.8} {
			sample := loadTest(t, s, load, uint64(10*i+k))
			options := calibration.Options{
				MaxBatch: s.replica.MaxBatch, MaxBatchedTokens: s.replica.MaxBatchedTokens, PrefillMode: s.replica.PrefillMode,
			}
			errors, err := calibration.Predict(s.replica.Profile, []calibration.Sample{sample}, options)
			require.NoError(t, err)
			sample.Running = calibration.Quantity{}
			without, err := calibration.Predict(s.replica.Profile, []calibration.Sample{sample}, options)
			require.NoError(t, err)
			name := fmt.Sprintf("%s at %v: %+.2f %%, %+.2f %%", s.name, load, 100*errors[0].Error, 100*without[0].Error)
			assert.InDelta(t, 0, errors[0].Error, 0.025, name)
			assert.InDelta(t, 0, without[0].Error, 0.04, name)
			itl = append(itl, math.Abs(errors[0].Error))
			if errors[1].Counts {
				ttft = append(ttft, math.Abs(errors[1].Error))
			}
		}
	}
	slices.Sort(itl)
	slices.Sort(ttft)
	t.Logf("ITL: median %.2f %%, p90 %.2f %%; TTFT: median %.2f %%, p90 %.2f %%",
		100*itl[len(itl)/2], 100*itl[len(itl)*9/10], 100*ttft[len(ttft)/2], 100*ttft[len(ttft)*9/10])
	assert.Less(t, itl[len(itl)/2], 0.005)
	assert.Less(t, ttft[len(ttft)/2], 0.01)
	assert.Less(t, ttft[len(ttft)*9/10], 0.05)
}
