package forecast

import (
	"fmt"
	"time"
)

// Method is a way to predict.
type Method int

// Methods.
const (
	// None: nothing was observed.
	None Method = iota
	// LastValue: demand stays as it was in the last slot.
	LastValue
)

func (m Method) String() string {
	switch m {
	case None:
		return "none"
	case LastValue:
		return "last value"
	}
	return fmt.Sprintf("Method(%d)", int(m))
}

// Prediction is the demand to expect.
type Prediction struct {
	// For is the time that is predicted: now and the horizon.
	For time.Time
	// Observed is the last sample, and Age how old it is.
	Observed float64
	Age      time.Duration
	// Point is the prediction for reports, in requests/s.
	Point float64
	// Upper is the rate to provide for: the end of the band, and never less than
	// what is observed.
	Upper float64
	// Method is how both were found. It is None, and all rates are 0, if nothing was
	// observed.
	Method Method
}

// Reason says in words how a prediction came about.
func (p Prediction) Reason() string {
	if p.Method == None {
		return "nothing was observed"
	}
	return fmt.Sprintf("%v: %.4g requests/s, at most %.4g", p.Method, p.Point, p.Upper)
}

// Predict returns the demand to expect one horizon after now.
func (c Config) Predict(s State, now time.Time) Prediction {
	if s.Samples == 0 {
		return Prediction{For: now.Add(s.Horizon)}
	}
	return Prediction{
		For: now.Add(s.Horizon), Observed: s.Rate, Age: max(0, now.Sub(s.At)),
		Point: s.Rate, Upper: s.Rate, Method: LastValue,
	}
}
