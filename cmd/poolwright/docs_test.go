package main

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/poolwright/poolwright/internal/app"
)

// Every command on the page about calibration and in its help runs as it stands
// there.
func TestDocumentedCalibrations(t *testing.T) {
	page, err := os.ReadFile(filepath.Join("..", "..", "docs", "calibration.md"))
	require.NoError(t, err)
	examples, err := filepath.Abs(filepath.Join("..", "..", "examples"))
	require.NoError(t, err)
	t.Chdir(t.TempDir())
	require.NoError(t, os.Symlink(examples, "examples"))
	commands := 0
	for line := range strings.Lines(strings.ReplaceAll(string(page)+newCalibrate().Example, "\\\n", "")) {
		line, _, _ = strings.Cut(line, " #")
		words := strings.Fields(strings.ReplaceAll(line, "'", ""))
		if len(words) < 2 || words[0] != "poolwright" {
			continue
		}
		commands++
		root := newRoot()
		root.SetArgs(words[1:])
		var out bytes.Buffer
		root.SetOut(&out)
		require.NoError(t, root.ExecuteContext(t.Context()), line)
		assert.Contains(t, out.String(), "alphaMs", line)
	}
	assert.Equal(t, 9, commands)
	assert.FileExists(t, "residuals.svg")
}

// Every command on the page about strategies answers what is written beside it.
func TestDocumentedStrategies(t *testing.T) {
	page, err := os.ReadFile(filepath.Join("..", "..", "docs", "strategies.md"))
	require.NoError(t, err)
	examples, err := filepath.Abs(filepath.Join("..", "..", "examples"))
	require.NoError(t, err)
	t.Chdir(t.TempDir())
	require.NoError(t, os.Symlink(examples, "examples"))
	commands := 0
	for line := range strings.Lines(string(page)) {
		command, answer, ok := strings.Cut(line, " # ")
		if !ok || !strings.HasPrefix(command, "poolwright ") {
			continue
		}
		commands++
		root := newRoot()
		root.SetArgs(strings.Fields(command)[1:])
		var out bytes.Buffer
		root.SetOut(&out)
		require.NoError(t, root.ExecuteContext(t.Context()), line)
		assert.Contains(t, out.String(), strings.TrimSpace(answer), line)
	}
	assert.Len(t, app.Strategies(), commands)
}

// The page lists the devices that are built in.
func TestDocumentedAccelerators(t *testing.T) {
	page, err := os.ReadFile(filepath.Join("..", "..", "docs", "calibration.md"))
	require.NoError(t, err)
	text := strings.Join(strings.Fields(string(page)), " ")
	names := app.Accelerators()
	last := len(names) - 1
	assert.Contains(t, text, strings.Join(names[:last], ", ")+" and "+names[last])
}

// Every command on the page about explanations explains, whether all is served or not.
func TestDocumentedExplanations(t *testing.T) {
	page, err := os.ReadFile(filepath.Join("..", "..", "docs", "explain.md"))
	require.NoError(t, err)
	t.Chdir(filepath.Join("..", ".."))
	commands := 0
	for line := range strings.Lines(string(page)) {
		words := strings.Fields(line)
		if len(words) < 2 || words[0] != "poolwright" {
			continue
		}
		commands++
		root := newRoot()
		root.SetArgs(words[1:])
		var out bytes.Buffer
		root.SetOut(&out)
		if err := root.ExecuteContext(t.Context()); err != nil {
			require.ErrorIs(t, err, app.ErrUnmet, line)
			assert.Contains(t, out.String(), "What would serve all:", line)
			continue
		}
		assert.Contains(t, out.String(), `"leftOut"`, line)
	}
	assert.Equal(t, 2, commands)
}

// Every command about simulations in the README, on their page and in the help runs as it
// stands there, but for a shorter time and with one seed, and so do the files there.
func TestDocumentedSimulations(t *testing.T) {
	page, err := os.ReadFile(filepath.Join("..", "..", "docs", "what-if.md"))
	require.NoError(t, err)
	readme, err := os.ReadFile(filepath.Join("..", "..", "README.md"))
	require.NoError(t, err)
	_, readme, _ = bytes.Cut(readme, []byte("## Ask what if"))
	readme, _, _ = bytes.Cut(readme, []byte("\n## "))
	example := shorterExample(t)
	t.Chdir(t.TempDir())
	require.NoError(t, errors.Join(os.Mkdir("examples", 0o700), os.Mkdir("shards", 0o700)))
	require.NoError(t, os.WriteFile(filepath.Join("examples", "what-if.yaml"), example, 0o600))
	commands := 0
	for line := range strings.Lines(string(readme) + string(page) + newSimulate().Example + "\n" + newCompare().Example) {
		line, _, _ = strings.Cut(line, " #")
		words := strings.Fields(line)
		if len(words) < 2 || strings.TrimPrefix(words[0], "bin/") != "poolwright" {
			continue
		}
		commands++
		runDocumented(t, line, words[1:])
	}
	assert.Equal(t, 23, commands)
	for _, file := range []string{"report.html", "result.json", "ledger.jsonl"} {
		assert.FileExists(t, file)
	}

	blocks := strings.Split(string(page), "```yaml\n")
	require.Len(t, blocks, 3)
	simulation, _, _ := strings.Cut(blocks[1], "```")
	autoscalers, _, _ := strings.Cut(blocks[2], "```")
	require.NoError(t, os.WriteFile("documented.yaml", []byte(simulation+autoscalers), 0o600)) //nolint:gosec // of the test's folder
	runDocumented(t, "the file", []string{"simulate", "-f", "documented.yaml"})
}

// shorterExample is examples/what-if.yaml, but for a shorter time and with one seed.
func shorterExample(t *testing.T) []byte {
	t.Helper()
	example, err := os.ReadFile(filepath.Join("..", "..", "examples", "what-if.yaml"))
	require.NoError(t, err)
	shorter := strings.NewReplacer("duration: 2h", "duration: 20m", "seeds: [1, 2, 3]", "seeds: [1]").Replace(string(example))
	require.Len(t, shorter, len(example)+1-6, "both are there")
	return []byte(shorter)
}

// runDocumented runs a command that may tell that an SLO is missed.
func runDocumented(t *testing.T, line string, args []string) {
	t.Helper()
	root := newRoot()
	root.SetArgs(args)
	root.SetOut(&bytes.Buffer{})
	root.SetErr(&bytes.Buffer{})
	if err := root.ExecuteContext(t.Context()); err != nil {
		require.ErrorIs(t, err, app.ErrMissed, line)
	}
}
