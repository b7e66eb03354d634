package main

import (
	"math"
	"slices"
	"time"

	"github.com/poolwright/poolwright/forecast"
)

// cycle is the time between two decisions, which is part of every horizon.
const cycle = 15 * time.Second

// startUps are how long replicas take to become ready. All that are shorter than a slot
// look one slot ahead.
func startUps() []time.Duration {
	return []time.Duration{5 * time.Minute, 10 * time.Minute, 30 * time.Minute}
}

// quantiles are those of the bands measured.
func quantiles() []float64 { return []float64{0.8, 0.9, 0.95} }

// The predictions compared: that of the chosen method, those of each method, and what
// was a day or a week before.
const (
	chosen     = 0
	dayBefore  = int(forecast.HoltWinters) + 1
	weekBefore = dayBefore + 1
	predictors = weekBefore + 1
)

func predictorName(i int) string {
	switch i {
	case chosen:
		return "chosen"
	case dayBefore:
		return "day before"
	case weekBefore:
		return "week before"
	}
	return forecast.Method(i).String()
}

// measurement is how well one series was predicted over one horizon.
type measurement struct {
	name    string
	startUp time.Duration
	// errors are mean absolute errors in the second week as a share of mean demand,
	// losses the pinball losses of their bands at 0.9 from the ninth day on; NaN where the
	// series is too short.
	errors, losses [predictors]float64
	// ofDay is the error of the chosen method from the second day on, as a share of
	// that of the day before.
	ofDay float64
	// covered has the share of outcomes within the band, by quantile; outcomes is their
	// number.
	covered  []float64
	outcomes float64
}

// long tells whether there was a week to learn from and one to be judged by.
func (m *measurement) long() bool { return !math.IsNaN(m.errors[weekBefore]) }

func measureAll(all []series) []measurement {
	var found []measurement
	for _, s := range all {
		for _, startUp := range startUps() {
			found = append(found, measure(s, startUp))
		}
	}
	return found
}

func measure(s series, startUp time.Duration) measurement {
	m := measurement{name: s.name, startUp: startUp}
	points := predict(s.rates, startUp+cycle)
	mean := sum(s.rates, func(rate float64) float64 { return rate }) / float64(len(s.rates))
	for i := range points {
		m.errors[i] = meanError(s.rates, points[i], perWeek) / mean
		m.losses[i] = bandLoss(s.rates, points[i], 0.9) / mean
	}
	m.ofDay = meanError(s.rates, points[chosen], perDay) / meanError(s.rates, points[dayBefore], perDay)
	for _, quantile := range quantiles() {
		covered, outcomes := coverage(s.rates, quantile, startUp+cycle)
		m.covered, m.outcomes = append(m.covered, covered/outcomes), outcomes
	}
	return m
}

// predict returns what each predictor says about each slot at the end of the slot from
// which it is one lead away; NaN where there is nothing to say it from.
func predict(rates []float64, horizon time.Duration) [predictors][]float64 {
	var points [predictors][]float64
	for i := range points {
		points[i] = slices.Repeat([]float64{math.NaN()}, len(rates))
	}
	c := forecast.Config{Slot: slot}
	var s forecast.State
	for i, rate := range rates {
		// The first sample of a slot closes the one before it.
		s = c.Observe(s, time.Unix(0, 0).Add(time.Duration(i)*slot), rate, horizon)
		if target := i - 1 + s.Lead; s.Models != nil && target < len(rates) {
			p := s.Models.Pending[len(s.Models.Pending)-1]
			points[chosen][target] = p.Points[p.Method]
			for method := forecast.LocalTrend; p.Compared && method <= forecast.HoltWinters; method++ {
				points[method][target] = p.Points[method]
			}
		}
		if i >= perDay {
			points[dayBefore][i] = rates[i-perDay]
		}
		if i >= perWeek {
			points[weekBefore][i] = rates[i-perWeek]
		}
	}
	return points
}

// meanError returns the mean absolute error from a slot on, NaN if there is none.
func meanError(rates, points []float64, from int) float64 {
	total, n := 0.0, 0.0
	for i := from; i < len(rates); i++ {
		total += math.Abs(rates[i] - points[i])
		n++
	}
	return total / n
}

// bandLoss returns the mean pinball loss from the ninth day on of bands that are drawn
// from the errors of the day before: R. Koenker and G. Bassett, "Regression
// Quantiles" (1978).
func bandLoss(rates, points []float64, quantile float64) float64 {
	const newest = 4
	total, n := 0.0, 0.0
	for i := perWeek + perDay + newest; i < len(rates); i++ {
		// The newest outcomes are not known yet when a prediction is made.
		known := i - newest
		errors := make([]float64, 0, perDay)
		for j := known - perDay; j < known; j++ {
			errors = append(errors, rates[j]-points[j])
		}
		slices.Sort(errors)
		band := points[i] + errors[int(math.Ceil(float64(perDay+1)*quantile))-1]
		total += max(quantile*(rates[i]-band), (1-quantile)*(band-rates[i]))
		n++
	}
	return total / n
}

// coverage counts the outcomes within the band, from a quarter of a day on, that is asked
// for at the end of every slot.
func coverage(rates []float64, quantile float64, horizon time.Duration) (covered, outcomes float64) {
	c := forecast.Config{Slot: slot, Quantile: quantile}
	var s forecast.State
	for i, rate := range rates {
		end := time.Unix(0, 0).Add(time.Duration(i+1) * slot)
		s = c.Observe(s, end.Add(-time.Second), rate, horizon)
		target := i + s.Lead
		if i < perDay/4 || target >= len(rates) {
			continue
		}
		if rates[target] <= c.Predict(s, end).Band {
			covered++
		}
		outcomes++
	}
	return covered, outcomes
}

func sum[T any](values []T, f func(T) float64) float64 {
	total := 0.0
	for _, v := range values {
		total += f(v)
	}
	return total
}
