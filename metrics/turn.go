package metrics

import "time"

// clock tells when work is to be measured: once per window, so that nothing counts twice.
type clock struct {
	// at is when it was measured last, and times how often.
	at    time.Time
	times int
	// lengths are those last measured, by workload; they hold until the next time.
	lengths map[string]lengths
}

// turn is what is measured in one cycle.
type turn struct {
	// work is measured, and the variation of lengths.
	work, variation bool
	// last are the lengths last measured, and lengths those that hold now.
	last, lengths map[string]lengths
	// measured: there was something to measure.
	measured bool
}

func (k *clock) turn(now time.Time, window time.Duration) *turn {
	t := &turn{last: k.lengths, lengths: k.lengths}
	if k.at.IsZero() || now.Sub(k.at) >= window {
		t.work, t.variation, t.lengths = true, k.times%variationWindows == 0, map[string]lengths{}
	}
	return t
}

// end takes over what was measured; where that is nothing, it is tried again in the next
// cycle if asked for.
func (k *clock) end(t *turn, now time.Time, again bool) {
	k.lengths = t.lengths
	if t.work && (t.measured || !again) {
		k.at = now
		k.times++
	}
}
