package app

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/poolwright/poolwright/internal/document"
	poolwrightv1 "github.com/poolwright/poolwright/proto/poolwright/v1"
	"github.com/poolwright/poolwright/simulation/sweep"
)

// MergeRequest asks for a sweep whose shards were simulated one by one.
type MergeRequest struct {
	// Files are the shards, or folders whose files in JSON they are.
	Files []string

	Printed
}

// NewMergeRequest returns a request without files.
func NewMergeRequest() *MergeRequest {
	return &MergeRequest{Printed: Printed{Output: Choice{Names: []string{"TABLE", "JSON", "CSV"}, value: "TABLE"}}}
}

// Merge puts the shards of a sweep together and prints it as [Simulate] would have. The
// errors are those of Simulate.
func Merge(r *MergeRequest, out io.Writer) error {
	files, err := shardFiles(r.Files)
	if err != nil {
		return &InputError{err}
	}
	var shards []*poolwrightv1.Sweep
	var mistakes []error
	for _, name := range files {
		m, err := readShard(name)
		if err != nil {
			mistakes = append(mistakes, err)
		}
		shards = append(shards, m)
	}
	if err := errors.Join(mistakes...); err != nil {
		return &InputError{err}
	}
	whole, err := sweep.Merge(shards)
	if err != nil {
		return &InputError{err}
	}
	if err := r.writeSweep(out, whole); err != nil {
		return err
	}
	if !anyPointMet(whole) {
		return ErrMissed
	}
	return nil
}

// shardFiles puts the files of folders in their place.
func shardFiles(names []string) ([]string, error) {
	var files []string
	for _, name := range names {
		info, err := os.Stat(name)
		if err != nil {
			return nil, err
		}
		if !info.IsDir() {
			files = append(files, name)
			continue
		}
		entries, err := os.ReadDir(name)
		if err != nil {
			return nil, err
		}
		before := len(files)
		for _, e := range entries {
			if filepath.Ext(e.Name()) == ".json" && e.Type().IsRegular() {
				files = append(files, filepath.Join(name, e.Name()))
			}
		}
		if len(files) == before {
			return nil, fmt.Errorf("%s: no file whose name ends in .json", name)
		}
	}
	return files, nil
}

// shardLimits are far beyond what a sweep may have.
var shardLimits = document.Options{MaxBytes: 2 << 30, MaxValues: 1 << 28}

func readShard(name string) (*poolwrightv1.Sweep, error) {
	m := &poolwrightv1.Sweep{}
	err := withFile(name, nil, func(in io.Reader) error {
		data, err := shardLimits.ReadAll(in)
		if err == nil {
			err = shardLimits.Unmarshal(data, m)
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return m, nil
}
