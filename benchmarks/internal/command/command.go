// Package command ends the programs that measure against targets.
package command

import (
	"errors"
	"flag"
	"fmt"
	"os"
)

// ErrMissed says that a target was missed, and that the targets have been shown.
var ErrMissed = errors.New("a target is missed")

// Exit ends a program: with 0 without an error and after its help, with 1 where a target
// was missed, and with 2, saying why, after anything else.
func Exit(program string, err error) {
	switch {
	case err == nil, errors.Is(err, flag.ErrHelp):
		os.Exit(0)
	case errors.Is(err, ErrMissed):
		os.Exit(1)
	default:
		fmt.Fprintf(os.Stderr, "%s: %v\n", program, err)
		os.Exit(2)
	}
}
