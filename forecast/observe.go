package forecast

import (
	"math"
	"time"
)

const (
	// mostRate is above any rate, and leaves room for sums of float32.
	mostRate = 1e30
	// mostSkew is how far a clock may be set back before history, which then lies in
	// the future, is given up.
	mostSkew = time.Hour
	// mostHorizon is how far ahead predictions look at most.
	mostHorizon = 6 * time.Hour
)

// Observe returns the state after a sample: the rate of arrivals at a time, in
// requests/s. The horizon is how far ahead predictions are to look from then on: the
// time until a new replica is ready, and one cycle; at most 6 hours.
//
// A rate that is negative, NaN or infinite is no sample, nor is one that is not later
// than the last. After a clock was set back by more than an hour, or to another length
// of slots, the state starts anew.
func (c Config) Observe(s State, at time.Time, rate float64, horizon time.Duration) State {
	c = c.completed()
	if !(rate >= 0 && rate <= mostRate) || at.Year() < 1 || at.IsZero() {
		return s
	}
	at = at.UTC().Round(0)
	if s.Slot != c.Slot || s.At.Sub(at) > mostSkew {
		s = State{Slot: c.Slot}
	}
	if s.Samples > 0 && !at.After(s.At) {
		return s
	}
	s = s.aim(horizon)
	if open := slotOf(at, s.Slot); s.Samples > 0 && open != slotOf(s.At, s.Slot) {
		s = c.close(s, open)
	}
	s.At, s.Rate = at, rate
	s.remember(Sample{at, rate})
	s.Samples++
	s.Mean += (rate - s.Mean) / float64(s.Samples)
	return s
}

// aim changes the horizon. Errors of a random walk grow with the root of the lead,
// which is how those that are known carry over to another.
func (s State) aim(horizon time.Duration) State {
	s.Horizon = min(max(horizon, 0), mostHorizon)
	lead := max(1, int((s.Horizon+s.Slot-1)/s.Slot))
	if s.Models != nil && lead != s.Lead {
		next := *s.Models
		next.stretch(math.Sqrt(float64(lead) / float64(s.Lead)))
		next.look(&s, lead)
		s.Models = &next
	}
	s.Lead = lead
	return s
}

// close puts the mean of the open slot into the history and lets the methods learn
// from it; another slot is open from then on.
func (c Config) close(s State, open int64) State {
	slot, rate := slotOf(s.At, s.Slot), s.Mean
	s.Mean, s.Samples = 0, 0
	s = s.put(slot, rate, c.Days)

	var next Models
	if s.Models != nil {
		next = *s.Models
	}
	next.judge(slot, rate, int(perDay(s.Slot)), c.errors())
	next.smooth(&s, slot, rate)
	next.Slot, next.Rate, next.Late = slot, rate, s.late()
	next.Gap = int(min(open-slot-1, int64(len(s.Days))*perDay(s.Slot)))
	next.choose(int(perDay(s.Slot)))
	next.Margin = next.margin(&s, c.Quantile)
	next.promise(&s)
	next.look(&s, s.Lead)
	s.Models = &next
	return s
}

// errors returns how many errors are kept: those of a day, so that all hours count
// alike, and enough of them for the band.
func (c Config) errors() int {
	return max(int(perDay(c.Slot)), int(math.Ceil(1/(1-c.Quantile))))
}
