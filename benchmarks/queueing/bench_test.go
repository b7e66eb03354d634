package main

import (
	"math"
	"testing"
	"time"
)

func BenchmarkEvaluate(b *testing.B) { benchmark(b, evaluate) }
func BenchmarkCapacity(b *testing.B) { benchmark(b, capacity) }

// benchmark times all questions of each cell and reports the baseline's time over
// ours; the last line has the worst of all cells.
func benchmark(b *testing.B, k kind) {
	all, err := cells()
	if err != nil {
		b.Fatal(err)
	}
	lowest := math.Inf(1)
	for _, c := range all {
		tasks, err := c.tasks()
		if err != nil {
			b.Fatal(err)
		}
		b.Run(c.String(), func(b *testing.B) {
			ratio := alternate(b, tasks[k])
			b.ReportMetric(ratio, "ratio")
			lowest = min(lowest, ratio)
		})
	}
	b.Run("worst", func(b *testing.B) {
		for b.Loop() {
			// Nothing left to time: the line carries the metric.
			continue
		}
		b.ReportMetric(lowest, "worst-ratio")
		b.ReportMetric(0, "ns/op")
	})
}

// alternate has the two sides take turns. The time reported is ours, per question;
// the allocations are those of both.
func alternate(b *testing.B, t task) (ratio float64) {
	b.ReportAllocs()
	var theirs, ours time.Duration
	for b.Loop() {
		start := time.Now()
		if err := t.ours(); err != nil {
			b.Fatal(err)
		}
		between := time.Now()
		if err := t.theirs(); err != nil {
			b.Fatal(err)
		}
		ours += between.Sub(start)
		theirs += time.Since(between)
	}
	b.ReportMetric(float64(ours.Nanoseconds())/float64(b.N*t.questions), "ns/op")
	return float64(theirs) / float64(ours)
}
