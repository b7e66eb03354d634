package main

import (
	"errors"

	"github.com/spf13/cobra"

	"github.com/poolwright/poolwright/internal/app"
)

func newReplay() *cobra.Command {
	r := app.NewReplayRequest()
	c := &cobra.Command{
		Use:   "replay FILE...",
		Short: "Make the decisions of a ledger again, and compare",
		Long: `Make the decisions that serve --ledger kept again, from what they were made from, and
compare. The same version, engine and processor architecture give the same decisions, bit
for bit. The files of one ledger are taken in their order, however they are given; - is
standard input.

Damaged lines are reported with their place. Replay goes on at the next checkpoint then.

Exit codes: 0 every decision was reproduced, 1 failure, 2 bad input, 3 some differ, or
lines are damaged (the report is printed all the same).`,
		Example: `  poolwright replay ledger.jsonl
  poolwright replay ledger.jsonl* --diff
  poolwright replay ledger.jsonl -o json`,
		RunE: func(c *cobra.Command, files []string) error {
			if len(files) == 0 {
				return &usageError{errors.New("which ledger? Give its files, or - for standard input")}
			}
			r.Files = files
			return app.Replay(r, c.InOrStdin(), c.OutOrStdout())
		},
	}
	c.Flags().BoolVar(&r.Differences, "diff", false, "tell of every decision that differs what differs, not only of the first")
	c.Flags().VarP(&r.Output, "output", "o", "how to print the report: table or json")
	complete(c, "output", r.Output.Flags())
	addEngine(c, &r.Engine)
	return c
}
