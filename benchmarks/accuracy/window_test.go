package main

import (
	"compress/gzip"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/poolwright/poolwright/benchmarks/internal/command"
	"github.com/poolwright/poolwright/queueing"
	"github.com/poolwright/poolwright/simulation/replica"
)

// testReplica is one that targets are about.
func testReplica() tracedReplica {
	return tracedReplicas([]replica.Request{{Input: 1000, Output: 200}})[0]
}

func TestTracedReplicasReadContextsForAsLong(t *testing.T) {
	replicas := tracedReplicas([]replica.Request{{Input: 900, Output: 200}, {Input: 100, Output: 400}})
	const context = (200*(900+100) + 400*(100+200)) / 600.
	assert.InEpsilon(t, replicas[0].replica.Profile.Beta, replicas[1].replica.Profile.Kappa*context, 1e-12)
	assert.False(t, replicas[0].stress || replicas[1].stress)
	assert.True(t, replicas[2].stress && replicas[3].stress)
}

func TestWindowsHaveTheRateAndShapeOfTheirRequests(t *testing.T) {
	trace := []replica.Request{
		{Arrival: 0, Input: 100, Output: 10},
		{Arrival: 5, Input: 300, Output: 10},
		// Nothing arrives from 15 s to 30 s.
		{Arrival: 31, Input: 50, Output: 20},
	}
	windows, err := windowsOf(testReplica().replica, trace)
	require.NoError(t, err)
	require.Len(t, windows, 3)
	assert.Equal(t, []queueing.Rate{2.0 / 15, 0, 1.0 / 15},
		[]queueing.Rate{windows[0].Rate, windows[1].Rate, windows[2].Rate})

	s := shapeOf(trace[:2])
	assert.Equal(t, queueing.Shape{InputTokens: 200, InputSCV: 0.25, OutputTokens: 10, ArrivalSCV: 1}, s)
	assert.InDelta(t, -0.5, shapeOf(trace).LengthCorrelation, 0.2)
}

func TestScalingGivesATraceItsMeanRate(t *testing.T) {
	trace := []replica.Request{{Arrival: 0}, {Arrival: 10}, {Arrival: 40}, {Arrival: 100}}
	at := scaled(trace, 0.4)
	assert.Equal(t, []float64{0, 1, 4, 10}, []float64{at[0].Arrival, at[1].Arrival, at[2].Arrival, at[3].Arrival})
	assert.Equal(t, 100.0, trace[3].Arrival, "the trace stays")
}

func TestSaturationOfATraceIsThatOfAFullReplica(t *testing.T) {
	trace := make([]replica.Request, 2000)
	for i := range trace {
		trace[i] = replica.Request{Input: 1, Output: 50}
	}
	r := queueing.Replica{Profile: queueing.Profile{Alpha: 10e-3}, MaxBatch: 100}
	rate, err := traceSaturation(r, trace)
	require.NoError(t, err)
	assert.InEpsilon(t, 100/(50*10e-3), rate, 0.01)
}

func TestGeneratedTrafficDrifts(t *testing.T) {
	trace, err := driftingTrace(1, 10)
	require.NoError(t, err)
	require.InEpsilon(t, 10*900, len(trace), 0.05)
	perMinute := make([]float64, 15)
	for i, r := range trace {
		perMinute[int(r.Arrival/60)]++
		if i > 0 {
			require.GreaterOrEqual(t, r.Arrival, trace[i-1].Arrival)
		}
	}
	var m moments
	for _, n := range perMinute {
		m.add(n)
	}
	assert.Greater(t, m.scv(), 3/m.mean(), "much more than Poisson traffic")

	again, err := driftingTrace(1, 10)
	require.NoError(t, err)
	assert.Equal(t, trace, again)
	other, err := driftingTrace(2, 10)
	require.NoError(t, err)
	assert.NotEqual(t, trace, other)
}

func TestCoursesShareARow(t *testing.T) {
	var c courses
	c.add(&tracePoint{ttft: -0.02, itl: 0.01, ttftStationary: -0.5, ttftByWindow: deviations{0.1}, itlByWindow: deviations{0.01}})
	c.add(&tracePoint{ttft: 0.04, itl: -0.03, ttftStationary: -0.3, ttftByWindow: deviations{-0.3}, itlByWindow: deviations{0.03}})
	assert.Equal(t, []string{"β", "0.7", "3.0", "4.0", "+1.0", "20.0", "-40.0", "2.0", "3.0", "-1.0", "2.0"}, c.row("β", 0.7))
}

func TestStressIsNotTargeted(t *testing.T) {
	points := []tracePoint{
		{ttft: 0.1, itl: 0.2},
		{replica: tracedReplica{stress: true}, ttft: 9, itl: 9},
	}
	judged, err := targeted(points)
	require.NoError(t, err)
	assert.Equal(t, deviations{0.1}, judged.ttft)
	assert.Equal(t, deviations{0.2}, judged.itl)
	points[1].err = command.ErrMissed
	_, err = targeted(points)
	assert.ErrorIs(t, err, command.ErrMissed)
}

func TestTracesAreReadCompressed(t *testing.T) {
	var b strings.Builder
	w := gzip.NewWriter(&b)
	_, err := w.Write([]byte("t,in,out\n0.5,374,44\n2,10,0\n"))
	require.NoError(t, err)
	require.NoError(t, w.Close())
	trace, err := readTrace(writeData(t, "traces/azure2023_conv.csv.gz", b.String()))
	require.NoError(t, err)
	assert.Equal(t, []replica.Request{
		{ID: 0, Arrival: 0.5, Input: 374, Output: 44},
		{ID: 1, Arrival: 2, Input: 10, Output: 1},
	}, trace)
}

func TestWindowedPredictionsFollowADrift(t *testing.T) {
	load := replica.Load{
		Shape: queueing.Shape{InputTokens: 500, OutputTokens: 50, ArrivalSCV: 1},
		Phases: []replica.Phase{
			{Duration: 150, Rate: 5}, {Duration: 150, Rate: 20}, {Duration: 150, Rate: 5},
		},
		Seed: 1,
	}
	arrivals, err := load.Arrivals()
	require.NoError(t, err)
	p := tracePoint{replica: testReplica(), load: 0.3}
	p.judge(slices.Collect(arrivals))
	require.NoError(t, p.err)
	assert.InDelta(t, 0, p.ttft, 0.1)
	assert.InDelta(t, 0, p.itl, 0.05)
	assert.Len(t, p.windows, 30)
}
