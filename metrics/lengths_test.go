package metrics

import (
	"fmt"
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/poolwright/poolwright/planner"
)

// tokens is what vLLM reports of n requests of one length each, of prompts and outputs.
func tokens(n, prompt, output float64) string {
	var b strings.Builder
	for _, h := range []struct {
		name string
		each float64
	}{{"vllm:request_prompt_tokens", prompt}, {"vllm:request_generation_tokens", output}} {
		for _, bound := range []float64{50, 100, 200, 500, math.Inf(1)} {
			count := 0.0
			if h.each <= bound {
				count = n
			}
			b.WriteString(line(h.name+"_bucket", fmt.Sprintf(`%s,le="%g"`, ofModel, bound), count))
		}
		b.WriteString(line(h.name+"_sum", ofModel, n*h.each) + line(h.name+"_count", ofModel, n))
	}
	return b.String()
}

// The mean is over requests, not over replicas.
func TestLengthsOfRequests(t *testing.T) {
	t.Parallel()
	p := prometheus(t)
	p.start("lengths", 0, func(s float64) string { return vllmAt(2, 5, 1)(s) + tokens(2*s, 80, 40) })
	p.start("lengths", 1, func(s float64) string { return vllmAt(6, 5, 1)(s) + tokens(6*s, 160, 40) })
	require.Eventually(t, func() bool {
		return p.ask(`count(rate(vllm:request_prompt_tokens_bucket{namespace="lengths"}[3s]))`) == 10
	}, patience, tick)
	near := func(m planner.Measurement, want float64) bool {
		return m.State == planner.Fresh && math.Abs(m.Value-want) < 0.05*want
	}
	fleet := fleetOf("lengths", 2)
	// A quarter of the prompts is between 50 and 100 tokens, the others between 100 and 200;
	// all outputs are up to 50. Where one replica was scraped late, that is so in the next ten windows.
	mean, square := 0.25*75+0.75*150, 0.25*(50*50+50*100+100*100)/3+0.75*(100*100+100*200+200*200)/3
	got := until(t, p.config(Series{Engine: VLLM}), fleet, func(o *planner.Observation) bool {
		return near(o.InputTokens, 140) && near(o.OutputTokens, 40) && fresh(o.InputSCV) && math.Abs(o.InputSCV.Value-(square/mean/mean-1)) < 0.03
	})
	assert.InDelta(t, 1./3, got[0].OutputSCV.Value, 1e-9)

	// Of declared lengths the variation is declared too.
	fleet.Workloads[0].Shape.OutputTokens = 1
	got = until(t, p.config(Series{Engine: VLLM}), fleet, func(o *planner.Observation) bool { return near(o.InputTokens, 140) })
	assert.Equal(t, planner.Missing, got[0].InputSCV.State)

	// One of two replicas does not report any more.
	p.stop("lengths", 0)
	got = until(t, p.config(Series{Engine: VLLM}), fleet, func(o *planner.Observation) bool {
		return o.InputTokens.State == planner.Incomplete && o.InputTokens.Value > 159
	})
	assert.Equal(t, planner.Incomplete, got[0].OutputTokens.State)
}

// Where one replica has had no request, its counters are not there yet.
func TestLengthsOfAReplicaWithoutRequests(t *testing.T) {
	t.Parallel()
	p := prometheus(t)
	idle := func(float64) string {
		return line("sglang:num_running_reqs", ofModel, 0) + line("sglang:num_queue_reqs", ofModel, 0)
	}
	p.start("latelengths", 0, idle)
	p.start("latelengths", 1, func(s float64) string {
		return idle(s) + line("sglang:num_requests_total", ofModel, 6*s) +
			line("sglang:prompt_tokens_total", ofModel, 600*s) + line("sglang:generation_tokens_total", ofModel, 60*s)
	})
	until(t, p.config(Series{Engine: SGLang}), fleetOf("latelengths", 2), func(o *planner.Observation) bool {
		return about(o.InputTokens, 100) && about(o.OutputTokens, 10)
	})
}

