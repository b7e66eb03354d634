package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// untilPlanned ends a command that serves once it has made its first plan.
type untilPlanned struct {
	bytes.Buffer

	end context.CancelFunc
}

func (w *untilPlanned) Write(p []byte) (int, error) {
	n, err := w.Buffer.Write(p)
	if strings.Contains(w.String(), "Planning again every") {
		w.end()
	}
	return n, err
}

// Every command on the page about ledgers and in the help of replay runs as it stands
// there, but for addresses, and reproduces what was decided.
func TestDocumentedLedger(t *testing.T) {
	page, err := os.ReadFile(filepath.Join("..", "..", "docs", "ledger.md"))
	require.NoError(t, err)
	t.Chdir(t.TempDir())
	served, replays := 0, 0
	for line := range strings.Lines(string(page) + newReplay().Example) {
		line, _, _ = strings.Cut(line, " #")
		words := strings.Fields(line)
		if len(words) < 2 || words[0] != "poolwright" {
			continue
		}
		root := newRoot()
		if words[1] == "serve" {
			served++
			ctx, cancel := context.WithCancel(t.Context())
			root.SetArgs(append(words[1:], "--grpc-address=127.0.0.1:0", "--http-address=127.0.0.1:0"))
			root.SetOut(&untilPlanned{end: cancel})
			require.NoError(t, root.ExecuteContext(ctx), line)
			continue
		}
		replays++
		var out bytes.Buffer
		root.SetOut(&out)
		root.SetArgs(shell(t, root, words[1:]))
		require.NoError(t, root.ExecuteContext(t.Context()), line)
		if strings.Contains(line, "json ") || strings.HasSuffix(strings.TrimSpace(line), "json") {
			assert.Contains(t, out.String(), `"reproduced": 1`, line)
		} else {
			assert.Regexp(t, `(?m)^1 +1 +0 +0 +0 `, out.String(), line)
		}
	}
	assert.Equal(t, 1, served)
	assert.Equal(t, 7, replays)
}

// shell does what a shell does to arguments: names of files, and where input comes from.
func shell(t *testing.T, root *cobra.Command, words []string) []string {
	t.Helper()
	var args []string
	for i, word := range words {
		if word == "<" {
			in, err := os.Open(words[i+1])
			require.NoError(t, err)
			t.Cleanup(func() { assert.NoError(t, in.Close()) })
			root.SetIn(in)
			return args
		}
		names, err := filepath.Glob(word)
		require.NoError(t, err)
		if names == nil {
			names = []string{word}
		}
		args = append(args, names...)
	}
	return args
}
