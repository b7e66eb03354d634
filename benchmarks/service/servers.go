package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"syscall"
	"time"
)

// build builds the program in pure Go, as this one is, so that both plan by the same simplex.
func build(ctx context.Context, folder string) (string, error) {
	program := filepath.Join(folder, "poolwright")
	c := exec.CommandContext(ctx, "go", "build", "-trimpath", "-o", program, "./cmd/poolwright") //nolint:gosec // this repository
	c.Dir = ".."
	c.Env = append(os.Environ(), "CGO_ENABLED=0")
	c.Stdout, c.Stderr = os.Stdout, os.Stderr
	return program, c.Run()
}

// process is a server in a process of its own.
type process struct {
	command *exec.Cmd
	// drained is closed when the process says nothing more.
	drained chan struct{}
}

// start runs a server until ctx ends, and reads what it says until found finds where it can be
// asked.
func start(ctx context.Context, found func(line []byte) bool, name string, arguments ...string) (*process, error) {
	c := exec.CommandContext(ctx, name, arguments...) //nolint:gosec // built here, or this program itself
	c.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	r, w, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	c.Stdout, c.Stderr = w, w
	if err := c.Start(); err != nil {
		return nil, err
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	p := &process{command: c, drained: make(chan struct{})}
	listening := make(chan bool, 1)
	go func() {
		defer close(p.drained)
		lines := bufio.NewReader(r)
		for {
			line, err := lines.ReadBytes('\n')
			if found(line) {
				listening <- true
				break
			}
			if err != nil {
				listening <- false
				return
			}
		}
		_, _ = io.Copy(io.Discard, lines) // until the process ends
	}()
	select {
	case ok := <-listening:
		if !ok {
			return nil, fmt.Errorf("%s ends without listening: %w", name, c.Wait())
		}
	case <-time.After(time.Minute):
		p.stop()
		return nil, fmt.Errorf("%s does not listen", name)
	}
	return p, nil
}

// stop ends the process.
func (p *process) stop() {
	_ = p.command.Process.Kill()
	_ = p.command.Wait() // killed
	<-p.drained
}

// pages and calls are where poolwright says that it can be asked.
var (
	pages = regexp.MustCompile(`^page +(http://\S+)/`)
	calls = regexp.MustCompile(`^gRPC +(\S+)`)
)

// startService runs poolwright.
func startService(ctx context.Context, program string) (*process, addresses, error) {
	var where addresses
	p, err := start(ctx, func(line []byte) bool {
		if m := pages.FindSubmatch(line); m != nil {
			where.HTTP = string(m[1])
		}
		if m := calls.FindSubmatch(line); m != nil {
			where.GRPC = string(m[1])
		}
		return where.HTTP != "" && where.GRPC != ""
	}, program, "serve", "--grpc-address", "127.0.0.1:0", "--http-address", "127.0.0.1:0")
	return p, where, err
}

// startEchoes runs this program as servers without a service behind them.
func startEchoes(ctx context.Context, folder string) (*process, echoes, error) {
	var where echoes
	self, err := os.Executable()
	if err != nil {
		return nil, where, err
	}
	p, err := start(ctx, func(line []byte) bool { return json.Unmarshal(line, &where) == nil }, self, "-echo", folder)
	return p, where, err
}
