package ledger

import (
	"fmt"
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
	require.NoError(t, w.begin([]byte("whole\n"), false))
	_, err = w.file.WriteAt([]byte("a long half of a line"), w.size)
	require.NoError(t, err)
	w.dirty = true
	require.NoError(t, w.write([]byte("next\n"), true))
	require.NoError(t, w.Close())
	text, err := os.ReadFile(path) //nolint:gosec // written above
	require.NoError(t, err)
	assert.Equal(t, "whole\nnext\n", string(text))
	require.Error(t, w.write([]byte("closed\n"), false))
}

// No line with the right checksum does more than being refused, and what is read of one
// is written as it was.
func FuzzParse(f *testing.F) {
	f.Add([]byte(`"header":{"format":1,"origin":{"version":"v1"}}}`))
	f.Add([]byte(`"entry":{"sequence":1,"now":"2026-03-02T08:00:00Z","fleet":{"workloads":[{"index":1}]},"answers":[null]}}`))
	f.Add([]byte(`"checkpoint":{"memory":{"workloads":{"a":{"demand":{"days":[null,{"rates":[1]}]}}}}}}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		text := fmt.Appendf(nil, `{"crc32c":"%08x",`, checksum(body))
		var l, again line
		if parse(append(text, body...), &l) != nil {
			return
		}
		written, err := l.format()
		require.NoError(t, err)
		require.NoError(t, parse(written[:len(written)-1], &again))
		rewritten, err := again.format()
		require.NoError(t, err)
		assert.Equal(t, string(written), string(rewritten))
	})
}
