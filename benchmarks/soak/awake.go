package main

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"runtime"
	"syscall"
)

// keepAwake lets no processor of this machine rest until it is told to stop: one that rests
// may go to other guests of the host, and comes back when the host finds time, which takes
// longer than a call. What keeps them awake is a process each of the priority at which nothing
// else ever waits for it.
func keepAwake(ctx context.Context) (stop func(), err error) {
	ctx, cancel := context.WithCancel(ctx)
	var started []*exec.Cmd
	stop = func() {
		cancel()
		for _, c := range started {
			_ = c.Wait() // killed
		}
	}
	for range runtime.NumCPU() {
		c := exec.CommandContext(ctx, "chrt", "--idle", "0", "sh", "-c", "while :; do :; done")
		c.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
		if err := c.Start(); err != nil {
			stop()
			if errors.Is(err, exec.ErrNotFound) {
				err = fmt.Errorf("%w (of util-linux; or -awake=false)", err)
			}
			return nil, err
		}
		started = append(started, c)
	}
	return stop, nil
}
