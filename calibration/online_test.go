package calibration_test

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/poolwright/poolwright/calibration"
	"github.com/poolwright/poolwright/queueing"
	"github.com/poolwright/poolwright/simulation/replica"
)

// settled returns a filter that has seen a day of chat, and what comes next.
func settled(t testing.TB) (s scenario, f calibration.Filter, next []calibration.Observation) {
	t.Helper()
	s = scenarios()[0]
	f = newFilter(t, s, s.replica.Profile)
	all := observe(t, s, 2*windows, 5)
	for _, o := range all[:windows] {
		f, _ = f.Observe(o)
	}
	return s, f, all[windows:]
}

func steady(t testing.TB, s scenario, load float64, n int) []calibration.Observation {
	t.Helper()
	station, err := queueing.NewStation(s.replica, s.shape)
	require.NoError(t, err)
	rate := queueing.Rate(load) * station.SaturationRate()
	return produce(t, s, []replica.Phase{{Duration: queueing.Seconds(n * minute), Rate: rate}}, 6, n)
}

func TestFilterIsAValue(t *testing.T) {
	_, f, next := settled(t)
	before := f.State()
	a, reportA := f.Observe(next[0])
	b, reportB := f.Observe(next[0])
	require.Equal(t, before, f.State())
	require.Equal(t, a, b)
	require.Equal(t, reportA, reportB)
	require.NotEqual(t, before.Logarithms, a.State().Logarithms)
	require.Equal(t, a.Profile(), reportA.Profile)
}

func TestFilterResumes(t *testing.T) {
	s, f, next := settled(t)
	stored, err := json.Marshal(f.State())
	require.NoError(t, err)
	var state calibration.FilterState
	require.NoError(t, json.Unmarshal(stored, &state))
	resumed, err := calibration.ResumeFilter(s.replica, calibration.FilterConfig{}, state)
	require.NoError(t, err)
	for _, o := range next {
		f, _ = f.Observe(o)
		resumed, _ = resumed.Observe(o)
	}
	require.Equal(t, f, resumed)
}

func TestResumeFilterRefuses(t *testing.T) {
	s, f, _ := settled(t)
	for want, spoil := range map[string]func(*calibration.FilterState){
		"calibration: state.prior: it is that of another profile":       func(s *calibration.FilterState) { s.Prior.Alpha *= 2 },
		"calibration: state.windows: -1 is not in [0, 2.147483647e+09]": func(s *calibration.FilterState) { s.Windows = -1 },
		"calibration: state.seconds: NaN is not in [0, 1.7976931348623157e+308]": func(s *calibration.FilterState) {
			s.Seconds = math.NaN()
			s.ITL, s.TTFT = calibration.LatencyState{}, calibration.LatencyState{}
		},
		"calibration: state.logarithms[3]: 0.1 is not in [0, 0]":           func(s *calibration.FilterState) { s.Logarithms[calibration.Sigma] = 0.1 },
		"calibration: state.itl.longer.sum: 17 is not in [0, 16]":          func(s *calibration.FilterState) { s.ITL.Longer.Sum = 17 },
		"calibration: state.ttft.shorter.since: 9e+09 is not in [0, 3600]": func(s *calibration.FilterState) { s.TTFT.Shorter.Since = 9e9 },
		"calibration: state.covariance: it is not symmetric and positive definite over the coefficients of the prior": func(s *calibration.FilterState) {
			s.Covariance[0][1] += 1e-9
		},
	} {
		state := f.State()
		spoil(&state)
		_, err := calibration.ResumeFilter(s.replica, calibration.FilterConfig{}, state)
		require.ErrorContains(t, err, want)
	}
}

func TestNewFilterNamesEveryMistake(t *testing.T) {
	r := scenarios()[0].replica
	r.Model = queueing.LLMDV1
	_, err := calibration.NewFilter(r, calibration.FilterConfig{
		PriorDeviation: -1, Memory: 1, MostChange: math.NaN(), MostStep: 3, ChangeAfter: 1,
		Unknown: queueing.Profile{Sigma: -1},
	})
	require.EqualError(t, err, fmt.Sprintf("calibration: serviceModel: %d is", queueing.LLMDV1)+` not continuous batching
calibration: filter.priorDeviation: -1 is not in [0.01, 2]
calibration: filter.unknown.sigma: -1 is not in [0, 1e+06]
calibration: filter.memory: 1 is not in [600, 1.7976931348623157e+308]
calibration: filter.mostChange: NaN is not in [1.1, 100]
calibration: filter.mostStep: 3 is not in [1.001, 2]
calibration: filter.changeAfter: 1 is not in [2, 1000]`)
	r.Model, r.MaxBatch = queueing.ContinuousBatching, 0
	_, err = calibration.NewFilter(r, calibration.FilterConfig{})
	require.ErrorContains(t, err, "calibration: replica: queueing: maxBatch: 0 is not in [1, 65536]")
}

