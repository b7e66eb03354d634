package main

import (
	"errors"
	"strings"

	"github.com/spf13/cobra"

	"github.com/poolwright/poolwright/internal/app"
)

const simulateHelp = `
The simulation is a YAML or JSON file, or standard input with -f -: a fleet, what arrives
there, and what scales it. Files of requests are named from its folder on.

With --sweep every point of a grid is simulated. A shard is a part of that, for one of
several machines; merge puts shards together. Its index may come from
JOB_COMPLETION_INDEX, as in the pods of an Indexed Job.

Exit codes: 0 the SLO held, 1 failure, 2 bad input, 3 in no run, under no autoscaler and at
no point, were as many requests of every workload within the SLO as must be (the result is
printed all the same). Of a shard, 3 is for merge to say.`

func newSimulate() *cobra.Command {
	r := app.NewSimulateRequest()
	c := newSimulation(r, "simulate", `
  poolwright simulate -f examples/what-if.yaml
  poolwright simulate -f examples/what-if.yaml --report report.html
  poolwright simulate -f examples/what-if.yaml --sweep pools.H100=4..16:4 -o csv`)
	c.Short = "Say what a fleet would cost and how it would serve"
	c.Long = "Simulate a fleet request by request under Poolwright's own loop, or under the autoscalers\nthat the simulation names, and say what it costs and how it serves.\n" + simulateHelp
	c.Flags().StringVar(&r.Ledger, "ledger", "", "file to keep the decisions of Poolwright's loop in, for replay (one seed)")
	return c
}

func newCompare() *cobra.Command {
	r := app.NewSimulateRequest()
	r.Autoscalers.All = true
	c := newSimulation(r, "compare", `
  poolwright compare -f examples/what-if.yaml
  poolwright compare -f examples/what-if.yaml --autoscalers poolwright,hpa --grid`)
	c.Short = "Compare autoscalers on the same requests"
	c.Long = "Simulate a fleet request by request under several autoscalers, and compare what it costs\nand how it serves. Without a choice those that the simulation names are compared, or else\nall that there are, each with the setting that its makers document.\n" + simulateHelp
	f := c.Flags()
	f.StringSliceVar(&r.Autoscalers.Kinds, "autoscalers", nil, "kinds of autoscalers, in the place of the simulation's: "+strings.Join(app.Autoscalers(), ", "))
	f.BoolVar(&r.Autoscalers.Grid, "grid", false, "compare each kind in all settings of its published grid")
	complete(c, "autoscalers", app.Autoscalers())
	return c
}

func newSimulation(r *app.SimulateRequest, use, example string) *cobra.Command {
	c := &cobra.Command{
		Use:     use + " -f FILE",
		Example: example[1:],
		Args:    noArguments,
		RunE: func(c *cobra.Command, _ []string) error {
			if r.File == "" {
				return &usageError{errors.New("which simulation? Give -f FILE, or -f - for standard input")}
			}
			return app.Simulate(c.Context(), r, c.InOrStdin(), c.OutOrStdout(), c.ErrOrStderr())
		},
	}
	f := c.Flags()
	f.VarP((*once)(&r.File), "file", "f", "simulation in YAML or JSON, or - for standard input")
	f.UintSliceVar(&r.Seeds, "seed", nil, "seeds of what is random, in the place of the simulation's; each is a run")
	f.Lookup("seed").DefValue = "" // pflag shows that there are none as "[]"
	f.StringArrayVar(&r.Sweep, "sweep", nil, "vary a field: PATH=VALUE,… or PATH=LOW..HIGH:STEP, such as pools.H100=8..64:8; may be repeated")
	f.StringVar(&r.Shard, "shard", "", "simulate one of several parts of a sweep: INDEX/COUNT, or COUNT in a pod of an Indexed Job")
	addPrinted(c, &r.Printed)
	f.BoolVar(&r.Series, "series", false, "with -o csv, write windows in the place of totals")
	f.StringVar(&r.Report, "report", "", "file for an HTML page with charts, beside the output")
	addEngine(c, &r.Engine)
	return c
}

func newMerge() *cobra.Command {
	r := app.NewMergeRequest()
	c := &cobra.Command{
		Use:   "merge FILE...",
		Short: "Put the shards of a sweep together",
		Long: `Put the shards of a sweep together that simulate --shard or compare --shard wrote with
-o json, and print the sweep as if it had been simulated at once. Of a folder, all files
whose names end in .json are taken. Shards that are missing, given twice or of another
sweep are bad input.

Exit codes: 0 some point met every SLO, 1 failure, 2 bad input, 3 none did.`,
		Example: `  poolwright merge shard-*.json
  poolwright merge shards/ -o csv --to sweep.csv`,
		RunE: func(c *cobra.Command, files []string) error {
			if len(files) == 0 {
				return &usageError{errors.New("which shards? Give their files, or a folder")}
			}
			r.Files = files
			return app.Merge(r, c.OutOrStdout())
		},
	}
	addPrinted(c, &r.Printed)
	return c
}

func addPrinted(c *cobra.Command, p *app.Printed) {
	c.Flags().VarP(&p.Output, "output", "o", "how to print the result: "+strings.Join(p.Output.Flags(), ", "))
	c.Flags().StringVar(&p.To, "to", "", "file to write the result to (default: standard output)")
	complete(c, "output", p.Output.Flags())
}
