package main

import (
	"bytes"
	"io"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/poolwright/poolwright/benchmarks/internal/command"
	"github.com/poolwright/poolwright/internal/message"
	poolwrightv1 "github.com/poolwright/poolwright/proto/poolwright/v1"
	"github.com/poolwright/poolwright/simulation/study"
)

// made is what became of two classes under an autoscaler, of equal requests.
func made(name string, cost, first, second float64) outcome {
	class := func(x float64) *poolwrightv1.ClassResult {
		return &poolwrightv1.ClassResult{Attainment: &poolwrightv1.Estimate{Mean: x}}
	}
	return outcome{name, &poolwrightv1.AutoscalerResult{
		Name: name, Regret: &poolwrightv1.Estimate{Mean: cost - 1}, Classes: []*poolwrightv1.ClassResult{class(first), class(second)},
	}}
}

func TestBestSetting(t *testing.T) {
	ours := made("ours", 1.1, 0.995, 0.999)
	reaching := []outcome{made("dear", 2, 1, 1), made("enough", 1.5, 0.995, 0.999), made("one class", 1.05, 0.999, 0.998)}
	meeting := []outcome{made("dear", 2, 0.994, 1), made("cheap", 1.3, 0.99, 0.99)}
	failing := []outcome{made("cheap", 1, 0.5, 1), made("most", 3, 0.9, 0.9), made("as much", 2, 0.9, 1)}
	for want, settings := range map[string][]outcome{"enough": reaching, "cheap": meeting, "as much": failing} {
		k := kind{settings: settings}
		assert.Equal(t, want, k.best(&ours).name)
	}
}

func TestOthersMustNotBeCheaper(t *testing.T) {
	d := &day{name: "day", kinds: []kind{
		{name: "poolwright", settings: []outcome{made("poolwright", 1.1, 0.995, 0.999)}},
		{name: "hpa", settings: []outcome{made("cheap", 1, 0.99, 1), made("dear", 1.2, 1, 1)}},
		{name: "static", settings: []outcome{made("static", 2, 1, 1)}},
		{name: "clairvoyant", settings: []outcome{made("clairvoyant", 1, 0.9, 0.9)}},
	}}
	met := func() []bool {
		var all []bool
		for _, x := range (&page{days: []*day{d}}).targets() {
			all = append(all, x.met)
		}
		return all
	}
	assert.Equal(t, []bool{true, true, true}, met())
	d.kinds[1].settings = append(d.kinds[1].settings, made("better", 1.05, 0.995, 0.999))
	assert.Equal(t, []bool{true, true, false}, met(), "another is as good, and cheaper")
	d.kinds[0].settings[0] = made("poolwright", 1.11, 0.98, 1)
	assert.Equal(t, []bool{false, false, false}, met())
	d.kinds[2].settings[0] = made("static", 1.05, 1, 1)
	assert.Equal(t, "cheap at 1.000, static at 1.050", (&page{days: []*day{d}}).targets()[2].measured, "all of them are named")
}

func TestTargetsOfShortTraces(t *testing.T) {
	x := &transient{
		scenario: scenario{name: "stepA", step: time.Minute}, startup: 30 * time.Second, bound: 100, oursDeviceSeconds: 119, outside: 1,
	}
	x.ours.Attainment.Mean, x.reactive.Attainment.Mean = 0.9, 0.905
	p := &page{transients: []*transient{x}}
	assert.False(t, p.missed())
	x.outside = 0.98
	assert.True(t, p.missed())
	x.outside, x.oursDeviceSeconds = 1, 121
	assert.True(t, p.missed())
	x.oursDeviceSeconds, x.reactive.Attainment.Mean = 119, 0.92
	assert.True(t, p.missed())
	x.startup = 4 * time.Minute
	assert.False(t, p.missed(), "a long start is shown, not judged")
}

func TestAttainedOutsideASpan(t *testing.T) {
	r := &study.Result{
		Window: 10 * time.Second,
		Demand: []study.DemandSeries{{ArrivalRate: []float64{1, 2, 3, 0, 4}}},
		Autoscalers: []study.AutoscalerResult{{
			Latencies: []study.LatencySeries{{Attainment: []float64{1, 0, 0, math.NaN(), 0.5}}},
		}},
	}
	assert.InDelta(t, 3.0/5, attainedOutside(r, 10, 30), 1e-12)
	assert.True(t, math.IsNaN(attainedOutside(r, 0, 30)))
}

func TestPiecesOfAStepAreLevels(t *testing.T) {
	s := scenario{step: 2 * time.Minute}
	assert.Equal(t, []float64{2, 2, 10, 10, 10, 10, 3, 3}, s.pieces([]float64{1, 3, 9, 11, 12, 8, 2, 4}))
	assert.Equal(t, []float64{1, 3}, (&scenario{}).pieces([]float64{1, 3}))
}

// Every scenario says a simulation, wherever its files are.
func TestScenariosAreSimulations(t *testing.T) {
	trace := strings.NewReplacer(";", "\n").Replace("t,in,out;0,10,10;50,20,20;5000,10,10;")
	open := message.Opener(func(string) (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(trace)), nil })
	for _, s := range scenarios {
		m, err := s.read(open)
		require.NoError(t, err, s.name)
		assert.Equal(t, []uint64{1, 2, 3}, m.GetSeeds(), s.name)
		_, err = message.Simulation(m, open)
		require.NoError(t, err, s.name)
		for _, startup := range s.startups {
			varied, err := withStartup(m, startup)
			require.NoError(t, err)
			assert.Equal(t, startup, varied.GetFleet().GetWorkloads()[0].GetVariants()[0].GetStartup().AsDuration())
		}
	}
}

func TestOptionsSayWhatIsLeftOut(t *testing.T) {
	whole, err := parse(nil, io.Discard)
	require.NoError(t, err)
	assert.True(t, whole.full())
	assert.True(t, whole.compares("day"))
	assert.Empty(t, (&page{options: whole}).leftOut())

	timed := &page{options: whole, transients: []*transient{{startup: time.Hour}, {startup: time.Hour}}, took: longest + time.Second}
	assert.True(t, timed.missed(), "all of it takes too long")
	timed.options.seeds = 1
	assert.False(t, timed.missed())

	part, err := parse([]string{"-grid", "azure,none", "-seeds", "1"}, io.Discard)
	require.NoError(t, err)
	assert.False(t, part.compares("day"))
	assert.True(t, part.compares("azure2023_conv"))
	text := (&page{options: part, days: []*day{{name: "day"}, {name: "azure2023_conv"}}}).leftOut()
	assert.Contains(t, text, "first 1 of three seeds")
	assert.Contains(t, text, "not compared on: day.")
}

// Without data only what is shipped could run; of the rest it is said that it is left out.
func TestWithoutData(t *testing.T) {
	var out bytes.Buffer
	err := run(t.Context(), options{Places: command.Places{Data: t.TempDir()}, only: "A", grid: []string{""}}, &out, io.Discard)
	require.NoError(t, err)
	assert.Contains(t, out.String(), "left out, there is no")
	assert.Error(t, run(t.Context(), options{Places: command.Places{Docs: "x"}, only: "A"}, &out, io.Discard))
}
