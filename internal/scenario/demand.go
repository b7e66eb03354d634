package scenario

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/poolwright/poolwright/simulation"
)

// Demand is the rate at which requests arrive, over time.
type Demand struct {
	// Rate is in requests/s: at all times, or at the peak of the day.
	Rate float64
	// Day, when not nil, is the shape of the day.
	Day *simulation.Curve
	// Wobble is the share of the rate by which it moves up and down.
	Wobble float64
}

// noon is when demand that follows the day has its peak.
const peakOfDay = 14 * time.Hour

// ParseDemand reads a rate in requests/s: "40/s"; "40/s±3%" wobbles; "10..40/s" moves
// between its ends over the day, and is highest at 14:00.
func ParseDemand(text string) (Demand, error) {
	text, wobble, wobbles := strings.Cut(text, "±")
	text, perSecond := strings.CutSuffix(text, "/s")
	if !perSecond {
		return Demand{}, errors.New(`a demand is such as "40/s", "40/s±3%" or "10..40/s"`)
	}
	var d Demand
	low, high, day := strings.Cut(text, "..")
	if !day {
		high = low
	}
	var err error
	if d.Rate, err = number(high); err != nil {
		return Demand{}, err
	}
	if day {
		trough, err := number(low)
		if err != nil || trough > d.Rate {
			return Demand{}, fmt.Errorf("%s is not between 0 and %s", low, high)
		}
		d.Day = &simulation.Curve{Trough: trough / d.Rate, Peak: peakOfDay}
	}
	if wobbles {
		share, err := number(strings.TrimSuffix(wobble, "%"))
		if err != nil {
			return Demand{}, err
		}
		d.Wobble = share / 100
	}
	return d, nil
}

// number reads a finite number ≥ 0.
func number(text string) (float64, error) {
	n, err := strconv.ParseFloat(text, 64)
	if err != nil || !(n >= 0) || math.IsInf(n, 0) {
		return 0, fmt.Errorf("%q is not a number ≥ 0", text)
	}
	return n, nil
}

// At is the rate at a time, in requests/s.
func (d Demand) At(t time.Time) float64 {
	r := d.Rate
	if d.Day != nil {
		r *= d.Day.Factor(t)
	}
	if d.Wobble > 0 {
		// Steps of the golden angle repeat no pattern and need no state.
		const goldenAngle = 2.399963
		r *= 1 + d.Wobble*math.Sin(goldenAngle*t.Sub(time.Unix(0, 0)).Seconds())
	}
	return r
}
