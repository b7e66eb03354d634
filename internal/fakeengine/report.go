package fakeengine

import (
	"math"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/poolwright/poolwright/metrics"
	"github.com/poolwright/poolwright/simulation/replica"
)

// names are what an engine calls what it reports; empty = it does not.
type names struct {
	// modelLabel has the model's name.
	modelLabel string
	// running and waiting are gauges of requests, with labels of their own.
	running, waiting             string
	runningLabels, waitingLabels prometheus.Labels
	// arrived and completed count requests. A late one appears with its first event.
	arrived, completed string
	late               bool
	// prompt and generation are histograms of tokens per request, promptTotal and
	// generationTotal count tokens.
	prompt, generation, promptTotal, generationTotal string
	// ttft and itl are histograms in seconds.
	ttft, itl string
	// hits and queries count tokens looked up in the prefix cache.
	hits, queries string
}

// engines are the names that docs/metrics.md lists with their sources.
func engines() map[metrics.Engine]names {
	return map[metrics.Engine]names{
		metrics.VLLM: {
			modelLabel: "model_name",
			running:    "vllm:num_requests_running", waiting: "vllm:num_requests_waiting",
			completed: "vllm:request_success_total",
			prompt:    "vllm:request_prompt_tokens", generation: "vllm:request_generation_tokens",
			ttft: "vllm:time_to_first_token_seconds", itl: "vllm:inter_token_latency_seconds",
			hits: "vllm:prefix_cache_hits_total", queries: "vllm:prefix_cache_queries_total",
		},
		metrics.SGLang: {
			modelLabel: "model_name",
			running:    "sglang:num_running_reqs", waiting: "sglang:num_queue_reqs",
			completed: "sglang:num_requests_total", late: true,
			promptTotal: "sglang:prompt_tokens_total", generationTotal: "sglang:generation_tokens_total",
			ttft: "sglang:time_to_first_token_seconds", itl: "sglang:inter_token_latency_seconds",
			hits: "sglang:cached_tokens_total",
		},
		metrics.TGI: {
			running: "tgi_batch_current_size", waiting: "tgi_queue_size",
			arrived: "tgi_request_count", completed: "tgi_request_success", late: true,
			prompt: "tgi_request_input_length", generation: "tgi_request_generated_tokens",
			itl: "tgi_request_mean_time_per_token_duration",
		},
		metrics.LlamaCPP: {
			running: "llamacpp:requests_processing", waiting: "llamacpp:requests_deferred",
			generationTotal: "llamacpp:tokens_predicted_total",
		},
		metrics.TensorRTLLM: {
			modelLabel: "model",
			running:    "nv_trt_llm_request_metrics", runningLabels: prometheus.Labels{"request_type": "scheduled"},
			waiting: "nv_trt_llm_request_metrics", waitingLabels: prometheus.Labels{"request_type": "waiting"},
			completed: "nv_inference_request_success",
		},
		metrics.TRTLLMServe: {
			modelLabel: "model_name",
			running:    "trtllm_num_requests_running", waiting: "trtllm_num_requests_waiting",
			completed: "trtllm_request_success_total", late: true,
			promptTotal: "trtllm_prompt_tokens_total", generationTotal: "trtllm_generation_tokens_total",
			ttft: "trtllm_time_to_first_token_seconds", itl: "trtllm_time_per_output_token_seconds",
		},
	}
}

// report is what one process of an engine has counted.
type report struct {
	registry *prometheus.Registry
	labels   prometheus.Labels

	arrived, completed                      *lateCounter
	promptTotal, generationTotal            prometheus.Counter
	hits, queries                           prometheus.Counter
	prompt, generation, ttft, interTokenLag prometheus.Histogram
}

// newReport counts from zero. The gauges are asked for at each scrape.
func newReport(e *Engine, running, waiting func() float64) *report {
	n := engines()[e.Kind]
	r := &report{registry: prometheus.NewRegistry(), labels: prometheus.Labels{}}
	if n.modelLabel != "" {
		r.labels[n.modelLabel] = e.Model
	}
	r.gauge(n.running, n.runningLabels, running)
	r.gauge(n.waiting, n.waitingLabels, waiting)
	r.arrived, r.completed = r.lateCounter(n.arrived, n.late), r.lateCounter(n.completed, n.late)
	r.promptTotal, r.generationTotal = r.counter(n.promptTotal), r.counter(n.generationTotal)
	r.hits, r.queries = r.counter(n.hits), r.counter(n.queries)
	r.prompt, r.generation = r.histogram(n.prompt, tokenBuckets()), r.histogram(n.generation, tokenBuckets())
	r.ttft, r.interTokenLag = r.histogram(n.ttft, ttftBuckets()), r.histogram(n.itl, itlBuckets())
	return r
}

// Buckets are those of vLLM.
func tokenBuckets() []float64 {
	return []float64{1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10000, 20000}
}

func ttftBuckets() []float64 {
	return []float64{0.001, 0.005, 0.01, 0.02, 0.04, 0.06, 0.08, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10, 20, 40, 80}
}

func itlBuckets() []float64 {
	return []float64{0.01, 0.025, 0.05, 0.075, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.75, 1, 2.5}
}

func (r *report) gauge(name string, labels prometheus.Labels, value func() float64) {
	all := prometheus.Labels{}
	for _, some := range []prometheus.Labels{r.labels, labels} {
		for k, v := range some {
			all[k] = v
		}
	}
	r.registry.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: name, ConstLabels: all}, value))
}

// counter is one that nobody sees where it has no name.
func (r *report) counter(name string) prometheus.Counter {
	c := prometheus.NewCounter(prometheus.CounterOpts{Name: name, ConstLabels: r.labels})
	if name != "" {
		r.registry.MustRegister(c)
	}
	return c
}

// lateCounter appears with its first event.
type lateCounter struct {
	prometheus.Counter
	appear func()
}

func (r *report) lateCounter(name string, late bool) *lateCounter {
	if !late || name == "" {
		return &lateCounter{Counter: r.counter(name)}
	}
	c := prometheus.NewCounter(prometheus.CounterOpts{Name: name, ConstLabels: r.labels})
	return &lateCounter{Counter: c, appear: func() { r.registry.MustRegister(c) }}
}

// Inc implements [prometheus.Counter].
func (c *lateCounter) Inc() {
	if c.appear != nil {
		c.appear()
		c.appear = nil
	}
	c.Counter.Inc()
}

func (r *report) histogram(name string, buckets []float64) prometheus.Histogram {
	h := prometheus.NewHistogram(prometheus.HistogramOpts{Name: name, ConstLabels: r.labels, Buckets: buckets})
	if name != "" {
		r.registry.MustRegister(h)
	}
	return h
}

// complete counts a request that has ended.
func (r *report) complete(c *replica.Completion) {
	input, output := float64(c.Input), float64(c.Output)
	r.completed.Inc()
	r.prompt.Observe(input)
	r.generation.Observe(output)
	r.promptTotal.Add(input)
	r.generationTotal.Add(output)
	r.queries.Add(input)
	r.hits.Add(float64(c.Cached))
	r.ttft.Observe(float64(c.TTFT()))
	if c.Output > 1 {
		r.interTokenLag.Observe(float64(c.ITL()))
	}
}

// orNaN is a value, or that of an engine that has lost count.
func orNaN(value int, lost bool) float64 {
	if lost {
		return math.NaN()
	}
	return float64(value)
}
