package policy

import (
	"slices"
	"time"
)

// Sample is a value at a time.
type Sample struct {
	// At is in UTC, without the reading of a monotonic clock, so that a sample that is
	// written down and read back is equal to the one that was written.
	At    time.Time
	Value int
}

// Maximum answers what was the largest value since some time. It holds only the
// samples that no later one reaches: the newest is last, the largest first. An
// addition takes amortized constant time, whatever the length of the window, and
// the same value over and over takes the room of one sample.
//
// The zero value is empty and ready for use. Assignment shares the samples; use
// Clone where both are to go on.
//
// The structure is the ascending minima algorithm (R. Harter, The Minimum on a
// Sliding Window Algorithm, 2001).
type Maximum []Sample

// Add records a value. If now is before the newest sample, because a clock was set
// back, the value counts as being of that sample's time.
func (m *Maximum) Add(now time.Time, value int) {
	*m = add(*m, now, value, func(old int) bool { return old <= value })
}

// SetBack makes what was recorded after now, before a clock was set back, count as of now.
func (m *Maximum) SetBack(now time.Time) { setBack(*m, now) }

// Forget drops what was recorded before since.
func (m *Maximum) Forget(since time.Time) { *m = forget(*m, since) }

// Since returns the largest value recorded at or after since; false if there is
// none.
func (m Maximum) Since(since time.Time) (largest int, ok bool) { return first(m, since) }

// Clone returns a copy that shares nothing.
func (m Maximum) Clone() Maximum { return slices.Clone(m) }

// Minimum is like [Maximum], for the smallest value.
type Minimum []Sample

// Add is like that of [Maximum].
func (m *Minimum) Add(now time.Time, value int) {
	*m = add(*m, now, value, func(old int) bool { return old >= value })
}

// Forget drops what was recorded before since.
func (m *Minimum) Forget(since time.Time) { *m = forget(*m, since) }

// Since returns the smallest value recorded at or after since; false if there is
// none.
func (m Minimum) Since(since time.Time) (smallest int, ok bool) { return first(m, since) }

// SetBack is like that of [Maximum].
func (m *Minimum) SetBack(now time.Time) { setBack(*m, now) }

// Clone returns a copy that shares nothing.
func (m Minimum) Clone() Minimum { return slices.Clone(m) }

// add appends a sample after dropping those that it makes irrelevant: they are no
// more extreme and leave any window no later. One that is irrelevant itself, as it
// leaves any window together with a more extreme one, is left out.
func add(samples []Sample, now time.Time, value int, irrelevant func(old int) bool) []Sample {
	now = now.Round(0).UTC()
	end := len(samples)
	if end > 0 && now.Before(samples[end-1].At) {
		now = samples[end-1].At
	}
	for end > 0 && irrelevant(samples[end-1].Value) {
		end--
	}
	if end > 0 && now.Equal(samples[end-1].At) {
		return samples[:end]
	}
	return append(samples[:end], Sample{At: now, Value: value})
}

func setBack(samples []Sample, now time.Time) {
	now = now.Round(0).UTC()
	for i := range samples {
		if samples[i].At.After(now) {
			samples[i].At = now
		}
	}
}

func forget(samples []Sample, since time.Time) []Sample {
	kept := samples[firstIndex(samples, since):]
	if len(kept) == 0 {
		return nil
	}
	return kept
}

func first(samples []Sample, since time.Time) (int, bool) {
	i := firstIndex(samples, since)
	if i == len(samples) {
		return 0, false
	}
	return samples[i].Value, true
}

// firstIndex returns the index of the first sample at or after since.
func firstIndex(samples []Sample, since time.Time) int {
	i, _ := slices.BinarySearchFunc(samples, since, func(s Sample, t time.Time) int { return s.At.Compare(t) })
	return i
}
