package app

import (
	"bytes"
	"fmt"
	"os"
	"sync/atomic"
)

// followed is a configuration file that is followed while it changes.
type followed[C any] struct {
	file  string
	parse func([]byte) (C, error)
	// text is what was read last, config the last that was valid.
	text   []byte
	config C
	// counts: what was read last is config; refused: whoever follows cannot go by it.
	counts, refused atomic.Bool
}

func follow[C any](file string, parse func([]byte) (C, error)) (*followed[C], error) {
	f := &followed[C]{file: file, parse: parse}
	text, err := os.ReadFile(file) //nolint:gosec // the user names it
	if err == nil {
		err = f.take(text)
	}
	if err != nil {
		return nil, &InputError{err}
	}
	return f, nil
}

func (f *followed[C]) take(text []byte) error {
	f.text = text
	c, err := f.parse(text)
	f.counts.Store(err == nil)
	if err != nil {
		return fmt.Errorf("%s: %w", f.file, err)
	}
	f.config = c
	return nil
}

// follow reads the file again, and tells whether the configuration is another one now. A
// file that cannot be read, or not be understood, leaves the last configuration in place;
// the error is of its first reading only.
func (f *followed[C]) follow() (changed bool, err error) {
	text, err := os.ReadFile(f.file)
	switch {
	case err != nil && f.text == nil:
		return false, nil // it was said before
	case err != nil:
		f.text = nil
		f.counts.Store(false)
		return false, err
	case f.text != nil && bytes.Equal(text, f.text):
		return false, nil
	}
	if err := f.take(text); err != nil {
		return false, err
	}
	return true, nil
}

// valid tells whether the file counts as it is, or an earlier one that was valid.
func (f *followed[C]) valid() bool { return f.counts.Load() && !f.refused.Load() }
