package forecast

import "time"

// neighbourhood is how much earlier and later on the days before counts as the same
// time of day.
const neighbourhood = 30 * time.Minute

// change returns the median change from a slot to one some slots ahead, at about the
// same time on the days before; 0 if no day shows it.
func (s *State) change(slot int64, ahead int) float64 {
	slots, near := perDay(s.Slot), int64(neighbourhood/s.Slot)
	changes := make([]float64, 0, 128)
	for back := range int64(len(s.Days)) {
		same := slot - (back+1)*slots
		for from := same - near; from <= same+near; from++ {
			before, seenBefore := s.mean(from)
			after, seenAfter := s.mean(from + int64(ahead))
			if seenBefore && seenAfter {
				changes = append(changes, after-before)
			}
		}
	}
	if len(changes) == 0 {
		return 0
	}
	return median(changes)
}

// level returns the median of the same slot on the days before; the rate otherwise if
// no day shows it.
func (s *State) level(slot int64, otherwise float64) float64 {
	levels := make([]float64, 0, 32)
	for back := range int64(len(s.Days)) {
		if mean, seen := s.mean(slot - (back+1)*perDay(s.Slot)); seen {
			levels = append(levels, mean)
		}
	}
	if len(levels) == 0 {
		return otherwise
	}
	return median(levels)
}
