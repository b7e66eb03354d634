package planner_test

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/poolwright/poolwright/optimizer/lp"
	"github.com/poolwright/poolwright/planner"
	"github.com/poolwright/poolwright/queueing"
)

// lengthless is a fleet whose workload declares no lengths of requests.
func lengthless() planner.Fleet {
	f := twoPools(0, profiled("chat-a100", 1))
	f.Workloads[0].Shape = queueing.Shape{}
	return f
}

// asked is an observation of 20 requests/s with given lengths.
func asked(input, output planner.Measurement) planner.Observation {
	return chat(planner.Observation{ArrivalRate: rate(20), InputTokens: input, OutputTokens: output})
}

func TestLengthsComeFromObservations(t *testing.T) {
	l := newLoop(t, lengthless())
	d := l.cycle(asked(rate(512), rate(256)))
	declared := newLoop(t, twoPools(0, profiled("chat-a100", 1))).cycle(asked(planner.Measurement{}, planner.Measurement{}))
	assert.Equal(t, declared.Changes, d.Changes)
	assert.Equal(t, declared.Plans, d.Plans)
	assert.Equal(t, queueing.Shape{InputTokens: 512, OutputTokens: 256, InputSCV: 1, OutputSCV: 1, ArrivalSCV: 1}, d.Fleet.Workloads[0].Shape)
	assert.Equal(t, planner.Step{
		Stage: "observe", Subject: "prod/chat", Before: "none declared",
		After: "512 input and 256 output tokens", Reason: "observed",
	}, d.Trail[1])
}

func TestDeclaredLengthsGoFirst(t *testing.T) {
	l := newLoop(t, twoPools(0, profiled("chat-a100", 1)))
	d := l.cycle(asked(rate(9), rate(9)))
	assert.Equal(t, l.fleet.Workloads[0].Shape, d.Fleet.Workloads[0].Shape)
}

// Without lengths there is no plan; but a first replica is added to measure them, where
// requests arrive.
func TestWithoutLengthsReplicasAreHeld(t *testing.T) {
	for _, test := range []struct {
		name   string
		output planner.Measurement
	}{
		{"missing", planner.Measurement{}},
		{"stale", planner.Measurement{State: planner.Stale, Value: 256}},
		{"invalid", rate(math.NaN())},
		{"invalid", rate(math.Inf(1))},
		{"invalid", rate(0.5)},
		{"invalid", rate(1e9)},
	} {
		l := newLoop(t, lengthless())
		d := l.cycle(asked(rate(512), test.output))
		assert.Equal(t, []string{"chat-a100 0→1"}, changes(&d))
		for range 3 {
			d = l.cycle(asked(rate(512), test.output))
			assert.Empty(t, d.Changes)
			assert.Equal(t, []planner.Condition{{
				Type: planner.LengthsUnknown, Message: "no lengths of requests are declared, and those measured are " + test.name,
			}}, d.Plans[0].Conditions)
		}
		idle := newLoop(t, lengthless())
		d = idle.cycle(chat(planner.Observation{ArrivalRate: rate(0)}))
		assert.Empty(t, d.Changes, "nothing arrives")
		paused, _, err := planner.New(lp.Simplex()).Plan(planner.Snapshot{
			Now: l.now, Fleet: lengthless(), Observations: []planner.Observation{asked(rate(512), test.output)},
			Paused: []planner.Pause{{Workload: "prod/chat"}},
		}, planner.Memory{}, nil)
		require.NoError(t, err)
		assert.Empty(t, paused.Changes, "paused")
	}
}

// A workload without lengths keeps nobody else from being planned.
func TestLengthlessWorkloadLeavesTheOthersAlone(t *testing.T) {
	f := lengthless()
	other := f.Workloads[0]
	other.Name, other.Variants = "batch", []planner.Variant{declared("batch-h100", 0, 4)}
	f.Workloads = append(f.Workloads, other)
	d := newLoop(t, f).cycle(planner.Observation{Workload: "prod/batch", ArrivalRate: rate(8)})
	assert.Equal(t, []string{"batch-h100 0→2"}, changes(&d))
}

