package main

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"github.com/stretchr/testify/require"

	"github.com/poolwright/poolwright/optimizer/lp"
)

// The reference of the command line is what the commands say of themselves.
func TestCommandLineReference(t *testing.T) {
	const heading = "\n## Commands\n\n"
	page := filepath.Join("..", "..", "docs", "reference", "cli.md")
	reference := strings.TrimSuffix(describe(newRoot()), "\n")
	text, err := os.ReadFile(page) //nolint:gosec // a page of ours
	require.NoError(t, err)
	before, after, found := strings.Cut(string(text), heading)
	require.True(t, found)
	if os.Getenv("UPDATE_SCRIPTS") != "" {
		require.NoError(t, os.WriteFile(page, []byte(before+heading+reference), 0o600)) //nolint:gosec // a page of ours
		return
	}
	require.True(t, reference == after, "renew it with: make docs") //nolint:testifylint // a difference fills pages
}

// describe writes a section on each command below one that does something.
func describe(c *cobra.Command) string {
	var b strings.Builder
	for _, sub := range c.Commands() {
		sub.InitDefaultHelpFlag()
		if sub.Runnable() && sub.IsAvailableCommand() {
			fmt.Fprintf(&b, "### %s\n\n```text\n%s\n\n%s\n```\n\n", sub.CommandPath(), sub.UseLine(), cmp.Or(strings.TrimSpace(sub.Long), sub.Short+"."))
			b.WriteString(describeFlags(sub.LocalFlags()))
			if sub.Example != "" {
				fmt.Fprintf(&b, "For example:\n\n```text\n%s\n```\n\n", strings.ReplaceAll(strings.Trim(sub.Example, "\n"), "\n  ", "\n")[2:])
			}
		}
		b.WriteString(describe(sub))
	}
	return b.String()
}

func describeFlags(flags *pflag.FlagSet) string {
	var b strings.Builder
	b.WriteString("| flag | takes | default | meaning |\n|---|---|---|---|\n")
	flags.VisitAll(func(f *pflag.Flag) {
		if f.Hidden {
			return
		}
		name, kind, standard := "`--"+f.Name+"`", f.Value.Type(), ""
		if f.Shorthand != "" {
			name = "`-" + f.Shorthand + "`, " + name
		}
		if kind == "bool" {
			kind = ""
		}
		if f.DefValue != "" && f.DefValue != "[]" && f.DefValue != "false" {
			standard = "`" + f.DefValue + "`"
		}
		// Which engines there are differs from build to build.
		usage := strings.ReplaceAll(f.Usage, strings.Join(lp.Names(), " or "), "go, or clp where it is built in")
		fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", name, kind, standard, usage)
	})
	b.WriteByte('\n')
	return b.String()
}
