package main

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/poolwright/poolwright/internal/app"
)

// columns is the width for which commands print for people.
const columns = 100

// printed is what a command prints, its error as main prints it: of demand that can't be
// met, or of a strategy that does not know robustness.
func printed(t *testing.T, args ...string) string {
	t.Helper()
	root := newRoot()
	root.SetArgs(args)
	var out bytes.Buffer
	root.SetOut(&out)
	if err := root.ExecuteContext(t.Context()); err != nil {
		if exitCode(err) != exitUnmet {
			require.ErrorContains(t, err, "is for POINT only", "%v", args)
		}
		return out.String() + app.Message(err)
	}
	return out.String()
}

func assertFits(t *testing.T, text string, args ...string) {
	t.Helper()
	require.NotEmpty(t, text)
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		assert.LessOrEqual(t, utf8.RuneCountInString(line), columns, "%v: %q", args, line)
	}
}

// simulations are the examples that are no fleets.
var simulations = []string{"day.yaml", "what-if.yaml"}

func isSimulation(file string) bool { return slices.Contains(simulations, filepath.Base(file)) }

// Whatever a command prints about an example fits.
func TestExamplesFitTheirColumns(t *testing.T) {
	var files []string
	for _, pattern := range []string{"*.yaml", "*.json"} {
		found, err := filepath.Glob(filepath.Join("..", "..", "examples", pattern))
		require.NoError(t, err)
		files = append(files, found...)
	}
	require.NotEmpty(t, files)
	commands := [][]string{{"evaluate"}, {"capacity"}, {"optimize", "--explain"}}
	for _, strategy := range app.Strategies() {
		commands = append(commands, []string{"optimize", "--strategy", strategy})
	}
	for _, file := range slices.DeleteFunc(files, isSimulation) {
		t.Run(filepath.Base(file), func(t *testing.T) {
			for _, command := range commands {
				args := slices.Concat(command, []string{"-f", file})
				assertFits(t, printed(t, args...), args...)
			}
		})
	}
	samples := []string{"calibrate", "-f", filepath.Join("..", "..", "examples", "samples.csv"), "--validate"}
	assertFits(t, printed(t, samples...), samples...)
}

// So does what is printed of simulations: of all autoscalers, and of a sweep.
func TestSimulationsFitTheirColumns(t *testing.T) {
	file := filepath.Join(t.TempDir(), "what-if.yaml")
	require.NoError(t, os.WriteFile(file, shorterExample(t), 0o600))
	for _, args := range [][]string{
		{"compare", "-f", file, "--seed", "1,2"},
		{"simulate", "-f", file, "--seed", "1", "--sweep", "pools.H100=4,8", "--sweep", "traffic.chat.parts[0].generated.rate.factor=1,1.5"},
	} {
		assertFits(t, printed(t, args...), args...)
	}
}

// So does the help of every command.
func TestHelpFitsItsColumns(t *testing.T) {
	var visit func(c *cobra.Command, path []string)
	visit = func(c *cobra.Command, path []string) {
		args := slices.Concat(path, []string{"--help"})
		assertFits(t, printed(t, args...), args...)
		for _, child := range c.Commands() {
			visit(child, slices.Concat(path, []string{child.Name()}))
		}
	}
	visit(newRoot(), nil)
}
