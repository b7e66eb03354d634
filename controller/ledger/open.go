package ledger

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/poolwright/poolwright/planner"
)

// Found is what was found where a ledger is to be continued.
type Found struct {
	// Sequence is that of the last entry, 0 without one.
	Sequence uint64
	// Torn is the line whose writing was cut short, or nil. It will be cut off.
	Torn *Damage
}

// Open continues a ledger, or begins one. Damaged lines stay, for replay to report, but for
// the last where it has no end. Nothing is written before the first checkpoint.
func Open(c Config) (*Writer, Found, error) {
	c, err := c.completed()
	if err != nil {
		return nil, Found{}, err
	}
	w := &Writer{config: c}
	if _, err := os.Stat(filepath.Dir(c.Path)); err != nil {
		return nil, Found{}, fmt.Errorf("ledger: %w", err)
	}
	if err := w.resume(); err != nil {
		return nil, Found{}, fmt.Errorf("ledger: %w", err)
	}
	for n := 1; w.sequence == 0 && n < w.config.Segments; n++ {
		if w.sequence, err = lastSequence(w.segment(n)); err != nil {
			return nil, Found{}, fmt.Errorf("ledger: %w", err)
		}
	}
	return w, Found{Sequence: w.sequence, Torn: w.torn}, nil
}

// resume finds out how far another writer came, unless that is known.
func (w *Writer) resume() error {
	file, err := os.Open(w.config.Path)
	if errors.Is(err, fs.ErrNotExist) {
		w.read, w.outline = nil, outline{sequence: w.sequence}
		return nil
	}
	if err != nil {
		return err
	}
	return errors.Join(w.look(file), file.Close())
}

func (w *Writer) look(file *os.File) error {
	info, err := file.Stat()
	if err != nil || w.read != nil && os.SameFile(info, w.read) && info.Size() == w.read.Size() {
		return err
	}
	sequence := w.sequence
	if w.outline, err = survey(file, w.config.Path); err != nil {
		return err
	}
	w.read, w.sequence = info, max(w.sequence, sequence)
	return nil
}

// lastSequence is that of the last entry in a file, 0 without one.
func lastSequence(path string) (uint64, error) {
	file, err := os.Open(path) //nolint:gosec // the ledger's own file
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	outline, err := survey(file, path)
	return outline.sequence, errors.Join(err, file.Close())
}

// outline is what there is in a file.
type outline struct {
	// size is without a torn line; firstCheckpoint is the size up to the first one, 0 before.
	size, firstCheckpoint int64
	// checkpoint is where the last one begins; without a line, there is none.
	checkpoint Position
	// begun is the time of the first entry, and last that of the last.
	begun, last time.Time
	// sequence is that of the last entry, and paused what people held then.
	sequence uint64
	paused   []planner.Pause
	torn     *Damage
}

// survey reads the outline of a file.
func survey(in io.Reader, file string) (outline, error) {
	var o outline
	for lines := newLineReader(in, file); ; {
		text, at, err := lines.read()
		switch {
		case errors.Is(err, io.EOF):
			return o, nil
		case errors.Is(err, errTorn):
			o.torn = &Damage{at, err.Error()}
			return o, nil
		case err != nil && !errors.Is(err, errLong):
			return o, err
		}
		o.size = lines.next.Offset
		o.add(text, at)
	}
}

// add reads of a line what matters to the outline.
func (o *outline) add(text []byte, at Position) {
	var l struct {
		Checkpoint *struct{ Sequence uint64 }
		Entry      *struct {
			Sequence uint64
			Now      time.Time
			Paused   []planner.Pause
			Declared int
		}
	}
	if parse(text, &l) != nil {
		return
	}
	if l.Checkpoint != nil {
		o.sequence, o.checkpoint = max(o.sequence, l.Checkpoint.Sequence), at
		if o.firstCheckpoint == 0 {
			o.firstCheckpoint = o.size
		}
	}
	if e := l.Entry; e != nil {
		o.sequence, o.last = max(o.sequence, e.Sequence), e.Now
		o.paused = e.Paused[min(max(0, e.Declared), len(e.Paused)):]
		if o.begun.IsZero() {
			o.begun = o.last
		}
	}
}
