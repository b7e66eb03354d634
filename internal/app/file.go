package app

import (
	"bufio"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// toFile writes a file that is there as a whole or not at all. Of a link, what it leads to is
// replaced. What is no regular file, such as a device or a pipe, is not replaced but written to.
func toFile(name string, write func(io.Writer) error) (err error) {
	if special(name) {
		f, err := os.OpenFile(name, os.O_WRONLY, 0) //nolint:gosec // the user's own
		if err != nil {
			return err
		}
		return errors.Join(buffered(f, write), f.Close())
	}
	f, target, err := temporary(name)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.Remove(f.Name()))
		}
	}()
	if err := errors.Join(buffered(f, write), f.Chmod(0o644), f.Close()); err != nil {
		return err
	}
	return os.Rename(f.Name(), target)
}

// writable returns why toFile could not write a file. A pipe or a device is not opened before there
// is something to write: whoever reads it would see it end.
func writable(name string) error {
	if info, err := os.Stat(name); err == nil && info.IsDir() {
		return &fs.PathError{Op: "open", Path: name, Err: syscall.EISDIR}
	}
	if special(name) {
		return nil
	}
	f, _, err := temporary(name)
	if err != nil {
		return err
	}
	return errors.Join(f.Close(), os.Remove(f.Name()))
}

// special tells whether something is there that is no regular file.
func special(name string) bool {
	info, err := os.Stat(name)
	return err == nil && !info.Mode().IsRegular()
}

// temporary opens a file that may take the place of target, which is the file of that name or what
// it leads to.
func temporary(name string) (f *os.File, target string, err error) {
	target = name
	if behind, err := filepath.EvalSymlinks(name); err == nil {
		target = behind
	}
	f, err = os.CreateTemp(filepath.Dir(target), "."+filepath.Base(target)+".*")
	if at := new(fs.PathError); errors.As(err, &at) {
		at.Path = name
	}
	return f, target, err
}

func buffered(w io.Writer, write func(io.Writer) error) error {
	b := bufio.NewWriter(w)
	return errors.Join(write(b), b.Flush())
}
