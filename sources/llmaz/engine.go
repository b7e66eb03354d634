package llmaz

import (
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/poolwright/poolwright/queueing"
)

// engine is how a kind of server is recognised, and which of its flags matter.
type engine struct {
	// name is that of package metrics.
	name string
	// runtime is the name of the BackendRuntime that llmaz ships with.
	runtime string
	// programs are words of the command that start the server.
	programs []string
	// batch and budget are the flags that limit the requests and the tokens of an
	// iteration, tensor the number of devices that share each layer. served names the model as
	// requests do.
	batch, budget, tensor, served []string
}

// engines are those that llmaz has BackendRuntimes for and package metrics knows. Flags are
// written with dashes.
func engines() []engine {
	return []engine{
		{
			name: "vllm", runtime: "vllm", programs: []string{"vllm", "vllm.entrypoints.openai.api_server"},
			batch: []string{"--max-num-seqs"}, budget: []string{"--max-num-batched-tokens"},
			tensor: []string{"--tensor-parallel-size", "-tp"}, served: []string{"--served-model-name"},
		},
		{
			name: "sglang", runtime: "sglang", programs: []string{"sglang.launch_server"},
			batch: []string{"--max-running-requests"}, budget: []string{"--chunked-prefill-size"},
			tensor: []string{"--tensor-parallel-size", "--tp-size", "--tp"}, served: []string{"--served-model-name"},
		},
		{
			name: "tgi", runtime: "tgi", programs: []string{"text-generation-launcher"},
			batch: []string{"--max-batch-size"}, budget: []string{"--max-batch-prefill-tokens"},
			tensor: []string{"--num-shard"}, served: []string{"--served-model-name"},
		},
		{
			name: "llamacpp", runtime: "llamacpp", programs: []string{"llama-server"},
			batch: []string{"--parallel", "-np"}, budget: []string{"--batch-size", "-b"}, served: []string{"--alias", "-a"},
		},
		{
			name: "trtllm-serve", runtime: "tensorrt-llm", programs: []string{"trtllm-serve"},
			batch: []string{"--max-batch-size"}, budget: []string{"--max-num-tokens"}, tensor: []string{"--tp-size"},
		},
	}
}

// engineOf recognises the engine by its program or, where an image starts it by itself, by
// the name of the BackendRuntime that llmaz ships; its name is empty if it is none of them.
func engineOf(runtime string, command words) engine {
	all := engines()
	i := slices.IndexFunc(all, func(e engine) bool {
		return slices.ContainsFunc(command, func(word string) bool { return slices.Contains(e.programs, path.Base(word)) })
	})
	if i < 0 {
		i = slices.IndexFunc(all, func(e engine) bool { return e.runtime == runtime })
	}
	if i < 0 {
		return engine{}
	}
	return all[i]
}

// words are those of a command with its arguments. Names of flags are written with dashes,
// which engines take for underscores.
type words []string

// newWords splits a command: a shell's script is one argument with many words.
func newWords(parts ...[]string) words {
	var all words
	for _, word := range strings.Fields(strings.Join(slices.Concat(parts...), " ")) {
		name, value, found := strings.Cut(word, "=")
		if !strings.HasPrefix(word, "-") {
			all = append(all, word)
			continue
		}
		all = append(all, strings.ReplaceAll(name, "_", "-"))
		if found {
			all = append(all, value)
		}
	}
	return all
}

// value is that of the last flag of those names; engines take the last. It is empty where
// there is none, or where llmaz fills it in.
func (w words) value(flags []string) string {
	for i := len(w) - 2; i >= 0; i-- {
		if slices.Contains(flags, w[i]) && !strings.Contains(w[i+1], "{{") {
			return w[i+1]
		}
	}
	return ""
}

// number is a value from 1 to a maximum; 0 where there is none.
func (w words) number(flags []string, most int) int {
	n, err := strconv.Atoi(w.value(flags))
	if err != nil || n < 1 || n > most {
		return 0
	}
	return n
}

// limits are what flags limit of a replica; nil if nothing.
func (e *engine) limits(w words) *queueing.Replica {
	r := queueing.Replica{
		MaxBatch:         w.number(e.batch, queueing.MaxBatchLimit),
		MaxBatchedTokens: queueing.Tokens(w.number(e.budget, mostTokens)),
	}
	if r == (queueing.Replica{}) {
		return nil
	}
	return &r
}

// mostTokens is more than any engine takes in one iteration.
const mostTokens = 1e9
