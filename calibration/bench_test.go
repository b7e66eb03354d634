package calibration

import (
	"strconv"
	"testing"
)

func BenchmarkFit(b *testing.B) {
	for _, copies := range []int{1, 20, 300} {
		var samples []Sample
		for i := range copies {
			samples = append(samples, measure(grid(), dense, Options{}, 0.03, seeded(uint64(i)))...)
		}
		b.Run(strconv.Itoa(len(samples)), func(b *testing.B) {
			for b.Loop() {
				if _, err := Fit(samples, Options{Ignore: loadOnly}); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(len(samples)), "ns/sample")
		})
	}
}
