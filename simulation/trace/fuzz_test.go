package trace_test

import (
	"io"
	"math"
	"strings"
	"testing"

	"github.com/poolwright/poolwright/simulation/trace"
)

func seeds(f *testing.F) {
	f.Helper()
	for _, text := range written(f, []trace.Request{{At: 1, Input: 10, Output: 2, Prefix: []uint64{7}}, {At: 2.5, Input: 600, Output: 3}}) {
		f.Add(text)
	}
	f.Add("t,a,b\n0,1,2\n600,,3\n")
	f.Add("TIMESTAMP,ContextTokens,GeneratedTokens\n2023-11-16 18:15:46.6805900,374,44\n")
	f.Add("{}\n")
}

// What passes the check has requests in order and within limits, whose number the rates tell.
func FuzzRead(f *testing.F) {
	seeds(f)
	f.Fuzz(func(t *testing.T, text string) {
		s, err := trace.Read(inMemory(text))
		if err != nil {
			if !strings.HasPrefix(err.Error(), "f:") {
				t.Fatalf("the mistake has no place: %v", err)
			}
			return
		}
		n := 0
		for _, r := range all(t, s, 1) {
			if r.Input < 0 || r.Input > trace.MaxTokens || r.Output < 1 || r.Output > trace.MaxTokens || r.At > trace.MaxTime {
				t.Fatalf("%+v", r)
			}
			n++
		}
		rates, err := trace.Rates(trace.Workload{Source: s}, 1, trace.MaxTime+1, 1)
		if err != nil || n == 0 || math.Round(rates[0]*(trace.MaxTime+1)) != float64(n) {
			t.Fatal(n, rates, err)
		}
	})
}

// A series that is read ends, and gives requests that are counted.
func FuzzSeries(f *testing.F) {
	seeds(f)
	f.Fuzz(func(t *testing.T, text string) {
		c, err := trace.Series(trace.File{Name: "f", Open: func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(text)), nil }}, "a")
		if err != nil {
			if !strings.HasPrefix(err.Error(), "f:") {
				t.Fatalf("the mistake has no place: %v", err)
			}
			return
		}
		if end := c.End(); !(end > 0) || math.IsInf(end, 1) {
			t.Fatal("end", end)
		}
		if n := c.Integral(0, c.End()); !(n >= 0) {
			t.Fatal("integral", n)
		}
	})
}
