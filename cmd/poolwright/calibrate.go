package main

import (
	"errors"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/poolwright/poolwright/internal/app"
)

func newCalibrate() *cobra.Command {
	r := app.NewCalibrateRequest()
	c := &cobra.Command{
		Use:   "calibrate [-f FILE]...",
		Short: "Estimate a profile from measurements, or from facts about device and model",
		Long: `Estimate the profile of one (model, accelerator, parallelism, engine), and say how
far to trust it.

Measurements are CSV, JSON or YAML, told apart by content: a table whose columns are
known by their names, results of the load tests of vLLM, SGLang and GuideLLM, or the
message of POST /v1/calibrate. Several files are taken together. Without measurements
the profile is a rough estimate from device and model.`,
		Example: `  poolwright calibrate -f examples/samples.csv
  poolwright calibrate -f examples/samples.csv --validate --svg residuals.svg
  poolwright calibrate -f examples/samples.csv --where 'rate_rps<5,workload!=chat' --ignore ttft
  poolwright calibrate --device H100 --model-params 8B --layers 32 --hidden-size 4096 \
    --kv-heads 8 --head-size 128`,
		Args: noArguments,
		RunE: func(c *cobra.Command, _ []string) error {
			if len(r.Files) == 0 && !r.GivesFacts() {
				return &usageError{errors.New("which measurements? Give -f FILE, -f - for standard input, or --device and what is known of the model")}
			}
			return app.Calibrate(c.Context(), r, c.InOrStdin(), c.OutOrStdout())
		},
	}
	f := c.Flags()
	f.SortFlags = false
	addMeasurementFlags(f, r)
	addFitFlags(c, r)
	addFactFlags(c, r)
	f.VarP(&r.Format, "output", "o", "how to print the answer: table, json or yaml")
	f.StringVar(&r.SVG, "svg", "", "file for a plot of the residuals")
	complete(c, "time-unit", r.TimeUnit.Flags())
	complete(c, "output", app.Formats())
	return c
}

// complete makes the shell complete the values of a flag.
func complete(c *cobra.Command, flag string, values []string) {
	_ = c.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp))
}

func addMeasurementFlags(f *pflag.FlagSet, r *app.CalibrateRequest) {
	f.StringArrayVarP(&r.Files, "file", "f", nil, "file of measurements, or - for standard input; may be repeated")
	f.StringSliceVar(&r.Where, "where", nil, "take only rows that meet these conditions: COLUMN=VALUE,… (or !=, <, <=, >, >=)")
	f.StringSliceVar(&r.Columns, "columns", nil, "read columns under other names: COLUMN=NAME,… such as latency=ttft_ms, or =ignore")
	f.Var(&r.TimeUnit, "time-unit", "unit of times whose column names none: "+strings.Join(r.TimeUnit.Flags(), ", "))
}

func addFitFlags(c *cobra.Command, r *app.CalibrateRequest) {
	f := c.Flags()
	f.StringSliceVar(&r.Ignore, "ignore", nil, "what does not count: ttft, itl, or of one kind of samples, such as closed-loop.ttft")
	f.BoolVar(&r.HeldOut, "validate", false, "also predict each group of samples, such as a workload, by a fit to all others")
	f.Var(&r.SquareRoot, "square-root", "whether a term grows with the square root of running requests, as in mixtures of experts: "+strings.Join(r.SquareRoot.Flags(), ", "))
	f.Var(&r.MaxBatch, "max-batch", "most requests that run together")
	f.Var(&r.MaxBatchedTokens, "max-batched-tokens", "token budget of one iteration")
	f.Var(&r.KVCacheTokens, "kv-cache-tokens", "room for context, in tokens")
	f.Var(&r.PrefillMode, "prefill-mode", "how prompts are computed: "+strings.Join(r.PrefillMode.Flags(), " or "))
	f.Var(&r.AcceptedTokens, "accepted-tokens", "mean tokens per decoding step under speculative decoding")
	complete(c, "square-root", r.SquareRoot.Flags())
	complete(c, "prefill-mode", r.PrefillMode.Flags())
}

func addFactFlags(c *cobra.Command, r *app.CalibrateRequest) {
	f := c.Flags()
	f.StringVar(&r.Device.Name, "device", "", "accelerator: "+strings.Join(app.Accelerators(), ", "))
	f.Var(&r.Devices, "devices", "devices that share the weights of one replica (default 1)")
	f.Var(&r.Device.MemoryBytes, "memory", "memory of one device, in bytes")
	f.Var(&r.Device.MemoryBandwidth, "memory-bandwidth", "memory bandwidth of one device, in bytes/s")
	f.Var(&r.Device.FLOPS, "flops", "dense peak of one device, in operations/s")
	f.Var(&r.Device.InterconnectBandwidth, "interconnect-bandwidth", "bandwidth between devices, per device and direction, in bytes/s")
	f.Var(&r.Model.Parameters, "model-params", "number of weights, such as 8B")
	f.Var(&r.Model.ActiveParameters, "active-params", "number of weights that compute one token, in a mixture of experts")
	f.Var(&r.Model.Precision, "precision", "precision in which the model computes: "+strings.Join(r.Model.Precision.Flags(), ", "))
	f.Var(&r.Model.BytesPerParameter, "bytes-per-param", "bytes of one weight (default as the precision says)")
	f.Var(&r.Model.Layers, "layers", "number of layers")
	f.Var(&r.Model.HiddenSize, "hidden-size", "width of the hidden state")
	f.Var(&r.Model.KVHeads, "kv-heads", "heads of keys and values")
	f.Var(&r.Model.HeadSize, "head-size", "width of one head")
	f.Var(&r.Model.KVBytesPerValue, "kv-bytes-per-value", "bytes of one value in the KV cache (default 2)")
	f.Var(&r.Model.KVBytesPerToken, "kv-bytes-per-token", "room of one token in the KV cache, in bytes, in place of the three above")
	complete(c, "device", app.Accelerators())
	complete(c, "precision", r.Model.Precision.Flags())
}
