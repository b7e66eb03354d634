package main

import (
	"fmt"
	"log/slog"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/poolwright/poolwright/internal/app"
	"github.com/poolwright/poolwright/optimizer/lp"
)

// usageError is a command line that can't be understood.
type usageError struct{ err error }

func (e *usageError) Error() string { return e.err.Error() }
func (e *usageError) Unwrap() error { return e.err }

func newRoot() *cobra.Command {
	root := &cobra.Command{
		Use:   "poolwright",
		Short: "Plan how many replicas of each LLM to run on which accelerators",
		Long: `Poolwright predicts what one replica of a model sustains inside its latency
objective, and chooses the cheapest mix of accelerators and replicas that serves
all demand within the accelerator pools.

Exit codes: 0 done, 1 failure, 2 bad input, 3 some demand or bound cannot be met, the SLO
was missed in every run of a simulation, or some decision of a ledger was not reproduced
(the answer is printed all the same).`,
		Version:       app.Version(),
		SilenceUsage:  true,
		SilenceErrors: true,
		Args:          knownCommand,
		RunE:          func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	root.SuggestionsMinimumDistance = 2
	root.SetVersionTemplate("{{.Version}}\n")
	// pflag lets a word stick out by up to five columns.
	root.SetUsageTemplate(strings.ReplaceAll(root.UsageTemplate(), "Flags.FlagUsages ", "Flags.FlagUsagesWrapped 95 "))
	root.SetFlagErrorFunc(func(c *cobra.Command, err error) error {
		if !c.HasParent() {
			// The flags of a command that there is not are those of none.
			if unknown := knownCommand(c, c.Flags().Args()); unknown != nil {
				return unknown
			}
		}
		return &usageError{fmt.Errorf("%w\nRun '%s --help' for usage", err, c.CommandPath())}
	})
	root.AddCommand(
		newServe(),
		newQuestion(app.Optimize, "optimize", "Choose the cheapest plan that serves a fleet's demand", `
  poolwright optimize -f examples/mix.yaml
  poolwright optimize -f examples/mix.yaml -o json | jq .pricePerHour
  poolwright optimize -f examples/tight-priorities.yaml --explain`),
		newQuestion(app.Evaluate, "evaluate", "Predict the performance of a fleet as it stands", `
  poolwright evaluate -f examples/mix.yaml`),
		newQuestion(app.Capacity, "capacity", "Tell what one replica of each variant sustains within its SLO", `
  poolwright capacity -f examples/mix.yaml`),
		newCalibrate(),
		newSimulate(),
		newCompare(),
		newMerge(),
		newReplay(),
		newCheck(),
		newVersion(),
	)
	return root
}

// once is the value of a flag that is given once: of two files, one would be left out.
type once string

func (o *once) String() string { return string(*o) }

func (o *once) Set(value string) error {
	if *o != "" {
		return fmt.Errorf("given twice, first as %q: only one is read", *o)
	}
	*o = once(value)
	return nil
}

func (*once) Type() string { return "string" }

// knownCommand rejects what is no command as bad input.
func knownCommand(c *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	hint := ""
	if near := c.SuggestionsFor(args[0]); len(near) > 0 {
		hint = fmt.Sprintf(" Did you mean %s?", strings.Join(near, " or "))
	}
	return &usageError{fmt.Errorf("there is no command %q.%s\nRun '%s --help' for usage", args[0], hint, c.CommandPath())}
}

// noArguments rejects arguments as bad input.
func noArguments(c *cobra.Command, args []string) error {
	if len(args) > 0 {
		return &usageError{fmt.Errorf("unexpected argument %q\nRun '%s --help' for usage", args[0], c.CommandPath())}
	}
	return nil
}

func newQuestion(q app.Question, use, short, example string) *cobra.Command {
	request := app.Request{Question: q}
	explain := false
	c := &cobra.Command{
		Use:     use + " -f FILE",
		Short:   short,
		Long:    short + ".\n\nThe fleet is a YAML or JSON file, or standard input with -f -.",
		Example: example[1:],
		Args:    noArguments,
		RunE: func(c *cobra.Command, _ []string) error {
			if request.File == "" {
				return &usageError{fmt.Errorf("which fleet? Give -f FILE, or -f - for standard input")}
			}
			if explain {
				request.Question = app.Explain
			}
			return app.Ask(c.Context(), request, c.InOrStdin(), c.OutOrStdout())
		},
	}
	c.Flags().VarP((*once)(&request.File), "file", "f", "fleet file in YAML or JSON, or - for standard input")
	c.Flags().VarP(&request.Format, "output", "o", "how to print the answer: table, json or yaml")
	_ = c.RegisterFlagCompletionFunc("output", cobra.FixedCompletions(app.Formats(), cobra.ShellCompDirectiveNoFileComp))
	request.Engine = "go"
	if q == app.Optimize {
		addEngine(c, &request.Engine)
		c.Flags().BoolVar(&explain, "explain", false, "say also what would serve all, how far prices may move, what other demand and pools cost")
		c.Flags().Var(&request.Strategy, "strategy", "how to plan, in place of the fleet's objective: "+strings.Join(app.Strategies(), ", "))
		_ = c.RegisterFlagCompletionFunc("strategy", cobra.FixedCompletions(app.Strategies(), cobra.ShellCompDirectiveNoFileComp))
	}
	return c
}

func newServe() *cobra.Command {
	var config app.ServeConfig
	c := &cobra.Command{
		Use:   "serve",
		Short: "Answer gRPC and REST, and keep planning a fleet",
		Long: `Answer gRPC and REST, and keep planning a fleet.

With --config the fleet is that of a Kubernetes cluster: workloads are read from
its objects, demand from Prometheus, and what is decided is written to scale
subresources, as far as each workload's mode says. The file is read again when it
changes.

Otherwise the fleet is simulated, with demand that follows a day's curve: that of
--fleet, whose arrival rates are the peaks of the day, or a built-in one: three
models on pools of H100 and A100.

With --server-config a file says who may reach the process: TLS, authentication,
authorization, limits. Without it only addresses of this machine are listened on.`,
		Example: `  poolwright serve
  poolwright serve --fleet examples/tight-priorities.yaml --speed 600
  poolwright serve --ledger ledger.jsonl
  poolwright serve --config poolwright.yaml
  poolwright serve --server-config server.yaml --grpc-address :9090 --http-address :8080`,
		Args: noArguments,
		RunE: func(c *cobra.Command, _ []string) error {
			for _, simulated := range []string{"fleet", "interval", "speed"} {
				if config.Cluster != "" && c.Flags().Changed(simulated) {
					return &usageError{fmt.Errorf("--%s is for a simulated fleet, and --config for that of a cluster", simulated)}
				}
			}
			return app.Serve(c.Context(), config, c.InOrStdin(), c.OutOrStdout())
		},
	}
	c.Flags().StringVar(&config.Cluster, "config", "", "configuration in YAML or JSON of the loop over a Kubernetes cluster")
	c.Flags().StringVar(&config.Server, "server-config", "", "configuration in YAML or JSON of who may reach the process, and of limits (default: only this machine)")
	c.Flags().StringVar(&config.Simulation.Fleet, "fleet", "", "fleet file in YAML or JSON, or - for standard input (default: the built-in fleet)")
	c.Flags().StringVar(&config.GRPCAddress, "grpc-address", "127.0.0.1:9090", "address for gRPC")
	c.Flags().StringVar(&config.HTTPAddress, "http-address", "127.0.0.1:8080", "address for REST, the pages, metrics and health")
	c.Flags().DurationVar(&config.Simulation.Interval, "interval", 5*time.Second, "time between plans of a simulated fleet")
	c.Flags().Float64Var(&config.Simulation.Speed, "speed", 120, "simulated seconds per second")
	c.Flags().StringVar(&config.Ledger, "ledger", "", "file to keep decisions in, for replay; older files get .1, .2, … (default: none)")
	c.Flags().StringVar(&config.Log.Format, "log-format", "", "text or json (default: text, and for people what a simulated fleet does)")
	c.Flags().TextVar(&config.Log.Level, "log-level", slog.LevelInfo, "least level that is logged: debug, info, warn or error")
	addEngine(c, &config.Engine)
	return c
}

func addEngine(c *cobra.Command, engine *string) {
	c.Flags().StringVar(engine, "engine", "go", "engine of the linear programs: "+strings.Join(lp.Names(), " or "))
	_ = c.RegisterFlagCompletionFunc("engine", cobra.FixedCompletions(lp.Names(), cobra.ShellCompDirectiveNoFileComp))
}

func newVersion() *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print version, engines and platform",
		Args:  noArguments,
		RunE: func(c *cobra.Command, _ []string) error {
			_, err := fmt.Fprintln(c.OutOrStdout(), app.Version())
			return err
		},
	}
}
