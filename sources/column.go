package sources

import (
	"slices"
	"strings"
	"unicode"
)

// meaning is what a column of a table of measurements tells.
type meaning uint8

// The meanings. What was asked for and what came of it are told apart where files
// have both: a rate that was asked for makes an open loop, one that was reached may
// be that of any test.
const (
	unknownMeaning meaning = iota
	ttftColumn
	itlColumn
	inputColumn
	outputColumn
	contextColumn
	clientsColumn         // clients of a closed loop
	measuredClientsColumn // mean number of requests in the system
	offeredRateColumn
	reachedRateColumn
	batchColumn // decoding batch, or running requests of an open loop
	waitingColumn
	inputSCVColumn
	outputSCVColumn
	prefixHitColumn
	weightColumn
	groupColumn
	strategyColumn // how requests were sent, in words
	totalInputColumn
	totalOutputColumn
	completedColumn
	maxBatchColumn // settings of the engine
	maxBatchedTokensColumn
	kvCacheTokensColumn
	configurationColumn // tells configurations apart
	ignoredColumn
)

// dimension is what a quantity is counted in.
type dimension uint8

const (
	plain dimension = iota
	inTime
	inRate
	inTokens
)

// unit is a unit of measurement. Factor converts to milliseconds, requests/s or
// tokens.
type unit struct {
	name   string
	of     dimension
	factor float64
}

// unitOf finds the unit that a name ends in, and how many words it takes.
func unitOf(words []string) (u unit, n int) {
	if len(words) >= 2 && words[len(words)-2] == "per" {
		switch words[len(words)-1] {
		case "s", "sec", "second":
			return unit{"requests/s", inRate, 1}, 2
		case "min", "minute":
			return unit{"requests/min", inRate, 1.0 / 60}, 2
		}
	}
	if len(words) == 0 {
		return unit{}, 0
	}
	switch words[len(words)-1] {
	case "us", "µs", "usec", "microsecond", "microseconds":
		return unit{"µs", inTime, 1e-3}, 1
	case "ms", "msec", "millisecond", "milliseconds":
		return unit{"ms", inTime, 1}, 1
	case "s", "sec", "secs", "second", "seconds":
		return unit{"s", inTime, 1e3}, 1
	case "rps", "qps":
		return unit{"requests/s", inRate, 1}, 1
	case "rpm":
		return unit{"requests/min", inRate, 1.0 / 60}, 1
	case "tokens", "token", "tok", "toks", "length", "len":
		return unit{"tokens", inTokens, 1}, 1
	}
	return unit{}, 0
}

// known is a meaning and how good a name for it is: the lower the rank, the better.
type known struct {
	meaning meaning
	rank    int
	// units: without a unit the name may mean something else.
	units bool
}

// dimension is what a column of a meaning is counted in.
func (m meaning) dimension() dimension {
	switch m {
	case ttftColumn, itlColumn:
		return inTime
	case offeredRateColumn, reachedRateColumn:
		return inRate
	case inputColumn, outputColumn, contextColumn, totalInputColumn, totalOutputColumn, maxBatchedTokensColumn, kvCacheTokensColumn:
		return inTokens
	default:
		return plain
	}
}

// vocabulary is the names of columns that are understood, in small letters, with
// underscores between words.
type vocabulary struct {
	// names are without unit and statistic.
	names map[string]known
	// whole names would mean something else without their last word.
	whole map[string]known
}

func newVocabulary() vocabulary {
	v := vocabulary{names: make(map[string]known), whole: make(map[string]known)}
	v.measured()
	v.configured()
	v.whole["completed"] = known{meaning: completedColumn}
	v.whole["kv_tokens"] = known{meaning: kvCacheTokensColumn, rank: 9}
	v.whole["prefill_tokens"] = known{meaning: inputColumn, rank: 9}
	return v
}

// add lists names of a meaning, the best first.
func (v *vocabulary) add(m meaning, names ...string) {
	for rank, name := range names {
		v.names[name] = known{meaning: m, rank: rank}
	}
}

// addWithUnit lists further names, which need a unit.
func (v *vocabulary) addWithUnit(m meaning, names ...string) {
	for rank, name := range names {
		v.names[name] = known{meaning: m, rank: 100 + rank, units: true}
	}
}

