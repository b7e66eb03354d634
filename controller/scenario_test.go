package controller_test

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
	"github.com/stretchr/testify/require"

	"github.com/poolwright/poolwright/internal/scenario"
)

// The stories are told by the production controller in virtual time. Set UPDATE_SCRIPTS
// to rewrite what they are expected to print.
func TestScenarios(t *testing.T) {
	if os.Getenv("UPDATE_SCRIPTS") != "" {
		require.NoError(t, flag.Set("rewrite", "true"))
	}
	scripts, err := filepath.Glob(filepath.Join("testdata", "scenarios", "*.txt"))
	require.NoError(t, err)
	require.NotEmpty(t, scripts)
	for _, path := range scripts {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".txt"), func(t *testing.T) {
			script := scenario.New()
			datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
				output, err := script.Run(block(d))
				if err != nil {
					d.Fatalf(t, "%v\n%s", err, output)
				}
				return output
			})
		})
	}
}

// block is the text of a block up to what it is expected to print.
func block(d *datadriven.TestData) string {
	words := []string{d.Cmd}
	for _, arg := range d.CmdArgs {
		words = append(words, arg.String())
	}
	return strings.Join(words, " ") + "\n" + d.Input
}
