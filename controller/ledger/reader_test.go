package ledger

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A line that is too long is passed over, and does not fill the memory.
func TestLongLine(t *testing.T) {
	r := newLineReader(strings.NewReader("a\n"+strings.Repeat("b", 200_000)+"\nc\nd"), "f")
	r.most = 100_000
	for _, want := range []struct {
		text   string
		line   int
		offset int64
		err    error
	}{{"a", 1, 0, nil}, {"", 2, 2, errLong}, {"c", 3, 200_003, nil}, {"d", 4, 200_005, errTorn}, {"", 5, 200_006, io.EOF}} {
		text, at, err := r.read()
		assert.Equal(t, want.text, string(text))
		assert.Equal(t, Position{"f", want.line, want.offset}, at)
		assert.Equal(t, want.err, err)
	}
}

// What a failed write left behind is gone with the next.
func TestWriteClearsWhatFailedBefore(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ledger.jsonl")
	w, _, err := Open(Config{Path: path})
	require.NoError(t, err)
	require.NoError(t, w.write([]byte("whole\n"), false))
	_, err = w.file.WriteAt([]byte("a long half of a line"), w.size)
	require.NoError(t, err)
	w.dirty = true
	require.NoError(t, w.write([]byte("next\n"), true))
	require.NoError(t, w.Close())
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	assert.Equal(t, "whole\nnext\n", string(text))
	require.Error(t, w.write([]byte("closed\n"), false))
}
