package forecast

import (
	"math"
	"slices"
	"time"
)

// Smoothing is the state of additive exponential smoothing with a damped trend and two
// seasons: J. W. Taylor, "Short-term electricity demand forecasting using double
// seasonal exponential smoothing" (2003), with the damping of E. S. Gardner and
// E. McKenzie, "Forecasting trends in time series" (1985), in the form of errors:
//
//	e = y − (l + φb + d + w)
//	l ← l + φb + αe    b ← φb + αβe    d ← d + γ(1−α)e    w ← w + ω(1−α)e
//
// Rates are in requests/s.
type Smoothing struct {
	// Level and Trend are those of the last closed slot.
	Level, Trend float64
	// Daily has a difference from the level for each slot of the day, Weekly for each
	// hour of the week from Monday on, in UTC: what is learnt once a week must be
	// learnt from more than one slot.
	Daily, Weekly []float32
}

// Gains of smoothing: α, β, φ, γ and ω. They suit demand that is noisy but regular; for
// demand that wanders, the other methods do better whatever the gains.
const (
	levelGain  = 0.3
	trendGain  = 0.02
	damping    = 0.9
	dailyGain  = 0.1
	weeklyGain = 0.05
)

const week = 7 * day

// newSmoothing returns the smoothing of a history, whose last slot had a rate.
func newSmoothing(s *State, slot int64, rate float64) *Smoothing {
	k := &Smoothing{Daily: s.profile(), Weekly: make([]float32, week/time.Hour)}
	k.Level = rate - k.season(slot)
	return k
}

// profile returns for each slot of the day how much more there was about that time
// than in the mean of its day.
func (s *State) profile() []float32 {
	slots := perDay(s.Slot)
	sums, counts := make([]float64, slots), make([]float64, slots)
	for i := range s.Days {
		s.addProfile((s.First+int64(i))*slots, sums, counts)
	}
	all, near := make([]float32, slots), int64(neighbourhood/s.Slot)
	for i := range slots {
		sum, n := 0.0, 0.0
		for j := i - near; j <= i+near; j++ {
			sum += sums[(j+slots)%slots]
			n += counts[(j+slots)%slots]
		}
		all[i] = float32(sum / max(n, 1))
	}
	return all
}

// addProfile adds what each slot of a day has more than their mean.
func (s *State) addProfile(first int64, sums, counts []float64) {
	level, n := 0.0, 0.0
	for i := range int64(len(sums)) {
		if mean, seen := s.mean(first + i); seen {
			level, n = level+mean, n+1
		}
	}
	for i := range int64(len(sums)) {
		if mean, seen := s.mean(first + i); seen {
			sums[i] += mean - level/n
			counts[i]++
		}
	}
}

// places returns where the two seasons of a slot are.
func (k *Smoothing) places(slot int64) (daily, weekly int64) {
	slots := int64(len(k.Daily))
	return slot % slots, slot * 24 / slots % int64(len(k.Weekly))
}

func (k *Smoothing) season(slot int64) float64 {
	daily, weekly := k.places(slot)
	return float64(k.Daily[daily]) + float64(k.Weekly[weekly])
}

// predict returns what is expected some slots after the last closed one.
func (k *Smoothing) predict(slot int64, ahead int) float64 {
	return k.Level + k.Trend*damped(ahead) + k.season(slot+int64(ahead))
}

// damped returns φ + φ² + … + φⁿ.
func damped(n int) float64 { return damping * (1 - math.Pow(damping, float64(n))) / (1 - damping) }

// next returns the smoothing after the mean rate of a slot, which comes some slots
// after the last closed one. The level follows as if the error had been seen in each
// slot of a gap.
func (k *Smoothing) next(slot int64, rate float64, ahead int) *Smoothing {
	e := rate - k.predict(slot-int64(ahead), ahead)
	gain := 1 - math.Pow(1-levelGain, float64(ahead))
	n := &Smoothing{
		Level: k.Level + k.Trend*damped(ahead) + gain*e,
		Trend: k.Trend*math.Pow(damping, float64(ahead)) + levelGain*trendGain*e,
		Daily: slices.Clone(k.Daily), Weekly: slices.Clone(k.Weekly),
	}
	daily, weekly := k.places(slot)
	n.Daily[daily] += float32(dailyGain * (1 - gain) * e)
	n.Weekly[weekly] += float32(weeklyGain * (1 - gain) * e)
	return n
}