// TestFilterVerdicts: what may not move the estimate does not.
func TestFilterVerdicts(t *testing.T) {
	_, f, next := settled(t)
	good := next[0]
	missing := calibration.Quantity{}
	for name, c := range map[string]struct {
		spoil     func(o *calibration.Observation)
		itl, ttft calibration.Verdict
	}{
		"good":          {func(*calibration.Observation) {}, calibration.Used, calibration.Used},
		"unknown":       {func(o *calibration.Observation) { *o = calibration.Observation{Window: minute} }, calibration.Missing, calibration.Missing},
		"no window":     {func(o *calibration.Observation) { o.Window = 0 }, calibration.Invalid, calibration.Invalid},
		"NaN window":    {func(o *calibration.Observation) { o.Window = queueing.Seconds(math.NaN()) }, calibration.Invalid, calibration.Invalid},
		"no ITL":        {func(o *calibration.Observation) { o.ITL = missing }, calibration.Missing, calibration.Used},
		"no TTFT":       {func(o *calibration.Observation) { o.TTFT = missing }, calibration.Used, calibration.Missing},
		"no rate":       {func(o *calibration.Observation) { o.Rate = missing }, calibration.Used, calibration.Used},
		"no number":     {func(o *calibration.Observation) { o.Running = missing }, calibration.Used, calibration.Used},
		"neither":       {func(o *calibration.Observation) { o.Rate, o.Running = missing, missing }, calibration.NoConditions, calibration.NoConditions},
		"no lengths":    {func(o *calibration.Observation) { o.InputTokens = missing }, calibration.NoConditions, calibration.NoConditions},
		"no waiting":    {func(o *calibration.Observation) { o.Waiting = missing }, calibration.Used, calibration.Used},
		"idle":          {func(o *calibration.Observation) { o.Rate.Value = 0 }, calibration.Idle, calibration.Idle},
		"nearly idle":   {func(o *calibration.Observation) { o.Rate.Value = 1e-300 }, calibration.Idle, calibration.Idle},
		"ITL zero":      {func(o *calibration.Observation) { o.ITL.Value = 0 }, calibration.Invalid, calibration.Used},
		"TTFT NaN":      {func(o *calibration.Observation) { o.TTFT.Value = math.NaN() }, calibration.Used, calibration.Invalid},
		"TTFT infinite": {func(o *calibration.Observation) { o.TTFT.Value = math.Inf(1) }, calibration.Used, calibration.Invalid},
		"rate negative": {func(o *calibration.Observation) { o.Rate.Value = -1 }, calibration.Invalid, calibration.Invalid},
		"ITL × 100":     {func(o *calibration.Observation) { o.ITL.Value *= 100 }, calibration.Inconsistent, calibration.Inconsistent},
		"ITL × 1.5":     {func(o *calibration.Observation) { o.ITL.Value *= 1.5 }, calibration.Outlier, calibration.Used},
		"TTFT × 10":     {func(o *calibration.Observation) { o.TTFT.Value *= 10 }, calibration.Used, calibration.Outlier},
		"prompts × 100": {func(o *calibration.Observation) { o.InputTokens.Value *= 100 }, calibration.Inconsistent, calibration.Inconsistent},
		"prompts × 3":   {func(o *calibration.Observation) { o.InputTokens.Value *= 3 }, calibration.Outlier, calibration.Outlier},
		"running × 100": {func(o *calibration.Observation) { o.Running.Value *= 100 }, calibration.Inconsistent, calibration.Inconsistent},
		"rate / 100":    {func(o *calibration.Observation) { o.Rate.Value /= 100 }, calibration.Inconsistent, calibration.Inconsistent},
		"ITL stale":     {func(o *calibration.Observation) { o.ITL.Value = f.State().ITL.Last }, calibration.Stale, calibration.Used},
		"one token":     {func(o *calibration.Observation) { o.OutputTokens.Value = 0 }, calibration.Invalid, calibration.Invalid},
	} {
		t.Run(name, func(t *testing.T) {
			o := good
			c.spoil(&o)
			after, r := f.Observe(o)
			require.Equal(t, c.itl.String(), r.ITL.Verdict.String())
			require.Equal(t, c.ttft.String(), r.TTFT.Verdict.String())
			used := c.itl == calibration.Used || c.ttft == calibration.Used
			require.Equal(t, used, f.State().Logarithms != after.State().Logarithms)
		})
	}
}

