package app

import (
	"errors"
	"fmt"
	"reflect"

	"github.com/poolwright/poolwright/config"
)

// settings is the configuration of the loop over a cluster, followed while it changes.
type settings struct{ *followed[config.Config] }

func newSettings(file string) (*settings, error) {
	f, err := follow(file, config.Read)
	if err != nil {
		return nil, err
	}
	return &settings{f}, nil
}

// errRestart says that a change counts from the next start on.
var errRestart = errors.New("what has changed counts from the next start on")

// follow reads the file again. A part that needs a restart stays as it was, which is an
// error of the first reading only.
func (s *settings) follow() (changed bool, err error) {
	before := s.config.Cluster
	changed, err = s.followed.follow()
	if changed && !reflect.DeepEqual(s.config.Cluster, before) {
		s.config.Cluster = before
		return true, fmt.Errorf("%s: cluster: %w", s.file, errRestart)
	}
	return changed, err
}
