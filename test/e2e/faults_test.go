//go:build e2e && linux

package e2e

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/poolwright/poolwright/internal/fakeengine"
	poolwrightv1 "github.com/poolwright/poolwright/proto/poolwright/v1"
)

// removals are the changes among decisions that take replicas away.
func removals(decisions []*poolwrightv1.Decision) []change {
	var some []change
	for _, c := range carriedOut(decisions) {
		if c.to < c.from {
			some = append(some, c)
		}
	}
	return some
}

// losses are the changes of decisions after which a target has fewer replicas than before
// all of them.
func losses(decisions []*poolwrightv1.Decision) []change {
	var some []change
	for _, changes := range byTarget(carriedOut(decisions)) {
		for _, c := range changes {
			if c.to < changes[0].from {
				some = append(some, c)
			}
		}
	}
	return some
}

// recovered checks that, once all pods have been scraped again, the program knows all demand
// within two cycles, and asks for as many replicas as before.
func (w *world) recovered(before int) {
	w.t.Helper()
	w.until(w.scraped, "all pods are scraped")
	began, after := time.Now(), w.program.last()
	w.until(func() bool {
		for _, d := range w.program.decided(after) {
			if d.GetFailure() == "" && sees(d, len(w.ways)) {
				return true
			}
		}
		return false
	}, "all is measured again: %v", printed{w})
	// A cycle is decided up to one after what it follows.
	assert.LessOrEqual(w.t, time.Since(began), w.pace.cycles(3), "recovery: %v", printed{w.stories(after)})
	require.GreaterOrEqual(w.t, w.witness.total(), before)
}

// scraped tells whether Prometheus has rates of all pods that are ready.
func (w *world) scraped() bool {
	query := url.Values{"query": {fmt.Sprintf(`count(count_over_time({__name__=~"vllm:request_success_total|sglang:num_requests_total"}[%s]) > 1)`, w.pace.window)}}
	request, err := http.NewRequestWithContext(w.t.Context(), http.MethodGet, w.PrometheusURL+"/api/v1/query?"+query.Encode(), http.NoBody)
	require.NoError(w.t, err)
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return false
	}
	defer func() { _ = response.Body.Close() }()
	var answer struct {
		Data struct{ Result []struct{ Value [2]any } }
	}
	err = json.NewDecoder(response.Body).Decode(&answer)
	return err == nil && len(answer.Data.Result) == 1 && answer.Data.Result[0].Value[1] == strconv.Itoa(len(w.readyPods(namespace)))
}

// TestFaults: what fails while load runs takes nothing away, and is over when it is over.
func TestFaults(t *testing.T) { //nolint:tparallel // one fault after the other
	w := newWorld(t, setup{}, "plain", "llmaz")
	w.offer(4*base, w.ways...)
	w.settle()
	before := w.witness.total()
	require.Greater(t, before, len(w.ways))

	t.Run("Prometheus is away", func(t *testing.T) {
		after := w.program.last()
		w.Prometheus.Stop()
		pass(t, w.pace.cycles(40))
		assert.Empty(t, removals(w.program.decided(after)))
		assert.Equal(t, before, w.witness.total())
		require.NoError(t, w.Prometheus.Start(t.Context()))
		w.recovered(before)
	})
	t.Run("the API server is away", func(t *testing.T) {
		after := w.program.last()
		w.APIServer.Stop()
		pass(t, w.pace.cycles(8))
		assert.Empty(t, removals(w.program.decided(after)))
		require.NoError(t, w.APIServer.Start(t.Context()))
		w.recovered(before)
	})
	t.Run("watches expire", func(t *testing.T) {
		after := w.program.last()
		w.APIServer.Stop()
		require.NoError(t, w.ForgetHistory(t.Context()))
		require.NoError(t, w.APIServer.Start(t.Context()))
		w.recovered(before)
		assert.Empty(t, removals(w.program.decided(after)))
	})
	t.Run("half of the pods do not report", func(t *testing.T) {
		after := w.program.last()
		for _, way := range w.ways {
			w.engines.Break(modelOf(way), fakeengine.Silent, func(place int) bool { return place%2 == 0 })
		}
		pass(t, w.pace.scaleDown+w.pace.cycles(5))
		assert.Empty(t, removals(w.program.decided(after)))
		for _, way := range w.ways {
			w.engines.Break(modelOf(way), fakeengine.None, func(int) bool { return true })
		}
		w.recovered(before)
	})
	t.Run("engines start again", func(t *testing.T) {
		w.settle() // what goes from now on goes for this
		after := w.program.last()
		for _, way := range w.ways {
			w.engines.Restart(modelOf(way))
		}
		pass(t, w.pace.scaleDown+w.pace.cycles(5))
		// What is added for the queues that it leaves goes again.
		assert.Empty(t, losses(w.program.decided(after)), "%v", printed{w.stories(after)})
	})
	w.proven()
}
