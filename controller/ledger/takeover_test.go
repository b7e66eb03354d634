package ledger_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/poolwright/poolwright/controller"
	"github.com/poolwright/poolwright/controller/ledger"
	"github.com/poolwright/poolwright/optimizer/lp"
	"github.com/poolwright/poolwright/planner"
)

func never() bool { return false }

// recall continues a ledger as another process does.
func recall(t *testing.T, path string) (*ledger.Writer, controller.Config) {
	t.Helper()
	w, found := open(t, ledger.Config{Path: path, CheckpointEntries: 7})
	recalled, err := w.Recall(planner.New(lp.Simplex()), never)
	require.NoError(t, err)
	return w, controller.Config{Ledger: w, Memory: recalled.Memory, Sequence: found.Sequence}
}

// Who takes over decides as if there were no change of processes.
func TestRecallGoesOn(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ledger.jsonl")
	world := newWorld(t, 2)
	_, config := recall(t, path)
	var entries []controller.Entry
	for range 4 {
		entries = append(entries, goOn(t, world, config, 9, 5*time.Minute)...)
		_, config = recall(t, path)
	}
	through := goOn(t, newWorld(t, 2), controller.Config{}, len(entries), 5*time.Minute)
	for n := range entries {
		assert.Equal(t, through[n].Decision.Plans, entries[n].Decision.Plans)
		assert.Equal(t, through[n].Sequence, entries[n].Sequence)
	}
	report, differing := replay(t, segments(t, path)...)
	assert.Empty(t, differing)
	assert.Equal(t, len(entries), report.Reproduced)
}

// What a process still writes that does not know that another one has taken over, is in no
// file of the ledger.
func TestTakeOver(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ledger.jsonl")
	world := newWorld(t, 2)
	first, config := recall(t, path)
	last := goOn(t, world, config, 5, 5*time.Minute)[4]
	require.NoError(t, os.WriteFile(path+".new123", []byte("of a process that was killed"), 0o600))

	_, config = recall(t, path)
	goOn(t, world, config, 3, 5*time.Minute)
	require.NoFileExists(t, path+".new123")
	last.Sequence++
	require.EqualError(t, first.Append(last), "ledger: entry 6: another process writes the ledger")
	require.NoError(t, first.Intend(7, nil), "nothing more is written without a checkpoint")
	report, differing := replay(t, segments(t, path)...)
	assert.Empty(t, differing)
	assert.Equal(t, 8, report.Reproduced)
	assert.Zero(t, report.Damaged+report.Skipped)

	// It may lead again.
	config.Ledger, config.Sequence = first, 8
	goOn(t, world, config, 3, 5*time.Minute)
	report, differing = replay(t, segments(t, path)...)
	assert.Empty(t, differing)
	assert.Equal(t, 11, report.Reproduced)
}

// A ledger that somebody has removed begins anew.
func TestRemovedLedger(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ledger.jsonl")
	world := newWorld(t, 2)
	w, config := recall(t, path)
	goOn(t, world, config, 3, 5*time.Minute)
	require.NoError(t, os.Remove(path))
	require.EqualError(t, w.Append(controller.Entry{Sequence: 4}), "ledger: entry 4: another process writes the ledger")
	config.Sequence = 4
	goOn(t, world, config, 3, 5*time.Minute)
	report, differing := replay(t, segments(t, path)...)
	assert.Empty(t, differing)
	assert.Equal(t, 3, report.Reproduced)
}

// A process that is killed between its last write to the cluster and the entry of the cycle
// leaves an intent: the replicas are not taken for somebody else's.
func TestRecallKnowsWhatWasBegun(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ledger.jsonl")
	w, config := recall(t, path)
	goOn(t, newWorld(t, 2), config, 2, 5*time.Minute)
	require.NoError(t, w.Intend(3, []planner.Change{
		{Workload: "prod/w1", Variant: "a100", From: 3, To: 9}, {Workload: "prod/unknown", From: 1}, {Workload: "prod/w1", Variant: "unknown"},
	}))
	before := config.Memory
	_, config = recall(t, path)
	v := config.Memory.Workloads["prod/w1"].Variants[1]
	assert.Equal(t, []int{3, 9}, []int{v.Seen, v.Asked})
	report, _ := replay(t, segments(t, path)...)
	assert.Equal(t, 1, report.Unfinished, "at the end")
	_, config = recall(t, path)
	goOn(t, newWorld(t, 2), config, 2, 5*time.Minute)
	report, _ = replay(t, segments(t, path)...)
	assert.Equal(t, 1, report.Unfinished, "and before a new run")
	assert.Empty(t, before.Workloads)
}

