package ledger

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/poolwright/poolwright/controller"
	"github.com/poolwright/poolwright/planner"
)

// Sync says when what was written is made to outlast a failure of the machine. A failure
// of the program alone loses nothing that was written.
type Sync int

const (
	// Always: after each line.
	Always Sync = iota
	// AtCheckpoints: with each checkpoint.
	AtCheckpoints
)

// Config is where a ledger is kept, and how much of it.
type Config struct {
	// Path is the file that is written. Older ones have .1, .2, … behind that name, the
	// oldest the highest number.
	Path   string
	Origin Origin
	// SegmentBytes and SegmentAge are what a file may reach until another is begun; the
	// age is that of its first entry, by the time of snapshots. A file has at least as
	// many bytes of entries as of its first checkpoint. 0 = DefaultSegmentBytes and
	// DefaultSegmentAge.
	SegmentBytes int64
	SegmentAge   time.Duration
	// Segments is the number of files, that being written included; 0 = DefaultSegments.
	Segments int
	// CheckpointEntries is the number of entries between checkpoints;
	// 0 = DefaultCheckpointEntries.
	CheckpointEntries int
	Sync              Sync
}

// Defaults of Config.
const (
	DefaultSegmentBytes      = 64 << 20
	DefaultSegmentAge        = 24 * time.Hour
	DefaultSegments          = 8
	DefaultCheckpointEntries = 240
)

// completed puts in the defaults.
func (c Config) completed() (Config, error) {
	if c.Path == "" || c.SegmentBytes < 0 || c.SegmentAge < 0 || c.Segments < 0 || c.CheckpointEntries < 0 {
		return c, errors.New("ledger: no path, or a limit below 0")
	}
	if c.SegmentBytes == 0 {
		c.SegmentBytes = DefaultSegmentBytes
	}
	if c.SegmentAge == 0 {
		c.SegmentAge = DefaultSegmentAge
	}
	if c.Segments == 0 {
		c.Segments = DefaultSegments
	}
	if c.CheckpointEntries == 0 {
		c.CheckpointEntries = DefaultCheckpointEntries
	}
	return c, nil
}

// Writer appends to a ledger. It is for one goroutine. Several processes may have writers of
// a ledger, of which one writes at a time: whoever begins to write puts a copy of the file in
// its place, so that nothing that an earlier one may still write is in it.
type Writer struct {
	config Config
	// file is what this writer writes; nil = nothing yet.
	file *os.File
	// outline is of what was written whole; more may be in the file when dirty.
	outline
	dirty bool
	// read is the file that the outline is of, before this writer has one.
	read os.FileInfo
	// started: this run has written its header and a checkpoint.
	started bool
	// fleet is what the last entry had; nil = a checkpoint followed. entries were written since
	// the last checkpoint.
	fleet   *planner.Fleet
	entries int
}

// Writer is what a controller writes to.
var _ controller.Ledger = (*Writer)(nil)

// Checkpoint writes the memory down where that is due: at first, after so many entries,
// at the beginning of a file, and after a failure. The memory that it returns then is the
// one that was written, so that whoever replays from here has the same.
func (w *Writer) Checkpoint(m planner.Memory) (planner.Memory, error) {
	if err := w.follow(); err != nil {
		return m, fmt.Errorf("ledger: checkpoint: %w", err)
	}
	full := w.full()
	if w.started && !full && w.entries < w.config.CheckpointEntries {
		return m, nil
	}
	text, err := line{Checkpoint: &checkpoint{Sequence: w.sequence, Memory: m.Checkpoint()}}.format()
	if err != nil {
		return m, fmt.Errorf("ledger: checkpoint: %w", err)
	}
	var written line
	if err := parse(text[:len(text)-1], &written); err != nil {
		return m, fmt.Errorf("ledger: checkpoint: %w", err)
	}
	if full || !w.started {
		head, err := line{Header: &header{Format: format, Origin: w.config.Origin}}.format()
		if err != nil {
			return m, fmt.Errorf("ledger: header: %w", err)
		}
		text = append(head, text...)
	}
	if full || w.file == nil {
		err = w.begin(text, full)
	} else {
		err = w.write(text, true)
	}
	if err != nil {
		return m, fmt.Errorf("ledger: checkpoint: %w", err)
	}
	if w.firstCheckpoint == 0 {
		w.firstCheckpoint = w.size
	}
	w.started, w.entries, w.fleet = true, 0, nil
	return written.Checkpoint.Memory.Memory(), nil
}

