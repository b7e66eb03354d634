package main

import (
	"bytes"
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
