package forecast_test

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/poolwright/poolwright/forecast"
)

// start is the beginning of a Monday.
func start() time.Time { return time.Date(2026, 3, 2, 0, 0, 0, 0, time.UTC) }

// sample is a rate at a time in minutes after start.
type sample struct{ minute, rate float64 }

func minutes(m float64) time.Duration { return time.Duration(m * float64(time.Minute)) }

// after returns the state after samples, with a horizon of 2 minutes.
func after(c forecast.Config, samples ...sample) forecast.State {
	var s forecast.State
	for _, x := range samples {
		s = c.Observe(s, start().Add(minutes(x.minute)), x.rate, 2*time.Minute)
	}
	return s
}

func TestNothingObserved(t *testing.T) {
	p := forecast.Config{}.Predict(forecast.State{}, start())
	assert.Equal(t, forecast.Prediction{For: start()}, p)
	assert.Equal(t, "nothing was observed", p.Reason())
}

func TestOneSample(t *testing.T) {
	var c forecast.Config
	p := c.Predict(after(c, sample{0, 7}), start().Add(15*time.Second))
	assert.Equal(t, forecast.Prediction{
		For: start().Add(135 * time.Second), Observed: 7, Age: 15 * time.Second,
		Point: 7, Band: 7, Upper: 7, Method: forecast.LastValue,
	}, p)
	assert.Equal(t, "nothing was predicted before: demand as observed", p.Reason())
}

// The last value is the mean over one slot that slides along with time, where that lies
// between the last two samples.
func TestLastValueSlides(t *testing.T) {
	var c forecast.Config
	for _, x := range []struct{ rate, want float64 }{
		{16, 16}, {30, 20}, {12, 0.8*15 + 0.2*12}, {4, 0.8*15 + 0.2*4},
	} {
		p := c.Predict(after(c, sample{0, 20}, sample{3, 5}, sample{4, 20}, sample{6, x.rate}), start())
		assert.InDelta(t, x.want, p.Point, 1e-9, "%v", x.rate)
		assert.GreaterOrEqual(t, p.Upper, x.rate, "never below what is observed")
	}
}

// A step counts in full from its second sample on, and leaves no trace in the band
// when its slot closes.
func TestStepIsFollowedWithinOneSample(t *testing.T) {
	const each = 15.0 / 60
	for _, level := range []float64{3, 18.3, 75} {
		for _, startup := range []time.Duration{time.Minute, 12 * time.Minute} {
			// Steps at all places in a slot, after half an hour.
			for step := 30.0; step < 35; step += each {
				var c forecast.Config
				var s forecast.State
				for m := 0.0; m < 180; m += each {
					rate := 18.3
					if m >= step {
						rate = level
					}
					s = c.Observe(s, start().Add(minutes(m)), rate, startup)
					if m >= step+each {
						require.InDelta(t, rate, c.Predict(s, s.At).Upper, 0, "%v from minute %v on, at %v", level, step, m)
					}
				}
			}
		}
	}
}

// After a gap there is no telling what it was before.
func TestLastValueAfterGap(t *testing.T) {
	var c forecast.Config
	p := c.Predict(after(c, sample{0, 10}, sample{31, 30}), start())
	assert.InDelta(t, 30, p.Point, 1e-9)
}

func TestBandIsDrawnFromErrors(t *testing.T) {
	var c forecast.Config
	p := c.Predict(after(c, few(13)...), start())
	assert.InDelta(t, 13, p.Point, 1e-9)
	assert.InDelta(t, 13+2, p.Band, 1e-9, "without the two largest, 8 and 4")
	assert.Equal(t, 5, p.Errors)
	assert.True(t, p.Few)
	assert.InDelta(t, 0.4, p.Coverage, 1e-9)
	assert.Equal(t, "last value: 13 requests/s, band up to 15 from 5 outcomes only", p.Reason())

	p = c.Predict(after(c, few(30)...), start())
	assert.Equal(t, "last value: 13 requests/s, band up to 15 from 5 outcomes only, raised to what is observed", p.Reason())
}

// few are samples with errors of 4, −1, 8, −10 and 2, and a last one.
func few(last float64) []sample {
	return []sample{{0, 10}, {5, 14}, {10, 13}, {15, 21}, {20, 11}, {25, 13}, {30, last}}
}