// Where the engine does not know the lengths of its requests, a gateway does. It knows
// outputs only of responses that say so.
func TestLengthsFromTheGateway(t *testing.T) {
	t.Parallel()
	p := prometheus(t)
	p.start("usage", 0, func(float64) string {
		return line("llamacpp:requests_processing", "", 1) + line("llamacpp:requests_deferred", "", 0)
	})
	p.start("usage", 1, func(s float64) string {
		return line("inference_objective_request_total", ofModel, 10*s) +
			line("inference_objective_input_tokens_sum", ofModel, 3000*s) + line("inference_objective_input_tokens_count", ofModel, 10*s) +
			line("inference_objective_output_tokens_sum", ofModel, 400*s) + line("inference_objective_output_tokens_count", ofModel, 2*s)
	})
	until(t, p.config(Series{Engine: LlamaCPP, Gateway: &Gateway{}}), fleetOf("usage", 1), func(o *planner.Observation) bool {
		return about(o.InputTokens, 300) && about(o.OutputTokens, 200) && about(o.ArrivalRate, 10)
	})
}

// Lengths are measured once per window, and hold until the next.
func TestLengthsHoldUntilTheNextWindow(t *testing.T) {
	var work int
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.Contains(r.FormValue("query"), `"age"`) {
			_, _ = io.WriteString(w, vector(point(age, "p", "3"), point(completions, "p", "2"), point(running, "p", "4"), point(waiting, "p", "0")))
			return
		}
		work++
		_, _ = io.WriteString(w, vector(point(requests, "p", "2"), point(promptSum, "p", "200"), point(outputSum, "p", "100")))
	}))
	defer server.Close()
	o, err := New(Config{URL: server.URL}, everywhere(Series{Engine: VLLM}), nil, nil)
	require.NoError(t, err)
	var got []planner.Observation
	for range 2 {
		got, err = o.Observe(t.Context(), fleetOf("ns", 1))
		require.NoError(t, err)
	}
	assert.Equal(t, 1, work)
	assert.Equal(t, planner.Observation{
		Workload: "ns/w", Window: time.Minute, CompletionRate: of(2), Running: of(4), Waiting: of(0), Age: 3 * time.Second, InputTokens: of(100), OutputTokens: of(50),
	}, got[0])
}

func TestVariation(t *testing.T) {
	inf := math.Inf(1)
	for _, test := range []struct {
		name string
		of   buckets
		want planner.Measurement
	}{
		{"nothing", nil, planner.Measurement{}},
		{"no requests", buckets{10: 0, inf: 0}, planner.Measurement{}},
		{"uniform from 0", buckets{10: 5, inf: 5}, of(1. / 3)},
		{"uniform over two", buckets{10: 5, 20: 10, inf: 10}, of(1. / 3)},
		{"the last bucket ends at twice its begin", buckets{10: 0, inf: 4}, of(7.*4/(3*9) - 1)},
		{"a count that decreases", buckets{10: 5, 20: 3, inf: 5}, of(1. / 3)},
		{"no bounds", buckets{inf: 5}, planner.Measurement{}},
		{"not a number", buckets{10: math.NaN(), inf: 5}, planner.Measurement{}},
		{"infinite", buckets{10: 1, 20: inf, inf: inf}, planner.Measurement{}},
	} {
		got := test.of.variation()
		assert.Equal(t, test.want.State, got.State, test.name)
		assert.InDelta(t, test.want.Value, got.Value, 1e-12, test.name)
	}
}

func TestMean(t *testing.T) {
	incomplete := func(v float64) planner.Measurement {
		return planner.Measurement{State: planner.Incomplete, Value: v}
	}
	stale := planner.Measurement{State: planner.Stale}
	for _, test := range []struct{ sum, count, want planner.Measurement }{
		{of(6), of(2), of(3)},
		{incomplete(6), of(2), incomplete(3)},
		{of(6), incomplete(2), incomplete(3)},
		{of(6), of(0), planner.Measurement{}},
		{of(6), stale, stale},
		{stale, of(2), stale},
		{of(1e15), of(1e-9), planner.Measurement{State: planner.Invalid}},
	} {
		assert.Equal(t, test.want, mean(test.sum, test.count))
	}
}
