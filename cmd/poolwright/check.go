package main

import (
	"errors"

	"github.com/spf13/cobra"

	"github.com/poolwright/poolwright/internal/app"
)

func newCheck() *cobra.Command {
	var r app.CheckRequest
	c := &cobra.Command{
		Use:   "check [--config FILE] [--server-config FILE]",
		Short: "Look for mistakes in the configurations of serve",
		Long: `Look for mistakes in the configurations of serve, without a cluster: unknown fields,
values out of range, names that lead nowhere. Every mistake is named with its path.
Files that a configuration names, such as certificates, are not looked at.`,
		Example: `  poolwright check --config poolwright.yaml --server-config server.yaml`,
		Args:    noArguments,
		RunE: func(c *cobra.Command, _ []string) error {
			if r == (app.CheckRequest{}) {
				return &usageError{errors.New("which configuration? Give --config FILE or --server-config FILE")}
			}
			return app.Check(r, c.OutOrStdout())
		},
	}
	c.Flags().StringVar(&r.Cluster, "config", "", "configuration of the loop over a Kubernetes cluster")
	c.Flags().StringVar(&r.Server, "server-config", "", "configuration of who may reach the process, and of limits")
	return c
}
