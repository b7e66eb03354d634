package ledger

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"time"
)

// Found is what was found where a ledger is to be continued.
type Found struct {
	// Sequence is that of the last entry, 0 without one.
	Sequence uint64
	// Torn is the line whose writing was cut short, or nil. It has been cut off.
	Torn *Damage
}

// Open continues a ledger, or begins one. Damaged lines stay, for replay to report, but for
// the last where it has no end.
func Open(c Config) (*Writer, Found, error) {
	c, err := c.completed()
	if err != nil {
		return nil, Found{}, err
	}
	file, err := os.OpenFile(c.Path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, Found{}, fmt.Errorf("ledger: %w", err)
	}
	w := &Writer{config: c, file: file}
	found, err := w.resume()
	if err != nil {
		return nil, Found{}, errors.Join(fmt.Errorf("ledger: %w", err), file.Close())
	}
	return w, found, nil
}

// resume finds out where an earlier run ended.
func (w *Writer) resume() (Found, error) {
	outline, err := survey(w.file, w.config.Path)
	if err != nil {
		return Found{}, err
	}
	w.size, w.begun, w.last, w.sequence = outline.size, outline.begun, outline.last, outline.sequence
	w.firstCheckpoint = outline.firstCheckpoint
	if outline.torn != nil {
		if err := w.file.Truncate(w.size); err != nil {
			return Found{}, err
		}
	}
	if err := errors.Join(w.file.Sync(), syncFolder(w.config.Path)); err != nil {
		return Found{}, err
	}
	for n := 1; w.sequence == 0 && n < w.config.Segments; n++ {
		if w.sequence, err = lastSequence(w.segment(n)); err != nil {
			return Found{}, err
		}
	}
	return Found{Sequence: w.sequence, Torn: outline.torn}, nil
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
	// size is without a torn line; firstCheckpoint is the size up to the first one.
	size, firstCheckpoint int64
	begun, last           time.Time
	sequence              uint64
	torn                  *Damage
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
		o.add(text)
	}
}

// add reads of a line what matters to the outline.
func (o *outline) add(text []byte) {
	var l struct {
		Checkpoint *struct{ Sequence uint64 }
		Entry      *struct {
			Sequence uint64
			Now      time.Time
		}
	}
	if parse(text, &l) != nil {
		return
	}
	if l.Checkpoint != nil {
		o.sequence = max(o.sequence, l.Checkpoint.Sequence)
		if o.firstCheckpoint == 0 {
			o.firstCheckpoint = o.size
		}
	}
	if l.Entry != nil {
		o.sequence, o.last = max(o.sequence, l.Entry.Sequence), l.Entry.Now
		if o.begun.IsZero() {
			o.begun = o.last
		}
	}
}

// segment is the name of the file that is n files older than the one being written.
func (w *Writer) segment(n int) string {
	if n == 0 {
		return w.config.Path
	}
	return w.config.Path + "." + strconv.Itoa(n)
}

// replace begins a file with a text. Whatever fails, the writer goes on with the old one.
func (w *Writer) replace(text []byte) error {
	file, err := os.OpenFile(w.config.Path+".new", os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	next := &Writer{config: w.config, file: file, sequence: w.sequence}
	if err = next.write(text, true); err == nil {
		err = w.shift()
	}
	if err != nil {
		return errors.Join(err, file.Close())
	}
	old := w.file
	*w = *next
	return errors.Join(syncFolder(w.config.Path), old.Close())
}

// shift moves every file to the next older name, and the new one to that of the ledger.
func (w *Writer) shift() error {
	for n := w.config.Segments - 1; n > 0; n-- {
		if err := os.Rename(w.segment(n-1), w.segment(n)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return os.Rename(w.config.Path+".new", w.config.Path)
}

// syncFolder makes the names of files beside one outlast a failure of the machine.
func syncFolder(path string) error {
	folder, err := os.Open(filepath.Dir(path))
	if err != nil {
		return err
	}
	return errors.Join(folder.Sync(), folder.Close())
}