func TestLengthsThatAreNotFreshStay(t *testing.T) {
	l := newLoop(t, lengthless())
	want := l.cycle(asked(rate(512), rate(256))).Fleet.Workloads[0].Shape
	for range 10 {
		d := l.cycle(asked(planner.Measurement{State: planner.Stale}, planner.Measurement{State: planner.Stale}))
		assert.Equal(t, want, d.Fleet.Workloads[0].Shape)
		assert.Equal(t, "observed until 2026-03-01 00:00:00; stale now", d.Trail[1].Reason)
	}
}

// Lengths are followed smoothly, and what they are planned with moves in steps.
func TestLengthsAreFollowed(t *testing.T) {
	l := newLoop(t, lengthless())
	shape := func(output float64) queueing.Shape {
		return l.cycle(asked(rate(512), rate(output))).Fleet.Workloads[0].Shape
	}
	first := shape(256)
	assert.Equal(t, first, shape(280), "within the tolerance")
	last, steps := first, 0
	for range 40 {
		now := shape(512)
		assert.GreaterOrEqual(t, now.OutputTokens, last.OutputTokens)
		if now != last {
			assert.Greater(t, float64(now.OutputTokens), 1.04*float64(last.OutputTokens))
			steps++
		}
		last = now
	}
	assert.InEpsilon(t, 512, float64(last.OutputTokens), 0.05)
	assert.Greater(t, steps, 3)
	assert.Less(t, steps, 15)
}

// After the smoothing time, 63 % of the way are gone.
func TestSmoothingOfLengths(t *testing.T) {
	l := newLoop(t, lengthless())
	l.cycle(asked(rate(100), rate(100)))
	l.now = l.now.Add(2*time.Minute - planner.DefaultCycle)
	d := l.cycle(asked(rate(100), rate(1100)))
	assert.InDelta(t, 100+1000*(1-1/math.E), float64(d.Fleet.Workloads[0].Shape.OutputTokens), 1e-6)
}

// What many requests show is no chance, and followed at once but for what hardly counts;
// what few show may be chance.
func TestLengthsThatLeapAreFollowedAtOnce(t *testing.T) {
	after := func(completions, from, to float64) float64 {
		l := newLoop(t, lengthless())
		o := asked(rate(from), rate(100))
		o.CompletionRate, o.Window = rate(completions), time.Minute
		l.cycle(o)
		o.InputTokens = rate(to)
		return float64(l.cycle(o).Fleet.Workloads[0].Shape.InputTokens)
	}
	part := 1 - math.Exp(-planner.DefaultCycle.Seconds()/120)
	assert.InDelta(t, 1500-(1-part)*100, after(20, 1000, 1500), 1e-6)
	assert.InDelta(t, 500+(1-part)*100, after(20, 1000, 500), 1e-6)
	assert.InDelta(t, 1500, after(20, 0, 1500), 1e-6)
	assert.InDelta(t, 1000+part*600, after(0.2, 1000, 1600), 1e-6, "twelve requests")
	assert.InDelta(t, 1000+part*600, after(0, 1000, 1600), 1e-6)
}

// What only some replicas report makes lengths longer, and never shorter.
func TestIncompleteLengthsNeverShrink(t *testing.T) {
	l := newLoop(t, lengthless())
	incomplete := func(value float64) planner.Measurement {
		return planner.Measurement{State: planner.Incomplete, Value: value}
	}
	first := l.cycle(asked(incomplete(512), incomplete(256))).Fleet.Workloads[0].Shape
	assert.InDelta(t, 256, float64(first.OutputTokens), 0)
	for range 40 {
		d := l.cycle(asked(incomplete(51), incomplete(25)))
		require.Equal(t, first, d.Fleet.Workloads[0].Shape)
	}
	for range 40 {
		l.cycle(asked(incomplete(512), incomplete(512)))
	}
	d := l.cycle(asked(rate(512), rate(512)))
	assert.InEpsilon(t, 512, float64(d.Fleet.Workloads[0].Shape.OutputTokens), 0.05)
}