// Restart has the next cycle write the memory down that it is planned with: it is not the
// one that the last entry left, as where another controller goes on with the ledger.
func (w *Writer) Restart() { w.started = false }

// full tells whether it is time for another file.
func (w *Writer) full() bool {
	return w.firstCheckpoint > 0 && w.size >= max(w.config.SegmentBytes, 2*w.firstCheckpoint) ||
		!w.begun.IsZero() && w.last.Sub(w.begun) >= w.config.SegmentAge
}

// Append writes an entry. The decision and the snapshot must stay as they are until the
// next one.
func (w *Writer) Append(e controller.Entry) error {
	if e.Sequence <= w.sequence {
		w.started = false
		return fmt.Errorf("ledger: entry %d after entry %d", e.Sequence, w.sequence)
	}
	w.sequence = e.Sequence
	if !w.started {
		return fmt.Errorf("ledger: entry %d without the checkpoint that is due", e.Sequence)
	}
	recorded, err := record(&e, w.fleet)
	if err == nil {
		err = w.add(line{Entry: recorded})
	}
	if err != nil {
		w.started = false // nothing that follows can be replayed without a checkpoint
		return fmt.Errorf("ledger: entry %d: %w", e.Sequence, err)
	}
	if w.begun.IsZero() {
		w.begun = e.Snapshot.Now
	}
	w.fleet, w.last = &e.Snapshot.Fleet, e.Snapshot.Now
	w.entries++
	return nil
}

// Intend writes down what is about to be carried out. Where the process ends before the entry
// of the cycle is written, [Writer.Recall] knows of it.
func (w *Writer) Intend(sequence uint64, changes []planner.Change) error {
	if !w.started {
		return nil // the checkpoint that is due has failed, which was said
	}
	if err := w.add(line{Intent: &intent{Sequence: sequence, Changes: changes}}); err != nil {
		w.started = false
		return fmt.Errorf("ledger: intent %d: %w", sequence, err)
	}
	return nil
}

// add appends a line to the file, while that is the ledger's.
func (w *Writer) add(l line) error {
	if !w.owns() {
		return errTakenOver
	}
	text, err := l.format()
	if err != nil {
		return err
	}
	return w.write(text, w.config.Sync == Always)
}

// record is what the ledger has of an entry.
func record(e *controller.Entry, before *planner.Fleet) (*entry, error) {
	sum, err := digest(&e.Decision)
	recorded := &entry{
		Sequence: e.Sequence, Now: e.Snapshot.Now, Fleet: changeOf(before, &e.Snapshot.Fleet),
		Observations: e.Snapshot.Observations, Paused: e.Snapshot.Paused, Declared: e.Declared,
		Decision: Summarize(&e.Decision), Answers: e.Decision.Answers, Digest: sum,
		Failure: strings.ToValidUTF8(e.Failure, "?"),
	}
	for _, d := range e.Dropped {
		d.Reason = strings.ToValidUTF8(d.Reason, "?")
		recorded.Dropped = append(recorded.Dropped, d)
	}
	return recorded, err
}

// write appends text, all or nothing of it.
func (w *Writer) write(text []byte, sync bool) error {
	if w.dirty {
		if err := w.file.Truncate(w.size); err != nil {
			return err
		}
	}
	w.dirty = true
	if _, err := w.file.WriteAt(text, w.size); err != nil {
		return err
	}
	if sync {
		if err := w.file.Sync(); err != nil {
			return err
		}
	}
	w.dirty = false
	w.size += int64(len(text))
	return nil
}

// Close ends writing.
func (w *Writer) Close() error {
	if w.file == nil {
		return nil
	}
	return errors.Join(w.file.Sync(), w.file.Close())
}
