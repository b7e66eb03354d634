package calibration

const (
	// driftSlack is the standardized innovation per window that is no drift: at this
	// size the sum neither grows nor shrinks.
	driftSlack = 0.75
	// driftThreshold is the sum from which on there is an alarm. With independent
	// normal innovations one window in about 200,000 is the start of a false one, by
	// D. Siegmund, "Sequential Analysis" (1985), (2.57).
	driftThreshold = 8
	// mostDrift is how much a single window counts, so that one outlier is no drift.
	mostDrift = 3
)

// watch adds a standardized innovation to both sums.
func (s *LatencyState) watch(innovation, now float64) {
	z := clamp(innovation, mostDrift)
	s.Longer.add(z-driftSlack, now)
	s.Shorter.add(-z-driftSlack, now)
}

func (d *DriftSum) add(x, now float64) {
	d.Sum = min(max(0, d.Sum+x), 2*driftThreshold)
	switch {
	case d.Sum == 0:
		d.Since = now
		d.Alarm = false
	case d.Sum >= driftThreshold:
		d.Alarm = true
	case d.Sum < driftThreshold/2:
		d.Alarm = false
	}
}
