package queueing_test

import (
	"fmt"
	"testing"

	"github.com/poolwright/poolwright/queueing"
)

// benchmarkStation is a dense 8-billion model on one accelerator.
func benchmarkStation(b *testing.B, batch, places int) *queueing.Station {
	b.Helper()
	s, err := queueing.NewStation(queueing.Replica{
		Profile:  queueing.Profile{Alpha: 0.00683, Beta: 0.000057, Gamma: 0.004, Delta: 0.0000024},
		MaxBatch: batch,
		MaxQueue: queueing.Waiting{Limited: true, Places: places},
	}, queueing.Shape{InputTokens: 512, OutputTokens: 256, InputSCV: 1, OutputSCV: 1, ArrivalSCV: 1})
	if err != nil {
		b.Fatal(err)
	}
	return s
}

func forSizes(b *testing.B, f func(b *testing.B, s *queueing.Station)) {
	for _, batch := range []int{16, 64, 256} {
		for _, places := range []int{128, 10 * batch} {
			s := benchmarkStation(b, batch, places)
			b.Run(fmt.Sprintf("B=%d/Q=%d", batch, places), func(b *testing.B) {
				b.ReportAllocs()
				f(b, s)
			})
		}
	}
}

// BenchmarkEvaluate cycles through loads from light to just unstable.
func BenchmarkEvaluate(b *testing.B) {
	forSizes(b, func(b *testing.B, s *queueing.Station) {
		step := s.SaturationRate() / 64
		load := 0
		for b.Loop() {
			load = load%64 + 1
			s.Evaluate(queueing.Rate(load) * step)
		}
	})
}

func BenchmarkCapacity(b *testing.B) {
	slos := map[string]queueing.Limit{
		"mean": {Metric: queueing.TTFT, Value: 0.1},
		"p95":  {Metric: queueing.TTFT, Quantile: 0.95, Value: 0.2},
	}
	for _, name := range []string{"mean", "p95"} {
		slo := queueing.SLO{Limits: []queueing.Limit{slos[name], {Metric: queueing.ITL, Value: 0.012}}}
		b.Run(name, func(b *testing.B) {
			forSizes(b, func(b *testing.B, s *queueing.Station) {
				for b.Loop() {
					if _, err := s.Capacity(slo); err != nil {
						b.Fatal(err)
					}
				}
			})
		})
	}
}

func BenchmarkNewStation(b *testing.B) {
	for b.Loop() {
		benchmarkStation(b, 256, 2560)
	}
}

func BenchmarkQuantile(b *testing.B) {
	forSizes(b, func(b *testing.B, s *queueing.Station) {
		p := s.Evaluate(s.SaturationRate() * 0.95)
		for b.Loop() {
			p.TTFT.Quantile(0.95)
		}
	})
}
