package forecast_test

import (
	"fmt"
	"math"
	"time"

	"github.com/poolwright/poolwright/forecast"
)

// Demand that rises every morning is provided for before it has risen.
func Example() {
	var c forecast.Config
	var s forecast.State
	now := time.Date(2026, 3, 2, 0, 0, 0, 0, time.UTC)
	horizon := 30 * time.Minute
	for range 4*288 + 84 {
		now = now.Add(5 * time.Minute)
		days := now.Sub(now.Truncate(24*time.Hour)).Hours() / 24
		s = c.Observe(s, now, 100-80*math.Cos(2*math.Pi*days), horizon)
	}
	p := c.Predict(s, now)
	fmt.Printf("at %s %.0f requests/s, at %s %.0f\n", now.Format("15:04"), p.Observed, p.For.Format("15:04"), p.Point)
	fmt.Println(p.Method)
	// Output:
	// at 07:00 121 requests/s, at 07:30 129
	// seasonal level
}