// measured lists what is measured and under which load.
func (v *vocabulary) measured() {
	v.add(ttftColumn, "ttft", "time_to_first_token", "first_token_latency", "ttft_latency")
	v.addWithUnit(ttftColumn, "prefill", "prefill_time", "prefill_latency")
	// The mean over requests of their mean comes before the mean over all tokens.
	v.add(itlColumn, "tpot", "time_per_output_token", "itl", "inter_token_latency", "intertoken_latency", "tbt", "time_between_tokens")
	v.addWithUnit(itlColumn, "decode", "decode_time", "decode_latency", "token_latency")
	v.add(inputColumn, "input", "in", "isl", "prompt", "token_metrics_input", "random_input", "input_sequence")
	v.add(outputColumn, "output", "out", "osl", "completion", "generated", "generation", "token_metrics_output", "random_output", "output_sequence")
	v.add(contextColumn, "context", "ctx", "context_per_request")
	v.addWithUnit(contextColumn, "kv")
	v.add(clientsColumn, "max_concurrency", "concurrency", "num_concurrent", "concurrent", "clients", "users", "virtual_users")
	v.add(measuredClientsColumn, "server_throughput_concurrency", "request_concurrency")
	v.add(offeredRateColumn, "request_rate", "arrival_rate", "offered_rate", "target_rate", "rate", "lambda")
	v.addWithUnit(offeredRateColumn, "offered", "target", "arrival")
	v.add(reachedRateColumn, "request_throughput", "achieved_rate")
	v.addWithUnit(reachedRateColumn, "achieved", "completed", "requests", "req", "server_throughput_requests", "throughput", "")
	v.add(batchColumn, "batch", "batch_size", "running", "bs")
	v.add(waitingColumn, "waiting", "queue", "queued", "queue_size", "queue_length")
	v.add(inputSCVColumn, "input_tokens_scv", "input_scv", "in_scv", "isl_scv", "prompt_tokens_scv")
	v.add(outputSCVColumn, "output_tokens_scv", "output_scv", "out_scv", "osl_scv")
	v.add(prefixHitColumn, "prefix_hit_ratio", "prefix_cache_hit_ratio", "prefix_cache_hit_rate", "prefix_hit_rate", "cache_hit_rate")
	v.add(weightColumn, "weight")
	v.add(groupColumn, "group", "workload", "scenario", "dataset", "dataset_name")
	v.add(strategyColumn, "strategy", "benchmark_strategy")
	v.add(totalInputColumn, "total_input")
	v.add(totalOutputColumn, "total_output", "total_generated")
	v.add(completedColumn, "completed_requests", "successful_requests", "request_counts_successful")
	v.add(ignoredColumn, "ignore", "ignored")
}

// configured lists what is the same in all measurements of one replica.
func (v *vocabulary) configured() {
	v.add(maxBatchColumn, "max_num_seqs", "max_batch", "max_batch_size", "max_running_requests")
	v.add(maxBatchedTokensColumn, "max_num_batched", "max_batched")
	v.add(kvCacheTokensColumn, "kv_cache", "max_kv")
	v.add(configurationColumn, "model", "model_id", "model_name", "gpu", "gpu_type", "gpu_name", "accelerator", "device", "hardware",
		"backend", "engine", "framework", "backend_version", "engine_version", "version", "precision", "dtype", "quantization",
		"tp", "tp_size", "tensor_parallel", "tensor_parallel_size", "pp", "ep", "dp", "attn_dp", "num_gpus", "gpus", "replicas")
}

// column is a column of a table.
type column struct {
	name string
	known
	unit unit
	// mean: the name says so; other: it says that it is another statistic.
	mean, other bool
}

// column tells what a column is by its name, or by another one given for it.
func (v *vocabulary) column(name, alias string) column {
	c := column{name: name}
	words := words(alias)
	if k, ok := v.whole[strings.Join(words, "_")]; ok {
		c.known, c.unit = k, unit{of: k.meaning.dimension(), factor: 1}
		return c
	}
	if c.find(v, words) {
		return c
	}
	rest := c.withoutStatistics(words)
	if !c.find(v, rest) {
		c.find(v, slices.DeleteFunc(rest, isFiller))
	}
	if c.mean && c.meaning == clientsColumn {
		// A mean number of clients is what came of a test, not what it asked for.
		c.meaning = measuredClientsColumn
	}
	return c
}

// find looks a name up, with its unit taken off or as it is.
func (c *column) find(v *vocabulary, words []string) bool {
	u, n := unitOf(words)
	if k, ok := v.names[strings.Join(words[:len(words)-n], "_")]; ok && n > 0 && u.of == k.meaning.dimension() {
		c.known, c.unit = k, u
		return true
	}
	if k, ok := v.names[strings.Join(words, "_")]; ok && !k.units {
		c.known, c.unit = k, unit{of: k.meaning.dimension(), factor: 1}
		return true
	}
	return false
}

// isFiller tells words that say nothing about a column.
func isFiller(word string) bool {
	return slices.Contains([]string{"num", "number", "of", "requests", "request", "reqs", "seqs", "vllm", "sglang"}, word)
}

// withoutStatistics takes words away that say which statistic a column has.
func (c *column) withoutStatistics(words []string) []string {
	var rest []string
	for _, w := range words {
		switch w {
		case "mean", "avg", "average":
			c.mean = true
		case "successful":
		case "median", "min", "max", "std", "stddev", "dev", "sd", "var", "ci", "ci95", "percentiles", "total", "incomplete", "errored":
			c.other = true
		default:
			if percentile(w) {
				c.other = true
			} else {
				rest = append(rest, w)
			}
		}
	}
	return rest
}

// percentile tells words such as p95.
func percentile(word string) bool {
	digits, ok := strings.CutPrefix(word, "p")
	return ok && digits != "" && strings.Trim(digits, "0123456789") == ""
}

// words splits a name at what is neither letter nor digit, and where a capital
// follows a small letter. A slash is read as "per".
func words(name string) []string {
	var out []string
	var word strings.Builder
	end := func() {
		if word.Len() > 0 {
			out = append(out, strings.ToLower(word.String()))
			word.Reset()
		}
	}
	small := false
	for _, r := range name {
		switch {
		case r == '/':
			end()
			out = append(out, "per")
		case !unicode.IsLetter(r) && !unicode.IsDigit(r):
			end()
		default:
			if small && unicode.IsUpper(r) {
				end()
			}
			word.WriteRune(r)
		}
		small = unicode.IsLower(r)
	}
	end()
	return out
}
