package trace_test

import (
	"fmt"
	"testing"

	"github.com/poolwright/poolwright/simulation/trace"
)

// BenchmarkGenerate draws Poisson arrivals with lognormal lengths, alone and in a merge.
func BenchmarkGenerate(b *testing.B) {
	for _, workloads := range []int{1, 4} {
		b.Run(fmt.Sprintf("workloads=%d", workloads), func(b *testing.B) {
			var all []trace.Workload
			for i := range workloads {
				all = append(all, trace.Workload{Name: fmt.Sprint(i), Source: generate(b, poisson(trace.Constant(100)))})
			}
			measure(b, all)
		})
	}
}

func measure(b *testing.B, workloads []trace.Workload) {
	b.Helper()
	b.ReportAllocs()
	requests, failed := trace.Requests(workloads, 1)
	n, tokens := 0, 0
	for r := range requests {
		tokens += r.Input
		if n++; n >= b.N {
			break
		}
	}
	if err := failed(); err != nil || tokens == 0 {
		b.Fatal(err, tokens)
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "requests/s")
}

// BenchmarkRead reads a CSV file, and lines of JSON with a prefix.
func BenchmarkRead(b *testing.B) {
	var list []trace.Request
	for i := range 10_000 {
		list = append(list, trace.Request{At: float64(i), Input: 1000 + i%7, Output: 200})
	}
	texts := written(b, list)
	for _, name := range []string{"t,in,out", "compressed", "Mooncake"} {
		b.Run(name, func(b *testing.B) {
			s, err := trace.Read(inMemory(texts[name]))
			if err != nil {
				b.Fatal(err)
			}
			workloads := []trace.Workload{{Source: s}}
			b.ReportAllocs()
			b.SetBytes(int64(len(texts[name])))
			n := 0
			for b.Loop() {
				requests, failed := trace.Requests(workloads, 1)
				for range requests {
					n++
				}
				if err := failed(); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(n)/b.Elapsed().Seconds(), "requests/s")
		})
	}
}
