package forecast

import (
	"slices"
	"time"
)

// Day has the mean rates of the slots of one day, in UTC.
type Day struct {
	// Rates has a mean for each slot, in requests/s. Seven digits are enough for what
	// is counted, and halve the memory.
	Rates []float32
	// Seen has a bit for each slot, the lowest first: whether there was a sample.
	Seen []byte
}

// slotOf returns the number of the slot that a time lies in, since the year 1, which
// began on a Monday.
func slotOf(at time.Time, slot time.Duration) int64 {
	seconds := at.Unix() - time.Time{}.Unix()
	rest := time.Duration(seconds%int64(day/time.Second))*time.Second + time.Duration(at.Nanosecond())
	return seconds/int64(day/time.Second)*perDay(slot) + int64(rest/slot)
}

func perDay(slot time.Duration) int64 { return int64(day / slot) }

// mean returns the mean rate of a slot, if there was a sample.
func (s *State) mean(slot int64) (float64, bool) {
	slots := perDay(s.Slot)
	past, i := slot-s.First*slots, slot%slots
	if past < 0 || past >= int64(len(s.Days))*slots {
		return 0, false
	}
	d := s.Days[past/slots]
	if d == nil || d.Seen[i/8]&(1<<(i%8)) == 0 {
		return 0, false
	}
	return float64(d.Rates[i]), true
}

// put stores the mean of a slot, and forgets days that are too old. No slot of a later
// day has been stored.
func (s State) put(slot int64, mean float64, most int) State {
	slots := perDay(s.Slot)
	number := slot / slots
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
	days[len(days)-1] = days[len(days)-1].with(slot%slots, float32(mean), slots)
	s.Days = days
	return s
}

// with returns a copy of a day, which may be nil, with one more slot.
func (d *Day) with(slot int64, mean float32, slots int64) *Day {
	next := &Day{Rates: make([]float32, slots), Seen: make([]byte, (slots+7)/8)}
	if d != nil {
		copy(next.Rates, d.Rates)
		copy(next.Seen, d.Seen)
	}
	next.Rates[slot] = mean
	next.Seen[slot/8] |= 1 << (slot % 8)
	return next
}

// span returns how many slots there are from the first remembered to another.
func (s *State) span(slot int64) int64 {
	slots := perDay(s.Slot)
	for i, d := range s.Days {
		for j := range slots {
			if d != nil && d.Seen[j/8]&(1<<(j%8)) != 0 {
				return slot - (s.First+int64(i))*slots - j + 1
			}
		}
	}
	return 0
}
