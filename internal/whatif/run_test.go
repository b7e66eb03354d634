package whatif_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	"github.com/poolwright/poolwright/controller"
	"github.com/poolwright/poolwright/internal/document"
	"github.com/poolwright/poolwright/internal/message"
	"github.com/poolwright/poolwright/internal/whatif"
	"github.com/poolwright/poolwright/planner"
	poolwrightv1 "github.com/poolwright/poolwright/proto/poolwright/v1"
)

const text = `
name: small
duration: 20m
warmup: 2m
seeds: [1, 2]
fleet:
  pools: [{accelerator: H100, capacity: 8, pricePerHour: 3}]
  workloads:
  - name: chat
    serviceClass: gold
    load: {arrivalRate: 3, inputTokens: 500, outputTokens: 100}
    slo: {ttft: {p95: 2s}}
    variants:
    - name: v
      accelerator: H100
      profile: {alphaMs: 8, betaMs: 0.1, deltaMs: 0.03}
      maxBatch: 32
      currentReplicas: 1
      startup: 30s
autoscalers: [{poolwright: {}}, {static: {}}]
`

func small(t *testing.T) *poolwrightv1.Simulation {
	t.Helper()
	m := &poolwrightv1.Simulation{}
	require.NoError(t, document.Unmarshal([]byte(text), m))
	return m
}

func TestRun(t *testing.T) {
	var last *poolwrightv1.SimulationProgress
	told := 0
	result, err := whatif.Run(t.Context(), small(t), whatif.Config{Progress: func(p *poolwrightv1.SimulationProgress) {
		told++
		last = p
	}})
	require.NoError(t, err)
	assert.Equal(t, "small", result.GetName())
	assert.InDelta(t, 18*60, result.GetDuration().AsDuration().Seconds(), 0)
	require.Len(t, result.GetAutoscalers(), 2)
	assert.Len(t, result.GetHindsightCost(), 2)
	for _, a := range result.GetAutoscalers() {
		require.Len(t, a.GetRuns(), 2)
		assert.InEpsilon(t, 3*18*60, a.GetWorkloads()[0].GetRequests(), 0.05)
		assert.Greater(t, a.GetAttainment().GetMean(), 0.95)
		// One replica is enough, and no fewer can be paid for.
		assert.GreaterOrEqual(t, a.GetCost().GetMean(), 3*0.3-1e-9)
		assert.NotNil(t, a.GetRegret())
	}
	assert.Equal(t, 2*2*(20+1), told, "after each window and each run")
	assert.InDelta(t, 1, last.GetDone(), 1e-9)
	assert.EqualValues(t, 4, last.GetRuns())
	assert.EqualValues(t, 4, last.GetRunsDone())
	assert.Greater(t, last.GetRequests(), int64(4*20*60*2))
}

func TestResultDoesNotDependOnWorkers(t *testing.T) {
	var results []*poolwrightv1.SimulationResult
	for _, workers := range []int{1, 4} {
		result, err := whatif.Run(t.Context(), small(t), whatif.Config{Workers: workers})
		require.NoError(t, err)
		for _, a := range result.GetAutoscalers() {
			for _, run := range a.GetRuns() {
				run.ProcessorSeconds = 0
			}
		}
		results = append(results, result)
	}
	assert.True(t, proto.Equal(results[0], results[1]))
}

func TestBadInput(t *testing.T) {
	m := small(t)
	m.Seeds = []uint64{1, 1}
	m.GetFleet().GetPools()[0].PricePerHour = -1
	_, err := whatif.Run(t.Context(), m, whatif.Config{})
	var violations message.Violations
	require.ErrorAs(t, err, &violations)
	assert.Len(t, violations, 2)
}

func TestTooManyRequests(t *testing.T) {
	_, err := whatif.Run(t.Context(), small(t), whatif.Config{MostRequests: 14_000})
	var violations message.Violations
	require.ErrorAs(t, err, &violations)
	require.Equal(t, "duration", violations[0].Path)
	assert.Contains(t, violations[0].Message, "about 0.0036 million requests in each of 4 runs are more than the 0.014 million allowed here")
	_, err = whatif.Run(t.Context(), small(t), whatif.Config{MostRequests: 15_000})
	require.NoError(t, err)
}

// ledger counts decisions.
type ledger struct{ entries int }

func (*ledger) Checkpoint(m planner.Memory) (planner.Memory, error) { return m, nil }

func (*ledger) Intend(uint64, []planner.Change) error { return nil }

func (l *ledger) Append(controller.Entry) error {
	l.entries++
	return nil
}

func TestLedgerIsOfOneRun(t *testing.T) {
	m := small(t)
	l := &ledger{}
	_, err := whatif.Run(t.Context(), m, whatif.Config{Ledger: l})
	require.ErrorContains(t, err, "autoscalers: Poolwright's loop runs 2 times, and a ledger is of one")
	m.Seeds = m.GetSeeds()[:1]
	_, err = whatif.Run(t.Context(), m, whatif.Config{Ledger: l})
	require.NoError(t, err)
	assert.InDelta(t, 20*60/15, l.entries, 1)
}

func TestEndOfTheContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	_, err := whatif.Run(ctx, small(t), whatif.Config{Workers: 1, Progress: func(*poolwrightv1.SimulationProgress) { cancel() }})
	require.ErrorIs(t, err, context.Canceled)
}
