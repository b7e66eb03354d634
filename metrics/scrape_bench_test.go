package metrics

import (
	"fmt"
	"io"
	"net/http"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/poolwright/poolwright/planner"
)

// answering answers every pod with a text.
type answering string

// RoundTrip implements [http.RoundTripper].
func (a answering) RoundTrip(*http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: http.StatusOK, Body: io.NopCloser(strings.NewReader(string(a)))}, nil
}

// BenchmarkScrape asks 6,000 pods of 2,000 workloads, each of which reports 50 kB, and
// compares with reading as much alone.
func BenchmarkScrape(b *testing.B) {
	var fleet planner.Fleet
	for i := range 2000 {
		fleet.Workloads = append(fleet.Workloads, workload("ns", fmt.Sprintf("w%d", i), 3))
	}
	text := vllmAt(4, 5, 1)(1000) + tokens(1000, 80, 40) + strings.Repeat(`other_metric_bucket{le="1",of="anything"} 12345`+"\n", 1000)
	pods := fixedPods{}
	for i := range 3 {
		pods = append(pods, Pod{Name: fmt.Sprint(i), Variant: "only", Address: "10.0.0.1", Ready: true})
	}
	o, err := New(Config{}, everywhere(Series{Engine: VLLM, Scrape: &Scrape{}}), pods, nil)
	require.NoError(b, err)
	o.scraper.client.Transport = answering(text)
	b.ReportAllocs()
	var bare, whole time.Duration
	for b.Loop() {
		began := time.Now()
		for range 3 * len(fleet.Workloads) {
			require.Positive(b, strings.Count(text, "\n"))
		}
		read := time.Now()
		observations, err := o.Observe(b.Context(), fleet)
		whole += time.Since(read)
		bare += read.Sub(began)
		require.NoError(b, err)
		require.Equal(b, of(15), observations[0].Running)
	}
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	b.ReportMetric(float64(whole)/float64(bare), "×read")
	b.ReportMetric(float64(whole.Milliseconds())/float64(b.N), "ms/observe")
	b.ReportMetric(float64(m.HeapAlloc)/(1<<20), "MB/heap")
	runtime.KeepAlive(o)
}
