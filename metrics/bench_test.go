package metrics

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/poolwright/poolwright/planner"
)

// answerFor is what Prometheus answers to a query for demand of a fleet with three
// replicas of each workload.
func answerFor(fleet *planner.Fleet) []byte {
	var samples []string
	for i := range fleet.Workloads {
		w := &fleet.Workloads[i]
		for pod := range 3 {
			for _, q := range []quantity{age, completions, running, waiting} {
				samples = append(samples, fmt.Sprintf(`{"metric":{"job":"engines","model_name":%q,"namespace":%q,"pod":"%s-5d8f7c-%d",%q:%q},"value":[1700000000.123,"%d.25"]}`,
					w.Model, w.Namespace, w.Name, pod, quantityLabel, q, pod))
			}
		}
	}
	return []byte(vector(samples...))
}

// BenchmarkObserve reads the demand of 10,000 workloads with three replicas each, and
// compares with reading the answer's JSON alone.
func BenchmarkObserve(b *testing.B) {
	var fleet planner.Fleet
	for i := range 10_000 {
		w := workload(fmt.Sprintf("team-%d", i%100), fmt.Sprintf("w%d", i), 3)
		w.Model = fmt.Sprintf("model-%d", i)
		fleet.Workloads = append(fleet.Workloads, w)
	}
	answer, empty := answerFor(&fleet), []byte(vector())
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.Contains(r.FormValue("query"), `"age"`) {
			_, _ = w.Write(answer)
		} else {
			_, _ = w.Write(empty)
		}
	}))
	defer s.Close()
	o, err := New(Config{URL: s.URL, Window: time.Hour}, everywhere(Series{Engine: VLLM}), nil, nil)
	require.NoError(b, err)
	b.ReportAllocs()
	var bare, whole time.Duration
	for b.Loop() {
		began := time.Now()
		var document struct {
			Data struct {
				Result []struct {
					Metric map[string]string
					Value  [2]any
				}
			}
		}
		require.NoError(b, json.Unmarshal(answer, &document))
		read := time.Now()
		observations, err := o.Observe(b.Context(), fleet)
		whole += time.Since(read)
		bare += read.Sub(began)
		require.NoError(b, err)
		require.Equal(b, of(3.75), observations[0].CompletionRate)
	}
	b.ReportMetric(float64(whole)/float64(bare), "×JSON")
	b.ReportMetric(float64(whole.Milliseconds())/float64(b.N), "ms/observe")
}