func TestVariationOfLengths(t *testing.T) {
	f := lengthless()
	f.Workloads[0].Shape = queueing.Shape{InputSCV: 3, ArrivalSCV: 2, PrefixHitRatio: 0.5}
	l := newLoop(t, f)
	o := asked(rate(512), rate(256))
	assert.Equal(t, queueing.Shape{InputTokens: 512, OutputTokens: 256, InputSCV: 3, OutputSCV: 1, ArrivalSCV: 2, PrefixHitRatio: 0.5},
		l.cycle(o).Fleet.Workloads[0].Shape, "what is declared counts until it is measured")
	o.InputSCV, o.OutputSCV = rate(0.2), rate(math.NaN())
	assert.Equal(t, queueing.Shape{InputTokens: 512, OutputTokens: 256, InputSCV: 0.2, OutputSCV: 1, ArrivalSCV: 2, PrefixHitRatio: 0.5},
		l.cycle(o).Fleet.Workloads[0].Shape)
	o.InputSCV = planner.Measurement{}
	assert.InDelta(t, 0.2, l.cycle(o).Fleet.Workloads[0].Shape.InputSCV, 0, "what is known stays")
}

// The variation of a minute is that of a few long requests: it is averaged over many.
func TestVariationIsAveraged(t *testing.T) {
	l := newLoop(t, lengthless())
	o := asked(rate(512), rate(256))
	o.InputSCV, o.OutputSCV = rate(2), rate(1)
	l.cycle(o)
	o.InputSCV = rate(50)
	assert.Less(t, l.cycle(o).Fleet.Workloads[0].Shape.InputSCV, 3.0)
	for range 240 {
		l.cycle(o)
	}
	assert.InDelta(t, 50, l.cycle(o).Fleet.Workloads[0].Shape.InputSCV, 10)
}

// Lengths that vary so much that long requests alone break the SLO do not make a workload
// take a pool: it gets replicas for a third of what they can do, and is told.
func TestMeasuredLengthsTakeNoPool(t *testing.T) {
	f := lengthless()
	f.Pools[1].Capacity.Value = 500
	w := &f.Workloads[0]
	w.Variants[0].Replica = &queueing.Replica{Profile: queueing.Profile{Alpha: 0.02, Beta: 0.00025, Delta: 0.00006}, MaxBatch: 256}
	w.SLO = queueing.SLO{Limits: []queueing.Limit{{Metric: queueing.TTFT, Quantile: 0.99, Value: 1}}}
	for _, scv := range []float64{5, 10, 20, 40, 80} {
		l := newLoop(t, f)
		o := chat(planner.Observation{ArrivalRate: rate(60), InputTokens: rate(2000), OutputTokens: rate(100), InputSCV: rate(scv), OutputSCV: rate(1)})
		d := l.cycle(o)
		v := &d.Plans[0].Variants[0]
		assert.LessOrEqual(t, v.Total(), int(1+60/(float64(v.Size.Saturation)/3)), "SCV %v", scv)
		require.Len(t, d.Plans[0].Conditions, 1)
		assert.Equal(t, planner.SLOInfeasible, d.Plans[0].Conditions[0].Type)
		assert.Contains(t, d.Plans[0].Conditions[0].Message, "with the lengths measured, ")
	}
}

// A request has no other source of lengths than its declaration.
func TestRequestsWithoutLengthsAreRefused(t *testing.T) {
	_, _, err := planner.New(lp.Simplex()).Plan(planner.Snapshot{Fleet: lengthless()}, planner.Memory{}, nil)
	assert.ErrorContains(t, err, "planner: workloads[0].variants[0]: queueing: outputTokens: 0 is not in [1, 1e+09]")
}
