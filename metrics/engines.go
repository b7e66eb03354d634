package metrics

import (
	"slices"
	"strings"
)

// Engine names a kind of server that reports metrics.
type Engine string

// Engines whose metrics are known. TensorRT-LLM has one set of names within Triton and
// another in its own server.
const (
	VLLM        Engine = "vllm"
	SGLang      Engine = "sglang"
	TGI         Engine = "tgi"
	LlamaCPP    Engine = "llamacpp"
	TensorRTLLM Engine = "tensorrt-llm"
	TRTLLMServe Engine = "trtllm-serve"
)

// gateway is the endpoint picker of the Gateway API's inference extension, which sees
// requests before engines do.
const gateway Engine = "gateway"

// quantity is what a query returns of each replica.
type quantity int

// Quantities of demand.
const (
	// age is that of the last scrape, in seconds; none where it failed. known is 1 for a
	// replica that has been scraped of late.
	age quantity = iota
	known
	// arrivals, rejections, completions and generation are rates per second, of requests
	// and generated tokens.
	arrivals
	rejections
	completions
	generation
	// recentCompletions is the rate of completions, or of generated tokens, since about the last
	// cycle.
	recentCompletions
	// running and waiting are requests now.
	running
	waiting
)

// Quantities of work, over the window.
const (
	// runningMean and waitingMean are mean numbers of requests.
	runningMean quantity = iota + waiting + 1
	waitingMean
	// requests is a rate per second; the others are rates at which sums and counts of
	// means grow. Tokens are summed over the same requests.
	requests
	promptSum
	// answers are the requests that outputSum is of, where those are not all.
	answers
	outputSum
	itlSum
	itlCount
	ttftSum
	ttftCount
	prefixHits
	prefixQueries
	quantities

	// promptBuckets and outputBuckets are rates of the buckets of histograms of tokens. Of
	// these the query returns those of all replicas of a workload together.
	promptBuckets
	outputBuckets
)

// allQuantities are those that each replica has.
func allQuantities() []quantity {
	all := make([]quantity, quantities)
	for q := range all {
		all[q] = quantity(q)
	}
	return all
}

// histogram is the names of the histogram that a sum of tokens is of, in its versions; none
// where there is none.
func (e *engine) histogram(q quantity) []string {
	var names []string
	for _, m := range slices.Concat(e.demand, e.work) {
		for _, name := range m.names {
			if base, ok := strings.CutSuffix(name, "_sum"); ok && m.quantity == q {
				names = append(names, base)
			}
		}
	}
	return names
}

// String is how a query marks the quantity.
func (q quantity) String() string {
	return [...]string{
		"age", "known", "arrivals", "rejections", "completions", "generation", "recent_completions", "running", "waiting",
		"running_mean", "waiting_mean", "requests", "prompt_sum", "answers", "output_sum",
		"itl_sum", "itl_count", "ttft_sum", "ttft_count", "prefix_hits", "prefix_queries",
		"", "prompt_buckets", "output_buckets",
	}[q]
}

// metric says where a quantity is found.
type metric struct {
	quantity quantity
	// names are of the same metric in different versions; where a replica reports
	// several, the first counts.
	names []string
	// only picks among the series of a name; zero = all.
	only matcher
	// late: it appears with its first event. Where replicas of a workload report it,
	// others that do not have had none.
	late bool
}

// completes tells whether the metric is of what replicas complete.
func (m *metric) completes() bool { return m.quantity == completions || m.quantity == generation }

// of is another quantity of the same metric.
func (m *metric) of(q quantity) *metric {
	other := *m
	other.quantity = q
	return &other
}

// matcher is a label and the values that it may have.
type matcher struct {
	label  string
	values []string
}

// engine is what is known of the metrics of an engine.
type engine struct {
	name Engine
	// modelLabel is the label that names the model; empty where none does.
	modelLabel string
	// present is a metric that every replica reports from its start.
	present []string
	// demand and work are asked for in a query each.
	demand, work []metric
}

// engines is the table of all engines, by name. Its sources stand in docs/metrics.md.
func engines() []engine {
	return []engine{inferenceGateway(), llamaCPP(), sglang(), tensorRTLLM(), tgi(), trtllmServe(), vllm()}
}

