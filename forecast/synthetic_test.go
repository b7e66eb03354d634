package forecast_test

import (
	"math"
	"math/rand/v2"
	"time"
)

// kind is a kind of demand: the mean rate at a time in days, and what chance makes of it.
type kind struct {
	name  string
	mean  func(days float64) float64
	noise float64
	// wander is the deviation of steps of a random walk that returns to 0 within a day.
	wander float64
}

func day(days float64) float64 { return 100 * (1 + 0.6*math.Sin(2*math.Pi*days)) }

func hour(days float64) float64 { return math.Mod(days, 1) * 24 }

var (
	noisyDay    = kind{name: "a noisy day", mean: day, noise: 0.2}
	smoothDay   = kind{name: "a day that wanders", mean: day, wander: 3}
	workingWeek = kind{name: "a week", noise: 0.1, mean: func(days float64) float64 {
		if math.Mod(days, 7) >= 5 {
			return 0.4 * day(days)
		}
		return day(days)
	}}
	schedule = kind{name: "jobs at fixed hours", noise: 0.1, mean: func(days float64) float64 {
		if h := hour(days); h >= 9 && h < 17 {
			return 300
		}
		return 30
	}}
	ramps = kind{name: "ramps", noise: 0.02, mean: func(days float64) float64 {
		// Up and down in 7.4 hours, a part of no day.
		return 40 + 400*math.Abs(math.Mod(days*3.24, 1)-0.5)
	}}
	flat  = kind{name: "no pattern", noise: 0.2, mean: func(float64) float64 { return 50 }}
	walk  = kind{name: "a walk", wander: 3, mean: func(float64) float64 { return 100 }}
	steps = kind{name: "steps", noise: 0.05, mean: func(days float64) float64 {
		return 40 * (1 + math.Mod(math.Floor(days/2.7)*5, 7))
	}}
	crowds = kind{name: "flash crowds", noise: 0.1, mean: func(days float64) float64 {
		if math.Mod(days, 1.7) < 0.05 {
			return 4 * day(days)
		}
		return day(days)
	}}
)

// course returns the rates of some days, slot by slot. Equal seeds give equal courses.
func course(k kind, seed uint64, days int, slot time.Duration) []float64 {
	random := rand.New(rand.NewPCG(seed, 1))
	perDay := int(24 * time.Hour / slot)
	rates, away := make([]float64, days*perDay), 0.0
	for i := range rates {
		away += k.wander*random.NormFloat64() - away/float64(perDay)
		mean := k.mean(float64(i)/float64(perDay)) + away
		rates[i] = max(0, mean*(1+k.noise*random.NormFloat64()))
	}
	return rates
}