// TestFilterFollowsTraffic: other lengths are believed when they last, and say
// something new about the same coefficients.
func TestFilterFollowsTraffic(t *testing.T) {
	s, f, _ := settled(t)
	other := s
	other.shape.InputTokens = 3000
	for i, o := range observe(t, other, windows, 9) {
		var r calibration.Report
		f, r = f.Observe(o)
		want := calibration.Inconsistent
		if i >= 4 {
			want = calibration.Used
		}
		require.Equal(t, want, r.TTFT.Verdict, "window %d", i)
	}
	require.InDelta(t, 0, capacityError(t, s, f.Profile()), acceptable)
	require.InDelta(t, 0, capacityError(t, other, f.Profile()), acceptable)
}

// TestFilterIsNotMistakenAboutUnits: milliseconds that pass for seconds are no change
// of the replica, however long they last, and the alarm says since when.
func TestFilterIsNotMistakenAboutUnits(t *testing.T) {
	s, f, next := settled(t)
	for i, o := range next {
		o.TTFT.Value *= 1000
		// Little's law would tell before the gate.
		o.Running = calibration.Quantity{}
		var r calibration.Report
		f, r = f.Observe(o)
		require.Equal(t, calibration.Outlier, r.TTFT.Verdict)
		require.Equal(t, calibration.Used, r.ITL.Verdict)
		require.False(t, r.ITL.Drift.Alarm)
		if i >= 4 {
			require.True(t, r.TTFT.Drift.Alarm)
			require.True(t, r.TTFT.Drift.Longer)
			require.InDelta(t, float64(i+1)*minute, float64(r.TTFT.Drift.Since), minute)
		}
	}
	require.InDelta(t, 0, capacityError(t, s, f.Profile()), acceptable)
}

// TestFilterIdentifies: at one low load β and κ keep the prior's proportion while α
// finds its value, and the report says so; a day of load tells more.
func TestFilterIdentifies(t *testing.T) {
	s := scenarios()[0]
	prior := wrong(s.replica.Profile, 0)
	quiet := newFilter(t, s, prior)
	var r calibration.Report
	for _, o := range steady(t, s, 0.05, windows) {
		quiet, r = quiet.Observe(o)
	}
	require.InEpsilon(t, s.replica.Profile.Alpha, r.Profile.Alpha, 0.05)
	require.InEpsilon(t, prior.Beta/prior.Kappa, r.Profile.Beta/r.Profile.Kappa, 0.05)
	require.True(t, r.Coefficients[calibration.Alpha].Identified)
	require.Empty(t, r.Coefficients[calibration.Alpha].Reason)
	for _, term := range []calibration.Term{calibration.Beta, calibration.Kappa, calibration.Epsilon} {
		require.Equal(t, term, r.Coefficients[term].Term)
		require.False(t, r.Coefficients[term].Identified)
		require.NotEmpty(t, r.Coefficients[term].Reason)
	}
	require.Equal(t, calibration.TrackedCoefficient{
		Term: calibration.Sigma, Reason: "it is 0 in the prior",
	}, r.Coefficients[calibration.Sigma])

	busy := newFilter(t, s, prior)
	for _, o := range observe(t, s, windows, 6) {
		busy, r = busy.Observe(o)
	}
	require.Contains(t, r.Coefficients[calibration.Beta].Reason, "it cannot be told apart from kappa")
}

// TestFilterForgetsWithoutWindup: a month without load leaves the estimate where it is
// and the covariance at most that of the prior.
func TestFilterForgetsWithoutWindup(t *testing.T) {
	_, f, _ := settled(t)
	before := f.Profile()
	for range 30 {
		f, _ = f.Observe(calibration.Observation{Window: 24 * 3600})
	}
	require.Equal(t, before, f.Profile())
	covariance := f.State().Covariance
	for i := range covariance {
		require.LessOrEqual(t, covariance[i][i], 0.3*0.3*(1+1e-9))
	}
	require.InDelta(t, 0.3, math.Sqrt(covariance[calibration.Alpha][calibration.Alpha]), 0.01)
}

