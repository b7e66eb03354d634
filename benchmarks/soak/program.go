package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"time"
)

// program is a process that serves.
type program struct {
	command *exec.Cmd
	version string
	// grpc and http are its addresses.
	grpc, http string

	mu sync.Mutex
	// cycles are when its loop decided.
	cycles []time.Time
	// complaints are what it logged as a warning or worse.
	complaints []string
	done       chan error
}

// record is a line of its log.
type record struct {
	Time       time.Time
	Level, Msg string
	GRPC, HTTP string
}

// start starts the program, and returns once its loop has decided.
func start(ctx context.Context, o *options) (*program, error) {
	version, err := exec.CommandContext(ctx, o.binary, "version").Output() //nolint:gosec // the program to measure
	if err != nil {
		return nil, fmt.Errorf("%s: %w (make build)", o.binary, err)
	}
	p := &program{version: strings.TrimSpace(string(version)), done: make(chan error, 1)}
	//nolint:gosec // the program to measure
	p.command = exec.CommandContext(ctx, o.binary, "serve", "--grpc-address", "127.0.0.1:0", "--http-address", "127.0.0.1:0",
		"--log-format", "json", "--interval", o.interval.String())
	p.command.Stderr = os.Stderr
	log, err := p.command.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := p.command.Start(); err != nil {
		return nil, err
	}
	listening := make(chan record, 1)
	go func() {
		read := p.follow(log, listening)
		p.done <- errors.Join(read, p.command.Wait())
	}()
	select {
	case r := <-listening:
		p.grpc, p.http = r.GRPC, r.HTTP
		return p, nil
	case err := <-p.done:
		return nil, fmt.Errorf("it ended at once: %w", err)
	}
}

// follow reads the log until the process ends.
func (p *program) follow(log io.Reader, listening chan<- record) error {
	lines := bufio.NewScanner(log)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var r record
		if err := json.Unmarshal(lines.Bytes(), &r); err != nil {
			return fmt.Errorf("its log: %w", err)
		}
		p.mu.Lock()
		switch {
		case r.Msg == "listening":
			listening <- r
		case r.Msg == "decided":
			p.cycles = append(p.cycles, r.Time)
		case r.Level != "INFO":
			p.complaints = append(p.complaints, lines.Text())
		}
		p.mu.Unlock()
	}
	return lines.Err()
}

// stop ends the process where something went wrong.
func (p *program) stop() { _ = p.command.Process.Kill() }

// end ends the process as people do, and returns what it complained about.
func (p *program) end() error {
	if err := p.command.Process.Signal(os.Interrupt); err != nil {
		return err
	}
	err := <-p.done
	if err != nil {
		return fmt.Errorf("it did not end well: %w", err)
	}
	if len(p.complaints) > 0 {
		return fmt.Errorf("it complained: %s", p.complaints[0])
	}
	return nil
}

// longest is the longest time between two decisions that were or would have been made
// between two times.
func (p *program) longest(from, to time.Time) time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	return longest(p.cycles, from, to)
}

func longest(cycles []time.Time, from, to time.Time) time.Duration {
	var most time.Duration
	for i, at := range cycles {
		next := to
		if i+1 < len(cycles) {
			next = cycles[i+1]
		}
		if next.After(from) && at.Before(to) {
			most = max(most, next.Sub(at))
		}
	}
	return most
}

// sample is what the process takes at one time.
type sample struct {
	goroutines, resident, heap float64
	// processor is the time that it has used since its start, in seconds.
	processor float64
}

// sampleEvery is the time between two of them.
const sampleEvery = time.Second

// watch takes samples until ctx ends.
func (p *program) watch(ctx context.Context) []sample {
	var all []sample
	ticker := time.NewTicker(sampleEvery)
	defer ticker.Stop()
	for {
		if s, err := p.sample(ctx); err == nil {
			all = append(all, s)
		}
		select {
		case <-ctx.Done():
			return all
		case <-ticker.C:
		}
	}
}

func (p *program) sample(ctx context.Context) (sample, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+p.http+"/metrics", http.NoBody) //nolint:gosec // it is ours
	if err != nil {
		return sample{}, err
	}
	response, err := http.DefaultClient.Do(request) //nolint:gosec // it is ours
	if err != nil {
		return sample{}, err
	}
	defer response.Body.Close() //nolint:errcheck // only read
	var s sample
	wanted := map[string]*float64{
		"go_goroutines": &s.goroutines, "process_resident_memory_bytes": &s.resident,
		"go_gc_heap_live_bytes": &s.heap, "process_cpu_seconds_total": &s.processor,
	}
	found := 0
	for lines := bufio.NewScanner(response.Body); lines.Scan(); {
		name, value, _ := strings.Cut(lines.Text(), " ")
		if into, ok := wanted[name]; ok {
			if *into, err = strconv.ParseFloat(value, 64); err != nil {
				return sample{}, fmt.Errorf("%s: %w", name, err)
			}
			found++
		}
	}
	if found < len(wanted) {
		return sample{}, fmt.Errorf("only %d of %d metrics are there", found, len(wanted))
	}
	return s, nil
}
