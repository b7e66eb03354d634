package kthena

import (
	"fmt"
	"slices"
	"time"
)

// How Kthena reads latencies: the 95th percentile of the last minute, from readings kept
// for five.
const (
	DefaultPercentile = 95
	HistogramWindow   = time.Minute
	HistogramKeep     = 5 * time.Minute
)

// Quantile returns the percentile, in [1, 100], of what a histogram counted between
// two readings; false if it counted nothing.
//
// Bounds are the upper bounds of its buckets, ascending; counts are cumulative and have
// one more, for what is above. No past is that counting began at 0. The value is
// interpolated linearly within its bucket; the last one is taken to end at twice its
// beginning.
func Quantile(percentile int, bounds []float64, past, now []int64) (value float64, ok bool, err error) {
	counts, err := difference(bounds, past, now)
	switch {
	case err != nil:
		return 0, false, err
	case percentile < 1 || percentile > 100:
		return 0, false, fmt.Errorf("kthena: percentile %d is not in [1, 100]", percentile)
	}
	total := counts[len(counts)-1]
	if total == 0 {
		return 0, false, nil
	}
	// In two parts, as a product might overflow.
	rank := total/100*int64(percentile) + ceil(total%100*int64(percentile), 100)
	i := slices.IndexFunc(counts, func(upTo int64) bool { return rank <= upTo })
	var below int64
	var low float64
	if i > 0 {
		below, low = counts[i-1], bounds[i-1]
	}
	high := 2 * low
	if i < len(bounds) {
		high = bounds[i]
	}
	return high - float64(counts[i]-rank)*(high-low)/float64(counts[i]-below), true, nil
}

// difference returns cumulative counts between two readings.
func difference(bounds []float64, past, now []int64) ([]int64, error) {
	if len(now) != len(bounds)+1 || past != nil && len(past) != len(now) {
		return nil, fmt.Errorf("kthena: %d bounds need %d counts, now and before: there are %d and %d",
			len(bounds), len(bounds)+1, len(now), len(past))
	}
	counts := make([]int64, len(now))
	var before int64
	for i := range now {
		counts[i] = now[i]
		if past != nil {
			counts[i] -= past[i]
		}
		if counts[i] < before {
			return nil, fmt.Errorf("kthena: bucket %d: the count decreases: the histogram was reset between the readings", i)
		}
		before = counts[i]
	}
	return counts, nil
}