// TestFilterFindsUnknownCoefficient: a mixture of experts whose profile is that of a
// dense model.
func TestFilterFindsUnknownCoefficient(t *testing.T) {
	s := scenarios()[4]
	r := s.replica
	r.Profile.Sigma = 0
	f, err := calibration.NewFilter(r, calibration.FilterConfig{Unknown: queueing.Profile{Sigma: 5e-4}})
	require.NoError(t, err)
	for _, o := range observe(t, s, 2*windows, 7) {
		f, _ = f.Observe(o)
	}
	require.InEpsilon(t, s.replica.Profile.Sigma, f.Profile().Sigma, 0.25)
	require.InDelta(t, 0, capacityError(t, s, f.Profile()), acceptable)
}

// TestFilterKeepsQuiet: a replica that is as its profile says raises no alarm in
// half a day and changes nothing.
func TestFilterKeepsQuiet(t *testing.T) {
	for _, s := range scenarios()[:6] {
		f := newFilter(t, s, s.replica.Profile)
		for i, o := range observe(t, s, 12*windows, 8) {
			var r calibration.Report
			f, r = f.Observe(o)
			require.False(t, r.ITL.Drift.Alarm || r.TTFT.Drift.Alarm, "%s, window %d: %+v", s.name, i, r)
			require.NotEqual(t, calibration.Changed, r.ITL.Verdict)
			require.NotEqual(t, calibration.Changed, r.TTFT.Verdict)
		}
		require.InDelta(t, 0, capacityError(t, s, f.Profile()), acceptable)
	}
}

func TestVerdictString(t *testing.T) {
	require.Equal(t, "no conditions", calibration.NoConditions.String())
	require.Equal(t, "Verdict(-1)", calibration.Verdict(-1).String())
	require.Equal(t, "Verdict(99)", calibration.Verdict(99).String())
}

// quantities is the number of quantities of an observation.
const quantities = 12

// FuzzFilter reads observations from bytes: half of them are near what is likely, the
// others anything at all.
func FuzzFilter(f *testing.F) {
	f.Add(uint64(0), []byte{})
	for seed := range uint64(8) {
		r := rand.New(rand.NewPCG(seed, 3))
		var data []byte
		for range 4 * quantities {
			data = binary.LittleEndian.AppendUint64(data, r.Uint64())
		}
		f.Add(seed, data)
	}
	f.Fuzz(func(t *testing.T, seed uint64, data []byte) {
		s := scenarios()[seed%8]
		filter := newFilter(t, s, s.replica.Profile)
		for len(data) >= 8*quantities {
			o := anyObservation(data[:8*quantities])
			data = data[8*quantities:]
			next, report := filter.Observe(o)
			requireSane(t, s.replica, filter, next)
			requireFinite(t, report)
			filter = next
		}
	})
}

func anyObservation(data []byte) calibration.Observation {
	o := calibration.Observation{Window: minute}
	likely := []float64{5, 20, 0.1, 600, 250, 1, 1, 1, 0.1, 0.012, 0.05}
	for i, q := range []*calibration.Quantity{
		&o.Rate, &o.Running, &o.Waiting, &o.InputTokens, &o.OutputTokens,
		&o.InputSCV, &o.OutputSCV, &o.ArrivalSCV, &o.PrefixHitRatio, &o.ITL, &o.TTFT,
	} {
		bits := binary.LittleEndian.Uint64(data[8*i:])
		wide, narrow := 16*share(bits)-8, (share(bits)-0.5)/2
		switch bits % 4 {
		case 0:
			*q = calibration.Of(math.Float64frombits(bits))
		case 1:
			*q = calibration.Of(likely[i] * math.Exp(wide))
		case 2:
			*q = calibration.Of(likely[i] * (1 + narrow))
		}
	}
	if bits := binary.LittleEndian.Uint64(data[8*(quantities-1):]); bits%8 == 0 {
		o.Window = queueing.Seconds(math.Float64frombits(bits))
	}
	return o
}

// share maps bits to [0, 1).
func share(bits uint64) float64 { return float64(bits>>11) / (1 << 53) }

func requireFinite(t testing.TB, r calibration.Report) {
	t.Helper()
	for _, l := range []calibration.LatencyReport{r.ITL, r.TTFT} {
		for _, x := range []float64{float64(l.Predicted), l.Deviation, l.Spread, float64(l.Drift.Since)} {
			require.False(t, math.IsNaN(x) || math.IsInf(x, 0), "%+v", r)
		}
	}
	for _, c := range r.Coefficients {
		require.False(t, math.IsNaN(c.Deviation) || math.IsInf(c.Deviation, 0), "%+v", c)
	}
}

func BenchmarkFilter(b *testing.B) {
	_, f, next := settled(b)
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		f.Observe(next[i%len(next)])
	}
}
