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
		Point: 7, Band: 7, Now: 7, Upper: 7, Method: forecast.LocalTrend,
	}, p)
	assert.Equal(t, "nothing was predicted before: demand as observed", p.Reason())
}

// each15s returns samples every 15 s.
func each15s(rates ...float64) []sample {
	samples := make([]sample, len(rates))
	for i, rate := range rates {
		samples[i] = sample{float64(i) / 4, rate}
	}
	return samples
}

// Noise is averaged out, in both directions; the band says how well.
func TestNoiseOfLateIsAveragedOut(t *testing.T) {
	var c forecast.Config
	p := c.Predict(after(c, each15s(21, 18, 20, 22, 19, 20, 18, 22, 21, 19, 20, 23)...), start())
	assert.InDelta(t, 243.0/12, p.Point, 1e-9)
	assert.Greater(t, p.Now, p.Point)
	assert.Less(t, p.Upper, 22.0, "twelve samples know more than the last one")
	assert.Contains(t, p.Reason(), "local trend: 20.25 requests/s, band up to 2")
}

// A line that noise does not explain goes on, as long as it was seen at most.
func TestTrendGoesOn(t *testing.T) {
	var c forecast.Config
	rising := each15s(200, 242, 279, 321, 360, 398, 441, 480)
	p := c.Predict(after(c, rising...), start())
	assert.InDelta(t, 480+40*105.0/15, p.Point, 10, "1m45s were seen, 2m are asked for")
	p = c.Predict(after(c, append(rising, sample{2, 482}, sample{2.25, 479}, sample{2.5, 481}, sample{2.75, 480})...), start())
	assert.InDelta(t, 480, p.Point, 2, "and ends with it")

	falling := each15s(480, 441, 398, 360, 321, 279, 242, 200)
	p = c.Predict(after(c, falling...), start())
	assert.Zero(t, p.Point)
	assert.InDelta(t, 200, p.Upper, 5, "never below what there is now")
}

// What chance explains in independent requests is no trend, however smooth the samples are: at
// 1.5/s, 8 samples of 15 s vary by a fifth each.
func TestChanceIsNoTrend(t *testing.T) {
	var c forecast.Config
	for _, scale := range []float64{1, 1000} {
		rates := []float64{1.5, 1.5, 1.5, 1.5, 1.5, 1.35, 1.5, 1.65, 1.8}
		for i := range rates {
			rates[i] *= scale
		}
		p := c.Predict(after(c, each15s(rates...)...), start())
		if scale == 1 {
			assert.InDelta(t, 13.8/9, p.Point, 1e-9)
		} else {
			assert.Greater(t, p.Point, 1.8*scale, "of so many requests it is one")
		}
	}
}

// A step is no trend, whatever the noise.
func TestStepIsNoTrend(t *testing.T) {
	var c forecast.Config
	rates := []float64{21, 18, 20, 22, 19, 20, 18, 22, 21, 19, 20, 23}
	for _, x := range []float64{81, 78, 80, 82, 79, 80} {
		rates = append(rates, x)
		p := c.Predict(after(c, each15s(rates...)...), start())
		assert.InDelta(t, 80, p.Point, 2.1, "%v", rates)
		assert.InDelta(t, 80, p.Upper, 6, "%v", rates)
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
func TestNothingBeforeAGapCounts(t *testing.T) {
	var c forecast.Config
	p := c.Predict(after(c, sample{0, 10}, sample{31, 30}), start())
	assert.InDelta(t, 30, p.Point, 1e-9)
}

func TestBandIsDrawnFromErrors(t *testing.T) {
	var c forecast.Config
	p := c.Predict(after(c, few()...), start())
	assert.InDelta(t, 13, p.Point, 1e-9)
	assert.InDelta(t, 13+2, p.Band, 1e-9, "without the two largest, 8 and 4")
	assert.Equal(t, 5, p.Errors)
	assert.True(t, p.Few)
	assert.InDelta(t, 0.4, p.Coverage, 1e-9)
	assert.Equal(t, "local trend: 13 requests/s, band up to 15 from 5 outcomes only", p.Reason())
}

// few are samples with errors of 4, −1, 8, −10 and 2, and a last one.
func few() []sample {
	return []sample{{0, 10}, {5, 14}, {10, 13}, {15, 21}, {20, 11}, {25, 13}, {30, 13}}
}

// Errors of a random walk grow with the root of the lead.
func TestHorizonStretchesErrors(t *testing.T) {
	var c forecast.Config
	s := after(c, few()...)
	s = c.Observe(s, start().Add(31*time.Minute), 13, 19*time.Minute)
	assert.Equal(t, 4, s.Lead)
	assert.InDelta(t, 2*2, s.Models.Margin, 1e-6)
	assert.Equal(t, start().Add(19*time.Minute), c.Predict(s, start()).For)

	s = c.Observe(s, start().Add(32*time.Minute), 13, time.Minute)
	assert.InDelta(t, 2, s.Models.Margin, 1e-6, "and back")
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
		forecast.None: "none", forecast.LocalTrend: "local trend", forecast.SeasonalChange: "seasonal change",
		forecast.SeasonalLevel: "seasonal level", forecast.HoltWinters: "Holt-Winters", 9: "Method(9)",
	} {
		assert.Equal(t, name, method.String())
	}
}
