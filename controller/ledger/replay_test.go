package ledger_test

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/poolwright/poolwright/controller/ledger"
)

// A week of decisions is made again, bit for bit.
func TestWeekIsReproduced(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ledger.jsonl")
	w, found := open(t, ledger.Config{Path: path, SegmentAge: 36 * time.Hour, CheckpointEntries: 100, Sync: ledger.AtCheckpoints})
	assert.Zero(t, found)
	const cycles = 7 * 24 * 12
	run(t, newWorld(t, 5), w, 0, cycles, 5*time.Minute)

	files := segments(t, path)
	assert.Len(t, files, 5)
	report, differing := replay(t, files...)
	assert.Empty(t, differing)
	assert.Equal(t, ledger.Report{
		Origins: []ledger.Origin{origin()}, Cycles: cycles, Reproduced: cycles, Recalled: report.Recalled,
		First: monday(), Last: monday().Add((cycles - 1) * 5 * time.Minute),
	}, report)
	assert.Greater(t, report.Recalled, cycles/30, "searches that the clock ended")
	require.Contains(t, string(files[0]), `"changes":[{`)
}