func vllm() engine {
	runningNames, waitingNames := []string{"vllm:num_requests_running"}, []string{"vllm:num_requests_waiting"}
	success := []string{"vllm:request_success_total"}
	return engine{
		name: VLLM, modelLabel: "model_name", present: runningNames,
		demand: []metric{
			{quantity: completions, names: success},
			{quantity: running, names: runningNames},
			{quantity: waiting, names: waitingNames},
		},
		work: []metric{
			{quantity: runningMean, names: runningNames},
			{quantity: waitingMean, names: waitingNames},
			{quantity: requests, names: []string{"vllm:request_prompt_tokens_count"}},
			{quantity: promptSum, names: []string{"vllm:request_prompt_tokens_sum"}},
			{quantity: outputSum, names: []string{"vllm:request_generation_tokens_sum"}},
			{quantity: itlSum, names: []string{"vllm:inter_token_latency_seconds_sum", "vllm:time_per_output_token_seconds_sum"}},
			{quantity: itlCount, names: []string{"vllm:inter_token_latency_seconds_count", "vllm:time_per_output_token_seconds_count"}},
			{quantity: ttftSum, names: []string{"vllm:time_to_first_token_seconds_sum"}},
			{quantity: ttftCount, names: []string{"vllm:time_to_first_token_seconds_count"}},
			{quantity: prefixHits, names: []string{"vllm:prefix_cache_hits_total", "vllm:gpu_prefix_cache_hits_total"}},
			{quantity: prefixQueries, names: []string{"vllm:prefix_cache_queries_total", "vllm:gpu_prefix_cache_queries_total"}},
		},
	}
}

func sglang() engine {
	runningNames, waitingNames := []string{"sglang:num_running_reqs"}, []string{"sglang:num_queue_reqs"}
	finished, prompts := []string{"sglang:num_requests_total"}, []string{"sglang:prompt_tokens_total"}
	return engine{
		name: SGLang, modelLabel: "model_name", present: runningNames,
		demand: []metric{
			{quantity: completions, names: finished, late: true},
			{quantity: running, names: runningNames},
			{quantity: waiting, names: waitingNames},
		},
		work: []metric{
			{quantity: runningMean, names: runningNames},
			{quantity: waitingMean, names: waitingNames},
			{quantity: requests, names: finished, late: true},
			{quantity: promptSum, names: prompts, late: true},
			{quantity: outputSum, names: []string{"sglang:generation_tokens_total"}, late: true},
			{quantity: itlSum, names: []string{"sglang:inter_token_latency_seconds_sum", "sglang:time_per_output_token_seconds_sum"}},
			{quantity: itlCount, names: []string{"sglang:inter_token_latency_seconds_count", "sglang:time_per_output_token_seconds_count"}},
			{quantity: ttftSum, names: []string{"sglang:time_to_first_token_seconds_sum"}},
			{quantity: ttftCount, names: []string{"sglang:time_to_first_token_seconds_count"}},
			{quantity: prefixHits, names: []string{"sglang:cached_tokens_total"}},
			{quantity: prefixQueries, names: prompts},
		},
	}
}

func tgi() engine {
	batch, queue := []string{"tgi_batch_current_size"}, []string{"tgi_queue_size"}
	success := []string{"tgi_request_success"}
	return engine{
		name: TGI, present: []string{"tgi_batch_max_total_tokens", "tgi_queue_size"},
		demand: []metric{
			{quantity: arrivals, names: []string{"tgi_request_count"}, late: true},
			{quantity: completions, names: success, late: true},
			{quantity: running, names: batch, late: true},
			{quantity: waiting, names: queue, late: true},
		},
		work: []metric{
			{quantity: runningMean, names: batch},
			{quantity: waitingMean, names: queue},
			{quantity: requests, names: success, late: true},
			{quantity: promptSum, names: []string{"tgi_request_input_length_sum"}, late: true},
			{quantity: outputSum, names: []string{"tgi_request_generated_tokens_sum"}, late: true},
			{quantity: itlSum, names: []string{"tgi_request_mean_time_per_token_duration_sum"}},
			{quantity: itlCount, names: []string{"tgi_request_mean_time_per_token_duration_count"}},
		},
	}
}