// killed is the ledger of a process that is killed in its first cycle, when it has changed the
// cluster and before it can write the entry. A silent one wrote no intent either.
type killed struct {
	*ledger.Writer

	silent bool
}

func (k killed) Intend(sequence uint64, changes []planner.Change) error {
	if k.silent {
		return nil
	}
	return k.Writer.Intend(sequence, changes)
}

func (killed) Append(controller.Entry) error { return nil }

// The next leader does not take the work of a killed one for somebody else's, which it would
// without the intent.
func TestNextLeaderKnowsTheWorkOfAKilledOne(t *testing.T) {
	for _, silent := range []bool{false, true} {
		path := filepath.Join(t.TempDir(), "ledger.jsonl")
		world := newWorld(t, 2)
		_, config := recall(t, path)
		goOn(t, world, config, 1, 5*time.Minute)
		w, config := recall(t, path)
		config.Ledger = killed{w, silent}
		changed := 0
		for changed == 0 { // until a cycle changes something
			last := goOn(t, world, config, 1, 5*time.Minute)[0]
			changed = len(last.Decision.Changes)
			if changed == 0 {
				require.NoError(t, w.Append(last))
				w, config = recall(t, path)
				config.Ledger = killed{w, silent}
			}
		}
		_, config = recall(t, path)
		next := goOn(t, world, config, 1, 5*time.Minute)[0]
		var external int
		for i := range next.Decision.Plans {
			for _, c := range next.Decision.Plans[i].Conditions {
				if c.Type == planner.ExternalChange {
					external++
				}
			}
		}
		assert.Equal(t, silent, external > 0)
	}
}

// What another version has asked for counts, whatever this one would have decided.
func TestRecallOfAnotherVersion(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ledger.jsonl")
	require.NoError(t, os.WriteFile(path, altered(t, withoutIntents(written(t, 2, 1, 10)), 3, `"to":2,"goal":2`, `"to":7,"goal":2`), 0o600))
	text, err := os.ReadFile(path) //nolint:gosec // written above
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(path, altered(t, text, 3, `"digest":"`, `"digest":"0`), 0o600)) //nolint:gosec // of this test
	_, config := recall(t, path)
	asked := map[int]bool{}
	for _, w := range config.Memory.Workloads {
		for _, v := range w.Variants {
			asked[v.Asked] = true
		}
	}
	assert.Contains(t, asked, 7)
}

// There may be less time than a replay takes.
func TestRecallStops(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ledger.jsonl")
	_, config := recall(t, path)
	entries := goOn(t, newWorld(t, 2), config, 6, 5*time.Minute)
	w, _ := open(t, ledger.Config{Path: path})
	lines := 0
	recalled, err := w.Recall(planner.New(lp.Simplex()), func() bool {
		lines++
		return lines > 5
	})
	require.NoError(t, err)
	at := recalled.Memory.Workloads["prod/w1"].At
	assert.False(t, at.Before(entries[0].Snapshot.Now))
	assert.True(t, at.Before(entries[5].Snapshot.Now))
}

// People's pauses outlast the process that was asked for them.
func TestRecallHasPauses(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ledger.jsonl")
	world := newWorld(t, 2)
	w, config := recall(t, path)
	config.Pauses = &controller.Pauses{}
	held := planner.Pause{Workload: "prod/w1", Reason: "maintenance", Until: monday().Add(24 * time.Hour)}
	config.Pauses.Pause(held)
	goOn(t, world, config, 1, 5*time.Minute)
	w.Restart()
	_, err := w.Checkpoint(planner.Memory{})
	require.NoError(t, err, "that of a process that ends")

	next, _ := open(t, ledger.Config{Path: path})
	recalled, err := next.Recall(planner.New(lp.Simplex()), never)
	require.NoError(t, err)
	assert.Equal(t, []planner.Pause{held}, recalled.Paused)
}
