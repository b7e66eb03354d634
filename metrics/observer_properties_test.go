package metrics

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/poolwright/poolwright/planner"
	"github.com/poolwright/poolwright/queueing"
)

// observe answers the queries of a fleet with those of the samples that they ask for, and
// returns what follows, by name.
func observe(t *testing.T, fleet planner.Fleet, samples []string) []planner.Observation {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var asked []string
		for _, s := range samples {
			if mark := regexp.MustCompile(quantityLabel + `":("[a-z_]+")`).FindStringSubmatch(s); strings.Contains(r.FormValue("query"), mark[1]) {
				asked = append(asked, s)
			}
		}
		_, _ = io.WriteString(w, vector(asked...))
	}))
	defer server.Close()
	o, err := New(Config{URL: server.URL}, everywhere(Series{Engine: VLLM}), nil, nil)
	require.NoError(t, err)
	got, err := o.Observe(t.Context(), fleet)
	require.NoError(t, err)
	slices.SortFunc(got, func(a, b planner.Observation) int { return strings.Compare(a.Workload, b.Workload) })
	return got
}

func TestOrderChangesNothing(t *testing.T) {
	fleet := planner.Fleet{Workloads: []planner.Workload{workload("ns", "a", 3), workload("ns", "b", 1), workload("ns", "c", 1)}}
	var samples []string
	for i, target := range []string{"alpha", "beta", "gamma"} {
		v := &fleet.Workloads[i].Variants[0]
		v.ScaleTarget.Name, v.Replica = target, &queueing.Replica{}
		for pod, value := range []string{"0.1", "0.2", "0.3"} {
			name := fmt.Sprintf("%s-%d", target, pod)
			samples = append(samples, point(age, name, "1"), point(running, name, value), point(completions, name, value),
				point(runningMean, name, value), point(requests, name, value), point(promptSum, name, value))
		}
	}
	samples = append(samples, point(waiting, "beta-0", "NaN"), point(waiting, "gamma-0", "7"))
	want := observe(t, fleet, samples)
	require.Equal(t, []planner.MeasurementState{planner.Fresh, planner.Missing}, []planner.MeasurementState{want[0].Running.State, want[0].Waiting.State})
	require.InDelta(t, 0.6, want[0].Running.Value, 1e-9)
	require.Equal(t, []planner.Measurement{{State: planner.Invalid}, of(7)}, []planner.Measurement{want[1].Waiting, want[2].Waiting})
	require.Len(t, want[2].Variants, 1)
	random := rand.New(rand.NewPCG(1, 2))
	for range 20 {
		random.Shuffle(len(samples), func(i, j int) { samples[i], samples[j] = samples[j], samples[i] })
		random.Shuffle(len(fleet.Workloads), func(i, j int) {
			fleet.Workloads[i], fleet.Workloads[j] = fleet.Workloads[j], fleet.Workloads[i]
		})
		assert.Equal(t, want, observe(t, fleet, samples))
	}
}

// FuzzAnswer reads whatever Prometheus, or who is in its place, may answer.
func FuzzAnswer(f *testing.F) {
	f.Add(vector(point(age, "p", "1"), point(completions, "p", "2"), point(itlSum, "p", "NaN")))
	f.Add(vector(point(known, "", "-Inf")))
	f.Add(`{"status":"error","errorType":"timeout","error":"too slow"}`)
	f.Add(`{"status":"success","data":{"resultType":"vector","result":[{"metric":{},"histogram":[1,{}]}]}}`)
	fleet := fleetOf("ns", 1)
	fleet.Workloads[0].Variants[0].Replica = &queueing.Replica{}
	c, series := Config{URL: "http://prometheus"}, everywhere(Series{Engine: VLLM, Gateway: &Gateway{}})
	f.Fuzz(func(t *testing.T, text string) {
		o, err := New(c, series, nil, nil)
		require.NoError(t, err)
		o.client.api = canned(text)
		got, err := o.Observe(t.Context(), fleet)
		if err != nil {
			return
		}
		for _, m := range []planner.Measurement{got[0].ArrivalRate, got[0].CompletionRate, got[0].Running, got[0].Waiting} {
			switch m.State {
			case planner.Fresh, planner.Incomplete:
				assert.GreaterOrEqual(t, m.Value, 0.0)
			default:
				assert.Zero(t, m.Value)
			}
		}
		for _, v := range got[0].Variants {
			assert.Equal(t, queueing.Seconds(time.Minute.Seconds()), v.Replica.Window)
			assert.False(t, math.IsNaN(v.Replica.ITL.Value) || v.Replica.ITL.Value < 0)
		}
		_, err = json.Marshal(got)
		assert.NoError(t, err, "a ledger keeps it")
	})
}
