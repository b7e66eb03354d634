package ledger

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// errTakenOver is that of a file which is not the ledger's any more.
var errTakenOver = errors.New("another process writes the ledger")

// owns tells whether what this writer writes is the ledger's file.
func (w *Writer) owns() bool {
	if w.file == nil {
		return false
	}
	mine, err := w.file.Stat()
	if err != nil {
		return false
	}
	now, err := os.Stat(w.config.Path)
	return err == nil && os.SameFile(mine, now)
}

// follow prepares to begin again behind what others have written.
func (w *Writer) follow() error {
	if w.owns() {
		return nil
	}
	var err error
	if w.file != nil {
		err = w.file.Close()
		w.file, w.dirty = nil, false
	}
	w.started = false
	return errors.Join(err, w.resume())
}

// newMark is behind the name of a file that is about to be the ledger's.
const newMark = ".new"

// begin puts a file of its own in the place of the ledger's: with a text, behind what was
// there unless that was full. Whatever fails, everything is as before.
func (w *Writer) begin(text []byte, full bool) error {
	folder, name := filepath.Split(w.config.Path)
	if err := clean(filepath.Clean(folder), name+newMark); err != nil {
		return err
	}
	file, err := os.CreateTemp(filepath.Clean(folder), name+newMark)
	if err != nil {
		return err
	}
	next := &Writer{config: w.config, file: file, outline: outline{sequence: w.sequence}}
	if !full {
		err = next.copy(w)
	}
	if err == nil {
		err = next.write(text, true)
	}
	if err == nil && full {
		err = w.shift()
	}
	if err == nil {
		err = os.Rename(file.Name(), w.config.Path)
	}
	if err != nil {
		return errors.Join(err, file.Close(), os.Remove(file.Name()))
	}
	old := w.file
	*w = *next
	err = syncFolder(w.config.Path)
	if old != nil {
		err = errors.Join(err, old.Close())
	}
	return err
}

// clean removes what crashes left behind of files that were about to be a ledger's.
func clean(folder, prefix string) error {
	entries, err := os.ReadDir(folder)
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), prefix) {
			err = errors.Join(err, os.Remove(filepath.Join(folder, e.Name())))
		}
	}
	return err
}

// copy copies the whole lines of the file that another writer has read.
func (w *Writer) copy(from *Writer) error {
	w.outline = from.outline
	if from.size == 0 {
		return nil
	}
	file, err := os.Open(w.config.Path)
	if err != nil {
		return err
	}
	_, err = io.CopyN(w.file, file, from.size)
	return errors.Join(err, file.Close())
}

// segment is the name of the file that is n files older than the one being written.
func (w *Writer) segment(n int) string {
	if n == 0 {
		return w.config.Path
	}
	return w.config.Path + "." + strconv.Itoa(n)
}

// shift moves every file to the next older name.
func (w *Writer) shift() error {
	for n := w.config.Segments - 1; n > 0; n-- {
		if err := os.Rename(w.segment(n-1), w.segment(n)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// syncFolder makes the names of files beside one outlast a failure of the machine.
func syncFolder(path string) error {
	folder, err := os.Open(filepath.Dir(path))
	if err != nil {
		return err
	}
	return errors.Join(folder.Sync(), folder.Close())
}
