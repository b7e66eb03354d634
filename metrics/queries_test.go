package metrics

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/poolwright/poolwright/planner"
)

// counted forwards to Prometheus and counts.
func counted(t *testing.T, p *server) (address string, count *atomic.Int64) {
	t.Helper()
	to, err := url.Parse(p.url)
	require.NoError(t, err)
	count = new(atomic.Int64)
	forward := httputil.NewSingleHostReverseProxy(to)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		count.Add(1)
		forward.ServeHTTP(w, r)
	}))
	t.Cleanup(s.Close)
	return s.URL, count
}

// mixed are workloads of every engine, all with gateways, of which one has replicas.
func mixed(n int) (planner.Fleet, map[string]Series) {
	fleet, series := fleetOf("fleet", 1), map[string]Series{"fleet/w": {Engine: VLLM}}
	for i := range n - 1 {
		w := workload(fmt.Sprintf("team-%d", i%50), fmt.Sprintf("w%d", i), 1)
		w.Model = fmt.Sprintf("model-%d", i)
		fleet.Workloads = append(fleet.Workloads, w)
		series[w.QualifiedName()] = Series{Engine: Engines()[i%len(Engines())], Selector: Labels{"app": w.Name}, Gateway: &Gateway{}}
	}
	return fleet, series
}

func TestNumberOfQueriesDoesNotGrow(t *testing.T) {
	t.Parallel()
	p := prometheus(t)
	p.start("fleet", 0, vllmAt(4, 5, 1))
	measured := func(workloads int) (queries int64) {
		c := p.config(Series{Engine: VLLM})
		var count *atomic.Int64
		c.URL, count = counted(t, p)
		fleet, series := mixed(workloads)
		o, err := New(c.Config, func(w *planner.Workload) Series { return series[w.QualifiedName()] }, nil, func(r Report) {
			assert.Empty(t, r.Failures)
			queries = int64(r.Queries)
		})
		require.NoError(t, err)
		before := count.Load()
		got, err := o.Observe(t.Context(), fleet)
		require.NoError(t, err)
		assert.Len(t, got, workloads)
		assert.Equal(t, queries, count.Load()-before, "what is reported is what was asked")
		return queries
	}
	assert.Equal(t, int64(12), measured(10), "demand of six engines and gateways, and work of five engines")
	assert.Equal(t, int64(12), measured(1000))
	until(t, p.config(Series{Engine: VLLM}), fleetOf("fleet", 1), func(o *planner.Observation) bool { return about(o.CompletionRate, 4) })
}

func TestQueryLooksAtTheConfiguredSeries(t *testing.T) {
	g := group{
		engine: inferenceGateway(), by: []string{"namespace", "pod"}, selector: Labels{"cluster": `a"b`, "az": "1"}, window: time.Minute,
	}
	g.engine.present, g.engine.demand = g.engine.present[:1], []metric{g.engine.demand[0], g.engine.demand[2]}
	assert.Equal(t, `((label_replace(time() - max by (namespace, pod) (timestamp(inference_objective_request_total{az="1",cluster="a\"b"})), "poolwright_quantity", "age", "", "")`+
		` or label_replace(max by (namespace, pod) (present_over_time(inference_objective_request_total{az="1",cluster="a\"b"}[5m])), "poolwright_quantity", "known", "", ""))`+
		` or (label_replace(sum by (namespace, pod) (rate(inference_objective_request_total{az="1",cluster="a\"b"}[1m]) or rate(inference_model_request_total{az="1",cluster="a\"b"}[1m])), "poolwright_quantity", "arrivals", "", "")`+
		` or label_replace(sum by (namespace, pod) (rate(inference_objective_request_error_total{az="1",cluster="a\"b",error_code=~"ServiceUnavailable|ResourceExhausted|InferencePoolResourceExhausted"}[1m])`+
		` or rate(inference_model_request_error_total{az="1",cluster="a\"b",error_code=~"ServiceUnavailable|ResourceExhausted|InferencePoolResourceExhausted"}[1m])), "poolwright_quantity", "rejections", "", "")))`,
		g.demandQuery())
}

func TestCompletionsOfLateAreAskedForWhereTheWindowIsLonger(t *testing.T) {
	c := Config{Window: time.Minute, ScrapeInterval: 15 * time.Second}
	g := group{engine: vllm(), by: []string{"pod"}, window: c.Window, recentWindow: c.recentWindow(&planner.Fleet{})}
	assert.Contains(t, g.demandQuery(), `label_replace(sum by (pod) (rate(vllm:request_success_total{}[30s])), "poolwright_quantity", "recent_completions", "", "")`)
	c.ScrapeInterval = 30 * time.Second
	g.recentWindow = c.recentWindow(&planner.Fleet{})
	assert.NotContains(t, g.demandQuery(), "recent_completions")
}
