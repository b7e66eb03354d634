package forecast_test

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/poolwright/poolwright/forecast"
)

// result is how well demand was predicted from the fourth day on.
type result struct {
	// error, daily and weekly are mean absolute errors: ours, and those of taking
	// what was a day or a week before.
	error, daily, weekly float64
	// coverage is the share of outcomes within the band.
	coverage float64
	// uses counts the predictions by method.
	uses map[forecast.Method]int
}

const wideSlot = 10 * time.Minute

// judge predicts each slot from the end of the one that is lead slots before it.
// Slots in missing are not shown.
func judge(rates []float64, quantile float64, lead int, missing func(int) bool) result {
	const perDay, from = 144, 3 * 144
	c := forecast.Config{Slot: wideSlot, Quantile: quantile}
	var s forecast.State
	r, n, weeks := result{uses: map[forecast.Method]int{}}, 0.0, 0.0
	for i := range len(rates) - lead {
		end := start().Add(time.Duration(i+1) * wideSlot)
		if missing(i) {
			continue
		}
		s = c.Observe(s, end.Add(-time.Second), rates[i], time.Duration(lead)*wideSlot)
		if i < from {
			continue
		}
		p, actual := c.Predict(s, end), rates[i+lead]
		r.error += math.Abs(actual - p.Point)
		r.daily += math.Abs(actual - rates[i+lead-perDay])
		if i+lead >= 7*perDay {
			r.weekly += math.Abs(actual - rates[i+lead-7*perDay])
			weeks++
		}
		if actual <= p.Band {
			r.coverage++
		}
		r.uses[p.Method]++
		n++
	}
	r.error, r.daily, r.weekly, r.coverage = r.error/n, r.daily/n, r.weekly/weeks, r.coverage/n
	return r
}

func complete(int) bool { return false }

// withGaps leaves out single slots, hours and a day.
func withGaps(i int) bool { return i%29 == 3 || i%301 < 7 || i/144 == 8 }

func kinds() []kind {
	return []kind{noisyDay, smoothDay, workingWeek, schedule, flat, walk, steps, crowds}
}

func TestNoWorseThanSeasonalNaive(t *testing.T) {
	for _, k := range kinds() {
		rates := course(k, 1, 21, wideSlot)
		for _, lead := range []int{1, 2, 4} {
			for name, missing := range map[string]func(int) bool{"complete": complete, "gaps": withGaps} {
				r := judge(rates, 0.9, lead, missing)
				assert.LessOrEqual(t, r.error, r.daily, "%s, %s, lead %d: day before", k.name, name, lead)
				assert.LessOrEqual(t, r.error, r.weekly, "%s, %s, lead %d: week before", k.name, name, lead)
			}
		}
	}
}

func TestBandsCoverWhatTheyPromise(t *testing.T) {
	for _, k := range kinds() {
		rates := course(k, 2, 21, wideSlot)
		for _, quantile := range []float64{0.8, 0.9, 0.95, 0.99} {
			for _, lead := range []int{1, 4} {
				for name, missing := range map[string]func(int) bool{"complete": complete, "gaps": withGaps} {
					r := judge(rates, quantile, lead, missing)
					assert.InDelta(t, quantile, r.coverage, 0.05, "%s, %s, lead %d", k.name, name, lead)
				}
			}
		}
	}
}

// Each method is there for a kind of demand.
func TestMethodFitsDemand(t *testing.T) {
	for method, k := range map[forecast.Method]kind{
		forecast.LocalTrend:     ramps,
		forecast.SeasonalChange: smoothDay,
		forecast.SeasonalLevel:  schedule,
		forecast.HoltWinters:    noisyDay,
	} {
		r := judge(course(k, 3, 14, wideSlot), 0.9, 2, complete)
		most := forecast.None
		for m, n := range r.uses {
			if n > r.uses[most] {
				most = m
			}
		}
		assert.Equal(t, method, most, "%s: %v", k.name, r.uses)
	}
}

// Between the ends of slots bands hold for the slot-long window that the horizon ends
// in, wherever it begins.
func TestBandsHoldAtAnyTime(t *testing.T) {
	const each = 10
	for _, k := range kinds() {
		rates := course(k, 9, 10, wideSlot/each)
		c := forecast.Config{Slot: wideSlot, Quantile: 0.9}
		var s forecast.State
		within, n := make([]float64, each), 0.0
		for i := range len(rates) - each {
			end := start().Add(time.Duration(i+1) * wideSlot / each)
			s = c.Observe(s, end.Add(-time.Second), rates[i], wideSlot)
			if i < 2*144*each {
				continue
			}
			actual := 0.0
			for _, rate := range rates[i+1 : i+1+each] {
				actual += rate / each
			}
			if actual <= c.Predict(s, end).Band {
				within[i%each]++
			}
			n += 1.0 / each
		}
		for i, count := range within {
			assert.InDelta(t, 0.9, count/n, 0.05, "%s, %d minutes into the slot", k.name, i+1)
		}
	}
}