// With enough errors the band is the quantile of all.
func TestBandOfEnoughErrors(t *testing.T) {
	var c forecast.Config
	samples := []sample{{0, 0}}
	for i := 1; i <= 30; i++ {
		// The errors are 1 to 30.
		samples = append(samples, sample{5 * float64(i), samples[i-1].rate + float64(i)})
	}
	p := c.Predict(after(c, samples[:29]...), start())
	assert.Equal(t, 27, p.Errors)
	assert.True(t, p.Few)
	p = c.Predict(after(c, samples...), start())
	assert.Equal(t, 29, p.Errors)
	assert.False(t, p.Few)
	assert.InDelta(t, 27, p.Band-p.Point, 1e-6)
	assert.NotContains(t, p.Reason(), "only")
}

// Errors of a random walk grow with the root of the lead.
func TestHorizonStretchesErrors(t *testing.T) {
	var c forecast.Config
	s := after(c, few(13)...)
	s = c.Observe(s, start().Add(31*time.Minute), 13, 19*time.Minute)
	assert.Equal(t, 4, s.Lead)
	p := c.Predict(s, start())
	assert.InDelta(t, 13+2*2, p.Band, 1e-6)
	assert.Equal(t, start().Add(19*time.Minute), p.For)

	s = c.Observe(s, start().Add(32*time.Minute), 13, time.Minute)
	assert.InDelta(t, 13+2, c.Predict(s, start()).Band, 1e-6, "and back")
}

func TestWhatIsNoSample(t *testing.T) {
	var c forecast.Config
	s := after(c, sample{0, 7})
	for _, rate := range []float64{math.NaN(), math.Inf(1), math.Inf(-1), -1, 1e31} {
		assert.Equal(t, s, c.Observe(s, start().Add(time.Minute), rate, time.Minute))
	}
	assert.Equal(t, s, c.Observe(s, start(), 9, time.Minute), "repeated")
	assert.Equal(t, s, c.Observe(s, start().Add(-time.Minute), 9, time.Minute), "out of order")
	assert.Equal(t, s, c.Observe(s, time.Time{}, 9, time.Minute), "no time")
}

func TestClockSetBack(t *testing.T) {
	var c forecast.Config
	s := after(c, sample{0, 7}, sample{10, 8})
	assert.Equal(t, after(c, sample{-120, 9}), c.Observe(s, start().Add(-2*time.Hour), 9, 2*time.Minute))
}

func TestOtherSlotStartsAnew(t *testing.T) {
	c := forecast.Config{Slot: 10 * time.Minute}
	s := c.Observe(after(forecast.Config{}, sample{0, 7}), start().Add(time.Hour), 9, 2*time.Minute)
	assert.Equal(t, after(c, sample{60, 9}), s)
}

func TestTimeZoneDoesNotMatter(t *testing.T) {
	var c forecast.Config
	s := c.Observe(forecast.State{}, start().In(time.FixedZone("east", 5*3600)), 7, 2*time.Minute)
	assert.Equal(t, after(c, sample{0, 7}), s)
}

func TestTimeStartsAnywhere(t *testing.T) {
	for _, at := range []time.Time{{}, time.Unix(0, 0), time.Unix(-1e9, 0), time.Date(9999, 12, 24, 0, 0, 0, 0, time.UTC)} {
		var c forecast.Config
		var s forecast.State
		for i, rate := range course(noisyDay, 8, 6, 5*time.Minute) {
			s = c.Observe(s, at.Add(time.Duration(i+1)*5*time.Minute), rate, 2*time.Minute)
		}
		assert.Equal(t, forecast.HoltWinters, c.Predict(s, s.At).Method, "%v", at)
		invariants(t, c, s, s.At)
	}
}

func TestConfigValidate(t *testing.T) {
	require.NoError(t, forecast.Config{}.Validate())
	require.NoError(t, forecast.Config{Slot: time.Hour, Days: 28, Quantile: 0.999}.Validate())
	require.EqualError(t, forecast.Config{Slot: 7 * time.Minute, Days: 2, Quantile: 1}.Validate(),
		`forecast: slot 7m0s is not a part of a day from 1m to 1h
forecast: days 2 is not from 3 to 28
forecast: quantile 1 is not from 0.5 to 0.999`)
	require.ErrorContains(t, forecast.Config{Quantile: math.NaN()}.Validate(), "quantile NaN")
}

func TestMethodString(t *testing.T) {
	for method, name := range map[forecast.Method]string{
		forecast.None: "none", forecast.LastValue: "last value", forecast.SeasonalChange: "seasonal change",
		forecast.SeasonalLevel: "seasonal level", forecast.HoltWinters: "Holt-Winters", 9: "Method(9)",
	} {
		assert.Equal(t, name, method.String())
	}
}
