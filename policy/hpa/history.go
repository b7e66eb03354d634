package hpa

import (
	"slices"
	"time"
)

// History is what the autoscaler remembers of one workload. The zero value is that of
// one never seen. Its entries are reused once they are outdated, so that there are
// never more than cycles in the longest window.
type History struct {
	Recommendations []Recommendation
	// Ups and Downs are changes that were made.
	Ups, Downs []Event
}

// Recommendation is what metrics asked for at a time.
type Recommendation struct {
	At       time.Time
	Replicas int32
}

// Event is a change of the number of replicas.
type Event struct {
	At time.Time
	// Change is in replicas, > 0 in either direction.
	Change int32
	// Outdated events count no more; their place is used again.
	Outdated bool
}

// instant is a time that is equal to itself written down and read back.
func instant(t time.Time) time.Time { return t.Round(0).UTC() }

// record returns a log with a recommendation in the place of the last that is
// outdated, or at the end.
func record(log []Recommendation, now time.Time, wanted int32, outdated func(Recommendation) bool) []Recommendation {
	entry := Recommendation{At: instant(now), Replicas: wanted}
	for i, r := range slices.Backward(log) {
		if outdated(r) {
			log = slices.Clone(log)
			log[i] = entry
			return log
		}
	}
	return append(slices.Clip(log), entry)
}

// Scaled returns the history after replicas were changed from one number to another.
// Only a change that succeeded belongs there.
func (h History) Scaled(c *Config, now time.Time, from, to int32) History {
	switch {
	case c.Behavior == nil || from == to:
	case to > from:
		h.Ups = store(h.Ups, now, int64(to)-int64(from), c.Behavior.ScaleUp.longestPeriod())
	default:
		h.Downs = store(h.Downs, now, int64(from)-int64(to), c.Behavior.ScaleDown.longestPeriod())
	}
	return h
}

// Resume returns the history after a time in which nobody looked: recommendations are heard anew
// from now on, as of a workload never seen. Changes that were made still limit others; those that
// lie in the future, as a clock was set back, count as of now.
func (h History) Resume(now time.Time) History {
	return History{Ups: until(h.Ups, now), Downs: until(h.Downs, now)}
}

// until returns events with those after now as of now.
func until(events []Event, now time.Time) []Event {
	events = slices.Clone(events)
	for i := range events {
		if events[i].At.After(now) {
			events[i].At = instant(now)
		}
	}
	return events
}

func (r Rules) longestPeriod() time.Duration {
	var longest time.Duration
	for _, p := range r.Policies {
		longest = max(longest, p.Period)
	}
	return longest
}

// store returns events with one more, in the place of the last that is outdated, or at
// the end.
func store(events []Event, now time.Time, change int64, longest time.Duration) []Event {
	events = slices.Clone(events)
	cutoff, place := now.Add(-longest), len(events)
	for i := range events {
		events[i].Outdated = events[i].Outdated || events[i].At.Before(cutoff)
		if events[i].Outdated {
			place = i
		}
	}
	entry := Event{At: instant(now), Change: replicas(change)}
	if place == len(events) {
		return append(events, entry)
	}
	events[place] = entry
	return events
}

// changes sums the events that are younger than a period.
func changes(events []Event, now time.Time, period time.Duration) int64 {
	var sum int64
	cutoff := now.Add(-period)
	for _, e := range events {
		if e.At.After(cutoff) {
			sum += int64(e.Change)
		}
	}
	return sum
}
