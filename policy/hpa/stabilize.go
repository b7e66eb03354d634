package hpa

import "time"

// stabilizeDown returns the largest recommendation of a window, and the log with the
// one wanted now. It is what an autoscaler without behavior does.
func stabilizeDown(log []Recommendation, now time.Time, wanted int32, window time.Duration) (int32, []Recommendation) {
	cutoff := now.Add(-window)
	outdated := func(r Recommendation) bool { return r.At.Before(cutoff) }
	largest := wanted
	for _, r := range log {
		if !outdated(r) {
			largest = max(largest, r.Replicas)
		}
	}
	return largest, record(log, now, wanted, outdated)
}

// stabilize returns the replicas nearest to those that there are that recommendations
// of both windows agree to, and the log with the one wanted now.
func stabilize(log []Recommendation, now time.Time, current, wanted int32, up, down time.Duration) (int32, []Recommendation) {
	upCutoff, downCutoff := now.Add(-up), now.Add(-down)
	low, high := wanted, wanted
	for _, r := range log {
		if r.At.After(upCutoff) {
			low = min(low, r.Replicas)
		}
		if r.At.After(downCutoff) {
			high = max(high, r.Replicas)
		}
	}
	log = record(log, now, wanted, func(r Recommendation) bool {
		return r.At.Before(upCutoff) && r.At.Before(downCutoff)
	})
	return min(max(current, low), high), log
}
