package forecast

import (
	"fmt"
	"math"
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
	// Now is the upper end of the band of demand at the last sample, noise averaged out.
	Now float64
	// Upper is the rate to provide for: Band, but never less than Now.
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
	case p.Errors == 0 && p.Upper == p.Observed:
		return "nothing was predicted before: demand as observed"
	}
	text := fmt.Sprintf("%v: %.4g requests/s, band up to %.4g", p.Method, p.Point, p.Band)
	if p.Few {
		text += fmt.Sprintf(" from %d outcomes only", p.Errors)
	}
	if p.Band < p.Now {
		text += fmt.Sprintf(", raised to the %.4g of now", p.Now)
	}
	return text
}

// Predict returns the demand to expect one horizon after now. The configuration is that
// of the calls of Observe.
func (c Config) Predict(s State, now time.Time) Prediction {
	if s.Samples == 0 {
		return Prediction{For: now.Add(s.Horizon)}
	}
	late, ahead := s.late(), s.Horizon.Seconds()
	quantile := c.completed().Quantile
	z := math.Sqrt2 * math.Erfinv(2*quantile-1)
	p := Prediction{
		For: now.Add(s.Horizon), Observed: s.Rate, Age: max(0, now.Sub(s.At)),
		Point: late.at(ahead), Now: late.Level + z*late.deviation(0), Method: LocalTrend,
	}
	margin := 0.0
	if k := s.Models; k != nil {
		p.Method, p.Errors, p.Coverage = k.Method, len(k.Errors), k.Coverage
		p.Few = rankAmong(p.Errors, quantile) > k.mostRank(&s)
		margin = k.Margin
	}
	if p.Method == LocalTrend {
		margin = max(margin, z*late.deviation(ahead))
	} else {
		p.Point = s.Models.ahead(&s)
	}
	p.Band = p.Point + margin
	p.Upper = max(p.Band, p.Now)
	return p
}

// ahead returns the prediction of another method than the local trend after a share of the
// open slot has shown its mean: what was expected before and after that slot in proportion,
// moved by what is seen of it.
func (k *Models) ahead(s *State) float64 {
	share := s.At.Sub(s.At.Truncate(s.Slot)).Seconds() / s.Slot.Seconds()
	shown := share
	if k.Gap > 0 {
		// What the last closed slot says is out of date.
		shown = 1
	}
	return max(0, (1-share)*k.Due+share*k.Beyond+k.Method.gain()*shown*(s.Mean-k.Near))
}
