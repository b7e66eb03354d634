package forecast

import (
	"slices"
	"time"
)

const (
	// mostRate is above any rate, and has room for sums of float32.
	mostRate = 1e30
	// mostSkew is how far a clock may be set back before history, which then lies in
	// the future, is given up.
	mostSkew = time.Hour
)

// Observe returns the state after a sample: the rate of arrivals at a time, in
// requests/s. The horizon is how far ahead the next predictions are to look: the time
// until a new replica is ready, and one cycle.
//
// A rate that is negative, NaN or infinite is no sample, nor is one that is not later
// than the last. After a clock was set back by more than an hour, or to another length
// of slots, the state starts anew.
func (c Config) Observe(s State, at time.Time, rate float64, horizon time.Duration) State {
	c = c.completed()
	if !(rate >= 0 && rate <= mostRate) {
		return s
	}
	at = at.UTC().Round(0)
	if s.Slot != c.Slot || s.At.Sub(at) > mostSkew {
		s = State{Slot: c.Slot}
	}
	s.Horizon = horizon
	if s.Samples > 0 && !at.After(s.At) {
		return s
	}
	if s.Samples > 0 && slotOf(at, c.Slot) != slotOf(s.At, c.Slot) {
		s = c.close(s)
	}
	s.At, s.Rate = at, rate
	s.Sum += rate
	s.Samples++
	return s
}

// close puts the mean of the open slot into the history.
func (c Config) close(s State) State {
	slot, mean := slotOf(s.At, s.Slot), s.Sum/float64(s.Samples)
	perDay := int64(day / s.Slot)
	s = s.put(slot/perDay, int(slot%perDay), float32(mean), c.Days)
	s.Sum, s.Samples = 0, 0
	return s
}

// put stores the mean of a slot of a day, and forgets days that are too old.
func (s State) put(number int64, slot int, mean float32, most int) State {
	if len(s.Days) == 0 || number-s.First >= int64(len(s.Days)+most) {
		s.First, s.Days = number, nil
	}
	days := slices.Clone(s.Days)
	for int64(len(days)) <= number-s.First {
		days = append(days, nil)
	}
	if extra := len(days) - most; extra > 0 {
		days = slices.Clone(days[extra:])
		s.First += int64(extra)
	}
	days[len(days)-1] = days[len(days)-1].with(slot, mean, int(day/s.Slot))
	s.Days = days
	return s
}

// with returns a copy of a day, which may be nil, with one more slot.
func (d *Day) with(slot int, mean float32, slots int) *Day {
	next := &Day{Rates: make([]float32, slots), Seen: make([]byte, (slots+7)/8)}
	if d != nil {
		copy(next.Rates, d.Rates)
		copy(next.Seen, d.Seen)
	}
	next.Rates[slot] = mean
	next.Seen[slot/8] |= 1 << (slot % 8)
	return next
}

// slotOf returns the number of the slot that a time lies in, since 1970.
func slotOf(at time.Time, slot time.Duration) int64 {
	return at.Unix() / int64(slot/time.Second)
}
