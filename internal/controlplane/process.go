//go:build linux

package controlplane

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"time"
)

// Component is one of the programs. It is for one goroutine.
type Component struct {
	name string
	// command is the program with its arguments, log the file that it writes to.
	command []string
	log     string
	// ready tells whether it serves; nil = as soon as it runs.
	ready func(ctx context.Context) error

	process *exec.Cmd
	// ended is closed when the process has ended.
	ended chan struct{}
}

const (
	// patience is how long a component may take to become ready on a busy machine.
	patience = 2 * time.Minute
	// pause is between two questions whether it is.
	pause = 20 * time.Millisecond
	// logTail is what an error quotes of a log, in bytes.
	logTail = 1000
)

// Start starts the component and waits until it is ready. It must not be running.
func (c *Component) Start(ctx context.Context) error {
	if err := c.launch(); err != nil {
		return err
	}
	return c.wait(ctx)
}

// launch starts the process, which dies with this one.
func (c *Component) launch() error {
	if c.process != nil {
		return fmt.Errorf("controlplane: %s runs already", c.name)
	}
	log, err := os.OpenFile(c.log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("controlplane: %s: %w", c.name, err)
	}
	defer func() { _ = log.Close() }()
	process := exec.Command(c.command[0], c.command[1:]...) //nolint:gosec,noctx // runs what was built for it; Stop ends it
	process.Stdout, process.Stderr = log, log
	process.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := process.Start(); err != nil {
		return fmt.Errorf("controlplane: %w", err)
	}
	ended := make(chan struct{})
	go func() {
		_ = process.Wait() // killed, or its log says why it ended
		close(ended)
	}()
	c.process, c.ended = process, ended
	return nil
}

// wait returns when the component is ready, or why it will not be.
func (c *Component) wait(ctx context.Context) error {
	if c.ready == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	ticker := time.NewTicker(pause)
	defer ticker.Stop()
	for {
		err := c.ready(ctx)
		if err == nil {
			return nil
		}
		select {
		case <-c.ended:
			return fmt.Errorf("controlplane: %s has ended; it says:\n%s", c.name, c.tail())
		case <-ctx.Done():
			return fmt.Errorf("controlplane: %s is not ready: %w; it says:\n%s", c.name, errors.Join(ctx.Err(), err), c.tail())
		case <-ticker.C:
		}
	}
}

// Stop kills the component and waits until it has ended. One that does not run is left
// alone.
func (c *Component) Stop() {
	if c.process == nil {
		return
	}
	_ = c.process.Process.Kill() // it may have ended by itself
	<-c.ended
	c.process = nil
}

// PID is the process of a component that runs.
func (c *Component) PID() int { return c.process.Process.Pid }

// tail is the end of the log.
func (c *Component) tail() []byte {
	text, err := os.ReadFile(c.log)
	if err != nil {
		return []byte(err.Error())
	}
	text = text[max(0, len(text)-logTail):]
	return bytes.TrimSpace(text)
}