func llamaCPP() engine {
	processing := []string{"llamacpp:requests_processing"}
	return engine{
		name: LlamaCPP, present: processing,
		demand: []metric{
			{quantity: generation, names: []string{"llamacpp:tokens_predicted_total"}},
			{quantity: running, names: processing},
			{quantity: waiting, names: []string{"llamacpp:requests_deferred"}},
		},
	}
}

func tensorRTLLM() engine {
	batcher := []string{"nv_trt_llm_request_metrics"}
	return engine{
		name: TensorRTLLM, modelLabel: "model", present: batcher,
		demand: []metric{
			{quantity: completions, names: []string{"nv_inference_request_success"}},
			{quantity: running, names: batcher, only: matcher{"request_type", []string{"scheduled"}}},
			{quantity: waiting, names: batcher, only: matcher{"request_type", []string{"waiting"}}},
		},
		work: []metric{
			{quantity: requests, names: []string{"nv_llm_input_token_len_count"}, late: true},
			{quantity: promptSum, names: []string{"nv_llm_input_token_len_sum"}, late: true},
			{quantity: outputSum, names: []string{"nv_llm_output_token_len_sum"}, late: true},
		},
	}
}

func trtllmServe() engine {
	runningNames, waitingNames := []string{"trtllm_num_requests_running"}, []string{"trtllm_num_requests_waiting"}
	success := []string{"trtllm_request_success_total"}
	return engine{
		name: TRTLLMServe, modelLabel: "model_name", present: runningNames,
		demand: []metric{
			{quantity: completions, names: success, late: true},
			{quantity: running, names: runningNames},
			{quantity: waiting, names: waitingNames},
		},
		work: []metric{
			{quantity: runningMean, names: runningNames},
			{quantity: waitingMean, names: waitingNames},
			{quantity: requests, names: success, late: true},
			{quantity: promptSum, names: []string{"trtllm_prompt_tokens_total"}, late: true},
			{quantity: outputSum, names: []string{"trtllm_generation_tokens_total"}, late: true},
			{quantity: itlSum, names: []string{"trtllm_time_per_output_token_seconds_sum"}},
			{quantity: itlCount, names: []string{"trtllm_time_per_output_token_seconds_count"}},
			{quantity: ttftSum, names: []string{"trtllm_time_to_first_token_seconds_sum"}},
			{quantity: ttftCount, names: []string{"trtllm_time_to_first_token_seconds_count"}},
		},
	}
}

func inferenceGateway() engine {
	total := []string{"inference_objective_request_total", "inference_model_request_total"}
	errors := []string{"inference_objective_request_error_total", "inference_model_request_error_total"}
	kthena := []string{"kthena_router_requests_total"}
	return engine{
		name: gateway, modelLabel: "model_name", present: slices.Concat(total, errors, kthena),
		demand: []metric{
			{quantity: arrivals, names: total, late: true},
			// The router of Kthena counts all that it answers, and answers 404 where it finds no
			// replica. What its clients did wrong, and what a rate limit refuses, is no demand.
			{quantity: arrivals, names: kthena, late: true, only: matcher{"status_code", []string{"200", "404", "500", "502", "503", "504"}}},
			// Requests that no replica could take are errors and not requests.
			{quantity: rejections, names: errors, late: true, only: matcher{"error_code", []string{"ServiceUnavailable", "ResourceExhausted", "InferencePoolResourceExhausted"}}},
			{quantity: waiting, names: []string{"inference_extension_flow_control_queue_size", "kthena_router_fairness_queue_size"}, late: true},
			{quantity: requests, names: []string{"inference_objective_input_tokens_count", "inference_model_input_tokens_count"}, late: true},
			{quantity: promptSum, names: []string{"inference_objective_input_tokens_sum", "inference_model_input_tokens_sum"}, late: true},
			// Responses without a usage count are not in it.
			{quantity: answers, names: []string{"inference_objective_output_tokens_count", "inference_model_output_tokens_count"}, late: true},
			{quantity: outputSum, names: []string{"inference_objective_output_tokens_sum", "inference_model_output_tokens_sum"}, late: true},
		},
	}
}
