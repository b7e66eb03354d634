package simulation

import (
	"math"
	"time"
)

// Curve is demand over the day, as a factor of a base rate: a cosine between
// Trough and 1 with its peak at Peak after midnight.
type Curve struct {
	// Trough is the lowest factor, in [0, 1].
	Trough float64
	// Peak is the time of day of the factor 1.
	Peak time.Duration
}

// Factor is the demand at a time of day, t in UTC.
func (c Curve) Factor(t time.Time) float64 {
	t = t.UTC()
	midnight := time.Date(t.Year(), t.Month(), t.Day(), 0, 0, 0, 0, time.UTC)
	phase := 2 * math.Pi * float64(t.Sub(midnight)-c.Peak) / float64(24*time.Hour)
	return c.Trough + (1-c.Trough)*(1+math.Cos(phase))/2
}
