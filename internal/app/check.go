package app

import (
	"errors"
	"fmt"
	"io"

	"github.com/poolwright/poolwright/config"
)

// CheckRequest is configurations to look for mistakes in; empty = none of the kind.
type CheckRequest struct {
	// Cluster and Server are files as those of [ServeConfig].
	Cluster, Server string
}

// Check reads configurations as Serve would and says of each that it is valid. The error is an
// [*InputError] with every mistake in all of them. Files that they name are not looked at: they
// need not be where the check is made.
func Check(r CheckRequest, out io.Writer) error {
	return errors.Join(check(r.Cluster, config.Read, out), check(r.Server, config.ReadServer, out))
}

func check[C any](file string, parse func([]byte) (C, error), out io.Writer) error {
	if file == "" {
		return nil
	}
	if _, err := follow(file, parse); err != nil {
		return err
	}
	_, err := fmt.Fprintf(out, "%s: valid\n", file)
	return err
}
