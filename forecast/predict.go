package forecast

import (
	"fmt"
	"time"
)

// Prediction is the demand to expect.
type Prediction struct {
	// For is the time that is predicted: now and the horizon.
	For time.Time
	// Observed is the last sample, and Age how old it is.
	Observed float64
	Age      time.Duration
	// Point is the prediction for reports, in requests/s.
	Point float64
	// Band is the upper end of the band, never below Point: what demand will not be
	// above with the probability that was asked for.
	Band float64
	// Upper is the rate to provide for: Band, but never less than what is observed.
	Upper float64
	// Method is how both were found. It is None, and all rates are 0, if nothing was
	// observed.
	Method Method
	// Errors is how many errors of earlier predictions the band is drawn from. Few: they
	// are too few for the probability that was asked for, and the band is narrower.
	Errors int
	Few    bool
	// Coverage is the share of outcomes that were within the band over about the last
	// day; 0 if there are no Errors.
	Coverage float64
}

// Reason says in words how a prediction came about.
func (p Prediction) Reason() string {
	switch {
	case p.Method == None:
		return "nothing was observed"
	case p.Errors == 0:
		return "nothing was predicted before: demand as observed"
	}
	text := fmt.Sprintf("%v: %.4g requests/s, band up to %.4g", p.Method, p.Point, p.Band)
	if p.Few {
		text += fmt.Sprintf(" from %d outcomes only", p.Errors)
	}
	if p.Band < p.Observed {
		text += ", raised to what is observed"
	}
	return text
}

// Predict returns the demand to expect one horizon after now. The configuration is that
// of the calls of Observe.
func (c Config) Predict(s State, now time.Time) Prediction {
	if s.Samples == 0 {
		return Prediction{For: now.Add(s.Horizon)}
	}
	p := Prediction{
		For: now.Add(s.Horizon), Observed: s.Rate, Age: max(0, now.Sub(s.At)),
		Point: s.lastValue(s.Mean), Method: LastValue,
	}
	p.Band = p.Point
	if k := s.Models; k != nil {
		p.Point = k.point(&s)
		p.Method, p.Errors, p.Coverage = k.Method, len(k.Errors), k.Coverage
		p.Few = rankAmong(p.Errors, c.completed().Quantile) > k.mostRank(&s)
		p.Band = p.Point + k.Margin
	}
	p.Upper = max(p.Band, s.Rate)
	return p
}

// point returns the prediction after a share of the open slot has shown its mean: what
// was expected before and after that slot in proportion, moved by what is seen of it.
// The last value is drawn from the mean over one slot that slides along with time.
func (k *Models) point(s *State) float64 {
	share := s.At.Sub(s.At.Truncate(s.Slot)).Seconds() / s.Slot.Seconds()
	shown := share
	if k.Gap > 0 {
		// What the last closed slot says is out of date.
		shown = 1
	}
	if k.Method == LastValue {
		return s.lastValue((1-shown)*k.Rate + shown*s.Mean)
	}
	return max(0, (1-share)*k.Due+share*k.Beyond+k.Method.gain()*shown*(s.Mean-k.Near))
}
