package ledger_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/poolwright/poolwright/controller"
	"github.com/poolwright/poolwright/controller/ledger"
	"github.com/poolwright/poolwright/optimizer/lp"
	"github.com/poolwright/poolwright/planner"
)

// However long a ledger is written, its files stay few and small, and all that is in them
// can be replayed.
func TestLedgerStaysBounded(t *testing.T) {
	const limit = 40_000
	path := filepath.Join(t.TempDir(), "ledger.jsonl")
	world := newWorld(t, 2)
	for batch := range 6 { // each after a restart
		w, _ := open(t, ledger.Config{Path: path, SegmentBytes: limit, Segments: 3, CheckpointEntries: 10, Sync: ledger.AtCheckpoints})
		run(t, world, w, uint64(50*batch), 50, 5*time.Minute)
		files := segments(t, path)
		require.LessOrEqual(t, len(files), 3)
		for _, text := range files {
			longest := 0
			for _, l := range strings.SplitAfter(string(text), "\n") {
				longest = max(longest, len(l))
			}
			require.Less(t, len(text), limit+2*longest, "one entry and one checkpoint over at most")
		}
		require.NoError(t, w.Close())
	}
	files := segments(t, path)
	require.Len(t, files, 3)
	assert.NoFileExists(t, path+".new")
	report, differing := replay(t, files...)
	assert.Empty(t, differing)
	assert.Zero(t, report.Damaged+report.Skipped)
	assert.Equal(t, report.Cycles, report.Reproduced)
	assert.Equal(t, world.Now().Add(-5*time.Minute), report.Last)
}

// A file has room for as many entries as its checkpoint takes, however little it may hold.
func TestCheckpointsDoNotCrowdOutEntries(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ledger.jsonl")
	w, _ := open(t, ledger.Config{Path: path, SegmentBytes: 1, Segments: 100, Sync: ledger.AtCheckpoints})
	run(t, newWorld(t, 2), w, 0, 60, 5*time.Minute)
	for _, text := range segments(t, path) {
		var checkpoints, entries int
		for _, l := range strings.Split(string(text), "\n") {
			if strings.Contains(l, `"checkpoint":`) {
				checkpoints += len(l)
			} else if strings.Contains(l, `"entry":`) {
				entries += len(l)
			}
		}
		assert.Positive(t, checkpoints)
		assert.Positive(t, entries)
	}
	assert.Greater(t, len(segments(t, path)), 2)
	assert.Less(t, len(segments(t, path)), 30)
}

// A loop that goes on from its replayed ledger decides as if it had never ended.
func TestLedgerGivesMemoryBack(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ledger.jsonl")
	w, _ := open(t, ledger.Config{Path: path, CheckpointEntries: 7})
	world := newWorld(t, 2)
	run(t, world, w, 0, 20, 5*time.Minute)
	r := ledger.NewReplayer(planner.New(lp.Simplex()))
	_, _, ok := r.Memory()
	require.False(t, ok)
	text, err := os.ReadFile(path) //nolint:gosec // written above
	require.NoError(t, err)
	require.NoError(t, r.Read(bytes.NewReader(text), path, nil))
	memory, sequence, ok := r.Memory()
	require.True(t, ok)
	assert.Equal(t, uint64(20), sequence)
	resumed := goOn(t, world, controller.Config{Memory: memory, Sequence: sequence}, 20, 5*time.Minute)
	through := goOn(t, newWorld(t, 2), controller.Config{}, 40, 5*time.Minute)
	for n := range resumed {
		assert.Equal(t, through[20+n].Decision.Plans, resumed[n].Decision.Plans)
	}
}

// Entries come in their order and behind a checkpoint, or they could not be replayed.
// A controller that remembers nothing goes on with the ledger of another one.
func TestRestart(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ledger.jsonl")
	world := newWorld(t, 2)
	w, _ := open(t, ledger.Config{Path: path, Sync: ledger.AtCheckpoints})
	run(t, world, w, 0, 30, 5*time.Minute)
	w.Restart()
	run(t, world, w, 30, 30, 5*time.Minute)
	report, differing := replay(t, segments(t, path)...)
	assert.Empty(t, differing)
	assert.Equal(t, 60, report.Reproduced)
}

func TestAppendRefuses(t *testing.T) {
	w, _ := open(t, ledger.Config{Path: filepath.Join(t.TempDir(), "ledger.jsonl")})
	require.EqualError(t, w.Append(controller.Entry{Sequence: 1}), "ledger: entry 1 without the checkpoint that is due")
	_, err := w.Checkpoint(planner.Memory{})
	require.NoError(t, err)
	require.NoError(t, w.Append(controller.Entry{Sequence: 2}))
	require.EqualError(t, w.Append(controller.Entry{Sequence: 2}), "ledger: entry 2 after entry 2")
}

// After a failed write nothing is missing but what could not be written.
func TestFailedWriteLosesOnlyItself(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ledger.jsonl")
	w, _ := open(t, ledger.Config{Path: path})
	world := newWorld(t, 2)
	run(t, world, w, 0, 5, 5*time.Minute)
	unwritable := controller.Entry{Sequence: 6, Snapshot: planner.Snapshot{Now: time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC)}}
	require.ErrorContains(t, w.Append(unwritable), "ledger: entry 6: exact: ")
	run(t, world, w, 6, 5, 5*time.Minute)
	report, differing := replay(t, segments(t, path)...)
	assert.Empty(t, differing)
	assert.Equal(t, 10, report.Reproduced)
	assert.Zero(t, report.Skipped+report.Damaged)
}

func TestOpenRefuses(t *testing.T) {
	_, _, err := ledger.Open(ledger.Config{})
	require.EqualError(t, err, "ledger: no path, or a limit below 0")
	_, _, err = ledger.Open(ledger.Config{Path: filepath.Join(t.TempDir(), "none", "ledger.jsonl")})
	require.ErrorIs(t, err, os.ErrNotExist)
	_, _, err = ledger.Open(ledger.Config{Path: t.TempDir()})
	require.ErrorContains(t, err, "is a directory")
}
