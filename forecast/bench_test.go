package forecast_test

import (
	"runtime"
	"testing"
	"time"

	"github.com/poolwright/poolwright/forecast"
)

// history returns a state with a week of samples, one in every slot.
func history(c forecast.Config, seed uint64) (forecast.State, time.Time) {
	var s forecast.State
	at := start()
	for _, rate := range course(noisyDay, seed, 7, 5*time.Minute) {
		at = at.Add(5 * time.Minute)
		s = c.Observe(s, at, rate, 2*time.Minute)
	}
	return s, at
}

func BenchmarkObserveInSlot(b *testing.B) {
	var c forecast.Config
	s, at := history(c, 1)
	b.ReportAllocs()
	for b.Loop() {
		c.Observe(s, at.Add(15*time.Second), 80, 2*time.Minute)
	}
}

func BenchmarkObserveClosing(b *testing.B) {
	var c forecast.Config
	s, at := history(c, 1)
	b.ReportAllocs()
	for b.Loop() {
		c.Observe(s, at.Add(5*time.Minute), 80, 2*time.Minute)
	}
}

func BenchmarkPredict(b *testing.B) {
	var c forecast.Config
	s, at := history(c, 1)
	b.ReportAllocs()
	for b.Loop() {
		c.Predict(s, at)
	}
}

// Memory of one workload with a week of history.
func BenchmarkMemory(b *testing.B) {
	var c forecast.Config
	for b.Loop() {
		var before, after runtime.MemStats
		states := make([]forecast.State, 20)
		runtime.GC()
		runtime.ReadMemStats(&before)
		for i := range states {
			states[i], _ = history(c, uint64(i))
		}
		runtime.GC()
		runtime.ReadMemStats(&after)
		b.ReportMetric(float64(after.HeapAlloc-before.HeapAlloc)/float64(len(states)), "B/workload")
		runtime.KeepAlive(states)
	}
}
