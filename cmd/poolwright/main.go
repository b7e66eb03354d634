// Command poolwright plans fleets of LLM inference services: how many replicas of
// each model to run on which accelerators.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/poolwright/poolwright/internal/app"
)

// Exit codes.
const (
	exitFailure  = 1
	exitBadInput = 2
	exitUnmet    = 3
)

func main() { os.Exit(run()) }

func run() int {
	ctx, cancel := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer cancel()
	err := newRoot().ExecuteContext(ctx)
	if err == nil {
		return 0
	}
	fmt.Fprintln(os.Stderr, app.Message(fmt.Errorf("poolwright: %w", err)))
	return exitCode(err)
}

func exitCode(err error) int {
	var input *app.InputError
	var usage *usageError
	switch {
	case errors.Is(err, app.ErrUnmet), errors.Is(err, app.ErrMissed), errors.Is(err, app.ErrNotReproduced):
		return exitUnmet
	case errors.As(err, &input), errors.As(err, &usage):
		return exitBadInput
	}
	return exitFailure
}
