package app

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"reflect"

	"github.com/poolwright/poolwright/config"
)

// settings is a configuration file that is followed while it changes.
type settings struct {
	file string
	// text is what was read last, config the last that was valid.
	text   []byte
	config config.Config
}

func newSettings(file string) (*settings, error) {
	s := &settings{file: file}
	if err := s.read(); err != nil {
		return nil, &InputError{err}
	}
	return s, nil
}

func (s *settings) read() error {
	text, err := os.ReadFile(s.file)
	if err != nil {
		return err
	}
	s.text = text
	c, err := config.Read(text)
	if err != nil {
		return fmt.Errorf("%s: %w", s.file, err)
	}
	s.config = c
	return nil
}

// errRestart says that a change counts from the next start on.
var errRestart = errors.New("cluster: what has changed counts from the next start on")

// follow reads the file again, and tells whether the configuration is another one now. A
// file that cannot be read, or not be understood, leaves the last configuration in place;
// the error is of its first reading only, and so is that of a part that needs a restart.
func (s *settings) follow() (changed bool, err error) {
	text, err := os.ReadFile(s.file)
	switch {
	case err != nil && s.text == nil:
		return false, nil // it was said before
	case err != nil:
		s.text = nil
		return false, err
	case s.text != nil && bytes.Equal(text, s.text):
		return false, nil
	}
	before := s.config.Cluster
	if err := s.read(); err != nil {
		return false, err
	}
	if !reflect.DeepEqual(s.config.Cluster, before) {
		s.config.Cluster = before
		return true, fmt.Errorf("%s: %w", s.file, errRestart)
	}
	return true, nil
}
